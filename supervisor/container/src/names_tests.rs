use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::*;
use crate::plan::Access;

fn bind(name: &[u8]) -> (PathBuf, Mount) {
    let path = Path::new("/srv").join(OsStr::from_bytes(name));
    let (source, access) = (Source::Host(path.clone()), Access::ReadOnly);
    (path, Mount::Bind { source, access })
}

fn passes(engine: Engine, name: &[u8]) -> bool {
    let (at, mount) = bind(name);
    check(engine, &at, &mount).is_ok()
}

#[test]
fn a_bind_is_said_in_a_form_that_its_name_cannot_end() {
    for name in [
        &b"a,b"[..],
        b"a\"b",
        b"a\nb",
        b"a:b",
        b"a=b",
        b"x,U=true",
        b"-v",
        "\u{fc}".as_bytes(),
    ] {
        assert!(passes(Engine::Podman, name) && passes(Engine::Docker, name), "{name:?}");
    }
    assert_eq!(form(Engine::Podman, "/a,U", "/a,U"), Form::Line);
    assert_eq!(form(Engine::Podman, "/a", "/a:ro"), Form::Fields);
    for name in [&b"a:b,U=true"[..], b"a:b\"", b"a:b\nc", b"a:b\rc"] {
        assert!(!passes(Engine::Podman, name), "{name:?}");
        assert!(passes(Engine::Docker, name), "{name:?}");
    }
    for engine in [Engine::Podman, Engine::Docker] {
        assert!(!passes(engine, b"\xff"));
    }
}

#[test]
fn a_private_place_has_no_colon_for_podman() {
    let private = Mount::Private { bytes: 1 };
    assert!(check(Engine::Podman, Path::new("/home/a:size=9g"), &private).is_err());
    assert!(check(Engine::Podman, Path::new("/home/a,size=9g"), &private).is_ok());
    assert!(check(Engine::Docker, Path::new("/home/a:size=9g"), &private).is_ok());
}

#[test]
fn a_covered_path_has_no_colon_for_podman() {
    assert!(check_masked(Engine::Podman, Path::new("/dev/a:b")).is_err());
    assert!(check_masked(Engine::Docker, Path::new("/dev/a:b")).is_ok());
}
