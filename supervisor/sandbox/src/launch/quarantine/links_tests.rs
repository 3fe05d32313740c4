use std::os::unix::fs::symlink;

use super::*;

struct Git(PathBuf);

impl Git {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("glee-links-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        for sub in [
            "logs/refs/heads",
            "refs/heads",
            "objects/info",
            "objects/ab",
            "hooks",
            "worktrees/w",
        ] {
            fs::create_dir_all(dir.join(sub)).unwrap();
        }
        Self(fs::canonicalize(dir).unwrap())
    }

    fn link(&self, at: &str, target: &str) {
        let _ = fs::remove_file(self.0.join(at));
        symlink(target, self.0.join(at)).unwrap();
    }

    fn repositories(&self) -> Vec<Repository> {
        let index = |index: &str| Repository {
            work: None,
            index: self.0.join(index),
        };
        vec![index("index"), index("worktrees/w/index")]
    }

    fn before(&self) -> BTreeMap<PathBuf, PathBuf> {
        before(&self.repositories(), std::slice::from_ref(&self.0))
    }

    fn aside(&self, old: &BTreeMap<PathBuf, PathBuf>) -> Vec<PathBuf> {
        let mut out = Disarmed::default();
        aside(&self.0, |at, target| old.get(at).is_some_and(|b| b == target), &mut out);
        assert_eq!(out.armed, Vec::<PathBuf>::new());
        let mut names: Vec<PathBuf> = out
            .aside
            .iter()
            .map(|path| path.strip_prefix(&self.0).unwrap().to_owned())
            .collect();
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
fn links_that_were_there_stay_unless_they_lead_elsewhere() {
    let git = Git::new("old");
    git.link("packed-refs", "../other/packed-refs");
    git.link("logs/refs/x", "y");
    git.link("info", "../other/info");
    let old = git.before();
    assert_eq!(old.len(), 3);
    assert_eq!(git.aside(&old), Vec::<PathBuf>::new());
    git.link("info", "../evil");
    git.link("logs/HEAD", "y");
    assert_eq!(git.aside(&old), [PathBuf::from("info"), "logs/HEAD".into()]);
}

#[test]
fn new_links_are_set_aside_wherever_git_writes_and_names_of_branches_stay() {
    let git = Git::new("new");
    let made = [
        "COMMIT_EDITMSG",
        "logs/refs/heads/main",
        "objects/cd",
        "objects/info/commit-graph",
        "objects/pack",
        "refs/heads/main",
        "worktrees/w/ORIG_HEAD",
    ];
    for at in made {
        git.link(at, "config");
    }
    git.link("refs/heads/up", "refs/../../config");
    git.link("HEAD", "refs/heads/main");
    git.link("refs/heads/sym", "refs/heads/main");
    git.link("objects/ab/object", "x");
    git.link("hooks/pre-commit", "x");
    let mut expected: Vec<PathBuf> = made.iter().map(PathBuf::from).collect();
    expected.push("refs/heads/up".into());
    expected.sort();
    assert_eq!(git.aside(&BTreeMap::new()), expected);
}

#[test]
fn no_name_is_too_long_to_be_set_aside() {
    let git = Git::new("long");
    let long = |length: usize| format!("logs/refs/heads/{}{}", "x".repeat(length % 2), "é".repeat(length / 2));
    let mut made = [244, 245, 246, 250, 255].map(long).to_vec();
    // What a cut name would be is taken.
    let taken = format!("logs/refs/heads/{}.set-aside", "a".repeat(245));
    fs::write(git.0.join(&taken), "taken").unwrap();
    made.push(format!("logs/refs/heads/{}", "a".repeat(250)));
    for at in &made {
        git.link(at, "config");
    }
    let mut expected: Vec<PathBuf> = made.iter().map(PathBuf::from).collect();
    expected.sort();
    assert_eq!(git.aside(&BTreeMap::new()), expected);
    assert!(made.iter().all(|at| git.0.join(at).symlink_metadata().is_err()));
    assert_eq!(fs::read_to_string(git.0.join(taken)).unwrap(), "taken");
    assert_eq!(
        fs::read_dir(git.0.join("logs/refs/heads")).unwrap().count(),
        made.len() + 1
    );
}

#[test]
fn a_part_of_a_git_directory_is_looked_at_with_the_whole() {
    let git = Git::new("parts");
    let repositories = git.repositories();
    assert_eq!(places(&repositories, std::slice::from_ref(&git.0)), [git.0.as_path()]);
    assert_eq!(places(&repositories, &[]), Vec::<&Path>::new());
}
