use std::os::unix::fs::symlink;

use super::*;

struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("glee-islands-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Self(fs::canonicalize(dir).unwrap())
    }

    fn islands(&self) -> Vec<PathBuf> {
        let trees = [self.0.clone()];
        let found = find(Area {
            trees: &trees,
            git: &[],
            nested: &[],
            bare: &[],
            home: None,
            own: &Named::default(),
            more: &[],
            held: &[],
            here: &[],
            config: None,
            state: None,
            unprotected: &BTreeSet::new(),
        });
        let relative = |island: Island| island.path.strip_prefix(&self.0).unwrap().to_owned();
        found.into_iter().map(relative).collect()
    }

    fn has(&self, path: &str) -> bool {
        self.islands().contains(&PathBuf::from(path))
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn links_in_a_circle_come_to_an_end() {
    let tree = Tree::new("circle");
    symlink("loop", tree.0.join(".codex")).unwrap();
    symlink(".codex", tree.0.join("loop")).unwrap();
    assert!(tree.has(".codex") && tree.has("loop"));
}

#[test]
fn what_a_link_leads_to_is_protected_with_every_link_on_the_way() {
    let tree = Tree::new("way");
    fs::create_dir_all(tree.0.join("real/d")).unwrap();
    symlink("real", tree.0.join("dir")).unwrap();
    symlink("dir/d", tree.0.join(".claude")).unwrap();
    symlink("absent/deep/x", tree.0.join(".idea")).unwrap();
    symlink(".", tree.0.join(".vscode")).unwrap();
    for path in [".claude", "dir", "real/d", ".idea", "absent", ".vscode", "tasks.json"] {
        assert!(tree.has(path), "{path}: {:?}", tree.islands());
    }
}

#[test]
fn submodules_lie_in_the_tree() {
    let tree = Tree::new("modules");
    fs::create_dir_all(tree.0.join("a/b")).unwrap();
    symlink("a", tree.0.join("link")).unwrap();
    let list = "[submodule \"a\"]\n path = ../x\n path = /etc\n path = link/b\n path = a/../a\n path = a/b # ours\n";
    fs::write(tree.0.join(".gitmodules"), list).unwrap();
    assert_eq!(submodules(&tree.0), [tree.0.join("a/b")]);
}
