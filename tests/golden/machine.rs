//! A machine that is made up: a merged-/usr system, a home with two toolchains, and a project with git and `.glee`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use glee_policy::layer::{NoLibrary, profile};
use glee_policy::resolved::{FsAccess, Mode};
use glee_policy::{Host, Origin, ResolvedPolicy, Walk};
use glee_sandbox::lower::{Kernel, Request, lower};
use glee_sandbox::plan::{Doors, GitPlan, Kind, PlaceholderKind, SandboxPlan, Workspace};
use glee_sandbox::receipt::Wish;
use glee_sandbox::survey::{
    Caller, Entry, FoundCommand, GitDir, GleeDir, Island, IslandState, Node, Place, SystemPath, Terrain,
};

/// Who starts the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    User,
    /// On a project of root's own.
    Root,
}

impl Who {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Root => "root",
        }
    }

    fn id(self) -> u32 {
        match self {
            Self::User => 1000,
            Self::Root => 0,
        }
    }
}

#[derive(Debug)]
pub(crate) struct Machine {
    who: Who,
    home: PathBuf,
    project: PathBuf,
}

/// What exists besides the system, relative to the home.
const IN_HOME: &[&str] = &[
    "",
    ".cargo",
    ".rustup",
    "app",
    "app/.git",
    "app/.glee",
    "app/.glee/agent_sessions",
];

impl Host for Machine {
    fn project(&self) -> &Path {
        &self.project
    }

    fn home(&self) -> Option<&Path> {
        Some(&self.home)
    }

    fn walk(&self, path: &Path) -> Walk {
        let exists = path == Path::new("/") || IN_HOME.iter().any(|inside| self.home.join(inside) == path);
        Walk {
            path: path.to_owned(),
            exists,
            links: Vec::new(),
        }
    }
}

impl Machine {
    pub(crate) fn of(who: Who) -> Self {
        let home = match who {
            Who::User => PathBuf::from("/home/ada"),
            Who::Root => PathBuf::from("/root"),
        };
        Self {
            who,
            project: home.join("app"),
            home,
        }
    }

    pub(crate) fn policy(&self, name: &str) -> ResolvedPolicy {
        let policy = profile(name, &Origin::flag("--policy"), &NoLibrary).expect("a built-in profile parses");
        glee_policy::resolve(&policy, &NoLibrary, self).expect("a built-in profile resolves")
    }

    pub(crate) fn plan(&self, name: &str) -> SandboxPlan {
        self.plan_of(&self.policy(name))
    }

    pub(crate) fn plan_of(&self, policy: &ResolvedPolicy) -> SandboxPlan {
        self.lowered(policy, Workspace::Shared)
    }

    pub(crate) fn plan_on(&self, name: &str, workspace: Workspace) -> SandboxPlan {
        let mut policy = self.policy(name);
        glee_policy::widen_workspace(&mut policy, self).expect("nothing is denied");
        self.lowered(&policy, workspace)
    }

    fn lowered(&self, policy: &ResolvedPolicy, workspace: Workspace) -> SandboxPlan {
        let vars = [
            ("PATH", "/secret-value"),
            ("HOME", "/secret-value"),
            ("LD_PRELOAD", "x"),
            ("TOKEN", "/secret-value"),
        ];
        let (env, _) = policy.env.apply(vars.map(|(name, value)| (name.into(), value.into())));
        let request = Request {
            observe: glee_sandbox::seccomp::Observe::Attempts,
            records: glee_sandbox::plan::Records::Leave,
            doors: Doors::default(),
            home: None,
            receipt: Wish::Take,
            kept: Vec::new(),
            files: Vec::new(),
            run_id: "golden".to_owned(),
            argv: ["make", "test"].map(OsString::from).to_vec(),
            env,
            workspace,
        };
        let terrain = self.terrain(policy);
        lower(policy, &terrain, Kernel { landlock_abi: 7 }, request).expect("a built-in profile can be planned")
    }

    fn terrain(&self, policy: &ResolvedPolicy) -> Terrain {
        let id = self.who.id();
        let dir = Place {
            kind: Kind::Dir,
            node: Node::Directory,
            uid: id,
            gid: id,
        };
        let mut places: BTreeMap<PathBuf, Place> = policy
            .grants
            .iter()
            .filter(|grant| grant.exists)
            .map(|grant| (grant.path.as_path().to_owned(), dir))
            .collect();
        // The command's file is the system's.
        places.insert(
            "/usr/bin/make".into(),
            Place {
                kind: Kind::File,
                node: Node::Regular,
                uid: 0,
                gid: 0,
            },
        );
        let granted = policy
            .grants
            .iter()
            .filter(|grant| grant.path.as_path() == self.project);
        let access = granted.map(|grant| grant.access).max().unwrap_or(FsAccess::Read);
        let writable = access == FsAccess::ReadWrite && policy.mode == Mode::Restricted;
        Terrain {
            caller: Caller {
                uid: id,
                gid: id,
                user: if id == 0 { "root" } else { "ada" }.to_owned(),
            },
            project: self.project.clone(),
            project_owner: (id, id),
            cwd: self.project.join("src"),
            home: Some(self.home.clone()),
            system: system(),
            proc_hidden: vec![("/proc/kcore".into(), Kind::File), ("/proc/acpi".into(), Kind::Dir)],
            places,
            readonly: BTreeSet::new(),
            glee: Some(GleeDir {
                path: self.project.join(".glee"),
                children: vec![("agent_sessions".into(), Kind::Dir), ("config.yml".into(), Kind::File)],
            }),
            git: vec![GitDir {
                path: self.project.join(".git"),
                outside: false,
                access,
            }],
            islands: if writable { self.islands() } else { Vec::new() },
            hidden: Vec::new(),
            sockets: Vec::new(),
            watches: Vec::new(),
            glob_watches: Vec::new(),
            ways: Vec::new(),
            command: FoundCommand {
                program: "/usr/bin/make".into(),
                files: vec!["/usr/bin/make".into()],
                links: Vec::new(),
            },
            links: Vec::new(),
            before: GitPlan {
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
            scan_cut: false,
            pinned: Vec::new(),
            top: Vec::new(),
            stdio: Vec::new(),
        }
    }

    fn islands(&self) -> Vec<Island> {
        let island = |path: &str, state, pins: &[&str]| Island {
            path: self.project.join(path),
            state,
            pins: pins.iter().map(|pin| self.project.join(pin)).collect(),
            reopened: false,
        };
        vec![
            island(".envrc", IslandState::Missing(PlaceholderKind::Socket), &[]),
            island(".git/config", IslandState::Present, &[".git"]),
            island(
                ".git/commondir",
                IslandState::Missing(PlaceholderKind::CommonDir),
                &[".git"],
            ),
            island(".git/hooks", IslandState::Present, &[".git"]),
            island(".glee", IslandState::Present, &[]),
        ]
    }
}

fn system() -> Vec<SystemPath> {
    let entry = |path: &str, entry| SystemPath {
        path: path.into(),
        entry,
    };
    vec![
        entry("/usr", Entry::Dir),
        entry("/bin", Entry::Link("usr/bin".into())),
        entry("/lib", Entry::Link("usr/lib".into())),
        entry("/etc/ld.so.cache", Entry::File),
        entry("/etc/hosts", Entry::SmallFile),
        entry("/etc/ssl", Entry::Dir),
        entry("/dev/null", Entry::Device),
        entry("/dev/tty", Entry::Device),
    ]
}
