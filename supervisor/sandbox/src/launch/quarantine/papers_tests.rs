use std::fs;
use std::os::unix::fs::symlink;

use super::*;

struct Git(PathBuf);

impl Git {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("glee-papers-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        for sub in ["refs/heads/a", "worktrees/w/rebase-merge", "rebase-apply", "logs"] {
            fs::create_dir_all(dir.join(".git").join(sub)).unwrap();
        }
        let git = Self(fs::canonicalize(dir).unwrap());
        git.write("HEAD", "ref: refs/heads/main\n");
        git.write("refs/heads/main", &format!("{}\n", "1".repeat(40)));
        git
    }

    fn write(&self, at: &str, text: &str) {
        fs::write(self.0.join(".git").join(at), text).unwrap();
    }

    fn aside(&self, since: Option<Since>) -> Vec<String> {
        let git = self.0.join(".git");
        let mut out = Disarmed::default();
        let before = Before {
            since,
            ..Before::NOTHING
        };
        of_git_dir(&git, Some(self.0.clone()), (before, None), &mut out);
        assert_eq!(out.armed, Vec::<PathBuf>::new());
        let names = out
            .aside
            .iter()
            .map(|path| path.strip_prefix(&git).unwrap().display().to_string());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Git {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_reference_that_leads_to_another_file_of_gits_is_set_aside() {
    let git = Git::new("symref");
    git.write("ORIG_HEAD", "ref: commondir");
    git.write("COMMIT_EDITMSG", "ref: commondir");
    git.write("refs/heads/a/b", "ref:\t\n config\n");
    git.write("refs/heads/c", "ref: refs/heads/main\n");
    git.write("refs/heads/d", "ref: refs/../config\n");
    git.write("worktrees/w/HEAD", "ref:hooks/x\n");
    git.write("long", &format!("ref:{}config", " ".repeat(5000)));
    assert_eq!(
        git.aside(None),
        [
            "ORIG_HEAD",
            "long",
            "refs/heads/a/b",
            "refs/heads/d",
            "worktrees/w/HEAD"
        ]
    );
    assert!(!git.0.join(".git/ORIG_HEAD").exists() && git.0.join(".git/ORIG_HEAD.set-aside.lock").exists());
    assert_eq!(git.aside(None), Vec::<String>::new());
}

#[test]
fn what_was_there_before_is_not_read_again_unless_it_was_moved() {
    let git = Git::new("old");
    git.write("refs/heads/a/b", "ref: config\n");
    git.write("OLD", "ref: config\n");
    std::thread::sleep(Duration::from_millis(50));
    let since = Since::now();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(git.aside(Some(since)), Vec::<String>::new());
    fs::rename(git.0.join(".git/refs/heads/a"), git.0.join(".git/refs/heads/z")).unwrap();
    assert_eq!(git.aside(Some(since)), ["refs/heads/z/b"]);
    git.write("refs/heads/main", "ref: config\n");
    git.write("NEW", "ref: config\n");
    // A new name in its directory, and what lies there is read.
    assert_eq!(git.aside(Some(since)), ["NEW", "OLD", "refs/heads/main"]);
}

#[test]
fn a_file_behind_a_link_is_not_remembered() {
    let git = Git::new("rerere");
    let record = |name: &str| format!("{}\t{name}\0", "1".repeat(40));
    symlink("/", git.0.join("l")).unwrap();
    fs::create_dir(git.0.join("d")).unwrap();
    symlink("/etc/passwd", git.0.join("d/l")).unwrap();
    git.write("MERGE_RR", &(record("f") + &record("d/f")));
    assert_eq!(git.aside(None), Vec::<String>::new());
    for name in ["l/etc/passwd", "d/l", "../x", "d/../../x"] {
        git.write("MERGE_RR", &record(name));
        assert_eq!(git.aside(None), ["MERGE_RR"], "{name}");
    }
}

#[test]
fn steps_of_an_operation_are_judged_one_by_one() {
    let git = Git::new("steps");
    git.write("rebase-apply/next", "$(id)\n");
    git.write("rebase-apply/last", "3\n");
    git.write("worktrees/w/rebase-merge/git-rebase-todo", "exec id\n");
    git.write("worktrees/w/rebase-merge/end", "3\n");
    assert_eq!(
        git.aside(None),
        ["rebase-apply/next", "worktrees/w/rebase-merge/git-rebase-todo"]
    );
}
