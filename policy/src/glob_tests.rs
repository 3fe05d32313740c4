use proptest::prelude::*;

use super::*;

fn g(pattern: &str) -> Glob {
    Glob::new(pattern).unwrap_or_else(|problem| panic!("{pattern}: {problem}"))
}

fn matches(pattern: &str, path: &str) -> bool {
    g(pattern).matches(Path::new(path))
}

#[test]
fn wildcards_match_as_a_shell_user_expects() {
    for (pattern, yes, no) in [
        (
            "**/.env",
            vec![".env", "a/.env", "a/b/.env"],
            vec![".envrc", "a/.env/x", "env"],
        ),
        ("*.pem", vec!["a.pem", ".pem"], vec!["d/a.pem", "a.pem.txt"]),
        ("**/*.pem", vec!["a.pem", "d/.x/a.pem"], vec!["a.pe"]),
        ("a/**", vec!["a/b", "a/b/c", "a/.h"], vec!["a", "b/a"]),
        ("**", vec!["a", "a/b"], vec![]),
        ("a/**/z", vec!["a/z", "a/b/z", "a/b/c/z"], vec!["a/b", "z"]),
        ("**/a/**/b/**", vec!["a/b/c", "x/a/y/b/c/d"], vec!["a/b", "b/a/c"]),
        ("a?c", vec!["abc", "a.c", "aéc"], vec!["ac", "abbc"]),
        ("[a-c]x", vec!["ax", "cx"], vec!["dx", "x"]),
        ("[!a-c]x", vec!["dx", "éx"], vec!["ax"]),
        ("[]a]", vec!["]", "a"], vec!["b"]),
        ("[a-]", vec!["-", "a"], vec!["b"]),
        ("{a,b}.txt", vec!["a.txt", "b.txt"], vec!["c.txt", "{a,b}.txt"]),
        ("{a,b/c}/d", vec!["a/d", "b/c/d"], vec!["b/d"]),
        ("x{,.bak}", vec!["x", "x.bak"], vec!["x."]),
        ("{a{1,2},b}", vec!["a1", "a2", "b"], vec!["a"]),
        ("\\*\\{", vec!["*{"], vec!["x{"]),
        ("./a//*.txt", vec!["a/b.txt"], vec!["b.txt"]),
        ("*a*b*c", vec!["abc", "xaxbxc", "aabbc"], vec!["acb", "abcx"]),
    ] {
        for path in yes {
            assert!(matches(pattern, path), "`{pattern}` should match `{path}`");
        }
        for path in no {
            assert!(!matches(pattern, path), "`{pattern}` should not match `{path}`");
        }
    }
}

#[test]
fn names_that_are_not_utf8_are_matched_by_bytes() {
    let name = OsStr::from_bytes(b"a\xff.key");
    assert!(g("*.key").matches(Path::new(name)));
    assert!(g("a?.key").matches(Path::new(name)));
    assert!(!g("a??.key").matches(Path::new(name)));
}

#[test]
fn what_lies_below_a_match_is_covered() {
    let glob = g("**/secrets");
    assert!(glob.covers(Path::new("a/secrets/deep/file")));
    assert!(!glob.covers(Path::new("a/public/file")));
    assert!(!glob.covers(Path::new("")));
}

#[test]
fn a_walk_can_leave_out_what_cannot_match() {
    let glob = g("*/etc/npmrc");
    assert!(glob.can_match_below(Path::new("")));
    assert!(glob.can_match_below(Path::new("v20")));
    assert!(glob.can_match_below(Path::new("v20/etc")));
    assert!(!glob.can_match_below(Path::new("v20/lib")));
    assert!(!glob.can_match_below(Path::new("v20/etc/npmrc")));
    assert!(g("**/.env").can_match_below(Path::new("any/where")));
}

#[test]
fn what_is_no_pattern_is_refused() {
    use GlobProblem::{Brace, Class, DoubleStar, Empty, Escape, Parent, TooLong, TooMany};
    for (pattern, problem) in [
        ("[a", Class),
        ("[]", Class),
        ("[z-a]", Class),
        ("[é]", Class),
        ("[a/b]", Class),
        ("{a", Brace),
        ("a**", DoubleStar),
        ("***", DoubleStar),
        ("a\\", Escape),
        ("*/../x", Parent),
        ("{a,..}/x", Parent),
        ("", Empty),
        ("./", Empty),
        ("{a,}", Empty),
        ("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", TooMany),
    ] {
        assert_eq!(Glob::new(pattern), Err(problem), "{pattern}");
    }
    assert_eq!(Glob::new(&"a".repeat(4097)), Err(TooLong));
    assert!(Glob::new(&"{a}".repeat(1300)).is_ok());
    assert_eq!(Glob::new(&"{".repeat(4000)), Err(Brace));
    assert!(Glob::new(&format!("{}{}", "{".repeat(2000), "}".repeat(2000))).is_err());
}

