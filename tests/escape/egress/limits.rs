//! Slow, huge and many: bounded time and memory, the run ends, and nothing passes that was not whole and good.

use std::fs;
use std::time::Duration;

use glee_tests::{Attempt, Bare, Leak, World};

use super::companion::companion;
use super::{Reported, lab, report, under, with};

/// A request that goes on and on, up to so many MiB.
fn endless(port: u16, start: &str, unit: &str) -> Attempt {
    lab(format!("@NET endless allowed.test {port} '{start}' '{unit}' 20"))
}

/// What the companion has ever needed at once, in KiB.
fn peak(w: &World) -> u64 {
    let pid = companion(w).expect("the run has a companion");
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("read the companion's status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    number.expect("the companion's memory")
}

/// Each of 300 connections has sent 60 KiB of a head without an end.
const HOARD: &str = "python3 -c 'import socket, subprocess, sys, time
held = []
for i in range(300):
    try:
        s = socket.create_connection((\"allowed.test\", 80), timeout=3)
        s.setblocking(False)
        held.append(s)
        s.send(b\"GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\nX: \" + b\"a\" * 60000)
    except OSError: pass
print(len(held))
time.sleep(1)
subprocess.run([\"@A\", \"mark\", \"ready\", \"@ID\"])
time.sleep(1)'";

fn within(limit: Duration) -> impl Fn(&World, &glee_tests::Outcome) {
    move |_, o| assert!(o.took < limit, "took too long: {}", o.describe())
}

claims! {
    endless_head_does_not_pass => endless(80, "GET / HTTP/1.1\\r\\nHost: allowed.test\\r\\nX: @ID", "a").reported("64 KiB"),
    endless_fields_do_not_pass => endless(80, "GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\n", "X: a\\r\\n").reported("allowed.test"),
    endless_request_line_does_not_pass => endless(80, "GET /@ID", "a").reported("64 KiB"),
    endless_hello_does_not_pass => endless(443, "\\x16\\x03\\x01\\x40\\x00\\x01\\x00\\xff\\xff@ID", "a").reported("allowed.test"),
    endless_chunk_extension_does_not_pass => endless(80, "POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\n\
        Transfer-Encoding: chunked\\r\\n\\r\\n5;@ID", "a").reported("chunk extension"),
    endless_first_line_does_not_pass_on_another_port => under("allow: ['allowed.test:7777']",
        "@NET endless allowed.test 7777 'GET /@ID ' a 20").reported("64 KiB"),
    slow_head_does_not_pass => lab("PATIENCE=14 @NET say allowed.test 80 'GET /@ID HTTP/1.1\\r\\nHost: al'")
        .bare_limit(Duration::from_secs(1)).reported("took too long"),
    slow_name_server_does_not_hold_the_run => under("allow: [slow.test]",
        "PATIENCE=20 @NET say slow.test 80 'GET /@ID HTTP/1.1\\r\\nHost: slow.test\\r\\n\\r\\n'")
        .bare(Bare::Nobody("its name server never answers")).reported("no name server answered in time")
        .then(within(Duration::from_secs(20))),
    flood_of_connections_ends => with("PATIENCE=1 @NET flood allowed.test 80 400 first; @NET say other.test 80 \
        'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'", Leak::Carried).reported("other.test")
        .then(|_, o| assert!(o.says("hello from"), "nothing passes after the flood: {}", o.describe())),
    flood_of_hoarders_is_bounded_in_memory => lab(HOARD).meanwhile_only(|w| {
        // There is no companion in the bare control.
        if companion(w).is_some() {
            let peak = peak(w);
            assert!(peak < 100 * 1024, "the companion needs {peak} KiB");
        }
    }),
    flood_of_names_is_bounded_in_the_report => lab("@NET many @ID.evil.test 1200")
        .then(|w, _| assert!(report(w)["egress"].as_array().is_some_and(|rows| rows.len() == 1000))),
    flood_of_names_below_a_wildcard_ends => under("allow: ['*.wild.test', '*.test']", "@NET many @ID.wild.test 3000")
        .then(within(Duration::from_secs(30))),
    flood_of_garbage_questions_ends => lab("python3 -c 'import socket, os
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(2000):
    try: s.sendto(os.urandom(i % 512) + b\"@ID\", (\"127.0.0.53\", 53))
    except OSError: pass
'; PATIENCE=2 @NET dns allowed.test 1").bare(Bare::Nobody("there is no answerer outside"))
        .then(|_, o| assert!(o.says("code 0 answers 1"), "the answerer is gone: {}", o.describe())),
    flood_of_dead_ends_is_bounded => under("allow: [private.test]", "for i in $(seq 40); do \
        @NET connect private.test:80 'GET /@ID HTTP/1.1\\r\\nHost: private.test\\r\\n\\r\\n' & done; wait").reported("private"),
    deadline_ends_open_connections => with("PATIENCE=60 @NET say allowed.test 80 'GET /first HTTP/1.1\\r\\nX: @ID'", Leak::Survived)
        .flags(&["--timeout", "1s"]).endless(Duration::from_secs(1)),
}
