use super::*;
use crate::testing::resolved;

fn path<'a>(path: &'a str, access: FsAccess) -> Question<'a> {
    Question::Path {
        path: Path::new(path),
        access,
    }
}

#[test]
fn deny_wins_and_the_clause_is_named() {
    let policy = resolved("fs:\n  read: [.]\n  write: [out]\n  deny: ['**/.env', out/keys]\n");
    let ask = |p, access| policy.decide(&path(p, access));
    let verdict = ask("/workshop/project/a/.env", FsAccess::Read);
    assert_eq!((verdict.allowed, verdict.clause.as_str()), (false, "fs.deny `**/.env`"));
    assert_eq!(verdict.origin.unwrap().to_string(), "policy.yml:4");
    let verdict = ask("/workshop/project/src/main.rs", FsAccess::ReadWrite);
    assert_eq!((verdict.allowed, verdict.clause.as_str()), (false, "fs.read `.`"));
    assert!(ask("/workshop/project/out/x", FsAccess::ReadWrite).allowed);
    assert!(ask("/workshop/project/out", FsAccess::Read).allowed);
    assert!(!ask("/workshop/project/out/keys/k", FsAccess::Read).allowed);
    assert!(!ask("/workshop/project/.env/below", FsAccess::Read).allowed);
    assert!(!ask("/workshop/projectile", FsAccess::Read).allowed);
    assert!(!ask("/workshop", FsAccess::Read).allowed);
}

#[test]
fn a_path_that_is_not_plain_is_refused() {
    let policy = resolved("fs: {read: [/]}");
    for odd in ["a", "/a/../b", "", "../a"] {
        assert!(!policy.decide(&path(odd, FsAccess::Read)).allowed, "{odd}");
    }
    assert!(policy.decide(&path("/a", FsAccess::Read)).allowed);
}

#[test]
fn names_are_allowed_by_pattern_and_denied_first() {
    let policy = resolved("network:\n  allow: ['*.org:443', 10.0.0.0/8]\n  deny: [bad.org, 10.0.0.1]\n");
    let ask = |host, port| policy.decide(&Question::Net { host, port });
    assert!(ask("Good.ORG", 443).allowed);
    assert!(!ask("good.org", 80).allowed);
    assert_eq!(ask("bad.org", 443).clause, "network.deny `bad.org`");
    assert_eq!(ask("bad.org", 443).origin.unwrap().line, 3);
    assert!(ask("10.2.3.4", 443).allowed);
    assert!(!ask("10.2.3.4", 22).allowed);
    assert!(!ask("10.0.0.1", 443).allowed);
    assert_eq!(ask("10.0.0.1", 22).clause, "network.deny `10.0.0.1`");
    assert!(!ask("not a host", 443).allowed);
}

#[test]
fn variables_are_judged_by_name() {
    let policy = resolved("env: {allow: ['LC_*', LD_PRELOAD], set: {CI: '1'}}");
    let ask = |name| policy.decide(&Question::Env(name));
    assert_eq!(
        (ask("LC_ALL").allowed, ask("LC_ALL").clause.as_str()),
        (true, "env.allow `LC_*`")
    );
    assert!(ask("CI").allowed);
    assert!(!ask("LD_PRELOAD").allowed);
    assert!(!ask("PATH").allowed);
}
