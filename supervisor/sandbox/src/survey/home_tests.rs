use super::*;

#[test]
fn the_toolchains_are_those_of_the_profile() {
    let found: Vec<&str> = toolchains().collect();
    assert!(
        found.len() > 30
            && [".cargo", ".nvm", "go", ".local/pipx"]
                .iter()
                .all(|name| found.contains(name))
    );
}

/// Beside a project, what a home keeps is asked for only where links lead.
#[test]
fn of_a_home_apart_only_links_into_a_tree_count() {
    let base = std::env::temp_dir().join(format!("glee-home-{}", std::process::id()));
    let _ = fs::remove_dir_all(&base);
    fs::create_dir_all(base.join("tree/fish")).unwrap();
    let base = fs::canonicalize(base).unwrap();
    let (home, tree) = (base.join("home"), base.join("tree"));
    fs::create_dir_all(home.join(".config/git")).unwrap();
    fs::create_dir_all(home.join(".config/systemd/user")).unwrap();
    fs::write(home.join(".bashrc"), "").unwrap();
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, home.join(at)).unwrap();
    let found = |trees: &[PathBuf]| names(&BTreeSet::from([home.as_path()]), Some(&home), trees);
    link("/etc/zshrc", ".zshrc");
    link("../../../../tree/x.service", ".config/systemd/user/x.service");
    assert_eq!(found(std::slice::from_ref(&tree)), Vec::<PathBuf>::new());
    link("../../tree/fish", ".config/fish");
    link("../../../tree/gitconfig", ".config/git/config");
    let expected = [
        ".config/fish",
        ".config/git/config",
        ".config/git/config",
        ".config/systemd/user/x.service",
    ];
    let mut all = found(std::slice::from_ref(&tree));
    all.sort();
    assert_eq!(all, expected.map(|name| home.join(name)));
    assert_eq!(found(&[]), Vec::<PathBuf>::new());
    fs::remove_dir_all(&base).unwrap();
}
