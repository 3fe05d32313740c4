use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::*;
use crate::decide::Question;
use crate::resolved::FsAccess;
use crate::testing::resolved;

/// The same as the machine of `testing`.
fn place() -> Place<'static> {
    Place {
        project: Path::new("/workshop/project"),
        home: Some(Path::new("/home/ann")),
    }
}

#[test]
fn a_path_is_written_as_its_author_would() {
    let hint = |text: &str| path(Path::new(text), FsAccess::Read, place());
    assert_eq!(
        hint("/home/ann/.ssh/id_ed25519").as_deref(),
        Some("fs.read: [\"~/.ssh/id_ed25519\"]")
    );
    assert_eq!(hint("/workshop/project/a/b").as_deref(), Some("fs.read: [\"a/b\"]"));
    assert_eq!(hint("/workshop/project").as_deref(), Some("fs.read: [\".\"]"));
    assert_eq!(hint("/workshop/project/~x").as_deref(), Some("fs.read: [\"./~x\"]"));
    assert_eq!(hint("/home/anna").as_deref(), Some("fs.read: [\"/home/anna\"]"));
    assert_eq!(
        path(Path::new("/srv/x"), FsAccess::ReadWrite, place()).as_deref(),
        Some("fs.write: [\"/srv/x\"]")
    );
    for none in ["relative", "/a/../b", "/a/*.c"] {
        assert_eq!(hint(none), None, "{none}");
    }
    let odd = Path::new(OsStr::from_bytes(b"/a/\xff"));
    assert_eq!(path(odd, FsAccess::Read, place()), None);
}

#[test]
fn a_path_in_a_hint_means_the_path_it_was_made_from() {
    for text in [
        "/home/ann/x",
        "/home/ann",
        "/workshop/project/~x/y",
        "/workshop/project/a b",
        "/srv/quo\"te",
        "/srv/back\\slash",
        "/srv/line\nbreak",
        "/srv/tab\tand\u{1b}[31m",
        "/srv/\u{202e}x\u{e0041}",
        "/srv/- [x]: {y}",
        "/srv/#x ü ",
    ] {
        let asked = Path::new(text);
        let written = quoted(&written(asked, place()).unwrap());
        let policy = resolved(&format!(
            "mode: restricted\nfs: {{read: [{written}], write: [], deny: []}}\n"
        ));
        let verdict = |path: &Path| {
            policy.decide(&Question::Path {
                path,
                access: FsAccess::Read,
            })
        };
        assert!(verdict(asked).allowed, "{text:?} as {written}");
        assert!(!verdict(Path::new("/srv/other")).allowed, "{text:?} as {written}");
    }
}

#[test]
fn names_and_hosts_are_written_as_the_policy_reads_them() {
    assert_eq!(env("GITHUB_TOKEN").as_deref(), Some("env: {allow: [\"GITHUB_TOKEN\"]}"));
    assert_eq!(env("LD_PRELOAD"), None);
    assert_eq!(env("A-B"), None);
    assert_eq!(
        network("api.example.org", 443).as_deref(),
        Some("network: {allow: [\"api.example.org\"]}")
    );
    assert_eq!(
        network("api.example.org", 8443).as_deref(),
        Some("network: {allow: [\"api.example.org:8443\"]}")
    );
    assert_eq!(
        network("2001:db8::1", 22).as_deref(),
        Some("network: {allow: [\"[2001:db8::1]:22\"]}")
    );
    assert_eq!(address("10.0.0.5", 443), "network: {allow: [\"10.0.0.5:443\"]}");
    assert_eq!(network("api.example.org", 0), None);
    assert_eq!(unprotect(&[".git/hooks"]), "unprotect: [\".git/hooks\"]");
    assert_eq!(without("fs.deny", "**/.env"), "remove fs.deny \"**/.env\"");
}
