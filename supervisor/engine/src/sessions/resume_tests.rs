#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use super::super::record::{Conversation, Status, VERSION};
use super::*;
use crate::clock::Moment;
use crate::hex::Hex;
use crate::keyring::Key;

const ALL: Window = Window {
    max_history: 20,
    max_context_tokens: None,
};

fn session(contents: &[&str]) -> Session {
    let mac = Key::fresh().expect("a key").sign("", &[]);
    let at = Moment::from_seconds(0);
    Session {
        session_id: "task-a1b2c3d4".parse().expect("an id"),
        agent_name: None,
        agent_cli: "codex".parse().expect("a name"),
        created_at: at,
        updated_at: at,
        status: Status::Completed,
        messages: contents
            .iter()
            .map(|content| Message {
                role: Role::User,
                content: (*content).to_owned(),
                at,
                run: None,
                mac,
            })
            .collect(),
        conversation: Some(Conversation {
            id: "0199-a".parse().expect("an id"),
            state: Hex([1; 32]),
        }),
        dropped: None,
        version: VERSION,
        seal: mac,
    }
}

fn why(resume: &Resume<'_>) -> Option<Why> {
    match resume {
        Resume::Native(_) => None,
        Resume::Replay { why, .. } => Some(why.clone()),
    }
}

#[test]
fn the_clis_own_conversation_goes_on_only_if_nothing_has_changed() {
    let codex: Label = "codex".parse().expect("a name");
    let claude: Label = "claude".parse().expect("a name");
    let intact = Kept::Files(Hex([1; 32]));
    let with = session(&["a"]);
    let mut without = with.clone();
    without.conversation = None;
    let cases = [
        (&with, None, &codex, intact, None),
        (
            &with,
            Some(Fault::Frame),
            &codex,
            intact,
            Some(Why::Changed(Fault::Frame)),
        ),
        (&with, None, &claude, intact, Some(Why::OtherCli(codex.clone()))),
        (&without, None, &codex, intact, Some(Why::NoConversation)),
        (&with, None, &codex, Kept::Nothing, Some(Why::Gone)),
        (&with, None, &codex, Kept::Files(Hex([2; 32])), Some(Why::StateChanged)),
    ];
    for (session, fault, cli, kept, expected) in cases {
        let resume = decide(session, fault, cli, kept, ALL);
        assert_eq!(why(&resume), expected);
        if let Resume::Replay { history, .. } = resume {
            assert_eq!((history.messages.len(), history.left_out), (1, 0));
        }
    }
}

#[test]
fn the_newest_messages_are_told_in_their_order() {
    let told = |session: &Session, max_history, max_context_tokens| {
        let history = history(
            session,
            Window {
                max_history,
                max_context_tokens,
            },
        );
        let texts: Vec<String> = history.messages.into_iter().map(|told| told.content).collect();
        (texts.join("|"), history.left_out)
    };
    let session = session(&["one", "two", "three"]);
    assert_eq!(told(&session, 20, None), ("one|two|three".into(), 0));
    assert_eq!(told(&session, 2, None), ("two|three".into(), 1));
    assert_eq!(told(&session, 0, None), (String::new(), 3));
    // `three` costs 2 + 4, `two` 1 + 4.
    assert_eq!(told(&session, 20, Some(11)), ("two|three".into(), 1));
    assert_eq!(told(&session, 20, Some(10)), ("three".into(), 2));
    assert_eq!(told(&session, 20, Some(5)), ("thre".into(), 2));
    assert_eq!(told(&session, 20, Some(4)), (String::new(), 3));
}

#[test]
fn a_message_is_never_cut_inside_a_character() {
    let session = session(&["aéé😀😀"]);
    for tokens in 5..10 {
        let window = Window {
            max_history: 1,
            max_context_tokens: Some(tokens),
        };
        let told = history(&session, window);
        let text = told.messages.first().map_or("", |told| told.content.as_str());
        assert!(
            "aéé😀😀".starts_with(text) && super::tokens(text) <= tokens,
            "{tokens}: {text}"
        );
    }
}
