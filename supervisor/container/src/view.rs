//! A container's plan for its reader: what `policy plan` prints for a container, and what golden files compare.
//!
//! Values of variables are not in it.

use std::fmt;

use crate::plan::{Access, ContainerPlan, Image, Mount, Network, Source, Staged, Users};

impl fmt::Display for ContainerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings(f)?;
        writeln!(f, "\nmounts")?;
        for (at, mount) in &self.mounts {
            writeln!(f, "  {:<44} {}", at.display(), Line(mount))?;
        }
        writeln!(f, "\nmade for the run")?;
        for (at, staged) in &self.staged {
            writeln!(f, "  {:<44} {}", at.display(), Made(staged))?;
        }
        writeln!(f, "\ncovered by the engine")?;
        for path in &self.masked {
            writeln!(f, "  {}", path.display())?;
        }
        writeln!(f, "\nclauses")?;
        for row in &self.ledger {
            write!(f, "  {:<44} {}", row.clause, row.enforced_by.join(", "))?;
            match &row.note {
                Some(note) => writeln!(f, " ({note})")?,
                None => writeln!(f)?,
            }
        }
        for missing in &self.missing_limits {
            writeln!(f, "  not by the engine: {missing}")?;
        }
        Ok(())
    }
}

impl ContainerPlan {
    fn settings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.image {
            Image::Pinned(name) => writeln!(f, "image          {name}")?,
            Image::Skeleton { links } => {
                let links: Vec<String> = links
                    .iter()
                    .map(|(at, target)| format!("{} -> {}", at.display(), target.display()))
                    .collect();
                writeln!(f, "image          none: empty directories, and {}", links.join(", "))?;
            }
        }
        let (uid, gid) = self.user;
        let users = match self.users {
            Users::Host => "the host's ids",
            Users::KeepId => "user namespace `keep-id`",
        };
        writeln!(f, "user           {uid}:{gid} ({users})")?;
        let network = match self.network {
            Network::None => "none",
            Network::Host => "host",
        };
        writeln!(f, "network        {network}")?;
        writeln!(f, "root           read-only, without the engine's own tmpfs")?;
        writeln!(f, "capabilities   none; no-new-privileges")?;
        let bound = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        writeln!(f, "memory         {}", bound(self.limits.memory_bytes))?;
        writeln!(f, "pids           {}", bound(self.limits.pids))?;
        writeln!(f, "cpu, 1/1000    {}", bound(self.limits.cpu_millis))?;
        for (resource, value) in &self.inside.rlimits {
            writeln!(f, "rlimit         {resource:?} {value} (by pid 1)")?;
        }
        if let Some(bytes) = self.inside.watched_memory {
            writeln!(f, "watchdog       {bytes} bytes of memory (by pid 1)")?;
        }
        match &self.inside.landlock {
            Some(rules) => writeln!(f, "landlock       {} rules (by pid 1)", rules.len()),
            None => writeln!(f, "landlock       none: gVisor has a kernel of its own"),
        }
    }
}

struct Line<'a>(&'a Mount);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Mount::Private { bytes } => write!(f, "private, {bytes} bytes"),
            Mount::Bind { source, access } => {
                let access = match access {
                    Access::ReadOnly => "ro",
                    Access::ReadWrite => "rw",
                };
                match source {
                    Source::Host(path) => write!(f, "{access} {}", path.display()),
                    Source::Mapped { host, .. } => write!(f, "{access} {} (owner mapped)", host.display()),
                    Source::Staged(_) => write!(f, "{access} made for the run"),
                    Source::Nothing(_) => write!(f, "hidden"),
                    Source::Program => write!(f, "{access} this program, as pid 1"),
                }
            }
        }
    }
}

struct Made<'a>(&'a Staged);

impl fmt::Display for Made<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Staged::Dir | Staged::OpenDir => write!(f, "directory"),
            Staged::Empty => write!(f, "to mount a file on"),
            Staged::File(contents) => write!(f, "file of {} bytes", contents.len()),
            Staged::Copy(from) => write!(f, "copy of {}", from.display()),
            Staged::Link(target) => write!(f, "link to {}", target.display()),
        }
    }
}
