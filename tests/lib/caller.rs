//! Who starts the supervisor: root, and an ordinary user that the harness makes once.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const USER: &str = "glee-test";

/// Every claim is proved for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    Root,
    User,
}

#[derive(Debug, Clone)]
struct Account {
    uid: u32,
    gid: u32,
    base: PathBuf,
}

impl Caller {
    pub fn uid(self) -> u32 {
        self.account().uid
    }

    pub fn gid(self) -> u32 {
        self.account().gid
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::User => USER,
        }
    }

    /// Where this caller's worlds lie: below a home directory that nobody else may enter, as in real life.
    pub(crate) fn base(self) -> &'static Path {
        &self.account().base
    }

    fn account(self) -> &'static Account {
        static ROOT: OnceLock<Account> = OnceLock::new();
        static ORDINARY: OnceLock<Account> = OnceLock::new();
        match self {
            Self::Root => ROOT.get_or_init(|| prepare(Path::new("/root"), 0, 0)),
            Self::User => ORDINARY.get_or_init(ordinary),
        }
    }
}

fn ordinary() -> Account {
    require_root();
    let _lock = crate::tools::lock("account");
    if lookup().is_none() {
        let made = Command::new("useradd")
            .args(["--system", "--user-group", "--create-home", "--shell", "/bin/bash"])
            .args(["--home-dir", "/home/glee-test", USER])
            .output();
        let why = made.map_or_else(|e| e.to_string(), |o| String::from_utf8_lossy(&o.stderr).into_owned());
        assert!(
            lookup().is_some(),
            "the suite needs the user `{USER}` and could not make it: {why}"
        );
    }
    let (uid, gid, home) = lookup().expect("the user was just seen");
    assert!(uid != 0, "the user `{USER}` must not be root");
    prepare(&home, uid, gid)
}

/// Fails with the reason instead of skipping: a suite that silently proves nothing is worse than none.
fn require_root() {
    let uid = fs::metadata("/proc/self").expect("read /proc/self").uid();
    assert!(
        uid == 0,
        "the suite proves each claim as root and as `{USER}`, so it must be started by root (uid is {uid})"
    );
}

fn lookup() -> Option<(u32, u32, PathBuf)> {
    let passwd = fs::read_to_string("/etc/passwd").expect("read /etc/passwd");
    let line = passwd.lines().find(|l| l.starts_with("glee-test:"))?;
    let fields: Vec<&str> = line.split(':').collect();
    Some((
        fields.get(2)?.parse().ok()?,
        fields.get(3)?.parse().ok()?,
        PathBuf::from(fields.get(5)?),
    ))
}

fn prepare(home: &Path, uid: u32, gid: u32) -> Account {
    require_root();
    let base = home.join(".glee-escape");
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&base)
        .expect("make the base directory of the worlds");
    chown(&base, Some(uid), Some(gid)).expect("give the base directory to the caller");
    Account { uid, gid, base }
}
