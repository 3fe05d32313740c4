use std::sync::Arc;

use super::*;
use crate::tasks::events::Turn;

fn job(script: &str, prompt: &[u8]) -> Job {
    Job {
        program: "/bin/sh".into(),
        environment: Vec::new(),
        arguments: vec!["-c".into(), script.into()],
        cwd: "/".into(),
        cli: Cli::Codex,
        prompt: prompt.to_vec(),
        output_limit: 1000,
    }
}

#[test]
fn the_prompt_goes_in_and_events_and_complaints_come_out() {
    let script = r#"read -r line; echo "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"$line\"}}"
        echo '{"type":"turn.completed"}'; echo sorry >&2; exit 3"#;
    let (mut out, mut err) = (0, Vec::new());
    let worked = work(
        job(script, b"hello\n"),
        &AtomicBool::new(false),
        &mut |sound| match sound {
            Sound::Out(_) => out += 1,
            Sound::Err(line) => err.push(String::from_utf8_lossy(line).into_owned()),
            Sound::Deed(_) => {}
        },
    )
    .unwrap();
    assert_eq!(worked.status.code(), Some(3));
    assert_eq!(worked.heard.answer().text(), "hello");
    assert_eq!(worked.heard.turn(), Some(&Turn::Completed));
    assert_eq!(
        (out, err, worked.complaint.as_str()),
        (2, vec!["sorry".to_owned()], "sorry\n")
    );
    assert!(!worked.stopped);
}

#[test]
fn an_agent_that_reads_nothing_and_prints_without_end_is_stopped_on_request() {
    let stop = Arc::new(AtomicBool::new(false));
    let later = Arc::clone(&stop);
    let timer = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        later.store(true, Ordering::Relaxed);
    });
    // Bounded, should nobody stop it.
    let script = "exec timeout 20 yes 0123456789012345678901234567890123456789";
    let began = Instant::now();
    let worked = work(job(script, &vec![b'x'; 1 << 20]), &stop, &mut |_| {}).unwrap();
    timer.join().unwrap();
    assert!(
        worked.stopped && began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(worked.heard.turn(), None);
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let mut job = job("true", b"");
    job.program = "/nonexistent/program".into();
    assert!(work(job, &AtomicBool::new(false), &mut |_| {}).is_err());
}
