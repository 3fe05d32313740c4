//! Limits bound what a run can take. Every attack is bounded itself, so that the host survives the bare control.

use glee_tests::{Attempt, Bare, Caller, Leak, Policy, Run, World, attempt, capable};

/// Says that it got all it wanted, against a limit below that.
fn greedy(script: &'static str, limits: &str) -> Attempt {
    attempt(script, Leak::Claimed)
        .yaml(&format!("extends: workspace\nlimits: {{{limits}}}\n"))
        .only_started()
}

fn core_left(w: &glee_tests::World, _: &glee_tests::Outcome) -> Option<String> {
    let mut names = std::fs::read_dir(w.project())
        .expect("list the project")
        .flatten()
        .map(|e| e.file_name());
    names
        .find(|n| n.to_string_lossy().starts_with("core"))
        .map(|n| format!("a core file: {}", n.display()))
}

fn core_files_are_plain() -> bool {
    std::fs::read_to_string("/proc/sys/kernel/core_pattern").is_ok_and(|p| p.starts_with("core"))
}

/// As a login does for the groups `audio` and `pipewire`. Only root can give it.
const MAY_HAVE_REALTIME: &[&str] = &[
    "/bin/sh",
    "-c",
    "prlimit --rtprio=20 --nice=40 --pid $$ 2> /dev/null; exec \"$@\"",
    "sh",
];

const NEEDS_RESOURCE: Bare = Bare::RootWhere("root lacks CAP_SYS_RESOURCE here", || capable(24));

claims! {
    fork_bomb_is_bounded => greedy("@A crowd 300 5 @ID", "pids: 64"),
    fork_bomb_is_bounded_under_restricted => attempt("@A crowd 700 5 @ID", Leak::Claimed).only_started(),
    fork_bomb_of_a_tree_is_bounded => greedy("for i in 1 2 3 4 5 6; do (@A crowd 40 3 @ID > ~/c$i) & done; wait; \
        [ $(cat ~/c* | grep -c 'made 40 of') = 6 ] && @A escaped tree", "pids: 64"),
    memory_is_bounded => greedy("@A memory 500", "memory_mb: 150"),
    memory_of_many_processes_is_bounded => greedy("@A memory_family 80 6", "memory_mb: 150"),
    memory_in_a_nameless_file_is_bounded => greedy("@A memfd 500", "memory_mb: 150"),
    memory_in_a_shared_segment_is_bounded => greedy("@A sysv_memory 500", "memory_mb: 150"),
    /// Where no control group counts, pid 1 of the sandbox looks; it must not be possible to blind it.
    memory_is_bounded_though_pid_1_is_tampered_with => greedy("@A tamper '@PIDNS'; @A memory 500", "memory_mb: 150"),
    memory_of_a_process_that_hides_is_bounded => greedy("@A undumpable @A memory 500", "memory_mb: 150"),
    memory_of_a_process_without_its_first_thread_is_bounded => greedy("@A headless_memory 500", "memory_mb: 150"),
    memory_of_unread_answers_is_bounded => greedy("@A netlink_memory 150", "memory_mb: 64"),
    memory_of_connections_that_nobody_accepts_is_bounded => greedy("@A backlog_memory 150", "memory_mb: 64"),
    memory_of_errors_that_nobody_reads_is_bounded => greedy("@A error_queues errors 60", "memory_mb: 64"),
    memory_of_copies_of_what_was_sent_is_bounded => greedy("@A error_queues stamps 60", "memory_mb: 64"),
    memory_of_begun_datagrams_is_bounded => greedy("@A begun_datagrams 100", "memory_mb: 64"),
    memory_of_access_lists_is_bounded => greedy("mkdir -p /dev/shm/glee-@ID; @A access_lists 30 /dev/shm/glee-@ID; \
        rm -r /dev/shm/glee-@ID", "memory_mb: 64"),
    memory_of_locks_is_bounded => greedy("@A many_locks posix 300000 .", "memory_mb: 64"),
    memory_of_locks_that_nobody_owns_is_bounded_in_private_places => greedy("@A many_locks ofd 300000 /tmp", "memory_mb: 64"),
    tmp_is_bounded => greedy("@A fill /tmp/glee-@ID 300", "disk_mb: 50"),
    tmp_is_bounded_in_many_files => greedy("mkdir -p /tmp/glee-@ID; @A fill_many /tmp/glee-@ID 200; \
        rmdir /tmp/glee-@ID", "disk_mb: 50"),
    dev_shm_is_bounded => greedy("@A fill /dev/shm/glee-@ID 300", "disk_mb: 50"),
    home_is_bounded => greedy("@A fill ~/big 300", "disk_mb: 50"),
    var_tmp_is_bounded => greedy("@A fill /var/tmp/glee-@ID 300", "disk_mb: 50"),
    private_places_share_no_way_around_the_bound => greedy("for d in /tmp ~ /dev/shm /var/tmp; \
        do dd if=/dev/zero of=$d/glee-@ID bs=1M count=45 || full=1; done; \
        [ $full ] || @A escaped all; rm -f /tmp/glee-@ID ~/glee-@ID /dev/shm/glee-@ID /var/tmp/glee-@ID",
        "disk_mb: 50, memory_mb: 4096")
        .given(|w| for at in ["/tmp", "/dev/shm", "/var/tmp"] {
            w.file(&format!("{at}/glee-@ID"), "");
        }),
    file_size_is_bounded => greedy("@A fill big 40", "file_size_mb: 5"),
    file_size_is_bounded_without_a_length => greedy("touch big; fallocate -n -l 40M big && @A escaped room", "file_size_mb: 5"),
    file_size_is_bounded_by_the_call_that_came_from_xfs => greedy("@A reserve big 40", "file_size_mb: 5"),
    file_size_in_home_is_bounded => greedy("@A fill ~/big 40", "file_size_mb: 5"),
    inotify_instances_of_the_user_are_not_used_up => attempt("@A instances 100", Leak::Claimed).only_started(),
    terminals_of_the_machine_are_not_used_up => attempt("@A terminals 300", Leak::Claimed).only_started(),
    signals_of_the_user_are_not_used_up => attempt("@A pending 2000", Leak::Claimed).only_started(),
    host_does_not_wait_for_a_lease => attempt("@A lease file 2 & sleep 0.3; @A mark ready @ID; wait", Leak::Changed("@OUT/held"))
        .file("@PROJECT/file", "old\n")
        .meanwhile_only(|w| w.host_tries("dd if=/dev/null of=@PROJECT/file conv=notrunc oflag=nonblock || touch @OUT/held")),
    open_files_are_bounded => greedy("@A descriptors 1000", "open_files: 100"),
    open_files_cannot_be_raised => greedy("ulimit -n 5000 && @A descriptors 4000", "open_files: 100"),
    hard_limit_cannot_be_raised => attempt("@A raise_limit", Leak::Claimed).bare(NEEDS_RESOURCE),
    realtime_scheduling_is_refused => attempt("@A realtime", Leak::Claimed).bare(Bare::RootOnly),
    priority_cannot_be_raised => attempt("@A nice_up", Leak::Claimed).bare(Bare::RootOnly),
    realtime_that_the_caller_may_have_is_refused => attempt("@A realtime", Leak::Claimed)
        .through(MAY_HAVE_REALTIME).bare(Bare::RootOnly),
    priority_that_the_caller_may_have_is_refused => attempt("@A nice_up", Leak::Claimed)
        .through(MAY_HAVE_REALTIME).bare(Bare::RootOnly),
    core_file_is_not_left => attempt("@A crash @ID; true", Leak::Seen(core_left)).workspace()
        .bare(Bare::Where("core files do not land in the working directory here", core_files_are_plain)),
    locked_memory_is_bounded => attempt("@A lock_memory 600", Leak::Claimed).bare(Bare::RootOnly),
}

