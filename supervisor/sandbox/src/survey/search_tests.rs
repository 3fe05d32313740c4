use std::os::unix::fs::symlink;

use super::*;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("glee-search-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(fs::canonicalize(path).unwrap())
    }

    fn file(&self, path: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    fn link(&self, target: &str, at: &str) {
        symlink(target, self.0.join(at)).unwrap();
    }

    /// The links without which something would not be hidden.
    fn held(&self, pattern: &str) -> Vec<String> {
        let names = self.looked(pattern).held;
        names
            .iter()
            .map(|path| path.strip_prefix(&self.0).unwrap().display().to_string())
            .collect()
    }

    fn looked(&self, pattern: &str) -> Looked {
        let glob = Glob::new(pattern).unwrap();
        let granted = [self.0.clone()];
        let search = Search {
            glob: &glob,
            base: &self.0,
            granted: &granted,
        };
        let mut looked = Looked::default();
        search.look(&self.0, Path::new(""), &mut looked);
        looked
    }

    /// What is hidden, and how many directories were listed for it.
    fn hidden(&self, pattern: &str) -> (Vec<String>, usize) {
        let looked = self.looked(pattern);
        let mut found: Vec<String> = looked
            .hidden
            .iter()
            .map(|hidden| match hidden {
                Hidden::Present { path, .. } => path.strip_prefix(&self.0).unwrap_or(path).display().to_string(),
                Hidden::Absent { .. } => unreachable!("a search finds what is there"),
            })
            .collect();
        found.sort();
        found.dedup();
        (found, looked.dirs.len())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_a_link_leads_to_is_hidden_by_the_links_name() {
    let at = Place::new("names");
    at.file("vault/token");
    at.file("app/x");
    at.file("conf/production");
    at.link("../vault", "app/secrets");
    at.link("conf/production", ".env");
    assert_eq!(at.hidden("**/secrets/**").0, ["vault/token"]);
    assert_eq!(at.hidden("**/secrets/*").0, ["vault/token"]);
    assert_eq!(at.hidden("app/*/token").0, ["vault/token"]);
    assert_eq!(at.hidden("**/secrets").0, ["app/secrets", "vault"]);
    assert_eq!(at.hidden("**/.env").0, [".env", "conf/production"]);
    assert_eq!(
        at.hidden("**/{.env,token}").0,
        [".env", "conf/production", "vault/token"]
    );
}

#[test]
fn links_in_a_circle_end() {
    let at = Place::new("circle");
    at.file("a/b/secrets/token");
    at.link("..", "a/b/up");
    at.link(".", "a/self");
    at.link("loop", "loop");
    assert_eq!(at.hidden("**/secrets/*").0, ["a/b/secrets/token"]);
    assert_eq!(at.hidden("a/*/secrets/token").0, ["a/b/secrets/token"]);
    // Here every round has another name for the pattern: the links are hidden where it becomes too much.
    assert_eq!(at.hidden("a/**/b/*/token").0, ["a/b/secrets/token", "a/b/up", "a/self"]);
}

#[test]
fn links_to_what_is_seen_anyway_cost_nothing() {
    let at = Place::new("cost");
    for i in 0..20 {
        at.file(&format!("store/{i}/lib/x"));
        fs::create_dir_all(at.0.join(format!("store/{i}/deps"))).unwrap();
        for j in 0..20 {
            at.link(&format!("../../{j}/lib"), &format!("store/{i}/deps/lib{j}"));
        }
    }
    assert_eq!(at.hidden("**/.env"), (Vec::new(), 62));
}

#[test]
fn a_link_hides_nothing_that_must_stay() {
    let at = Place::new("stay");
    at.file("app/x");
    at.link("..", "app/secrets");
    at.link("/usr", "app/.env");
    assert_eq!(at.hidden("**/secrets").0, ["app/secrets"]);
    assert_eq!(at.hidden("**/.env").0, ["app/.env"]);
}

#[test]
fn links_are_held_without_which_something_would_be_seen() {
    let at = Place::new("held");
    at.file("vault/token");
    at.file("app/deep/x");
    at.file("plain/x");
    at.link("../../vault", "app/deep/secrets");
    at.link("vault", "other");
    at.link("plain", "nothing");
    at.link("y", ".env");
    at.link("app/../vault/token", "y");
    assert_eq!(at.held("**/.env"), [".env", "app", "y"]);
    assert_eq!(at.held("**/secrets/*"), ["app/deep/secrets"]);
    assert_eq!(at.held("*/token"), Vec::<String>::new());
    assert_eq!(at.held("o*/token"), ["other"]);
    assert_eq!(at.held("nothing/*"), ["nothing"]);
    assert_eq!(at.held("**/*.pem"), Vec::<String>::new());
}
