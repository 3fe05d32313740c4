//! What editors, shells and agents on the host run later from a checkout. Under `workspace`.

use glee_tests::{Attempt, Leak, Outcome, Policy, Run, World, attempt};

/// The file is there already: change, replace, remove it, and move its directory away.
fn existing(path: &'static str) -> Attempt {
    let script = format!(
        "p={path}; d=$(dirname $p); echo evil >> $p; echo evil > x; mv -f x $p; ln -f x $p; rm -f $p; ln $p y && echo evil > y; \
         chmod 777 $p; [ $d = @PROJECT ] || mv $d z; rm -rf x y z"
    );
    attempt(script, Leak::Changed(path))
        .file(path, "mine\n")
        .workspace()
        .project_unchanged()
}

/// The file is not there yet: make it, by name, by rename, by link, as a directory.
fn missing(path: &'static str) -> Attempt {
    let script = format!(
        "p={path}; mkdir -p $(dirname $p); echo evil > x; mv x $p; echo evil > x; ln x $p; ln -s x $p; echo evil > $p; mkdir $p; rm -f x"
    );
    attempt(script, Leak::Changed(path)).workspace().project_unchanged()
}

const PLANT: &str = "echo evil > .envrc; mkdir .vscode; echo evil > .vscode/tasks.json; echo evil > .mcp.json";

fn planted(w: &World, _: &Outcome) -> Option<String> {
    let names = ["@PROJECT/.envrc", "@PROJECT/.vscode/tasks.json", "@PROJECT/.mcp.json"].map(|p| w.path(p));
    let planted = names
        .iter()
        .find(|p| std::fs::read_to_string(p).is_ok_and(|t| t.contains("evil")))?;
    Some(format!("{} was planted", planted.display()))
}

/// A second run in the same project.
fn other_run<'w>(w: &'w World, script: &str) -> Run<'w> {
    Run::sandboxed(w, Policy::Named("workspace")).script(script)
}

fn planted_in_the_project(w: &World, _: &Outcome) -> Option<String> {
    let names = [".envrc", ".claude/settings.json", ".vscode/tasks.json"];
    let mut places = ["@PROJECT", "@PROJECT/deep"]
        .into_iter()
        .flat_map(|dir| names.map(|name| w.path(dir).join(name)));
    places
        .find(|path| std::fs::read_to_string(path).is_ok_and(|text| text.contains("evil")))
        .map(|path| format!("{} was planted", path.display()))
}

