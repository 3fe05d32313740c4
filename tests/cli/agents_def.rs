//! Agents of a project: defined, listed, shown, written and imported; never more than a stranger's word.

use crate::claims::claims;
use crate::support::Place;

const SCANNER: &str = "name: scanner\ndescription: Scans\nagent: claude\nprompt: |\n  Look at ${target}.\ninputs:\n  - {name: target, required: true}\ntools: [read_file, grep]\npermissions:\n  network: true\n  max_runtime_mins: 2\n";

const REVIEWER: &str = "---\nname: reviewer\ndescription: Reviews code\ntools: Read, Bash\nhooks: {Stop: [{hooks: [{type: command, command: id}]}]}\npermissionMode: bypassPermissions\n---\n\nYou review code.\n";

fn json(at: &Place, arguments: &[&str]) -> serde_json::Value {
    let seen = at.seen([arguments, &["--json"]].concat());
    serde_json::from_str(&seen.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", seen.stdout, seen.stderr))
}

claims! {
    fn the_list_says_where_each_agent_comes_from(at) {
        at.world.file("@PROJECT/.glee/agents/mine.yml", "name: mine\ndescription: d\nprompt: p\n");
        at.world.file("@PROJECT/.claude/agents/reviewer.md", REVIEWER);
        assert_eq!(at.seen(["agents", "import", "--from", "claude"]).status, 0);
        let listed = at.seen(["agents", "list"]).stdout;
        let shown = "mine      (native glee)                               not trusted  d\nreviewer  (from: claude, .claude/agents/reviewer.md)  not trusted  Reviews code\n";
        assert_eq!(listed, shown);
        let list = json(at, &["agents", "list"]);
        assert_eq!(list[1]["source"]["file"], ".claude/agents/reviewer.md");
        assert_eq!(list[0]["source"], serde_json::Value::Null);
    }

    fn a_broken_definition_is_named_with_its_place_and_does_not_hide_the_others(at) {
        at.world.file("@PROJECT/.glee/agents/good.yml", "name: good\ndescription: d\nprompt: p\n");
        at.world.file("@PROJECT/.glee/agents/bad.yml", "name: bad\ndescription: d\nprompt: p\ntool: [x]\n");
        let seen = at.seen(["agents", "list"]);
        assert!(seen.status == 0 && seen.stdout.contains("good") && seen.stdout.contains("bad.yml:4:1: error: unknown key `tool`"), "{}", seen.stdout);
        let seen = at.seen(["agents", "show", "bad"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (1, ""), "{}", seen.stderr);
        assert!(seen.stderr.contains("4 | tool: [x]") && seen.stderr.contains("did you mean `tools`?"), "{}", seen.stderr);
    }

    fn an_agent_is_shown_with_what_holds_it_and_what_it_does_not_get(at) {
        at.world.file("@PROJECT/.glee/agents/scanner.yml", SCANNER);
        let shown = json(at, &["agents", "show", "scanner"]);
        assert_eq!(shown["held_by"]["claude"]["arguments"][1]["word"], "Read,Grep");
        assert_eq!(shown["standing"], "untrusted");
        let beyond = shown["beyond"].as_array().expect("a list");
        assert!(beyond.len() == 1 && beyond[0].as_str().is_some_and(|b| b.starts_with("network: true")), "{beyond:?}");
        let page = at.seen(["agents", "show", "scanner"]).stdout;
        assert!(page.contains("--tools Read,Grep --strict-mcp-config") && page.contains("Look at ${target}."), "{page}");
    }

    fn a_tool_list_that_the_cli_cannot_keep_to_is_refused_by_name(at) {
        let text = SCANNER.replace("agent: claude", "agent: codex");
        at.world.file("@PROJECT/.glee/agents/scanner.yml", &text);
        let seen = at.seen(["agents", "show", "scanner"]);
        assert!(seen.status == 1 && seen.stderr.contains("codex cannot be held to `read_file`"), "{}", seen.stderr);
    }

    fn create_writes_an_untrusted_agent_and_never_replaces_one(at) {
        let call = ["agents", "create", "fixer", "--description", "Fix: typos", "--prompt", "Fix ${file}.", "--input", "file", "--tool", "edit_file", "--agent", "gemini"];
        let seen = at.seen(call);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        let text = at.host("cat .glee/agents/fixer.yml; ls -A .glee/agents");
        assert_eq!(text, "name: fixer\ndescription: \"Fix: typos\"\nagent: gemini\nprompt: |-\n  Fix ${file}.\ninputs:\n  - name: file\n    type: string\n    required: true\ntools:\n  - edit_file\nfixer.yml\n");
        let again = at.seen(call);
        assert!(again.status == 1 && again.stderr.contains("already"), "{}", again.stderr);
        assert_eq!(json(at, &["agents", "show", "fixer"])["standing"], "untrusted");
    }

    fn a_name_leads_nowhere_else(at) {
        for name in ["../evil", "a/b", ".hidden", "UPPER", "a b", "-x", "a.yml", ""] {
            let seen = at.seen(["agents", "create", "--description", "d", "--prompt", "p", "--", name]);
            assert_ne!(seen.status, 0, "{name:?}");
        }
        assert_eq!(at.host("find . -mindepth 1"), "");
    }

    fn nothing_is_written_through_a_link(at) {
        at.host("mkdir -p @OUT/agents .glee && ln -s @OUT/agents .glee/agents");
        let seen = at.seen(["agents", "create", "x", "--description", "d", "--prompt", "p"]);
        assert_eq!(seen.status, 1, "{}", seen.stderr);
        assert_eq!(at.host("ls -A @OUT/agents"), "");
    }

    fn import_drops_grants_by_name_and_never_writes_back(at) {
        at.world.file("@PROJECT/.claude/agents/reviewer.md", REVIEWER);
        let seen = at.seen(["agents", "import", "--from", "claude"]);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        for word in ["dropped: tools `Bash` (line 4): it would run programs", "dropped: hooks (line 5)", "dropped: permissionMode: bypassPermissions (line 6): it would lift restrictions"] {
            assert!(seen.stderr.contains(word), "{word}: {}", seen.stderr);
        }
        let text = at.host("sed 's/imported_at: .*/imported_at: T/' .glee/agents/reviewer.yml");
        assert_eq!(text, "name: reviewer\ndescription: Reviews code\nagent: claude\nprompt: |\n  You review code.\nsource:\n  from: claude\n  file: \".claude/agents/reviewer.md\"\n  imported_at: T\ntools:\n  - read_file\n");
        assert_eq!(at.host("cat .claude/agents/reviewer.md"), REVIEWER);
    }

    fn import_again_keeps_local_changes_until_update(at) {
        at.world.file("@PROJECT/.claude/agents/reviewer.md", REVIEWER);
        let import = |more: &[&str]| at.seen([&["agents", "import", "--from", "claude"][..], more].concat());
        assert_eq!(import(&[]).status, 0);
        let first = at.host("cat .glee/agents/reviewer.yml");
        assert!(import(&["--update"]).stderr.contains("unchanged"));
        assert_eq!(at.host("cat .glee/agents/reviewer.yml"), first, "what has not changed is not written again");
        at.host("sed -i 's/Reviews code/Ours/' .glee/agents/reviewer.yml");
        assert!(import(&[]).stderr.contains("kept"));
        assert!(at.host("cat .glee/agents/reviewer.yml").contains("Ours"));
        let dry = import(&["--update", "--dry"]);
        let changed = dry.stdout.lines().filter(|l| l.starts_with(['-', '+'])).map(|l| l.split(':').next().unwrap_or(l)).collect::<Vec<_>>();
        assert_eq!(changed, ["--- .glee/agents/reviewer.yml", "+++ .glee/agents/reviewer.yml", "-description", "+description", "-  imported_at", "+  imported_at"]);
        assert!(at.host("cat .glee/agents/reviewer.yml").contains("Ours"), "a dry run wrote");
        assert!(import(&["--update"]).stderr.contains("updated"));
        assert!(at.host("cat .glee/agents/reviewer.yml").contains("Reviews code"));
    }

    fn a_dry_import_writes_nothing_and_prints_the_diff(at) {
        at.world.file("@PROJECT/.codex/agents/x.toml", "name = 'x'\ndescription = 'd'\ndeveloper_instructions = 'p'\n[mcp_servers.e]\ncommand = 'id'\n");
        let seen = at.seen(["agents", "import", "--from", "codex", "--dry"]);
        assert!(seen.stdout.starts_with("--- /dev/null\n+++ .glee/agents/x.yml\n@@ -0,0 +1,"), "{}", seen.stdout);
        assert!(seen.stderr.contains("would be created") && seen.stderr.contains("dropped: mcp_servers"), "{}", seen.stderr);
        assert_eq!(at.host("ls -A"), ".codex\n");
    }

    fn import_does_not_replace_an_agent_of_the_projects_own(at) {
        at.world.file("@PROJECT/.gemini/agents/x.toml", "name = 'x'\ndescription = 'd'\n[prompts]\nsystem_prompt = 'theirs'\n");
        at.world.file("@PROJECT/.glee/agents/x.yml", "name: x\ndescription: d\nprompt: ours\n");
        let seen = at.seen(["agents", "import", "--from", "gemini", "--update"]);
        assert_eq!(seen.status, 1, "{}", seen.stderr);
        assert!(at.host("cat .glee/agents/x.yml").contains("ours"));
    }

    fn a_file_is_imported_by_its_place_or_by_what_is_said(at) {
        at.world.file("@OUT/.claude/agents/far.md", "---\nname: far\ndescription: d\n---\np\n");
        at.world.file("@OUT/near.md", "---\nname: near\ndescription: d\n---\np\n");
        assert_eq!(at.seen(["agents", "import", "--file", "@OUT/.claude/agents/far.md"]).status, 0);
        let seen = at.seen(["agents", "import", "--file", "@OUT/near.md"]);
        assert!(seen.status == 1 && seen.stderr.contains("--from"), "{}", seen.stderr);
        assert_eq!(at.seen(["agents", "import", "--file", "@OUT/near.md", "--from", "gemini"]).status, 0);
        assert_eq!(at.host("ls .glee/agents"), "far.yml\nnear.yml\n");
    }

    fn a_link_among_foreign_agents_is_not_read(at) {
        at.world.file("@OUT/secret.md", "---\nname: s\ndescription: d\n---\nSECRET\n");
        at.host("mkdir -p .claude/agents && ln -s @OUT/secret.md .claude/agents/s.md");
        let seen = at.seen(["agents", "import", "--from", "claude"]);
        assert_eq!(seen.status, 1, "{}", seen.stderr);
        assert_eq!(at.host("ls -A"), ".claude\n");
    }

    fn trust_counts_for_an_agent_a_workflow_and_the_instructions_until_they_change(at) {
        at.world.file("@PROJECT/.glee/agents/scanner.yml", SCANNER);
        at.world.file("@PROJECT/.glee/workflows/build.yml", "name: build\n");
        at.world.file("@PROJECT/AGENTS.md", "Use tabs.\n");
        let standings = || -> Vec<(String, String)> {
            let list = json(at, &["trust", "status"]);
            list.as_array().expect("a list").iter().map(|s| (s["kind"].as_str().unwrap_or("").into(), s["standing"].as_str().unwrap_or("").into())).collect()
        };
        let all = |word: &str| ["agent", "workflow", "instructions"].map(|kind| (kind.to_owned(), word.to_owned())).to_vec();
        assert_eq!(standings(), all("untrusted"));
        let alone = at.seen(["trust"]);
        assert!(alone.status == 1 && alone.stderr.contains("AGENTS.md"), "{}", alone.stderr);
        assert_eq!(standings(), all("untrusted"));
        assert_eq!(at.seen(["trust", "--agents-md", "--yes"]).status, 0);
        assert_eq!(standings()[2].1, "trusted");
        assert_eq!(standings()[0].1, "untrusted");
        assert_eq!(at.seen(["trust", "--yes"]).status, 0);
        assert_eq!(standings(), all("trusted"));
        at.host("echo '# more' >> .glee/agents/scanner.yml; echo more >> AGENTS.md; echo x >> .glee/workflows/build.yml");
        assert_eq!(standings(), all("changed"));
        let seen = at.seen(["untrust"]);
        assert!(seen.stderr.contains("3 files") && seen.stderr.contains("AGENTS.md"), "{}", seen.stderr);
        assert_eq!(standings(), all("untrusted"));
    }
}
