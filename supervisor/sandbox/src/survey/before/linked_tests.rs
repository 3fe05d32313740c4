use std::process::Command;

use super::*;

struct Project(PathBuf);

impl Project {
    fn new(name: &str, script: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("glee-linked-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        let this = Self(fs::canonicalize(dir).unwrap());
        let ready = "set -e; new() { git init -q $1; \
            git -C $1 -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m a; }; new .; ";
        let made = Command::new("sh")
            .args(["-c", &format!("{ready}{script}")])
            .current_dir(&this.0)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        this
    }

    fn find(&self, nested: &[&str]) -> Linked {
        self.find_beside(nested, None)
    }

    /// While another run has been at work since then.
    fn find_beside(&self, nested: &[&str], since: Option<Duration>) -> Linked {
        let nested: Vec<PathBuf> = nested.iter().map(|dir| self.0.join(dir)).collect();
        let repositories: Vec<Repository> = nested
            .iter()
            .filter_map(|dir| {
                git::git_dir_of(dir).map(|git| Repository {
                    work: Some(dir.clone()),
                    index: git.join("index"),
                })
            })
            .collect();
        let trees = std::slice::from_ref(&self.0);
        find(trees, &[], &nested, &repositories, Shade { trees, since })
    }

    fn unlinked(&self, nested: &[&str]) -> Vec<PathBuf> {
        let within = |git: PathBuf| git.strip_prefix(&self.0).unwrap().to_owned();
        self.find(nested).unlinked.into_iter().map(within).collect()
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

#[test]
fn what_the_project_links_and_what_that_links_is_linked() {
    let project = Project::new("chain", "new a; new a/b; git -C a add b; git add a");
    assert_eq!(project.unlinked(&["a", "a/b"]), paths(&[]));
}

#[test]
fn a_repository_that_nothing_links_links_nothing() {
    let project = Project::new("beside", "new a; new a/b; git -C a add b");
    assert_eq!(project.unlinked(&["a", "a/b"]), paths(&["a/.git", "a/b/.git"]));
    let index = project.0.join("a/.git/index");
    let named = project.find(&["a", "a/b"]).named;
    assert_eq!(named.get(&index), Some(&BTreeSet::from([project.0.join("a/b")])));
}

#[test]
fn an_index_that_does_not_tell_proves_nothing() {
    let project = Project::new("garbage", "new a; new b; echo garbage > b/.git/index");
    assert_eq!(project.unlinked(&["a", "b"]), paths(&["a/.git", "b/.git"]));
    let project = Project::new("garbage-linked", "new a; new b; git add b; echo garbage > b/.git/index");
    assert_eq!(project.unlinked(&["a", "b"]), paths(&["a/.git"]));
}

#[test]
fn a_pointer_into_own_modules_is_linked_and_one_into_those_of_others_is_not() {
    let make = "mkdir -p .git/modules a/.git/modules x y; new z; cp -r z/.git .git/modules/m; new a; mkdir -p a/.git/modules; \
        mv z/.git a/.git/modules/m; echo 'gitdir: ../.git/modules/m' > x/.git; echo 'gitdir: ../a/.git/modules/m' > y/.git";
    let project = Project::new("modules", make);
    assert_eq!(project.unlinked(&["a", "x", "y"]), paths(&["a/.git", "y/.git"]));
}

#[test]
fn what_was_linked_while_another_run_was_at_work_was_not_linked_before() {
    let project = Project::new("beside-a-run", "new a; git add a");
    let unlinked = |since| project.find_beside(&["a"], since).unlinked.len();
    let (begun, later) = (Duration::ZERO, Duration::from_secs(u64::from(u32::MAX)));
    assert_eq!([None, Some(begun), Some(later)].map(unlinked), [0, 1, 0]);
}

#[test]
fn an_index_that_another_run_wrote_has_named_nothing() {
    let project = Project::new("named-beside-a-run", "new a; new a/b; git -C a add b");
    let found = project.find_beside(&["a", "a/b"], Some(Duration::ZERO));
    assert_eq!(found.named.get(&project.0.join("a/.git/index")), Some(&BTreeSet::new()));
    let young = ["a/.git", "a/b/.git"].map(|git| project.0.join(git));
    assert_eq!(found.young, BTreeSet::from(young));
}
