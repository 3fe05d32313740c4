//! One attempt's piece of the host: a home, a project in it, places outside, secrets, victims and listeners.
//!
//! Owned by the caller, made afresh for each run, removed with everything in it when dropped. `GLEE_KEEP=1` keeps the files.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use crate::{Caller, Lab, Listener, Snapshot, attack_tool};

/// Templates name its parts: `@HOME`, `@PROJECT` (in the home), `@OUT` (a directory that no policy grants), `@ID` (the
/// nonce), `@A` (the attack binary), `@UID`, `@PIDNS` (the host's pid namespace) and whatever `define` added.
#[derive(Debug)]
pub struct World {
    caller: Caller,
    root: PathBuf,
    nonce: String,
    secret: String,
    words: RefCell<BTreeMap<String, String>>,
    strays: RefCell<Vec<PathBuf>>,
    mounts: RefCell<Vec<PathBuf>>,
    pub(crate) victims: RefCell<Vec<Child>>,
    pub(crate) listeners: RefCell<Vec<Listener>>,
    watched: RefCell<BTreeMap<PathBuf, Snapshot>>,
    pub(crate) patience: Cell<Duration>,
    pub(crate) lab: OnceCell<Lab>,
}

impl World {
    pub fn new(caller: Caller) -> Self {
        let nonce = random();
        let root = caller.base().join(&nonce);
        let this = Self {
            caller,
            nonce,
            secret: random(),
            words: RefCell::default(),
            strays: RefCell::default(),
            mounts: RefCell::default(),
            victims: RefCell::default(),
            listeners: RefCell::default(),
            watched: RefCell::default(),
            patience: Cell::new(Duration::from_millis(300)),
            lab: OnceCell::new(),
            root,
        };
        for dir in [this.root.clone(), this.home(), this.project(), this.outside()] {
            this.own_dir(&dir);
        }
        let words = [
            ("HOME", this.home().display().to_string()),
            ("PROJECT", this.project().display().to_string()),
            ("OUT", this.outside().display().to_string()),
            ("ID", this.nonce.clone()),
            ("A", attack_tool().display().to_string()),
            ("UID", caller.uid().to_string()),
            (
                "PIDNS",
                fs::read_link("/proc/self/ns/pid")
                    .expect("the pid namespace")
                    .display()
                    .to_string(),
            ),
        ];
        for (word, value) in words {
            this.define(word, value);
        }
        this
    }

