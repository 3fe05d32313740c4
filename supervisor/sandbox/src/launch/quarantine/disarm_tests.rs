use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use super::*;

struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("glee-disarm-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("n/.git")).unwrap();
        Self(fs::canonicalize(dir).unwrap())
    }

    fn disarm(&self) -> Disarmed {
        let mut out = Disarmed::default();
        dot_git(&self.0, Path::new("n"), &mut out);
        out
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const ARMED: &str = "[core]\n\tfsmonitor = evil\n\tbare = false\n";

#[test]
fn odd_modes_do_not_protect_a_configuration_and_stay_as_they_are() {
    for (mode, of) in [(0o555, "n/.git"), (0o311, "n/.git"), (0o000, "n/.git")] {
        let tree = Tree::new("modes");
        let config = tree.0.join("n/.git/config");
        fs::write(&config, ARMED).unwrap();
        fs::set_permissions(tree.0.join(of), Permissions::from_mode(mode)).unwrap();
        let out = tree.disarm();
        assert_eq!((out.aside, out.armed), (vec![config.clone()], vec![]));
        assert_eq!(fs::metadata(tree.0.join(of)).unwrap().mode() & 0o7777, mode);
        fs::set_permissions(tree.0.join(of), Permissions::from_mode(0o755)).unwrap();
        assert_eq!(fs::read_to_string(&config).unwrap(), "[core]\n\tbare = false\n");
    }
}

#[test]
fn names_that_are_taken_do_not_protect_a_configuration() {
    let tree = Tree::new("names");
    let config = tree.0.join("n/.git/config");
    fs::write(&config, ARMED).unwrap();
    fs::write(tree.0.join("n/.git/config.set-aside"), "").unwrap();
    assert_eq!(tree.disarm().aside, vec![config.clone()]);
    assert!(!fs::read_to_string(&config).unwrap().contains("evil"));
}

#[test]
fn nothing_is_reached_through_a_link_or_above_the_tree() {
    let tree = Tree::new("links");
    fs::write(tree.0.join("n/.git/config"), ARMED).unwrap();
    symlink("n", tree.0.join("link")).unwrap();
    let mut out = Disarmed::default();
    dot_git(&tree.0, Path::new("link"), &mut out);
    fs::create_dir(tree.0.join("inner")).unwrap();
    dot_git(&tree.0.join("inner"), Path::new("../n"), &mut out);
    assert_eq!((out.aside, out.armed), (vec![], vec![]));
}

#[test]
fn a_directory_becomes_no_git_directory() {
    let tree = Tree::new("bare");
    for dir in ["objects", "refs"] {
        fs::create_dir(tree.0.join(dir)).unwrap();
    }
    fs::write(tree.0.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let mut out = Disarmed::default();
    bare(&tree.0, &mut out);
    assert_eq!(out.aside, Vec::<PathBuf>::new(), "it has no arms");
    fs::write(tree.0.join("config"), ARMED).unwrap();
    bare(&tree.0, &mut out);
    assert_eq!(out.aside, vec![tree.0.join("HEAD")]);
}
