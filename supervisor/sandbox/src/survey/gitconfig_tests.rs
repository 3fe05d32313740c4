use super::*;

fn values(text: &str) -> Vec<(String, String, String)> {
    let text_of = |value: Vec<u8>| String::from_utf8(value).unwrap();
    parse(text.as_bytes())
        .into_iter()
        .map(|s| (s.section, s.key, text_of(s.value)))
        .collect()
}

#[test]
fn a_value_is_what_git_reads() {
    for (text, expected) in [
        ("[core]\n\thooksPath = .githooks\n", ".githooks"),
        ("[core]\n\thooksPath = .githooks # ours\n", ".githooks"),
        ("[core]\n\thooksPath = .githooks;ours\n", ".githooks"),
        ("[core]\n\thooksPath=\".git\"hooks\n", ".githooks"),
        ("[core]\n\thooksPath = \"a # b\" \n", "a # b"),
        ("[core]\n\thooksPath = .git\\\nhooks\n", ".githooks"),
        ("[core]\r\n\thooksPath = .githooks\r\n", ".githooks"),
        ("[core] ; ]\n\thooksPath = .githooks\n", ".githooks"),
        ("[CORE]hOOKSpATH=.githooks", ".githooks"),
        ("\u{feff}[core]\n# [x]\n\thooksPath = .githooks", ".githooks"),
        ("[core]\n\thooksPath = a\\\\b\\\"c\n", "a\\b\"c"),
        ("[core]\n\thooksPath = a b\t\n", "a b"),
    ] {
        let wanted = ("core".to_owned(), "hookspath".to_owned(), expected.to_owned());
        assert_eq!(values(text), [wanted], "{text:?}");
    }
}

#[test]
fn a_subsection_does_not_hide_its_section() {
    for text in [
        "[includeIf \"gitdir:/a]\\\"b\"]\n\tpath = x\n",
        "[includeIf.gitdir]\n\tpath = x\n",
        "[includeIf \"x\"] path = x\n",
    ] {
        let wanted = ("includeif".to_owned(), "path".to_owned(), "x".to_owned());
        assert_eq!(values(text), [wanted], "{text:?}");
    }
}

#[test]
fn a_key_without_a_value_and_nonsense_do_not_end_the_reading() {
    let text = "[core]\n\tbare\n\t???\n\tkey ! = x\n\thooksPath = y\n";
    let wanted = ("core".to_owned(), "hookspath".to_owned(), "y".to_owned());
    assert_eq!(values(text), [wanted]);
}

#[test]
fn includes_are_followed_and_a_circle_ends() {
    let dir = std::env::temp_dir().join(format!("glee-gitconfig-{}", std::process::id()));
    fs::create_dir_all(dir.join("sub")).unwrap();
    fs::write(
        dir.join("a"),
        "[include]\n\tpath = sub/b\n\tpath = ~/c\n[core]\n\tworktree = ..\n",
    )
    .unwrap();
    fs::write(
        dir.join("sub/b"),
        "[core]\n\thooksPath = h\n[init]\n\ttemplateDir = ~/t\n\ttemplateDir =\n[include]\n\tpath = ../a\n\tpath = d\n",
    )
    .unwrap();
    let named = read([dir.join("a")], Some(Path::new("/home/ada")));
    let files = ["sub/b", "sub/../a", "sub/d"].map(|name| dir.join(name));
    assert_eq!(named.hooks[0], Path::new("h"));
    assert_eq!(named.templates[0], Path::new("/home/ada/t"));
    assert!(files.iter().all(|file| named.files.contains(file)), "{named:?}");
    assert!(named.files.contains(&PathBuf::from("/home/ada/c")));
    assert_eq!(named.worktree, Some(PathBuf::from("..")));
    fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn subsections_are_named_in_quotes_or_after_a_dot() {
    let text = b"[url \"a\\\"/B\"]\nk = 1\n[branch.Main]\nk = 2\n[core]\nk = 3\n";
    let names: Vec<_> = parse(text).into_iter().map(|setting| setting.subsection).collect();
    let name = |text: &str| Some(text.as_bytes().to_owned());
    assert_eq!(names, [name("a\"/B"), name("main"), None]);
}
