use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::time::Duration;

use super::*;
use crate::cgroup;
use crate::plan::{
    Access, CommandPlan, Doors, GitPlan, GlobWatch, Identity, Kind, LandlockPlan, MountStep, Placeholder,
    PlaceholderKind, Records,
};
use crate::receipt::Wish;
use crate::sys::landlock::ALL_FS;

/// A host that exists only here.
#[derive(Default)]
struct Paper(BTreeMap<PathBuf, Seen>);

impl Paper {
    fn with(mut self, path: &str, seen: Seen) -> Self {
        for above in Path::new(path).ancestors().skip(1) {
            self.0.entry(above.to_owned()).or_insert(Seen::Dir);
        }
        self.0.insert(path.into(), seen);
        self
    }
}

impl Look for Paper {
    fn look(&self, path: &Path) -> Option<Seen> {
        self.0.get(path).cloned()
    }
}

fn host() -> Paper {
    Paper::default()
        .with("/w/p/readme", Seen::File)
        .with("/w/p/secret/key", Seen::File)
        .with("/w/p/link", Seen::Link("/srv/x".into()))
        .with("/w/p/round", Seen::Link("round".into()))
        .with("/w/p/hooks/pre-commit", Seen::File)
        .with("/w/p/.glee/policies/a.yml", Seen::File)
        .with("/w/p/.glee/agent_sessions/old", Seen::File)
        .with("/srv/x", Seen::File)
        .with("/w/p/pipe", Seen::Pipe)
        .with("/w/p/hooks/pipe", Seen::Pipe)
        .with("/w/p/to_file", Seen::Link("readme".into()))
        .with("/w/p/to_first", Seen::Link("/proc/1/environ".into()))
        .with("/proc/self/exe", Seen::Link("/bin/asked".into()))
        .with("/w/ann/.ssh/id", Seen::File)
}

fn bind(at: &str, access: Access) -> MountStep {
    MountStep::Bind {
        from: at.into(),
        at: at.into(),
        kind: Kind::Dir,
        access,
        idmap: None,
    }
}

fn plan() -> SandboxPlan {
    let read = READ_FILE | READ_DIR | EXECUTE;
    SandboxPlan {
        workspace: crate::plan::Workspace::Shared,
        containment: Containment::Namespaces,
        identity: Identity {
            uid: 1000,
            gid: 1000,
            user: "ann".into(),
            from_root: false,
        },
        namespaces: Vec::new(),
        cgroup: cgroup::Request {
            run: String::new(),
            memory_mb: None,
            pids: None,
            cpu_millis: None,
            tree: cgroup::Tree::Namespace,
        },
        mounts: vec![
            MountStep::File {
                at: "/etc/passwd".into(),
                contents: Vec::new(),
            },
            MountStep::Private {
                at: "/w/ann".into(),
                name: "home",
            },
            MountStep::Proc { at: "/proc".into() },
            bind("/w/p", Access::ReadWrite),
            MountStep::Compose {
                at: "/w/p/.glee".into(),
                name: "glee",
                children: vec![(OsString::from("policies"), Kind::Dir)],
                private: vec![OsString::from("agent_sessions")],
            },
            MountStep::Pin {
                at: "/w/p/hooks".into(),
            },
            MountStep::Protect {
                at: "/w/p/.envrc".into(),
            },
            MountStep::Protect {
                at: "/w/p/hooks".into(),
            },
            MountStep::Hide {
                at: "/w/p/secret".into(),
                kind: Kind::Dir,
            },
        ],
        placeholders: vec![Placeholder {
            dir: "/w/p".into(),
            name: ".envrc".into(),
            kind: PlaceholderKind::Socket,
        }],
        doors: Doors::default(),
        git: GitPlan {
            trees: Vec::new(),
            fresh: Vec::new(),
            not_bare: Vec::new(),
            repositories: Vec::new(),
            known: BTreeSet::new(),
            pointers: Default::default(),
            unlinked: BTreeSet::new(),
            own: Default::default(),
            named: Default::default(),
            shared: None,
            links: Default::default(),
            remotes: Vec::new(),
        },
        watches: Vec::new(),
        ways: Vec::new(),
        glob_watches: vec![GlobWatch {
            base: "/w/p".into(),
            pattern: "**/.env".into(),
            dirs: Vec::new(),
            aliases: Vec::new(),
            leads: Vec::new(),
            granted: Vec::new(),
            clause: "fs.deny: **/.env".into(),
        }],
        private_bytes: 0,
        rlimits: Vec::new(),
        landlock: Some(LandlockPlan {
            rules: vec![
                ("/".into(), READ_DIR),
                ("/etc".into(), READ_FILE | READ_DIR),
                ("/w/p".into(), ALL_FS),
                ("/w/ann".into(), ALL_FS),
                ("/w/p/.glee".into(), read),
            ],
            deny_tcp: false,
        }),
        seccomp: None,
        records: Records::Leave,
        receipt: Wish::Off,
        canaries: Vec::new(),
        left_out: Vec::new(),
        command: CommandPlan {
            program: "/bin/sh".into(),
            argv: Vec::new(),
            env: Vec::new(),
            cwd: "/w/p".into(),
        },
        deadline: None,
        grace: Duration::ZERO,
        memory_bytes: None,
        insisted: Vec::new(),
        ledger: Vec::new(),
        omitted: Vec::new(),
    }
}

