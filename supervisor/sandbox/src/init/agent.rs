//! The second process: gives up everything, then becomes the command.
//!
//! Order: terminal and files first (they need a way to look things up), then limits, capabilities, no_new_privs,
//! Landlock, seccomp, and last `close_range`, so that nothing can be undone by what follows. Then the canaries.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use super::{Failed, Inheritance, Named, Walls, canaries, give_up};
use crate::control::Report;
use crate::plan::{Containment, LandlockPlan, Namespace, SandboxPlan};
use crate::receipt::Canary;
use crate::seccomp::DenialAction;
use crate::sys::canary::{self, BaitName};
use crate::sys::limits::{self, Resource};
use crate::sys::{caps, event, fd, landlock, path, process, seccomp, term};

/// Limits of what the machine's kernel itself keeps and decides.
const OF_THE_KERNEL: [Resource; 3] = [Resource::Sigpending, Resource::Nice, Resource::Rtprio];

/// Never returns: executes the command, or says why not. `gate` opens when the host's root is gone.
pub(super) fn main(inheritance: Inheritance<'_>, terminal: Option<OwnedFd>, gate: Option<OwnedFd>) -> ! {
    let Inheritance {
        plan, control, bait, ..
    } = &inheritance;
    let files = match command(plan) {
        Ok(files) => files,
        Err(error) => give_up(
            control,
            Failed {
                step: "command",
                detail: String::new(),
                error,
            },
        ),
    };
    if let Err(failed) = confine(&inheritance, terminal, gate) {
        give_up(control, failed);
    }
    // We are the sandbox's user with no capability, no new root to go to, and only the allowed calls.
    if let Err(failed) = take_receipt(&plan.canaries, bait.as_ref(), control) {
        give_up(control, failed);
    }
    let mut error = process::exec(&files.program, &files.argv, &files.env);
    if error.raw_os_error() == Some(libc::ENOEXEC) && is_text(&plan.command.program) {
        // A script without an interpreter line: what a shell would do with it.
        let mut argv = vec![c"/bin/sh".to_owned(), files.program.clone()];
        argv.extend(files.argv.into_iter().skip(1));
        error = process::exec(&c"/bin/sh".to_owned(), &argv, &files.env);
    }
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    // If the supervisor is gone there is nobody left to tell.
    let _ = Report::NotExecuted { errno }.send(control.as_fd());
    process::exit_now(126)
}

/// No program of another machine, and nothing cut off: those are not for a shell.
fn is_text(program: &Path) -> bool {
    let mut head = [0; 256];
    let read = std::fs::File::open(program).and_then(|file| fd::read(file.as_fd(), &mut head));
    let head = head.get(..read.unwrap_or(0)).unwrap_or_default();
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    !line.contains(&0) && !line.starts_with(b"\x7fELF")
}

struct Files {
    program: CString,
    argv: Vec<CString>,
    env: Vec<CString>,
}

fn command(plan: &SandboxPlan) -> io::Result<Files> {
    let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
    let program = process::cstring(plan.command.program.clone().into_os_string()).ok_or_else(invalid)?;
    let argv: Option<Vec<CString>> = plan
        .command
        .argv
        .iter()
        .map(|arg| process::cstring(arg.clone()))
        .collect();
    let env: Option<Vec<CString>> = plan
        .command
        .env
        .iter()
        .map(|(name, value)| {
            let mut text = name.clone();
            text.push("=");
            text.push(value);
            process::cstring(text)
        })
        .collect();
    Ok(Files {
        program,
        argv: argv.ok_or_else(invalid)?,
        env: env.ok_or_else(invalid)?,
    })
}

