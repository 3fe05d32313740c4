//! A limit that a run came up to is named in its report.

use glee_tests::Caller;
use serde_json::{Value, json};

use crate::claims::claims;
use crate::support::Place;

/// The cause, and the limits among the denials.
fn reached(at: &Place, program: &str) -> (Value, Vec<Value>) {
    at.world
        .file("@OUT/limits.yml", "extends: restricted\nlimits: {pids: 16}\n");
    let (_, report) = at.reported(&["--policy", "@OUT/limits.yml", "--", "perl", "-e", program]);
    let denials = report["denials"].as_array().expect("denials is a list");
    let limits = denials.iter().filter(|row| row["kind"] == "limit");
    (report["cause"].clone(), limits.map(|row| row["name"].clone()).collect())
}

claims! {
    fn a_fork_loop_that_waits_is_told_of_as_the_limit_on_processes(at) {
        let waits = "for (1..40) { my $p = fork; last if !defined $p; if (!$p) { sleep 1; exit } } 1 while wait != -1;";
        assert_eq!(reached(at, waits), (json!("pids"), vec![json!("limits.pids")]));
    }

    fn a_fork_loop_that_leaves_its_children_is_told_of_as_the_limit_on_processes(at) {
        let leaves = "for (1..40) { my $p = fork; last if !defined $p; if (!$p) { sleep 1; exit } }";
        assert_eq!(reached(at, leaves), (json!("pids"), vec![json!("limits.pids")]));
    }

    fn as_many_processes_as_are_allowed_are_had(at) {
        let program = "my $n = 0; for (1..40) { my $p = fork; last if !defined $p; $n++; if (!$p) { sleep 1; exit } } print $n";
        at.world.file("@OUT/limits.yml", "extends: restricted\nlimits: {pids: 16}\n");
        // Pid 1 of the sandbox and the command are two of them.
        let seen = at.seen(["run", "--policy", "@OUT/limits.yml", "--", "perl", "-e", program]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "14"), "{}", seen.stderr);
    }

    fn fewer_processes_than_the_limit_are_not_told_of(at) {
        let few = "for (1..8) { my $p = fork; last if !defined $p; if (!$p) { sleep 1; exit } } 1 while wait != -1;";
        assert_eq!(reached(at, few), (json!(null), vec![]));
    }

    // Between `vfork` and `exec` parent and child show the same memory.
    fn memory_that_a_process_shares_with_its_child_is_counted_once(at) {
        at.world.file("@OUT/limits.yml", "extends: restricted\nlimits: {memory_mb: 200}\n");
        let program = "import subprocess, time
x = bytearray(130 << 20)
end = time.time() + 3
while time.time() < end: subprocess.run(['/bin/true'])
print(len(x))";
        let seen = at.seen(["run", "--policy", "@OUT/limits.yml", "--", "python3", "-c", program]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "136314880\n"), "{}", seen.stderr);
    }

    // A mapping of the zero page: half a megabyte of memory by its pages, 256 of tables.
    fn page_tables_are_memory(at) {
        at.world.file("@OUT/limits.yml", "extends: restricted\nlimits: {memory_mb: 64}\n");
        let program = "import mmap, time
m = mmap.mmap(-1, 128 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
m.madvise(15)
for at in range(0, 128 << 30, 2 << 20): m[at]
time.sleep(5)";
        let (_, report) = at.reported(&["--policy", "@OUT/limits.yml", "--", "python3", "-c", program]);
        assert_eq!(report["cause"], json!("memory"), "{report}");
    }

    // No control group counts them.
    fn unread_answers_of_the_kernel_are_memory(at) {
        at.world.file("@OUT/limits.yml", "extends: restricted\nlimits: {memory_mb: 64}\n");
        let program = "import socket, struct, time
held = []
for _ in range(300):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0); held.append(s)
    s.send(struct.pack('IHHII', 200000, 16, 5, 0, 0) + bytes(199984), socket.MSG_DONTWAIT); time.sleep(0.002)
time.sleep(5)";
        let (_, report) = at.reported(&["--policy", "@OUT/limits.yml", "--", "python3", "-c", program]);
        assert_eq!(report["cause"], json!("memory"), "{report}");
    }

    fn what_servers_and_their_clients_hold_is_no_reason_to_end_them(at) {
        at.world.file("@OUT/limits.yml", "extends: restricted\nlimits: {memory_mb: 128}\n");
        let program = "import fcntl, os, socket, struct, tempfile, time
held = []
for _ in range(8):
    door = socket.create_server(('127.0.0.1', 0), backlog=256)
    for n in range(150):
        c = socket.create_connection(door.getsockname()); held.append(c)
        if n < 50: s = door.accept()[0]; c.send(bytes(20000)); held.append(s)
        else: c.send(b'hello')
    held.append(door)
for _ in range(50):
    d = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); d.bind(('127.0.0.1', 0)); held.append(d)
    held += [socket.socket(), *socket.socketpair(), *socket.socketpair()]
for _ in range(2000): socket.if_nameindex()
f = tempfile.TemporaryFile()
for at in range(12000, 0, -1): fcntl.lockf(f, fcntl.LOCK_EX, 1, 2 * at)
time.sleep(1.5)
print(len(held))";
        let seen = at.seen(["run", "--policy", "@OUT/limits.yml", "--", "python3", "-c", program]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "1908\n"), "{}", seen.stderr);
    }

    fn where_the_machine_runs_out_of_memory_the_sandbox_goes_first_and_cannot_help_it(at) {
        let script = "cat /proc/self/oom_score_adj; (echo 0 > /proc/$$/oom_score_adj) 2> /dev/null || true; cat /proc/$$/oom_score_adj";
        for policy in ["restricted", "workspace"] {
            let seen = at.shell(policy, script).go();
            assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "500\n500\n"), "{}", seen.err());
        }
    }

    fn extended_attributes_count_as_private_space(at) {
        at.world.file("@OUT/limits.yml", "extends: restricted\nlimits: {disk_mb: 8}\n");
        let program = "import os
stored = 0
try:
    for n in range(4000):
        path = f'/tmp/{n}'
        open(path, 'w').close()
        os.setxattr(path, 'user.a', bytes(1000))
        stored += 1000
except OSError as error: print(error.errno)
print(stored < 12 << 20)";
        let seen = at.seen(["run", "--policy", "@OUT/limits.yml", "--", "python3", "-c", program]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "28\nTrue\n"), "{}", seen.stderr);
    }
}

/// Where a control group counts the memory: an ordinary user has none here.
#[test]
fn buffers_of_sockets_are_bounded_by_the_control_group() {
    let at = Place::of(Caller::Root);
    at.world
        .file("@OUT/limits.yml", "extends: restricted\nlimits: {memory_mb: 64}\n");
    let program = "import socket
server = socket.create_server(('127.0.0.1', 0))
queued, ends = 0, []
for _ in range(60):
    client = socket.create_connection(server.getsockname())
    ends += [client, server.accept()[0]]
    client.setblocking(False)
    try:
        while True: queued += client.send(bytes(1 << 16))
    except BlockingIOError: pass
print(queued < 64 << 20, queued)";
    let seen = at.seen(["run", "--policy", "@OUT/limits.yml", "--", "python3", "-c", program]);
    assert_eq!(
        (seen.status, seen.stdout.starts_with("True")),
        (0, true),
        "{} {}",
        seen.stdout,
        seen.stderr
    );
}
