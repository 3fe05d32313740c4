use super::*;
use crate::sys::look::{Facts, MountFlags};

fn there(path: &str) -> Found {
    Found {
        path: path.into(),
        facts: Facts {
            mode: libc::S_IFDIR | 0o755,
            uid: 0,
            gid: 0,
            is_mount: false,
        },
        mount: MountFlags {
            read_only: true,
            no_exec: false,
        },
    }
}

#[test]
fn names_in_a_directory_that_is_gone_are_missing_where_it_would_be() {
    let mut gone = Gone::default();
    gone.note(Path::new("/usr/lib/../x/one"), &there("/usr"), Path::new("/usr/x/one"));
    let Some(Place::Missing { above, path }) = gone.find(Path::new("/usr/lib/../x/two")) else {
        panic!("not remembered");
    };
    assert_eq!((above.path, path), ("/usr".into(), "/usr/x/two".into()));
    assert!(gone.find(Path::new("/usr/x/two")).is_none(), "only as it was asked for");
    assert!(gone.find(Path::new("/usr/lib/../x")).is_none());
}

#[test]
fn it_does_not_grow_without_end() {
    let mut gone = Gone::default();
    for number in 0..10 * MOST {
        gone.note(
            Path::new(&format!("/a/{number}/f")),
            &there("/a"),
            Path::new(&format!("/a/{number}/f")),
        );
        assert!(gone.0.len() <= MOST);
    }
    let long = format!("/a/{}/f", "x".repeat(LONGEST));
    gone.note(Path::new(&long), &there("/a"), Path::new(&long));
    assert!(gone.find(Path::new(&long)).is_none());
}
