use super::*;

const FRESH: &str =
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n";

#[test]
fn a_configuration_as_git_writes_it_is_left_alone() {
    let cloned = format!(
        "{FRESH}[remote \"origin\"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
         [submodule \"lib\"]\n\tactive = true\n\turl = https://example.com/lib.git\n\
         [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A\n\temail = a@example.com\n"
    );
    assert_eq!(harmless_part(FRESH), FRESH);
    let sparse =
        "# a word\n; another\n[core]\n\tsparseCheckout = true\n\tsparseCheckoutCone = true\n[index]\n\tsparse = true\n";
    assert_eq!(harmless_part(sparse), sparse);
    assert_eq!(harmless_part(&cloned), cloned);
}

#[test]
fn what_makes_git_run_or_read_something_is_left_out() {
    for line in [
        "\tfsmonitor = ./evil\n",
        "\tsshCommand = ./evil\n",
        "\thooksPath = evil\n",
        "\teditor = evil\n",
        "\tpager = evil\n",
        "\tworktree = /\n",
        "[core] fsmonitor = ./evil\n",
        "[include]\n\tpath = ../evil\n",
        "[alias]\n\tst = !evil\n",
        "[filter \"x\"]\n\tclean = evil\n",
        "[diff \"x\"]\n\ttextconv = evil\n",
        "[remote \"o\"]\n\tuploadpack = evil\n",
        "[submodule \"o\"]\n\tupdate = !evil\n",
        "[extensions]\n\tworktreeConfig = true\n",
        "[remote \"origin\"] uploadpack = evil #]\n\turl = .\n",
        "[remote \"a\"] [core] fsmonitor = evil ; \"]\n",
    ] {
        let kept = harmless_part(&format!("{FRESH}{line}"));
        assert!(
            !kept.to_lowercase().contains("evil") && !kept.contains("worktree"),
            "{line}: {kept}"
        );
    }
    let url = harmless_part("[remote \"o\"]\n\turl = ext::sh -c evil\n\turl = --upload-pack=evil\n");
    assert_eq!(url, "[remote \"o\"]\n");
    for url in [
        "/srv/x.git",
        "./o:x",
        "x.git",
        "../x",
        "file:///srv/x.git",
        "evil://x",
        ":x",
        "",
        "~/x",
        "\u{a0}x:y z",
    ] {
        let text = format!(
            "[remote \"o\"]\n\turl = {url}\n\tfetch = x\n[submodule \"o\"]\n\turl = {url}\n[branch \"main\"]\n\tremote = o\n"
        );
        let kept = "[remote \"o\"]\n\tfetch = x\n[submodule \"o\"]\n[branch \"main\"]\n";
        assert_eq!(harmless_part(&text), kept, "{url}");
    }
    for url in [
        "http://x",
        "ssh://git@x/y",
        "git://x/y",
        "git@example.com:a/b.git",
        "host:x",
    ] {
        let text =
            format!("[remote \"o\"]\n\turl = {url}\n[branch \"a/b\"]\n\tremote = o\n[branch \"c\"]\n\tremote = .\n");
        assert_eq!(harmless_part(&text), text, "{url}");
    }
    let named = harmless_part("[branch \"main\"]\n\tremote = \u{a0}.\n\tremote = ./o\n\tremote = o\n");
    assert_eq!(named, "[branch \"main\"]\n");
    // Git knows no remote of such a name, and pushes to the repository at that path.
    for name in ["/srv/x.git", ""] {
        let far = format!("[remote \"{name}\"]\n\turl = https://x\n[branch \"main\"]\n");
        assert_eq!(harmless_part(&format!("{far}\tremote = {name}\n")), far, "{name}");
    }
    let split = harmless_part("[core]\n\tbare = fa\\\nlse\n");
    assert_eq!(split, "[core]\n");
}
