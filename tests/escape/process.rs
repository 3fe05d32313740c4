//! Processes of the host: not to be seen, read, stopped or changed.

use std::fs;

use glee_tests::{Attempt, Bare, Leak, Outcome, World, attempt};

/// A process of the same user on the host, with a secret in its memory and as descriptor 9. `@PID` is its pid.
fn against(script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak).given(World::keeper)
}

/// The attack would end it.
fn killing(script: &'static str) -> Attempt {
    against(script, Leak::VictimDied)
}

/// The attack would read its memory.
fn reading(script: &'static str) -> Attempt {
    against(script, Leak::Secret)
}

fn stat_field(world: &World, file: &str, pick: fn(&str) -> bool) -> Option<String> {
    let text = fs::read_to_string(world.path(&format!("/proc/@PID/{file}"))).expect("the victim is alive");
    text.lines()
        .find(|l| pick(l))
        .map(|l| format!("the victim's {file} says: {l}"))
}

fn limits_changed(w: &World, _: &Outcome) -> Option<String> {
    stat_field(w, "limits", |l| l.starts_with("Max open files") && l.contains(" 77 "))
}

fn niceness_changed(w: &World, _: &Outcome) -> Option<String> {
    stat_field(w, "stat", |l| {
        l.rsplit(") ").next().and_then(|r| r.split(' ').nth(16)) == Some("7")
    })
}

fn affinity_changed(w: &World, _: &Outcome) -> Option<String> {
    stat_field(w, "status", |l| l == "Cpus_allowed_list:\t0")
}

fn policy_changed(w: &World, _: &Outcome) -> Option<String> {
    stat_field(w, "stat", |l| {
        l.rsplit(") ").next().and_then(|r| r.split(' ').nth(38)) == Some("3")
    })
}

fn oom_changed(w: &World, _: &Outcome) -> Option<String> {
    stat_field(w, "oom_score_adj", |l| l == "987")
}

fn several_cpus() -> bool {
    std::thread::available_parallelism().is_ok_and(|n| n.get() > 1)
}

/// An attack on the sandbox's own pid 1. Never on the host's: where the pid namespace is the host's, it says so and stops.
fn inside(script: &'static str) -> Attempt {
    attempt(
        format!("[ $(readlink /proc/self/ns/pid) = '@PIDNS' ] && @A escaped namespace || {{ {script}; true; }}"),
        Leak::Claimed,
    )
    .bare(Bare::Nobody("pid 1 of the sandbox exists only inside"))
}

claims! {
    kill_does_not_reach_the_host => killing("@A kill @PID"),
    killpg_does_not_reach_the_host => killing("@A killpg @PID"),
    tgkill_does_not_reach_the_host => killing("@A tgkill @PID"),
    tkill_does_not_reach_the_host => killing("@A tkill @PID"),
    sigqueue_does_not_reach_the_host => killing("@A sigqueue @PID"),
    pidfd_does_not_reach_the_host => killing("@A pidfd_kill @PID"),
    signals_of_the_kernel_do_not_reach_the_host => killing("@A sigio_kill @PID"),
    shell_kill_does_not_reach_the_host => killing("kill -9 @PID; kill -9 -- -@PID"),
    memory_of_the_host_is_not_read_through_proc => reading("@A proc_mem @PID"),
    memory_of_the_host_is_not_read_by_process_vm_readv => reading("@A process_vm_readv @PID"),
    memory_of_the_host_is_not_read_by_ptrace => reading("@A ptrace_peek @PID"),
    descriptor_of_the_host_is_not_taken => reading("@A pidfd_getfd @PID"),
    environment_of_the_host_is_not_read => attempt("cat /proc/@PID/environ; cat /proc/[0-9]*/environ", Leak::Secret)
        .given(|w| {
        let secret = w.secret().to_owned();
        w.victim("@A", &["sleep", "60", "@ID"], &[("TOKEN", secret.as_str())]);
    }),
    arguments_of_the_host_are_not_read => attempt("cat /proc/@PID/cmdline; cat /proc/[0-9]*/cmdline; ps axww",
        Leak::Secret).given(|w| {
        let secret = w.secret().to_owned();
        w.victim("@A", &["sleep", "60", "@ID", &secret], &[]);
    }),
    pids_of_the_host_are_not_listed => against("[ -e /proc/@PID/stat ] && grep -q hold /proc/@PID/cmdline && @A \
        escaped pid", Leak::Claimed),
    limits_of_the_host_are_not_changed => against("@A prlimit @PID", Leak::Seen(limits_changed)),
    priority_of_the_host_is_not_changed => against("@A setpriority @PID", Leak::Seen(niceness_changed)),
    affinity_of_the_host_is_not_changed => against("@A sched_setaffinity @PID", Leak::Seen(affinity_changed))
        .bare(Bare::Where("this machine has one processor", several_cpus)),
    scheduling_of_the_host_is_not_changed => against("@A sched_setscheduler @PID", Leak::Seen(policy_changed)),
    io_priority_of_the_host_is_not_changed => against("@A ioprio_set @PID", Leak::Claimed),
    oom_score_of_the_host_is_not_changed => against("echo 987 > /proc/@PID/oom_score_adj", Leak::Seen(oom_changed)),
    processes_of_the_host_are_not_compared => against("@A kcmp @PID", Leak::Claimed),
    memory_of_the_host_is_not_advised => against("@A process_madvise @PID", Leak::Claimed).bare(Bare::RootOnly),
    namespaces_of_the_host_are_not_told => against("readlink /proc/@PID/ns/mnt && @A escaped readlink", Leak::Claimed),

    ptrace_of_a_child_is_refused => attempt("@A ptrace_child", Leak::Claimed),
    ptrace_by_a_parent_is_refused => attempt("@A ptrace_traceme", Leak::Claimed),

    pid_1_cannot_be_traced => inside("@A ptrace_seize 1"),
    pid_1_memory_cannot_be_read => inside("@A can_read /proc/1/mem; @A can_open /proc/1/mem w; @A process_vm_readv 1"),
    pid_1_descriptors_cannot_be_taken => inside("for n in 0 1 2 3 4 5 6 7 8; do @A pidfd_getfd 1 $n; done; \
        ls /proc/1/fd/* && @A escaped list"),
    pid_1_environment_cannot_be_read => attempt("cat /proc/1/environ; cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
        Leak::Secret)
        .secret_env("DEPLOY_TOKEN"),
    pid_1_cannot_be_killed => inside("kill -9 1; kill -STOP 1; kill -TERM 1; sleep 0.2"),
    pid_1_oom_score_cannot_be_changed => inside("echo 999 > /proc/1/oom_score_adj && @A escaped oom"),
    group_of_pid_1_cannot_be_joined => inside("perl -e 'exit !setpgrp(0, 1)' && @A escaped group"),
    priority_of_pid_1_cannot_be_changed_as_a_member_of_its_group => inside("before=$(awk '{print $19}' /proc/1/stat); \
        perl -e 'setpgrp(0, 1); setpriority(1, 0, 15)'; [ $(awk '{print $19}' /proc/1/stat) = $before ] || @A escaped priority"),
    pid_1_program_cannot_be_opened_for_writing => inside("@A can_open /proc/1/exe w"),
    command_is_not_pid_1 => inside("[ $$ = 1 ] && @A escaped pid1"),
}