    pub fn caller(&self) -> Caller {
        self.caller
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    pub fn outside(&self) -> PathBuf {
        self.root.join("outside")
    }

    /// Unique to this world: in the arguments of each of its processes, and in what its attacks send.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// What must never come out. It is in no argument and in no script, only in the places that `secret_at` names.
    pub fn secret(&self) -> &str {
        &self.secret
    }

    /// Adds a word for templates: `define("PORT", 80)` makes `@PORT` mean 80.
    pub fn define(&self, word: &str, value: impl ToString) {
        self.words.borrow_mut().insert(word.to_owned(), value.to_string());
    }

    /// Replaces each `@WORD`, longer words first.
    pub fn fill(&self, template: &str) -> String {
        let words = self.words.borrow();
        let mut order: Vec<_> = words.iter().collect();
        order.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        order.iter().fold(template.to_owned(), |text, (word, value)| {
            text.replace(&format!("@{word}"), value)
        })
    }

    pub fn path(&self, template: &str) -> PathBuf {
        PathBuf::from(self.fill(template))
    }

    /// A directory of the caller's, with its parents.
    pub fn dir(&self, template: &str) -> PathBuf {
        let path = self.path(template);
        let missing: Vec<&Path> = path
            .ancestors()
            .take_while(|a| fs::symlink_metadata(a).is_err())
            .collect();
        for dir in missing.iter().rev() {
            self.own_dir(dir);
        }
        if let Some(topmost) = missing.last() {
            self.stray(topmost);
        }
        path
    }

    fn own_dir(&self, dir: &Path) {
        fs::DirBuilder::new()
            .mode(0o755)
            .create(dir)
            .unwrap_or_else(|e| panic!("make {}: {e}", dir.display()));
        self.own(dir);
    }

    pub(crate) fn own(&self, path: &Path) {
        lchown(path, Some(self.caller.uid()), Some(self.caller.gid())).expect("give a path to the caller");
    }

    /// What lies outside the world's own directory is remembered, to be removed.
    pub(crate) fn stray(&self, path: &Path) {
        if !path.starts_with(&self.root) {
            self.strays.borrow_mut().push(path.to_path_buf());
        }
    }

    /// A file of the caller's, mode 0644, with its parent directories.
    pub fn file(&self, template: &str, content: &str) -> PathBuf {
        let path = self.path(template);
        self.dir(&path.parent().expect("a file has a parent").display().to_string());
        let fresh = fs::symlink_metadata(&path).is_err();
        fs::write(&path, content).unwrap_or_else(|e| panic!("write {}: {e}", path.display()));
        self.own(&path);
        if fresh {
            self.stray(&path);
        }
        path
    }

    /// An executable script of the caller's.
    pub fn program(&self, template: &str, content: &str) -> PathBuf {
        let path = self.file(template, content);
        self.mode(template, 0o755);
        path
    }

    pub fn secret_at(&self, template: &str) -> PathBuf {
        self.file(template, &format!("the secret is {}\n", self.secret))
    }

    /// Shows what lies at one place at another one as well, by the machine's administrator's word.
    pub fn mount(&self, from: &str, at: &str) {
        let (from, at) = (self.path(from), self.path(at));
        let done = Command::new("mount").arg("--bind").arg(from).arg(&at).status();
        assert!(done.is_ok_and(|status| status.success()), "{}", at.display());
        self.mounts.borrow_mut().push(at);
    }

    /// Takes those away again.
    pub(crate) fn unmount(&self) {
        for at in self.mounts.take().iter().rev() {
            let _ = Command::new("umount").arg("-l").arg(at).status();
        }
    }

    pub fn link(&self, target: &str, at: &str) {
        let at = self.path(at);
        symlink(self.fill(target), &at).expect("make a symlink");
        self.own(&at);
        self.stray(&at);
    }

    pub fn mode(&self, template: &str, mode: u32) {
        fs::set_permissions(self.path(template), fs::Permissions::from_mode(mode)).expect("set a mode");
    }

    /// Gives a path to another user, as the host's administrator would.
    pub fn give(&self, template: &str, uid: u32) {
        chown(self.path(template), Some(uid), Some(uid)).expect("give a path away");
    }

    /// Remembers how a path looks now.
    pub fn watch(&self, template: &str) {
        let path = self.path(template);
        let now = Snapshot::of(&path);
        self.watched.borrow_mut().insert(path, now);
    }

    /// How a watched path has changed since.
    pub fn change_of(&self, template: &str) -> Option<String> {
        let path = self.path(template);
        let watched = self.watched.borrow();
        let before = watched
            .get(&path)
            .unwrap_or_else(|| panic!("`{}` was never watched", path.display()));
        before
            .changed_to(&Snapshot::of(&path))
            .map(|how| format!("{} {how}", path.display()))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for victim in self.victims.borrow_mut().iter_mut() {
            let _ = victim.kill();
            let _ = victim.wait();
        }
        self.end_processes();
        self.unmount();
        if std::env::var_os("GLEE_KEEP").is_some() {
            eprintln!("kept {}", self.root.display());
            return;
        }
        for path in self.strays.borrow().iter().chain([&self.root]) {
            let is_dir = fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
            let _ = if is_dir {
                fs::remove_dir_all(path)
            } else {
                fs::remove_file(path)
            };
        }
    }
}

/// 128 bits as hexadecimal digits.
fn random() -> String {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut f| f.read_exact(&mut bytes))
        .expect("read /dev/urandom");
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
