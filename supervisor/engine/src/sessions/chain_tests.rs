#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use super::super::record::{Conversation, Role, Status};
use super::*;
use crate::clock::Moment;
use crate::hex::Hex;

/// A session of five messages, the first two of which were dropped.
fn recorded(signer: &Signer<'_>, dropped: usize) -> Session {
    let mut session = Session {
        session_id: "task-a1b2c3d4".parse().expect("an id"),
        agent_name: Some("scanner".parse().expect("a name")),
        agent_cli: "codex".parse().expect("a name"),
        created_at: Moment::from_seconds(1000),
        updated_at: Moment::from_seconds(2000),
        status: Status::Completed,
        messages: Vec::new(),
        conversation: Some(Conversation {
            id: "0199-a".parse().expect("an id"),
            state: Hex([7; 32]),
        }),
        dropped: None,
        version: VERSION,
        seal: signer.key.sign("", &[]),
    };
    for n in 0..5 {
        let message = Message {
            role: if n % 2 == 0 { Role::User } else { Role::Assistant },
            content: format!("text {n}"),
            at: Moment::from_seconds(1000 + n),
            run: Some("01jx".parse().expect("a name")),
            mac: signer.key.sign("", &[]),
        };
        signer.push(&mut session, message);
    }
    Signer::drop_oldest(&mut session, dropped);
    signer.seal(&mut session);
    session
}

fn with<T>(then: impl FnOnce(&Signer<'_>) -> T) -> T {
    let key = Key::fresh().expect("a key");
    let project = Path::new("/p");
    then(&Signer { key: &key, project })
}

#[test]
fn what_was_recorded_is_intact_also_with_dropped_messages() {
    with(|signer| {
        for dropped in 0..=5 {
            assert_eq!(signer.check(&recorded(signer, dropped)), None, "{dropped} dropped");
        }
        let mut session = recorded(signer, 5);
        signer.push(&mut session, recorded(signer, 0).messages[0].clone());
        signer.seal(&mut session);
        assert_eq!((session.total(), signer.check(&session)), (6, None));
    });
}

#[test]
fn an_edited_message_is_named() {
    let edits: [fn(&mut Message); 5] = [
        |m| m.content.push('x'),
        |m| m.role = Role::Assistant,
        |m| m.at = Moment::from_seconds(1),
        |m| m.run = None,
        |m| m.run = Some("other".parse().expect("a name")),
    ];
    with(|signer| {
        for (n, edit) in edits.iter().enumerate() {
            for dropped in [0, 2] {
                let mut session = recorded(signer, dropped);
                edit(&mut session.messages[2]);
                let expected = Fault::Message(dropped as u64 + 3);
                assert_eq!(signer.check(&session), Some(expected), "edit {n}, {dropped} dropped");
            }
        }
    });
}

#[test]
fn a_truncated_history_is_detected_at_each_length() {
    with(|signer| {
        for keep in 1..5 {
            let mut session = recorded(signer, 0);
            session.messages.truncate(keep);
            assert_eq!(signer.check(&session), Some(Fault::Frame), "{keep} kept");
        }
        let mut session = recorded(signer, 0);
        session.messages.clear();
        assert_eq!(signer.check(&session), Some(Fault::Frame));
    });
}

#[test]
fn a_history_without_its_beginning_is_detected_even_if_it_says_so() {
    with(|signer| {
        let mut session = recorded(signer, 0);
        session.messages.remove(0);
        assert_eq!(signer.check(&session), Some(Fault::Beginning));
        let mut session = recorded(signer, 0);
        Signer::drop_oldest(&mut session, 2);
        assert_eq!(signer.check(&session), Some(Fault::Frame));
    });
}

#[test]
fn a_reordered_history_is_detected_at_each_place() {
    with(|signer| {
        for (a, b) in [(0, 1), (1, 3), (3, 4), (0, 4)] {
            let mut session = recorded(signer, 0);
            session.messages.swap(a, b);
            assert_eq!(signer.check(&session), Some(Fault::Moved(a as u64 + 1)), "{a} and {b}");
        }
        let mut session = recorded(signer, 0);
        let again = session.messages[1].clone();
        session.messages.insert(3, again);
        assert_eq!(signer.check(&session), Some(Fault::Moved(4)));
    });
}

type Edit = fn(&mut Session);

#[test]
fn every_field_outside_the_messages_is_covered() {
    let edits: [(&str, Edit); 9] = [
        ("id", |s| s.session_id = "task-a1b2c3d5".parse().expect("an id")),
        ("name", |s| s.agent_name = None),
        ("cli", |s| s.agent_cli = "claude".parse().expect("a name")),
        ("created", |s| s.created_at = Moment::from_seconds(999)),
        ("updated", |s| s.updated_at = Moment::from_seconds(2001)),
        ("status", |s| s.status = Status::Error),
        ("conversation", |s| s.conversation = None),
        ("state", |s| s.conversation.as_mut().expect("one").state = Hex([8; 32])),
        ("version", |s| s.version = 2),
    ];
    with(|signer| {
        for (name, edit) in edits {
            for dropped in [0, 5] {
                let mut session = recorded(signer, dropped);
                edit(&mut session);
                assert!(signer.check(&session).is_some(), "{name}, {dropped} dropped");
            }
        }
    });
}

#[test]
fn another_key_and_another_project_are_foreign() {
    with(|signer| {
        let session = recorded(signer, 0);
        let other = Signer {
            key: signer.key,
            project: Path::new("/q"),
        };
        assert_eq!(other.check(&session), Some(Fault::Beginning));
        with(|stranger| assert_eq!(stranger.check(&session), Some(Fault::Beginning)));
    });
}

#[test]
fn messages_of_another_session_do_not_fit() {
    with(|signer| {
        let mut session = recorded(signer, 0);
        let mut other = recorded(signer, 0);
        other.session_id = "task-ffffffff".parse().expect("an id");
        let messages = std::mem::take(&mut other.messages);
        for message in messages {
            signer.push(&mut other, message);
        }
        signer.seal(&mut other);
        assert_eq!(signer.check(&other), None);
        session.messages = other.messages.clone();
        assert!(signer.check(&session).is_some());
        session.seal = other.seal;
        assert!(signer.check(&session).is_some());
    });
}