fn confine(inheritance: &Inheritance<'_>, terminal: Option<OwnedFd>, gate: Option<OwnedFd>) -> Result<(), Failed> {
    let Inheritance {
        plan, walls, control, ..
    } = inheritance;
    process::setpgid(0, 0).step("process group")?;
    if let Some(terminal) = terminal {
        // Not yet in the foreground: the kernel would stop us for asking.
        event::ignore(libc::SIGTTOU);
        term::set_foreground(terminal.as_fd(), process::getpid().0).step("foreground")?;
        for (number, _) in (0..3)
            .zip(inheritance.terminals)
            .filter(|(_, is_terminal)| *is_terminal)
        {
            fd::put_at(terminal.as_fd(), number).step("terminal")?;
        }
    }
    chdir(plan).step("working directory")?;
    // Where a control group holds the number of processes, it refuses first, and counts how often.
    let held = |resource: Resource| resource == Resource::Nproc && !inheritance.unheld.pids;
    let of_files = |resource: Resource| resource == Resource::Nofile;
    let now = |resource: Resource| !held(resource) && !of_files(resource);
    for (resource, value) in plan.rlimits.iter().filter(|(resource, _)| now(*resource)) {
        match limits::lower(*resource, *value) {
            // gVisor knows no such limits; what waits there, and what runs next, is not this kernel's.
            Err(error) if *walls == Walls::Engine && OF_THE_KERNEL.contains(resource) => drop(error),
            other => other.step("rlimits")?,
        }
    }
    if plan.containment != Containment::Inherit {
        match (plan.containment, walls) {
            (Containment::Namespaces, Walls::Ours) => caps::drop_bounding().step("capability bounding set")?,
            // The engine was told to; nothing here can.
            (_, Walls::Engine) if canary::bounding_set().step("capability bounding set")? != 0 => {
                return Err(io::Error::from_raw_os_error(libc::EPERM)).step("capability bounding set");
            }
            (Containment::Namespaces, Walls::Engine) | (Containment::Landlock | Containment::Inherit, _) => {}
        }
        if plan.identity.from_root && !inheritance.namespaces.contains(&Namespace::User) {
            process::drop_groups().step("groups")?;
            process::become_ids(plan.identity.uid, plan.identity.gid).step("identity")?;
        }
        caps::drop_all().step("capabilities")?;
    }
    process::no_new_privs().step("no_new_privs")?;
    if let Some(rules) = &plan.landlock {
        restrict(rules, *walls, inheritance.maker.as_deref())?;
    }
    event::reset_signals(&inheritance.ignored).step("signals")?;
    if let Some(spec) = &plan.seccomp {
        match spec.denial {
            DenialAction::Errno => seccomp::install(inheritance.filter).step("seccomp")?,
            DenialAction::Notify => {
                let listener = seccomp::install_with_listener(inheritance.filter).step("seccomp")?;
                Report::Listener(listener)
                    .send(control.as_fd())
                    .step("seccomp listener")?;
            }
        }
    }
    // Not before the listener was handed over: the kernel compares what the user's programs have under way with it.
    for (resource, value) in plan.rlimits.iter().filter(|(resource, _)| of_files(*resource)) {
        limits::lower(*resource, *value).step("rlimits")?;
    }
    if let Some(gate) = gate
        && fd::read(gate.as_fd(), &mut [0]).step("old root")? == 0
    {
        // Pid 1 has said why, or is gone.
        process::exit_now(125);
    }
    fd::close_on_exec_from_3().step("close_range")?;
    // Also for the canaries, which need free numbers below a limit that may be low.
    fd::close_others(control.as_fd()).step("close_range")
}

/// Tries what is forbidden and says what came of it. Never returns if something worked: the supervisor knows why.
fn take_receipt(canaries: &[Canary], bait: Option<&BaitName>, control: &OwnedFd) -> Result<(), Failed> {
    let (report, holds) = canaries::attempt_all(canaries, bait);
    report.send(control.as_fd()).step("receipt")?;
    if holds { Ok(()) } else { process::exit_now(125) }
}

/// Where the caller was, or the top of the tree if that is not there.
fn chdir(plan: &SandboxPlan) -> io::Result<()> {
    path::chdir(&plan.command.cwd).or_else(|_| path::chdir(Path::new("/")))
}

/// `maker`: refusals are recorded, also after the command was executed, by a domain made under this name.
fn restrict(rules: &LandlockPlan, walls: Walls, maker: Option<&CStr>) -> Result<(), Failed> {
    let abi = landlock::abi();
    let handled = landlock::handled_fs(abi);
    let net = if rules.deny_tcp && abi >= 4 {
        landlock::BIND_TCP | landlock::CONNECT_TCP
    } else {
        0
    };
    let scopes = if abi >= 6 {
        landlock::SCOPE_ABSTRACT_UNIX | landlock::SCOPE_SIGNAL
    } else {
        0
    };
    let ruleset = landlock::create(handled, net, scopes).step("landlock ruleset")?;
    for (at, rights) in &rules.rules {
        let about = |error| Failed {
            step: "landlock rule",
            detail: at.display().to_string(),
            error,
        };
        let file = match path::open_path(at) {
            // An image need not have what the host has; what is not there needs no right.
            Err(error) if walls == Walls::Engine && error.kind() == io::ErrorKind::NotFound => continue,
            other => other.map_err(about)?,
        };
        let allow = |rights| landlock::allow_beneath(ruleset.as_fd(), file.as_fd(), rights);
        match allow(rights & handled) {
            // What is no directory has fewer rights, and the kernel refuses the others.
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                allow(rights & handled & landlock::FILE_RIGHTS).map_err(about)?;
            }
            // A file that no filesystem with names holds, such as a memfd as standard output: Landlock leaves those alone.
            Err(error) if error.raw_os_error() == Some(libc::EBADFD) => {}
            other => other.map_err(about)?,
        }
    }
    let flags = match maker {
        Some(name) => {
            // It becomes the command's own when that is executed.
            process::set_name(name).step("landlock")?;
            landlock::LOG_NEW_EXEC_ON
        }
        None => 0,
    };
    landlock::restrict_self(ruleset.as_fd(), flags).step("landlock")
}
