use std::fs;

use super::*;
use crate::sys::event;

struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("glee-locks-test-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(fs::canonicalize(dir).unwrap())
    }

    fn open(&self) -> OwnedFd {
        path::open_dir_exact(&self.0).unwrap()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_lock_tells_since_when_the_first_of_its_holders_has_it() {
    let dir = Dir::new("since");
    assert_eq!(held_since(&dir.0), None);
    let before = event::inode_clock().unwrap();
    let first = DirLock::share(dir.open().as_fd()).unwrap();
    let after = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    let second = DirLock::share(dir.open().as_fd()).unwrap();
    drop(first);
    let since = held_since(&dir.0).unwrap();
    assert!(before <= since && since <= after, "{before:?} {since:?} {after:?}");
    assert!(second.become_alone());
    second.retire();
    drop(second);
    assert_eq!(held_since(&dir.0), None);
}

#[test]
fn a_file_that_a_killed_run_left_says_nothing() {
    let dir = Dir::new("stale");
    drop(DirLock::share(dir.open().as_fd()).unwrap());
    assert_eq!(held_since(&dir.0), None);
    std::thread::sleep(Duration::from_millis(30));
    let before = event::inode_clock().unwrap();
    let lock = DirLock::share(dir.open().as_fd()).unwrap();
    assert!(held_since(&dir.0).unwrap() >= before);
    assert!(lock.become_alone());
    lock.retire();
}

#[test]
fn only_a_refusal_sends_on_to_the_next_place() {
    let refused = [libc::EACCES, libc::EPERM, libc::EROFS, libc::ENOTDIR, libc::ELOOP];
    let passing = [libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::ENOSPC, libc::ENOENT];
    assert!(refused.map(io::Error::from_raw_os_error).iter().all(is_refusal));
    assert!(!passing.map(io::Error::from_raw_os_error).iter().any(is_refusal));
    assert!(is_refusal(&io::ErrorKind::Unsupported.into()));
}
