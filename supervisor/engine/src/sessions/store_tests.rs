#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::testing::Scratch;

const WEEK: Duration = Duration::from_secs(7 * 86_400);

fn sessions(scratch: &Scratch) -> Sessions {
    let folder = Folder::make_beneath(scratch.path(), Path::new(DIRECTORY)).expect("make");
    Sessions {
        project: scratch.path().to_owned(),
        folder,
        key: Key::fresh().expect("a key"),
    }
}

fn label(text: &str) -> Label {
    text.parse().expect("a name")
}

fn turn(content: &str) -> Turn {
    let said = Said {
        role: Role::User,
        content: content.to_owned(),
        run: None,
    };
    Turn {
        said: vec![said],
        status: Status::Completed,
        conversation: None,
    }
}

fn at(seconds: u64) -> Moment {
    Moment::from_seconds(seconds)
}

fn file(scratch: &Scratch, id: &SessionId) -> PathBuf {
    scratch.path().join(DIRECTORY).join(id.file())
}

#[test]
fn what_is_appended_is_read_back_in_the_documented_form() {
    let scratch = Scratch::new();
    let sessions = sessions(&scratch);
    let id = sessions
        .create(Some(label("scanner")), label("codex"), at(1_736_434_800))
        .expect("create")
        .session_id;
    let after = sessions
        .append(&id, turn("\u{0}<hé>\n"), at(1_736_434_900))
        .expect("append");
    let expected = Checked {
        session: after,
        fault: None,
    };
    assert_eq!(sessions.read(&id).expect("read"), expected);
    let text = fs::read_to_string(file(&scratch, &id)).expect("a file");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let documented = serde_json::json!({
        "session_id": id, "agent_name": "scanner", "agent_cli": "codex", "created_at": "2025-01-09T15:00:00",
        "updated_at": "2025-01-09T15:01:40", "status": "completed",
    });
    for (key, value) in documented.as_object().expect("an object") {
        assert_eq!(json.get(key), Some(value), "{key}");
    }
    assert_eq!(json["messages"][0]["role"], "user");
    assert_eq!(json["messages"][0]["content"], "\u{0}<hé>\n");
}

#[test]
fn a_changed_session_is_read_with_its_fault_and_never_signed_again() {
    let scratch = Scratch::new();
    let sessions = sessions(&scratch);
    let id = sessions.create(None, label("codex"), at(1)).expect("create").session_id;
    sessions.append(&id, turn("harmless"), at(2)).expect("append");
    let path = file(&scratch, &id);
    let text = fs::read_to_string(&path)
        .expect("a file")
        .replace("harmless", "harmful");
    fs::write(&path, &text).expect("write");
    let checked = sessions.read(&id).expect("read");
    assert_eq!(checked.fault, Some(Fault::Beginning));
    assert_eq!(checked.session.messages[0].content, "harmful");
    let refused = sessions.append(&id, turn("more"), at(3)).expect_err("refused");
    assert!(matches!(refused, SessionError::Changed { .. }), "{refused}");
    assert_eq!(fs::read_to_string(&path).expect("a file"), text);
}

#[test]
fn what_is_no_session_is_named_and_never_panics() {
    let scratch = Scratch::new();
    let sessions = sessions(&scratch);
    let id = sessions.create(None, label("codex"), at(1)).expect("create").session_id;
    let other: SessionId = "task-00000000".parse().expect("an id");
    assert!(matches!(sessions.read(&other), Err(SessionError::Missing(_))));
    fs::copy(file(&scratch, &id), file(&scratch, &other)).expect("copy");
    assert!(matches!(sessions.read(&other), Err(SessionError::Misnamed(..))));
    let whole = fs::read(file(&scratch, &id)).expect("a file");
    for length in 0..whole.len() - 1 {
        fs::write(file(&scratch, &id), &whole[..length]).expect("write");
        let read = sessions.read(&id);
        assert!(
            matches!(read, Err(SessionError::Damaged { .. })),
            "{length} bytes: {read:?}"
        );
    }
    fs::remove_file(file(&scratch, &id)).expect("remove");
    symlink("/etc/passwd", file(&scratch, &id)).expect("link");
    assert!(matches!(sessions.read(&id), Err(SessionError::Io { .. })));
    fs::remove_file(file(&scratch, &id)).expect("remove");
    fs::create_dir(file(&scratch, &id)).expect("a directory");
    assert!(matches!(sessions.read(&id), Err(SessionError::Io { .. })));
}

#[test]
fn several_writers_lose_nothing() {
    let scratch = Scratch::new();
    let sessions = sessions(&scratch);
    let id = sessions.create(None, label("codex"), at(1)).expect("create").session_id;
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let (sessions, id) = (&sessions, &id);
            scope.spawn(move || {
                for n in 0..10 {
                    sessions
                        .append(id, turn(&format!("{writer} {n}")), at(2))
                        .expect("append");
                }
            });
        }
    });
    let checked = sessions.read(&id).expect("read");
    assert_eq!((checked.fault, checked.session.total()), (None, 40));
    let mut texts: Vec<_> = checked.session.messages.iter().map(|m| &m.content).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 40);
}

#[test]
fn sessions_expire_by_what_the_record_says_or_else_the_file() {
    let scratch = Scratch::new();
    let sessions = sessions(&scratch);
    let old = sessions
        .create(None, label("codex"), at(1000))
        .expect("create")
        .session_id;
    let new = sessions
        .create(None, label("codex"), at(1001))
        .expect("create")
        .session_id;
    let torn = sessions
        .create(None, label("codex"), at(1000))
        .expect("create")
        .session_id;
    fs::write(file(&scratch, &torn), "{").expect("write");
    let now = at(1001 + WEEK.as_secs());
    assert!(matches!(
        sessions.resume(&old, WEEK, now),
        Err(SessionError::Expired { .. })
    ));
    assert!(sessions.resume(&new, WEEK, now).is_ok());
    // The torn one was written just now: longer ago than a week only for somebody much later.
    assert_eq!(sessions.prune(WEEK, now).expect("prune"), [old]);
    let listed: Vec<_> = sessions.list().expect("list").into_iter().map(|l| l.id).collect();
    assert_eq!(listed, [torn.clone(), new]);
    let later = Moment::from_seconds(Moment::now().seconds() + 2 * WEEK.as_secs());
    assert!(sessions.prune(WEEK, later).expect("prune").contains(&torn));
    assert!(sessions.list().expect("list").is_empty());
}

#[test]
fn long_texts_are_cut_and_long_histories_lose_their_beginning() {
    assert_eq!(surplus(&[]), 0);
    assert_eq!(surplus(&[MOST_TEXT + 1]), 0);
    assert_eq!(surplus(&[1, MOST_TEXT]), 1);
    assert_eq!(surplus(&[1, MOST_TEXT - 1]), 0);
    assert_eq!(surplus(&vec![1; MOST_MESSAGES + 3]), 3);
    let long = cut("é".repeat(MOST_CONTENT));
    assert!(long.starts_with('é') && long.ends_with(&format!("[{MOST_CONTENT} more bytes were not recorded]")));
    let scratch = Scratch::new();
    let sessions = sessions(&scratch);
    let id = sessions.create(None, label("codex"), at(1)).expect("create").session_id;
    let mut many = turn("");
    many.said = vec![many.said[0].clone(); MOST_MESSAGES + 5];
    sessions.append(&id, many, at(2)).expect("append");
    let checked = sessions.read(&id).expect("read");
    let kept = (checked.session.messages.len(), checked.session.total());
    assert_eq!((checked.fault, kept), (None, (MOST_MESSAGES, 1005)));
}
