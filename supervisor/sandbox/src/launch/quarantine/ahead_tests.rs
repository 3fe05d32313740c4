use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::Command;
use std::time::Duration;

use super::*;

struct Repo(PathBuf);

impl Repo {
    /// A repository with an index that is worth reading ahead, on a disk.
    fn new(name: &str) -> Self {
        let dir = PathBuf::from(format!("/var/tmp/glee-ahead-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let this = Self(dir);
        this.git(&["init", "-q"]);
        for number in 0..1200 {
            fs::write(this.0.join(format!("{number}-{}", "x".repeat(60))), "").unwrap();
        }
        this.git(&["add", "."]);
        std::thread::sleep(Duration::from_millis(50));
        this
    }

    fn git(&self, args: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let mut git = Command::new("git");
        assert!(
            git.current_dir(&self.0)
                .args(identity)
                .args(args)
                .output()
                .unwrap()
                .status
                .success(),
            "{args:?}"
        );
    }

    fn index(&self) -> PathBuf {
        self.0.join(".git/index")
    }

    fn ahead(&self) -> Ahead {
        let repository = Repository {
            work: None,
            index: self.index(),
        };
        Ahead::read(&[repository], Since::now(), None)
    }
}

impl Drop for Repo {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_index_that_nobody_touched_is_not_read_again() {
    let repo = Repo::new("same");
    assert!(fs::metadata(repo.index()).unwrap().len() > LARGE);
    assert_eq!(repo.ahead().unchanged(&repo.index()), Some(Vec::new()));
}

#[test]
fn a_new_gitlink_is_seen() {
    let repo = Repo::new("link");
    let ahead = repo.ahead();
    repo.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        "160000,1111111111111111111111111111111111111111,sub",
    ]);
    assert_eq!(ahead.unchanged(&repo.index()), None);
    assert_eq!(ahead.gitlinks(&repo.index()), Some(vec![PathBuf::from("sub")]));
}

#[test]
fn a_byte_changed_in_place_under_a_forged_time_is_seen() {
    let repo = Repo::new("byte");
    let ahead = repo.ahead();
    let file = fs::OpenOptions::new().write(true).open(repo.index()).unwrap();
    let before = file.metadata().unwrap();
    // The mode of the first entry: a regular file becomes a gitlink.
    file.write_all_at(&0o160_000_u32.to_be_bytes(), 12 + 24).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    assert_eq!(
        (file.metadata().unwrap().mtime(), before.len()),
        (before.mtime(), file.metadata().unwrap().len())
    );
    assert_eq!(ahead.unchanged(&repo.index()), None);
    assert_eq!(ahead.gitlinks(&repo.index()).map(|links| links.len()), Some(1));
}

#[test]
fn another_file_under_the_name_is_seen_whatever_its_age() {
    let repo = Repo::new("swap");
    let other = Repo::new("swapped");
    let ahead = repo.ahead();
    other.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        "160000,1111111111111111111111111111111111111111,sub",
    ]);
    std::thread::sleep(Duration::from_millis(50));
    fs::rename(repo.0.join(".git"), repo.0.join("away")).unwrap();
    fs::rename(other.0.join(".git"), repo.0.join(".git")).unwrap();
    assert_eq!(ahead.gitlinks(&repo.index()), Some(vec![PathBuf::from("sub")]));
}

#[test]
fn what_was_touched_in_the_tick_of_the_beginning_is_read_again() {
    let repo = Repo::new("tick");
    repo.git(&["update-index", "--force-remove", "nothing"]);
    fs::OpenOptions::new()
        .write(true)
        .open(repo.index())
        .unwrap()
        .set_modified(std::time::SystemTime::now())
        .unwrap();
    let since = Since::now();
    let repository = Repository {
        work: None,
        index: repo.index(),
    };
    let ahead = Ahead::read(&[repository], since, None);
    let stamped = fs::metadata(repo.index()).unwrap();
    let stamped = Duration::new(stamped.ctime() as u64, stamped.ctime_nsec() as u32);
    assert_eq!(ahead.unchanged(&repo.index()).is_none(), since.covers(stamped));
}
