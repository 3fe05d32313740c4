use super::*;

fn harmless(room: &str, name: &str, text: &str) -> bool {
    is_harmless(room, OsStr::new(name), text.as_bytes(), &BTreeSet::new())
}

#[test]
fn what_git_writes_of_a_rebase_passes() {
    let todo = "pick 1234567 one\nfixup -C 89abcde two\nlabel onto\nreset [new root] # x\nmerge -C 1 l # exec\nupdate-ref refs/heads/a\n\n# Rebase\n# x, exec <command> = run\nbreak\nnoop\n";
    for (name, text) in [
        ("msgnum", "2\n"),
        ("end", "12"),
        ("head-name", "refs/heads/feature/a-b.c_d#1\n"),
        ("head-name", "detached HEAD\n"),
        ("strategy", "ort\n"),
        ("strategy_opts", " '--ours'"),
        ("update-refs", "refs/heads/a\n1\n2\nrefs/heads/b\n3\n4\n"),
        (
            "author-script",
            "GIT_AUTHOR_NAME='a $(b)'\nGIT_AUTHOR_EMAIL='c'\nGIT_AUTHOR_DATE='@1 +0000'\n",
        ),
        ("refs-to-delete", "refs/rewritten/onto\n"),
        ("git-rebase-todo", todo),
        ("done", todo),
        ("message", "exec x\n"),
    ] {
        assert!(harmless("rebase-merge", name, text), "{name}: {text}");
    }
    assert!(harmless(
        "rebase-apply",
        "apply-opt",
        " '--whitespace=fix' '-C2' '--reject'"
    ));
    assert!(harmless("rebase-apply", "last", "3\n"));
    assert!(harmless("rebase-apply", "0001", "From: x\n\nexec\n"));
    assert!(harmless("sequencer", "todo", "pick 1 a\nrevert 2 b\n"));
    assert!(harmless(
        "sequencer",
        "opts",
        "[options]\n\tsignoff = true\n\tstrategy = ort\n\tstrategy-option = theirs\n"
    ));
}

#[test]
fn what_would_be_run_or_written_elsewhere_does_not() {
    for (room, name, text) in [
        ("rebase-merge", "msgnum", "$(id)"),
        ("rebase-apply", "next", "1\n`id`"),
        ("rebase-merge", "head-name", "commondir\n"),
        ("rebase-merge", "head-name", "refs/heads/$(id)"),
        ("rebase-merge", "strategy", "/../x"),
        ("rebase-merge", "update-refs", "refs/heads/a\n1\n2\ncommondir\n3\n4\n"),
        ("rebase-merge", "author-script", "GIT_AUTHOR_NAME='a'\nid\n"),
        ("rebase-merge", "git-rebase-todo", "pick 1 a\nexec id\n"),
        ("rebase-merge", "git-rebase-todo", "  x\tid\n"),
        ("rebase-merge", "git-rebase-todo", "exec\0id"),
        ("rebase-merge", "git-rebase-todo", "update-ref commondir\n"),
        ("rebase-apply", "apply-opt", " '--unsafe-paths'"),
        ("rebase-apply", "apply-opt", " '--build-fake-ancestor=../x'"),
        ("sequencer", "todo", "x id\n"),
        ("sequencer", "opts", "[options]\n\tstrategy = /../x\n"),
        ("sequencer", "opts", "[options] Strategy=x\n"),
        ("sequencer", "opts", "[a] [options] strategy = x\n"),
    ] {
        assert!(!harmless(room, name, text), "{room}/{name}: {text}");
    }
}

#[test]
fn commands_that_stood_there_before_are_the_callers() {
    let known = BTreeSet::from([b"exec make test".to_vec()]);
    let harmless = |text: &str| is_harmless("rebase-merge", OsStr::new("git-rebase-todo"), text.as_bytes(), &known);
    assert!(harmless("exec make test\npick 2 b\nexec make test\n"));
    assert!(!harmless("exec make test\nexec make test2\n"));
}

#[test]
fn what_is_remembered_of_a_conflict_lies_in_the_project() {
    let hash = "1".repeat(40);
    let files = |text: &str| {
        remembered(text.as_bytes()).map(|all| all.iter().map(|p| p.display().to_string()).collect::<Vec<_>>())
    };
    assert_eq!(files(""), Some(vec![]));
    assert_eq!(
        files(&format!("{hash}\ta b\0{hash}.1\tc/d\0")),
        Some(vec!["a b".into(), "c/d".into()])
    );
    for name in ["../x", "/x", "a/../../x", ".git/config", "a/.GIT/x", ""] {
        assert_eq!(files(&format!("{hash}\t{name}\0")), None, "{name}");
    }
    assert_eq!(files("x"), None);
}