/// Memory that no process has mapped is counted by a control group only, which an ordinary user has not; the threat model
/// says so.
mod memory_that_is_in_no_process {
    use super::greedy;
    use glee_tests::Caller;

    #[test]
    fn is_bounded_in_nameless_files_as_root() {
        greedy("@A memfd_unmapped 500", "memory_mb: 150").prove(Caller::Root);
    }

    #[test]
    fn is_bounded_in_pipes_and_sockets_as_root() {
        greedy("@A socket_memory 400", "memory_mb: 150, open_files: 100000").prove(Caller::Root);
    }
}

/// The kernel counts descriptors under way per user: a run hands over a few itself.
#[test]
fn a_run_starts_while_another_has_all_its_descriptors_in_flight() {
    for caller in [Caller::Root, Caller::User] {
        let (world, other) = (World::new(caller), World::new(caller));
        let script = "@A in_flight 8000 20 & sleep 0.5; @A mark ready @ID; wait";
        let greedy = Run::sandboxed(&world, Policy::Named("restricted"))
            .script(script)
            .spawn();
        assert!(greedy.wait_for_mark("ready"), "it says when it has sent them");
        let outcome = Run::sandboxed(&other, Policy::Named("workspace")).script("true").go();
        assert!(outcome.left(), "{}", outcome.describe());
        greedy.signal("TERM");
        let outcome = greedy.finish();
        assert!(
            outcome.says("sent 4"),
            "as many as it may have open: {}",
            outcome.describe()
        );
    }
}
