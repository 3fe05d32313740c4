use super::*;

#[test]
fn claude_is_held_to_the_list_and_to_no_servers_of_the_project() {
    assert_eq!(
        restrict(Cli::Claude, &[Tool::ReadFile, Tool::Grep]),
        Ok(words(&["--tools", "Read,Grep", "--strict-mcp-config"]))
    );
    assert_eq!(
        restrict(Cli::Claude, &[]),
        Ok(words(&["--tools", "", "--strict-mcp-config"]))
    );
}

#[test]
fn gemini_is_held_by_an_admin_policy() {
    let file = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 100\n\n[[rule]]\ntoolName = [\"read_file\", \"grep_search\"]\ndecision = \"allow\"\npriority = 200\n";
    assert_eq!(
        restrict(Cli::Gemini, &[Tool::ReadFile, Tool::Grep]),
        Ok(vec![
            Argument::Word("--admin-policy".into()),
            Argument::File(file.into())
        ])
    );
    let none = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 100\n";
    assert_eq!(
        restrict(Cli::Gemini, &[]),
        Ok(vec![
            Argument::Word("--admin-policy".into()),
            Argument::File(none.into())
        ])
    );
}

#[test]
fn codex_keeps_its_shell_or_is_refused() {
    let flags = |search| words(&["-c", "agents.enabled=false", "-c", "features.goals=false", "-c", search]);
    assert_eq!(restrict(Cli::Codex, &[Tool::Shell]), Ok(flags("web_search=disabled")));
    assert_eq!(
        restrict(Cli::Codex, &[Tool::Shell, Tool::ReadFile, Tool::WebSearch]),
        Ok(flags("web_search=live"))
    );
    assert_eq!(
        restrict(Cli::Codex, &[Tool::ReadFile, Tool::Grep]),
        Err(Unenforceable::OnlyByShell(Tool::ReadFile))
    );
    assert_eq!(restrict(Cli::Codex, &[]), Err(Unenforceable::NeedsShell));
    assert_eq!(restrict(Cli::Codex, &[Tool::WebSearch]), Err(Unenforceable::NeedsShell));
    let fetch = Unenforceable::NoSuchTool {
        cli: Cli::Codex,
        tool: Tool::WebFetch,
    };
    assert_eq!(restrict(Cli::Codex, &[Tool::Shell, Tool::WebFetch]), Err(fetch));
}

#[test]
fn a_tool_that_a_cli_lacks_is_refused_by_name() {
    let refused = |cli, tool: Tool| restrict(cli, &[tool]).map_err(|error| error.to_string());
    assert_eq!(
        refused(Cli::Claude, Tool::ListDirectory),
        Err("claude has no tool `list_directory`".into())
    );
    assert_eq!(
        refused(Cli::Gemini, Tool::EditNotebook),
        Err("gemini has no tool `edit_notebook`".into())
    );
}

#[test]
fn every_tool_has_a_word_of_its_own() {
    for (word, tool) in Tool::WORDS {
        assert_eq!(tool.word(), *word);
    }
}