fn ask(text: &str, usage: Use) -> (bool, Reason, Presence) {
    let answer = path(&plan(), Path::new(text), usage, &host());
    (answer.allowed, answer.reason, answer.presence)
}

#[test]
fn what_is_granted_is_shown_and_the_rest_is_not_there() {
    use Presence::{Absent, There};
    assert_eq!(ask("/w/p/readme", Use::Write), (true, Reason::Shown, There));
    assert_eq!(ask("/w/p/new/er", Use::Write), (true, Reason::Shown, Absent));
    assert_eq!(ask("/w/p/missing", Use::Read), (true, Reason::Shown, Absent));
    assert_eq!(ask("/srv/x", Use::Read), (false, Reason::NotShown, Absent));
    assert_eq!(ask("/w", Use::Read), (true, Reason::Made, There));
    assert_eq!(ask("/w/new", Use::Write), (false, Reason::NotShown, Absent));
    assert_eq!(ask("/etc/passwd", Use::Read), (true, Reason::Made, There));
    assert_eq!(ask("/etc/passwd", Use::Write), (false, Reason::ReadOnly, There));
    assert_eq!(ask("/etc/passwd", Use::Execute), (false, Reason::Rights, There));
}

#[test]
fn landlock_is_wider_where_something_lies_over_a_tree_of_the_host() {
    let wider = |path: &&str| is_wider_than_mounts(&plan(), Path::new(path));
    let covered = [
        "/w/p/hooks/pre-commit",
        "/w/p/secret/key",
        "/w/p/.envrc",
        "/w/p/.glee/policies/a.yml",
        "/w/p/.glee/agent_sessions/old",
    ];
    let others = [
        "/w/p/readme",
        "/w/p/new",
        "/w/ann/.ssh/id",
        "/srv/x",
        "/etc/passwd",
        "/proc/cpuinfo",
    ];
    let all: Vec<&str> = covered
        .iter()
        .chain(&others)
        .filter(|path| wider(path))
        .copied()
        .collect();
    assert_eq!(all, covered);
}

#[test]
fn a_private_place_shows_nothing_of_the_host_and_takes_everything() {
    assert_eq!(
        ask("/w/ann/.ssh/id", Use::Read),
        (false, Reason::NotShown, Presence::Absent)
    );
    assert_eq!(
        ask("/w/ann/.ssh/id", Use::Write),
        (true, Reason::Private, Presence::Absent)
    );
    assert_eq!(ask("/w/ann", Use::Read), (true, Reason::Private, Presence::There));
}

#[test]
fn masks_protected_and_held_names_are_told_apart() {
    let at = |text: &str| PathBuf::from(text);
    let hidden = Reason::Hidden { at: at("/w/p/secret") };
    assert_eq!(ask("/w/p/secret", Use::Read), (false, hidden.clone(), Presence::There));
    assert_eq!(ask("/w/p/secret/key", Use::Read), (false, hidden, Presence::Absent));
    let protected = Reason::Protected { at: at("/w/p/hooks") };
    assert_eq!(
        ask("/w/p/hooks/pre-commit", Use::Write),
        (false, protected.clone(), Presence::There)
    );
    assert_eq!(ask("/w/p/hooks/new", Use::Write), (false, protected, Presence::Absent));
    assert_eq!(
        ask("/w/p/hooks/pre-commit", Use::Read),
        (true, Reason::Shown, Presence::There)
    );
    let held = Reason::Held { at: at("/w/p/.envrc") };
    assert_eq!(ask("/w/p/.envrc", Use::Write), (false, held.clone(), Presence::There));
    assert_eq!(ask("/w/p/.envrc/x", Use::Write), (false, held, Presence::Absent));
    let later = Reason::HiddenLater {
        clause: "fs.deny: **/.env".into(),
    };
    assert_eq!(ask("/w/p/a/.env", Use::Write), (false, later, Presence::Absent));
}

