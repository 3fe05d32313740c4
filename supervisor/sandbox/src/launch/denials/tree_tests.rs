use super::*;
use std::fs;
use std::os::unix::fs::symlink;

fn tree(purpose: &str) -> (PathBuf, Tree) {
    let dir = std::env::temp_dir().join(format!("glee-tree-{purpose}-{}", std::process::id()));
    fs::create_dir_all(dir.join("a/b")).unwrap();
    fs::write(dir.join("a/b/file"), "x").unwrap();
    symlink("/a/b", dir.join("link")).unwrap();
    symlink("missing", dir.join("a/dangling")).unwrap();
    let root = look::directory(&dir).unwrap();
    (dir, Tree::new(root))
}

fn shown(place: Place, dir: &Path) -> String {
    // Outside of a mount namespace of its own, the names found by handle are those of the host.
    let inside = |path: &Path| match path.strip_prefix(dir) {
        Ok(rest) => Path::new("/").join(rest).display().to_string(),
        Err(_) => path.display().to_string(),
    };
    match place {
        Place::Found(found) => format!("found {}", inside(&found.path)),
        Place::Missing { above, path } => format!("missing {} below {}", inside(&path), inside(&above.path)),
        Place::Unclear => "unclear".to_owned(),
    }
}

#[test]
fn a_path_is_found_by_its_name_and_through_links() {
    let (dir, tree) = tree("found");
    let at = |path: &str, last| shown(tree.find(Path::new(path), last), &dir);
    assert_eq!(at("/a/b/file", Last::Follow), "found /a/b/file");
    assert_eq!(at("/link/file", Last::Follow), "found /a/b/file");
    assert_eq!(at("/a/../a//b/./file", Last::Follow), "found /a/b/file");
    assert_eq!(at("/link", Last::Follow), "found /a/b");
    assert_eq!(at("/link", Last::Itself), "found /link");
    assert_eq!(at("/", Last::Follow), "found /");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn what_is_missing_is_told_with_the_nearest_that_is_there() {
    let (dir, tree) = tree("missing");
    let at = |path: &str| shown(tree.find(Path::new(path), Last::Follow), &dir);
    assert_eq!(at("/a/b/c"), "missing /a/b/c below /a/b");
    assert_eq!(at("/a/x/y/z/file"), "missing /a/x/y/z/file below /a");
    assert_eq!(at("/x"), "missing /x below /");
    assert_eq!(at("/link/c"), "missing /a/b/c below /a/b");
    assert_eq!(at("/a/dangling"), "missing /a/missing below /a");
    assert_eq!(at("/a/b/file/c"), "unclear");
    assert_eq!(at("/a/x///y/./z"), "missing /a/x/y/z below /a");
    assert_eq!(at("/a/x/../x/y"), "missing /a/x/y below /a");
    // Out of what is not there, it leads nowhere.
    assert_eq!(at("/a/x/../b/file"), "missing /a/x below /a");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_name_that_begins_with_dots_leads_nowhere_else() {
    for dots in ["/..", "/a/..", "/a/../b"] {
        assert!(has_dots(Path::new(dots)), "{dots}");
    }
    for plain in ["/", "/a", "/..data", "/a/..b/c", "/a../b", "/..."] {
        assert!(!has_dots(Path::new(plain)), "{plain}");
    }
}

#[test]
fn only_names_make_a_plain_path() {
    for plain in ["/a", "/a/b.c/..d"] {
        assert!(is_plain(Path::new(plain)), "{plain}");
    }
    for other in ["/", "a", "/a/", "//a", "/a//b", "/./a", "/a/..", "/a/../b"] {
        assert!(!is_plain(Path::new(other)), "{other}");
    }
}
