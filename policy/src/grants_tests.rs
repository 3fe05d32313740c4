use super::*;
use crate::resolved::{HostPath, Need};
use crate::testing::{FakeHost, resolved, resolved_on};

fn listed(text: &str) -> Vec<(String, &'static str)> {
    resolved(text)
        .grants
        .iter()
        .map(|g| (g.path.as_path().display().to_string(), g.access.word()))
        .collect()
}

#[test]
fn a_grant_that_follows_from_one_above_is_dropped() {
    let text = "fs: {read: [/a, /a/b, /c, /c, /ab, /d/e], write: [/a/w, /c/x, /d]}";
    let expected = [
        ("/a", "read"),
        ("/a/w", "write"),
        ("/ab", "read"),
        ("/c", "read"),
        ("/c/x", "write"),
        ("/d", "write"),
    ];
    assert_eq!(listed(text), expected.map(|(path, access)| (path.to_owned(), access)));
}

#[test]
fn everything_does_not_mean_what_lies_in_a_private_place() {
    let text = "fs: {read: [/, /a, /tmp/p, /tmp/p/q, /var/tmp, /var/log, /dev/shm/x, /tmpfile], write: []}";
    let expected = ["/", "/dev/shm/x", "/tmp/p", "/var/tmp"];
    assert_eq!(listed(text), expected.map(|path| (path.to_owned(), "read")));
}

#[test]
fn a_grant_to_write_does_not_reach_into_glee() {
    let text = "fs: {read: [], write: [., .glee/agent_sessions/, .glee/a, .glee/a/b, src]}";
    let kept = [
        "/workshop/project",
        "/workshop/project/.glee/a",
        "/workshop/project/.glee/agent_sessions",
    ];
    assert_eq!(listed(text), kept.map(|path| (path.to_owned(), "write")));
    let policy = resolved(text);
    let cover = Cover::new(&policy);
    assert_eq!(
        cover.access(Path::new("/workshop/project/.glee/config.yml")),
        Some(FsAccess::Read)
    );
    assert_eq!(
        cover.access(Path::new("/workshop/project/sub/.glee")),
        Some(FsAccess::Read)
    );
    assert_eq!(
        cover.access(Path::new("/workshop/project/.glee/a/x")),
        Some(FsAccess::ReadWrite)
    );
    let open = resolved("fs: {write: [., .glee/a]}\nunprotect: [.glee]");
    assert_eq!(open.grants.len(), 1);
    assert_eq!(
        Cover::new(&open).access(Path::new("/workshop/project/.glee/config.yml")),
        Some(FsAccess::ReadWrite)
    );
}

#[test]
fn the_links_of_a_dropped_grant_are_kept() {
    let host = FakeHost::new().link("/home/ann/.nix-profile", "/nix/store/abc");
    let policy = resolved_on(&host, "fs: {read: [~/.nix-profile, /nix/store], write: []}").unwrap();
    assert_eq!(policy.grants.len(), 1);
    assert_eq!(
        policy.grants[0].links,
        [("/home/ann/.nix-profile".into(), "/nix/store/abc".into())]
    );
}

#[test]
fn a_required_grant_below_a_missing_preferred_one_still_counts() {
    let host = FakeHost::new().without("/a");
    let policy = resolved_on(&host, "fs: {read: [{path: /a, need: preferred}, /a/b], write: []}").unwrap();
    assert_eq!(
        policy.grants.iter().map(|g| (g.need, g.exists)).collect::<Vec<_>>(),
        [(Need::Preferred, false), (Need::Required, false)]
    );
    let policy = resolved_on(&host, "fs: {read: [{path: /a, need: preferred}, /a], write: []}").unwrap();
    assert_eq!((policy.grants.len(), policy.grants[0].need), (1, Need::Required));
}

#[test]
fn a_deny_below_a_literal_deny_is_dropped() {
    let policy = resolved("fs: {deny: [/a/b, /a, '/a/x/*.pem', '/ab/*.pem', '/ab/*.pem', /ab]}");
    let places: Vec<_> = policy.deny.iter().map(|d| d.target.place().clone()).collect();
    assert_eq!(
        places,
        [
            HostPath::new("/a".into()).unwrap(),
            HostPath::new("/ab".into()).unwrap()
        ]
    );
}

#[test]
fn ways_of_a_deny_that_is_dropped_are_kept() {
    let host = FakeHost::new().link("/workshop/project/.env", "x/key");
    let policy = resolved_on(&host, "fs: {deny: [.env, x/key, x]}").unwrap();
    let ways: Vec<Vec<_>> = policy.deny.iter().map(|deny| deny.ways.iter().collect()).collect();
    let [ways] = ways.as_slice() else { panic!("{ways:?}") };
    let kept: Vec<_> = ways
        .iter()
        .map(|way| way.strip_prefix("/workshop/project").unwrap())
        .collect();
    assert_eq!(kept, [Path::new(".env"), Path::new("x"), Path::new("x/key")]);
}
