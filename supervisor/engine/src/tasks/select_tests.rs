use super::*;

fn all(_: Cli) -> bool {
    true
}

#[test]
fn the_one_that_is_named_is_taken_or_refused_but_never_replaced() {
    for wish in [
        Wish::Definition(Cli::Gemini),
        Wish::Caller(Cli::Gemini),
        Wish::Configuration(Cli::Gemini),
    ] {
        assert_eq!(select(wish, "refactor", all).unwrap().0, Cli::Gemini);
        assert_eq!(
            select(wish, "refactor", |cli| cli != Cli::Gemini),
            Err(SelectCliError::NotInstalled(Cli::Gemini))
        );
    }
}

#[test]
fn words_are_looked_for_in_the_documented_order() {
    let choose = |prompt| select(Wish::Nobody, prompt, all).unwrap();
    assert_eq!(choose("Search WEB for x"), (Cli::Gemini, Reason::Word("search web")));
    assert_eq!(choose("Find bugs in x"), (Cli::Codex, Reason::Word("find bugs")));
    assert_eq!(choose("Summarize x"), (Cli::Claude, Reason::Word("summarize")));
    // Both speak up: the earlier list wins.
    assert_eq!(
        choose("fix the documentation"),
        (Cli::Gemini, Reason::Word("documentation"))
    );
    assert_eq!(choose("hello"), (Cli::Codex, Reason::FirstAvailable));
}

#[test]
fn a_word_for_a_cli_that_is_not_there_does_not_count() {
    let without = |cli| cli != Cli::Gemini;
    let chosen = select(Wish::Nobody, "fix the documentation", without).unwrap();
    assert_eq!(chosen, (Cli::Codex, Reason::Word("fix")));
    let only_gemini = |cli| cli == Cli::Gemini;
    let chosen = select(Wish::Nobody, "debug", only_gemini).unwrap();
    assert_eq!(chosen, (Cli::Gemini, Reason::FirstAvailable));
    assert_eq!(select(Wish::Nobody, "x", |_| false), Err(SelectCliError::NoneInstalled));
}
