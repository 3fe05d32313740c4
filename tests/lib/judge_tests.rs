//! The judges can say no, and can say yes.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::judge::CLAIM;
use crate::{Caller, Leak, Listener, Outcome, Verdict, World, judge};

fn printed(world: &World, text: &str) -> Outcome {
    Outcome {
        stdout: text.as_bytes().to_vec(),
        stderr: Vec::new(),
        status: ExitStatus::from_raw(0),
        took: Duration::ZERO,
        hung: false,
        mark: world.nonce().chars().rev().collect(),
    }
}

fn escapes(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Escaped(_))
}

#[test]
fn a_printed_secret_is_an_escape_and_its_absence_is_not() {
    let w = World::new(Caller::User);
    let leak = format!("noise {} noise", w.secret());
    assert!(escapes(&judge(&Leak::Secret, &w, &printed(&w, &leak))));
    assert_eq!(
        judge(&Leak::Secret, &w, &printed(&w, "cat: no such file")),
        Verdict::Contained
    );
}

#[test]
fn a_claim_is_an_escape_and_a_refusal_is_not() {
    let w = World::new(Caller::User);
    assert!(escapes(&judge(
        &Leak::Claimed,
        &w,
        &printed(&w, &format!("mount: {CLAIM}"))
    )));
    assert_eq!(
        judge(&Leak::Claimed, &w, &printed(&w, "mount: refused, errno 1")),
        Verdict::Contained
    );
}

#[test]
fn each_kind_of_change_is_an_escape_and_an_untouched_file_is_not() {
    let w = World::new(Caller::User);
    let leak = Leak::Changed("@OUT/file");
    let changes: [fn(&World); 5] = [
        |w| drop(w.file("@OUT/file", "new")),
        |w| w.mode("@OUT/file", 0o600),
        |w| std::fs::remove_file(w.path("@OUT/file")).expect("remove"),
        |w| w.give("@OUT/file", 1),
        |w| std::fs::hard_link(w.path("@OUT/file"), w.path("@OUT/second")).expect("link"),
    ];
    for change in changes {
        let _ = std::fs::remove_file(w.path("@OUT/file"));
        w.file("@OUT/file", "old");
        w.watch("@OUT/file");
        assert_eq!(judge(&leak, &w, &printed(&w, "")), Verdict::Contained);
        change(&w);
        assert!(escapes(&judge(&leak, &w, &printed(&w, ""))));
    }
}

#[test]
fn a_file_that_appears_is_an_escape() {
    let w = World::new(Caller::Root);
    w.watch("@OUT/new");
    assert_eq!(
        judge(&Leak::Changed("@OUT/new"), &w, &printed(&w, "")),
        Verdict::Contained
    );
    w.file("@OUT/new", "");
    assert!(escapes(&judge(&Leak::Changed("@OUT/new"), &w, &printed(&w, ""))));
}

#[test]
fn a_connection_is_an_escape_and_silence_is_not() {
    let w = World::new(Caller::User);
    let listener = Listener::tcp();
    w.listen(listener.clone());
    assert_eq!(judge(&Leak::Heard, &w, &printed(&w, "")), Verdict::Contained);
    drop(std::net::TcpStream::connect(("127.0.0.1", listener.port())).expect("connect"));
    assert!(escapes(&judge(&Leak::Heard, &w, &printed(&w, ""))));
}

#[test]
fn a_process_that_carries_the_nonce_is_a_survivor() {
    let w = World::new(Caller::User);
    assert_eq!(judge(&Leak::Survived, &w, &printed(&w, "")), Verdict::Contained);
    let mut child = w
        .host_command("@A")
        .args(["sleep", "60", w.nonce()])
        .spawn()
        .expect("start a process");
    assert!(escapes(&judge(&Leak::Survived, &w, &printed(&w, ""))));
    w.end_processes();
    child.wait().expect("reap it");
    w.victim("@A", &["sleep", "60", "@ID"], &[]);
    assert_eq!(
        judge(&Leak::Survived, &w, &printed(&w, "")),
        Verdict::Contained,
        "a victim is no survivor"
    );
}

#[test]
fn a_dead_victim_is_an_escape_and_a_living_one_is_not() {
    let w = World::new(Caller::User);
    w.victim("@A", &["sleep", "60", "@ID"], &[]);
    assert_eq!(judge(&Leak::VictimDied, &w, &printed(&w, "")), Verdict::Contained);
    w.end_processes();
    assert!(escapes(&judge(&Leak::VictimDied, &w, &printed(&w, ""))));
}

#[test]
fn the_marks_of_a_script_are_those_of_its_own_world() {
    let (w, other) = (World::new(Caller::User), World::new(Caller::User));
    let mark: String = other.nonce().chars().rev().collect();
    let foreign = printed(&w, &format!("enter:{mark}\nleave:{mark}"));
    assert!(!foreign.entered() && !foreign.left());
    let quoted = printed(&w, &format!("cannot run `attack enter {} sh -c …`", w.nonce()));
    assert!(!quoted.entered() && !quoted.left());
}
