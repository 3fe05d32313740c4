use super::*;

#[test]
fn a_name_is_read_back_and_others_are_refused() {
    for cli in ALL {
        assert_eq!(cli.to_string().parse(), Ok(cli));
    }
    assert_eq!("cursor".parse::<AgentCli>(), Err(UnknownCli("cursor".into())));
    assert_eq!("Codex".parse::<AgentCli>(), Err(UnknownCli("Codex".into())));
}

#[test]
fn an_id_that_could_be_a_flag_or_a_path_is_none() {
    assert!(ConversationId::new("019a-bc_D").is_some());
    for bad in ["", "-x", "--last", "../x", "a b", "a/b", "ä", "a\n", &"a".repeat(129)] {
        assert_eq!(ConversationId::new(bad), None, "{bad:?}");
    }
}

#[test]
fn a_conversation_is_resumed_by_the_cli_s_own_flag() {
    let id = ConversationId::new("abc").unwrap();
    assert_eq!(
        AgentCli::Codex.arguments(Some(&id)),
        ["exec", "--json", "--skip-git-repo-check", "resume", "abc", "-"]
    );
    assert!(
        AgentCli::Claude
            .arguments(Some(&id))
            .ends_with(&["--resume".into(), "abc".into()])
    );
    assert!(
        AgentCli::Gemini
            .arguments(Some(&id))
            .ends_with(&["--resume".into(), "abc".into()])
    );
}
