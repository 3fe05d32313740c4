use std::os::unix::fs::symlink;

use super::*;

struct Place(PathBuf);

impl Place {
    fn new(name: &str, files: &[&str]) -> Self {
        let path = std::env::temp_dir().join(format!("glee-aside-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        for file in files {
            fs::create_dir_all(path.join(file).parent().unwrap()).unwrap();
            fs::write(path.join(file), "").unwrap();
        }
        Self(fs::canonicalize(path).unwrap())
    }

    fn forms(&self, path: &str) -> Vec<String> {
        let forms = Aside::default().forms(&self.0.join(path), &self.0);
        let mut names: Vec<String> = forms
            .iter()
            .map(|form| form.strip_prefix(&self.0).unwrap().display().to_string())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_name_on_the_way_may_have_been_set_aside() {
    let place = Place::new(
        "way",
        &[
            "g/hooks/pre-push",
            "g/hooks/pre-push.set-aside",
            "g/hooks.set-aside/pre-push",
            "g/hooks.set-aside/other",
            "g.set-aside-00000000000000aa/hooks.set-aside/pre-push.set-aside.lock",
            "g/hook.set-aside/pre-push",
        ],
    );
    let found = [
        "g.set-aside-00000000000000aa/hooks.set-aside/pre-push.set-aside.lock",
        "g/hooks.set-aside/pre-push",
        "g/hooks/pre-push.set-aside",
    ];
    assert_eq!(place.forms("g/hooks/pre-push"), found);
    assert_eq!(place.forms("g/hooks/none"), Vec::<String>::new());
}

#[test]
fn a_link_that_was_set_aside_leads_where_it_did() {
    let place = Place::new("link", &["real/pre-push", "g/x"]);
    symlink("../real", place.0.join("g/hooks.set-aside")).unwrap();
    assert_eq!(place.forms("g/hooks/pre-push"), ["real/pre-push"]);
}