#[test]
fn a_composed_directory_shows_what_it_was_composed_of() {
    assert_eq!(
        ask("/w/p/.glee/policies/a.yml", Use::Read),
        (true, Reason::Shown, Presence::There)
    );
    assert_eq!(
        ask("/w/p/.glee/policies/a.yml", Use::Write),
        (false, Reason::ReadOnly, Presence::There)
    );
    assert_eq!(
        ask("/w/p/.glee/agent_sessions/old", Use::Read),
        (false, Reason::NotShown, Presence::Absent)
    );
    assert_eq!(
        ask("/w/p/.glee/agent_sessions/new", Use::Write),
        (true, Reason::Private, Presence::Absent)
    );
    assert_eq!(
        ask("/w/p/.glee/other", Use::Read),
        (false, Reason::NotShown, Presence::Absent)
    );
}

#[test]
fn links_lead_where_they_lead_inside() {
    let answer = path(&plan(), Path::new("/w/p/link"), Use::Read, &host());
    assert_eq!(
        (answer.allowed, answer.on_host, answer.at),
        (false, true, PathBuf::from("/srv/x"))
    );
    assert_eq!(answer.links, [PathBuf::from("/w/p/link")]);
    assert_eq!(ask("/w/p/round", Use::Read), (false, Reason::Circle, Presence::Absent));
    assert_eq!(
        ask("/w/ann/../p/readme", Use::Read),
        (true, Reason::Shown, Presence::There)
    );
    assert_eq!(
        ask("/w/p/missing/../readme", Use::Read),
        (false, Reason::NotShown, Presence::Absent)
    );
    let file = Reason::WrongKind {
        at: "/w/p/readme".into(),
    };
    assert_eq!(ask("/w/p/readme/x", Use::Write), (false, file, Presence::Absent));
}

#[test]
fn a_slash_at_the_end_means_a_directory() {
    let readme = Reason::WrongKind {
        at: "/w/p/readme".into(),
    };
    for (text, usage) in [
        ("/w/p/readme/", Use::Read),
        ("/w/p/readme/.", Use::Read),
        ("/w/p/to_file/", Use::Read),
        ("/w/p/readme/", Use::Write),
        ("/w/p/readme/.", Use::Execute),
    ] {
        assert_eq!(ask(text, usage), (false, readme.clone(), Presence::Absent), "{text}");
    }
    for text in ["/w/p/", "/w/p/.", "/w/p/hooks/"] {
        assert_eq!(ask(text, Use::Read), (true, Reason::Shown, Presence::There), "{text}");
    }
}

#[test]
fn the_first_process_shows_no_more_than_every_process_may_see() {
    for text in [
        "/proc/1/environ",
        "/proc/1/root/etc/passwd",
        "/proc/1/fd/0",
        "/proc/1/task/1/mem",
        "/w/p/to_first",
    ] {
        for usage in [Use::Read, Use::Write, Use::Execute] {
            assert_eq!(ask(text, usage), (false, Reason::Guarded, Presence::There), "{text}");
        }
    }
    assert_ne!(ask("/proc/1/status", Use::Read).1, Reason::Guarded);
    assert_eq!(
        ask("/proc/1/attr/current", Use::Write),
        (false, Reason::ReadOnly, Presence::AtRunTime)
    );
}

#[test]
fn programs_are_files_and_the_one_that_runs() {
    assert_eq!(
        ask("/proc/self/exe", Use::Execute),
        (true, Reason::Kernel, Presence::AtRunTime)
    );
    let pipe = Reason::WrongKind { at: "/w/p/pipe".into() };
    assert_eq!(ask("/w/p/pipe", Use::Execute), (false, pipe, Presence::There));
    assert_eq!(ask("/w/p/pipe", Use::Write), (true, Reason::Shown, Presence::There));
    assert_eq!(
        ask("/w/p/hooks/pipe", Use::Write),
        (true, Reason::Pipe, Presence::There)
    );
}

#[test]
fn only_the_kernel_makes_names_among_the_terminals() {
    let mut plan = plan();
    plan.mounts.push(MountStep::Devpts { at: "/dev/pts".into() });
    plan.landlock = None;
    let ask = |text: &str| {
        let answer = path(&plan, Path::new(text), Use::Write, &host());
        (answer.allowed, answer.reason, answer.presence)
    };
    assert_eq!(ask("/dev/pts/7"), (true, Reason::Kernel, Presence::AtRunTime));
    for text in ["/dev/pts/new", "/dev/pts/7x", "/dev/pts/new/x"] {
        assert_eq!(ask(text), (false, Reason::NotShown, Presence::Absent), "{text}");
    }
}
