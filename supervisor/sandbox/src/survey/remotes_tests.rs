use super::*;

fn path(url: &str) -> Option<PathBuf> {
    local(url.as_bytes(), Some(Path::new("/home/me")))
}

#[test]
fn addresses_of_this_machine_are_paths_and_others_are_none() {
    let cases = [
        ("./m.git", Some("./m.git")),
        ("m", Some("m")),
        ("/srv/m.git/", Some("/srv/m.git/")),
        ("file:///srv/a%20b", Some("///srv/a b")),
        ("~/m", Some("/home/me/m")),
        ("a/b:c", Some("a/b:c")),
        (".", None),
        ("", None),
        ("host:m", None),
        ("https://host/m", None),
        ("ext::sh -c /x", None),
    ];
    let found: Vec<_> = cases.iter().map(|(url, _)| path(url)).collect();
    let expected: Vec<_> = cases.iter().map(|(_, path)| path.map(PathBuf::from)).collect();
    assert_eq!(found, expected);
}