claims! {
    configuration_of_glee_is_not_changed => existing("@PROJECT/.glee/config.yml"),
    configuration_of_glee_is_not_made => missing("@PROJECT/.glee/config.yml"),
    configuration_of_glee_is_not_made_beside_others => missing("@PROJECT/.glee/config.yml")
        .file("@PROJECT/.glee/keep", ""),
    agent_definitions_are_not_changed => existing("@PROJECT/.glee/agents/reviewer.yml"),
    agent_definitions_are_not_made => missing("@PROJECT/.glee/agents/evil.yml").file("@PROJECT/.glee/config.yml", "\n"),
    policies_are_not_made => missing("@PROJECT/.glee/policies/restricted.yml"),
    workflows_are_not_made => missing("@PROJECT/.glee/workflows/evil.yml"),
    tools_are_not_made => missing("@PROJECT/.glee/tools/evil/tool.yml"),
    settings_of_claude_are_not_changed => existing("@PROJECT/.claude/settings.json"),
    settings_of_claude_are_not_made => missing("@PROJECT/.claude/settings.local.json"),
    settings_of_claude_are_not_made_beside_others => missing("@PROJECT/.claude/settings.json")
        .file("@PROJECT/.claude/notes", ""),
    configuration_of_codex_is_not_changed => existing("@PROJECT/.codex/config.toml"),
    configuration_of_codex_is_not_made => missing("@PROJECT/.codex/config.toml"),
    settings_of_gemini_are_not_changed => existing("@PROJECT/.gemini/settings.json"),
    settings_of_gemini_are_not_made => missing("@PROJECT/.gemini/settings.json"),
    rules_of_cursor_are_not_changed => existing("@PROJECT/.cursor/mcp.json"),
    rules_of_cursor_are_not_made => missing("@PROJECT/.cursor/mcp.json"),
    mcp_servers_are_not_changed => existing("@PROJECT/.mcp.json"),
    mcp_servers_are_not_made => missing("@PROJECT/.mcp.json"),
    tasks_of_vscode_are_not_changed => existing("@PROJECT/.vscode/tasks.json"),
    tasks_of_vscode_are_not_made => missing("@PROJECT/.vscode/tasks.json"),
    tasks_of_vscode_are_not_made_beside_others => missing("@PROJECT/.vscode/tasks.json")
        .file("@PROJECT/.vscode/settings.json", "{}"),
    workspace_of_idea_is_not_changed => existing("@PROJECT/.idea/workspace.xml"),
    workspace_of_idea_is_not_made => missing("@PROJECT/.idea/workspace.xml"),
    direnv_file_is_not_changed => existing("@PROJECT/.envrc"),
    direnv_file_is_not_made => missing("@PROJECT/.envrc"),
    submodule_list_is_not_changed => existing("@PROJECT/.gitmodules"),
    submodule_list_is_not_made => missing("@PROJECT/.gitmodules"),
    bashrc_is_not_changed => existing("@PROJECT/.bashrc"),
    bashrc_is_not_made => missing("@PROJECT/.bashrc"),
    bash_profile_is_not_made => missing("@PROJECT/.bash_profile"),
    profile_is_not_changed => existing("@PROJECT/.profile"),
    profile_is_not_made => missing("@PROJECT/.profile"),
    zshrc_is_not_changed => existing("@PROJECT/.zshrc"),
    zshrc_is_not_made => missing("@PROJECT/.zshrc"),
    zshenv_is_not_made => missing("@PROJECT/.zshenv"),

    /// The island is a link: what it leads to is what the host will read.
    settings_behind_a_link_are_not_changed => attempt("echo evil > conf/settings.json; \
        echo evil > .claude/settings.json",
        Leak::Changed("@PROJECT/.claude/settings.json")).file("@PROJECT/conf/settings.json", "{}\n")
        .given(|w| w.link("conf", "@PROJECT/.claude")).workspace().may_refuse(),
    mcp_servers_behind_a_link_are_not_changed => attempt("echo evil > conf/mcp.json; echo evil > .mcp.json",
        Leak::Changed("@PROJECT/conf/mcp.json")).file("@PROJECT/conf/mcp.json", "{}\n")
        .given(|w| w.link("conf/mcp.json", "@PROJECT/.mcp.json")).workspace().may_refuse(),
    direnv_file_behind_a_dangling_link_is_not_made => attempt("echo evil > later; echo evil > .envrc",
        Leak::Changed("@PROJECT/later"))
        .given(|w| w.link("later", "@PROJECT/.envrc")).workspace().may_refuse(),
    link_of_an_island_is_not_changed => attempt("rm -f .vscode; ln -s evil .vscode; ln -sfn evil .vscode",
        Leak::Changed("@PROJECT/.vscode")).file("@PROJECT/conf/tasks.json", "{}\n")
        .given(|w| w.link("conf", "@PROJECT/.vscode")).workspace().may_refuse(),
    /// Several runs share a project; the end of one must not uncover the other.
    islands_hold_after_another_run_has_ended => attempt(PLANT, Leak::Seen(planted))
        .meanwhile(|w| { other_run(w, "true").go(); }).workspace(),
    islands_hold_after_another_run_was_killed => attempt(PLANT, Leak::Seen(planted)).meanwhile(|w| {
        let other = other_run(w, "@A mark ready @ID; sleep 20").spawn();
        assert!(other.wait_for_mark("ready"), "the other run did not start");
        other.signal("KILL");
        other.finish();
        // Alone, that run's names are cleared away by now; beside another one they stay.
        glee_tests::wait_until(std::time::Duration::from_secs(2), || std::fs::symlink_metadata(w.path("@PROJECT/.envrc")).is_err());
    }).workspace(),
    islands_hold_when_the_host_removes_what_keeps_them => attempt(PLANT, Leak::Seen(planted))
        .meanwhile(|w| { w.host_does("rm -rf .envrc .mcp.json .vscode"); w.settle(); }).workspace(),
    islands_hold_when_the_host_makes_them_anew => attempt("echo evil >> .envrc; echo evil >> .mcp.json",
        Leak::Seen(planted))
        .meanwhile(|w| {
            w.host_tries("rm -rf .envrc .mcp.json; echo mine > x; mv x .envrc; echo mine > .mcp.json");
            w.settle();
        }).workspace(),
    islands_hold_in_every_writable_tree => attempt("mkdir -p @OUT/tree/.vscode; \
        echo evil > @OUT/tree/.vscode/tasks.json; echo evil > @OUT/tree/.envrc",
        Leak::Seen(|w, _| {
            let planted = ["@OUT/tree/.vscode/tasks.json", "@OUT/tree/.envrc"].into_iter().find(|p| w.path(p).exists());
            planted.map(|p| format!("{p} was planted"))
        })).given(|w| { w.dir("@OUT/tree"); }).workspace().flags(&["--write", "@OUT/tree"]),
    islands_hold_in_the_project_where_a_grant_above_covers_it => attempt("cd @PROJECT; echo evil > .envrc; \
        mkdir -p .claude .vscode; echo evil > .claude/settings.json; echo evil > .vscode/tasks.json",
        Leak::Seen(planted_in_the_project)).file("@PROJECT/deep/er/file", "").given(|w| { w.dir("@PROJECT/.glee"); })
        .cwd("@PROJECT/deep/er").workspace().flags(&["--write", "@HOME"]),
    islands_hold_between_the_project_and_where_the_caller_stands => attempt("cd @PROJECT/deep; echo evil > .envrc; \
        mkdir .claude; echo evil > .claude/settings.json",
        Leak::Seen(planted_in_the_project)).file("@PROJECT/deep/er/file", "").given(|w| { w.dir("@PROJECT/.glee"); })
        .cwd("@PROJECT/deep/er").workspace(),
    islands_hold_where_the_caller_starts_below_the_project => attempt("cd ..; echo evil > .envrc; mkdir .vscode; \
        echo evil > .vscode/tasks.json",
        Leak::Seen(|w, _| {
            let planted = ["@PROJECT/.vscode/tasks.json", "@PROJECT/.envrc"].into_iter().find(|p| w.path(p).exists());
            planted.map(|p| format!("{p} was planted"))
        })).file("@PROJECT/sub/file", "").given(|w| { w.dir("@PROJECT/.glee"); }).cwd("@PROJECT/sub").workspace(),
}

/// Making the islands must leave no litter: the checkout is as clean as before, and nothing new lies in it.
mod checkout_is_clean_after_a_run_that_changes_nothing {
    use glee_tests::{Caller, Policy, Run, World, tree};

    fn clean(caller: Caller) {
        for policy in ["restricted", "workspace"] {
            let world = World::new(caller);
            world.git_init();
            let before = tree(&world.project());
            let outcome = Run::sandboxed(&world, Policy::Named(policy)).script("ls -a").go();
            assert!(outcome.left(), "{policy}: {}", outcome.describe());
            assert_eq!(tree(&world.project()), before, "{policy} left something in the project");
            assert_eq!(
                world.git("@PROJECT", &["status", "--porcelain", "--ignored"]),
                "",
                "{policy}"
            );
        }
    }

    #[test]
    fn as_root() {
        clean(Caller::Root);
    }

    #[test]
    fn as_user() {
        clean(Caller::User);
    }
}