#[test]
fn a_hostile_pattern_takes_no_exponential_time() {
    let start = std::time::Instant::now();
    assert!(!matches(&format!("{}b", "*a".repeat(100)), &"a".repeat(3000)));
    assert!(!matches(&format!("{}b", "**/a/".repeat(500)), &"a/".repeat(1000)));
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn a_pattern_is_split_before_its_first_wildcard() {
    assert_eq!(split("a/b/*.pem"), Ok(("a/b/".into(), "*.pem")));
    assert_eq!(split("**/.env"), Ok((String::new(), "**/.env")));
    assert_eq!(split("/etc/{a/b,c}/x"), Ok(("/etc/".into(), "{a/b,c}/x")));
    assert_eq!(split("a\\[1\\]/*"), Ok(("a[1]/".into(), "*")));
    assert!(!is_pattern("a\\*b"));
    assert!(is_pattern("[id]"));
}

/// The same language, by definition and with full backtracking, on short inputs.
fn naive(pattern: &[Part], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (None, Some(_)) => false,
        (Some((Part::AnyDepth, rest)), first) => {
            naive(rest, path) || first.is_some_and(|(_, below)| naive(pattern, below))
        }
        (Some((Part::Name(_), _)), None) => false,
        (Some((Part::Name(tokens), rest)), Some((name, below))) => naive_name(tokens, name) && naive(rest, below),
    }
}

fn naive_name(tokens: &[Token], name: &str) -> bool {
    let Some((token, rest)) = tokens.split_first() else {
        return name.is_empty();
    };
    let mut chars = name.chars();
    let first = chars.next();
    match token {
        Token::Many => naive_name(rest, name) || (first.is_some() && naive_name(tokens, chars.as_str())),
        Token::One => first.is_some() && naive_name(rest, chars.as_str()),
        Token::Byte(b) => name.as_bytes().first() == Some(b) && naive_name(rest, name.get(1..).unwrap_or("\u{fffd}")),
        Token::Class { negated, ranges } => {
            let inside = |c: char| {
                ranges
                    .iter()
                    .any(|(low, high)| (char::from(*low)..=char::from(*high)).contains(&c))
            };
            first.is_some_and(|c| inside(c) != *negated) && naive_name(rest, chars.as_str())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn it_agrees_with_the_definition(
        pattern in "([ab*?./]|\\*\\*/|/\\*\\*|\\[ab\\]|\\[!a\\]|\\{a,b\\*\\}){1,8}",
        path in "[ab.]{1,3}(/[ab.é]{1,3}){0,4}",
    ) {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
        prop_assume!(!names.contains(&".."));
        if let Ok(glob) = Glob::new(&pattern) {
            let expected = glob.alternatives.iter().any(|parts| naive(parts, &names));
            prop_assert_eq!(glob.matches(Path::new(&path)), expected);
        }
    }

    #[test]
    fn a_match_below_is_never_pruned(pattern in "([ab*?/]|\\*\\*/){1,8}", path in "[ab](/[ab]){1,4}") {
        if let Ok(glob) = Glob::new(&pattern) && glob.matches(Path::new(&path)) {
            for dir in Path::new(&path).ancestors().skip(1) {
                prop_assert!(glob.can_match_below(dir), "{:?}", dir);
            }
        }
    }

    #[test]
    fn arbitrary_patterns_never_panic(pattern in "\\PC{0,60}", path in "\\PC{0,60}") {
        if let Ok(glob) = Glob::new(&pattern) {
            let _ = glob.covers(Path::new(&path));
        }
        let _ = split(&pattern);
        let _ = unescape(&pattern);
    }
}

#[test]
fn only_the_end_of_a_path_counts_where_a_pattern_begins_anywhere() {
    for (pattern, tail) in [
        ("**/.env", Some(1)),
        ("**/{.env,a/b}", Some(2)),
        ("**/secrets/*", Some(2)),
        ("**/secrets/**", Some(2)),
        ("a/*/token", None),
        ("a/**/token", None),
        ("**/a/**/b", None),
        ("{**/a,b/*}", None),
    ] {
        assert_eq!(Glob::new(pattern).unwrap().tail(), tail, "{pattern}");
    }
}

#[test]
fn names_above_a_match_are_told_from_others() {
    let told = |pattern: &str, name: &str| {
        let glob = Glob::new(pattern).unwrap();
        (glob.passes(OsStr::new(name)), glob.spells(OsStr::new(name)))
    };
    assert_eq!(told("**/.env", ".env"), (false, false));
    assert_eq!(told("**/certs/*.key", "certs"), (true, true));
    assert_eq!(told("**/certs/*.key", "x"), (false, false));
    assert_eq!(told("**/secrets/**", "secrets"), (true, true));
    assert_eq!(told("**/secrets/**", "x"), (false, false));
    assert_eq!(told("*/a.key", "x"), (true, false));
    assert_eq!(told("{a,b}/x/**/y", "b"), (true, true));
    assert_eq!(told("a/**/y", "x"), (true, false));
    assert_eq!(told("**", "x"), (false, false));
}

#[test]
fn another_name_of_a_directory_counts_if_more_matches_by_it() {
    let adds = |pattern: &str, name: &str, other: Option<&str>| {
        Glob::new(pattern).unwrap().adds(Path::new(name), other.map(Path::new))
    };
    assert!(!adds("**/.env", "a/b", Some("c")));
    assert!(adds("**/.env", "a/b", None));
    assert!(adds("**/certs/*.key", "a/certs", Some("x")));
    assert!(!adds("**/certs/*.key", "a/certs", Some("b/certs")));
    assert!(!adds("**/certs/*.key", "a", Some("b/certs")));
    assert!(adds("*/a.key", "x", Some("y/x")));
    assert!(!adds("*/a.key", "x", Some("y")));
    assert!(!adds("a/*", "b", None));
}
