use super::*;
use crate::definitions::Cli;

fn heard(lines: &[&str]) -> Listener {
    let mut listener = Listener::new(Cli::Codex, 1000);
    lines.iter().for_each(|line| drop(listener.hear(line.as_bytes())));
    listener
}

fn seen(end: End, model_requests: Option<u64>) -> Seen {
    Seen {
        end,
        model_requests,
        complaint: "last words".into(),
    }
}

const DONE: &str = r#"{"type":"turn.completed"}"#;
const FAILED: &str = r#"{"type":"turn.failed","error":{"message":"quota"}}"#;

#[test]
fn only_word_and_evidence_together_are_a_success() {
    assert_eq!(
        judge(&heard(&[DONE]), &seen(End::Exited(0), Some(2))),
        Status::Completed
    );
    assert_eq!(judge(&heard(&[DONE]), &seen(End::Exited(0), None)), Status::Completed);
    let error = |status| match status {
        Status::Error(why) => why,
        Status::Completed | Status::Timeout | Status::Cancelled => panic!("no error"),
    };
    for (lines, end, requests, why) in [
        (
            &[][..],
            End::Exited(0),
            Some(1),
            "the agent exited with 0 without finishing a turn: last words",
        ),
        (
            &[DONE],
            End::Exited(0),
            Some(0),
            "the agent says it is done, but its model was never asked: last words",
        ),
        (&[DONE], End::Exited(3), Some(1), "the agent exited with 3: last words"),
        (
            &[DONE],
            End::Signaled(9),
            Some(1),
            "the agent was ended by signal 9: last words",
        ),
        (&[FAILED], End::Exited(0), Some(1), "quota"),
        (&[FAILED], End::Exited(1), Some(1), "quota"),
        (&[DONE], End::Refused("no policy".into()), None, "no policy"),
    ] {
        assert_eq!(error(judge(&heard(lines), &seen(end, requests))), why);
    }
}

#[test]
fn the_deadline_and_the_caller_s_wish_are_told_from_errors() {
    assert_eq!(judge(&heard(&[DONE]), &seen(End::Timeout, Some(1))), Status::Timeout);
    assert_eq!(
        judge(&heard(&[FAILED]), &seen(End::Cancelled, Some(1))),
        Status::Cancelled
    );
}
