//! `isolation: landlock`, the named, weaker mode: what it still promises. Names, sizes and dates outside, and the
//! existence of other processes, are not among it (docs/threat-model.md). Root is refused: it would keep its uid.

use std::time::Duration;

use glee_tests::{Attempt, Bare, Leak, Listener, Outcome, World, attempt, setid_files};

const WEAKER: &str = "extends: workspace\nisolation: landlock\n";

fn weaker(script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak).yaml(WEAKER).refused_as_root()
}

fn reading(script: &'static str) -> Attempt {
    weaker(script, Leak::Secret)
        .secret_at("@OUT/secret")
        .secret_at("@HOME/.ssh/id_ed25519")
}

fn against(script: &'static str, leak: Leak) -> Attempt {
    weaker(script, leak).given(World::keeper)
}

/// A chain that was not ended stays when its second is over.
pub(crate) fn chain_stays(world: &World, _: &Outcome) -> Option<String> {
    std::thread::sleep(Duration::from_secs(1));
    world.remains()
}

claims! {
    file_outside_is_not_readable => reading("cat @OUT/secret"),
    ssh_key_is_not_readable => reading("cat @HOME/.ssh/id_ed25519"),
    link_leads_nowhere => reading("ln -s @OUT/secret link; cat link"),
    link_through_proc_leads_nowhere => reading("cat /proc/self/root@OUT/secret"),
    names_outside_are_not_listed => weaker("ls @OUT", Leak::Secret)
        .given(|w| { w.file(&format!("@OUT/{}", w.secret()), ""); }),
    shadow_is_not_readable => weaker("cat /etc/shadow",
        Leak::Seen(|_, o| o.says("root:").then(|| "a line of it".into())))
        .bare(Bare::RootOnly),
    tmp_of_the_host_is_not_readable => weaker("cat /tmp/glee-@ID/secret", Leak::Secret)
        .secret_at("/tmp/glee-@ID/secret"),
    file_outside_is_not_written => weaker("echo evil > @OUT/file; rm -f @OUT/file", Leak::Changed("@OUT/file"))
        .file("@OUT/file", "old\n"),
    file_outside_is_not_renamed_in => reading("mv @OUT/secret here; cat here"),
    core_pattern_is_not_written => weaker("@A rewrite /proc/sys/kernel/core_pattern", Leak::Claimed)
        .bare(Bare::RootOnly),
    inherited_directory_is_closed => reading("@A openat_inherited secret").through(&["@A", "hand_down", "@OUT", "d"]),
    tcp_does_not_reach_the_host => weaker("@A tcp @PORT @ID", Leak::Heard).given(|w| w.listen(Listener::tcp())),
    udp_does_not_reach_the_host => weaker("@A udp_sendto @PORT @ID", Leak::Heard).given(|w| w.listen(Listener::udp())),
    fast_open_does_not_reach_the_host => weaker("@A fastopen @PORT @ID", Leak::Heard)
        .given(|w| w.listen(Listener::tcp())),
    io_uring_does_not_reach_the_host => weaker("@A uring_tcp @PORT @ID", Leak::Heard)
        .given(|w| w.listen(Listener::tcp())),
    datagram_socket_as_standard_input_is_refused => weaker("@A sendto_from_stdin @PORT @ID", Leak::Heard)
        .given(|w| w.listen(Listener::udp())).through(&["@A", "as_stdin", "udp"]).refused(),
    unix_datagram_socket_as_standard_input_is_refused => weaker("@A unix_from_stdin @OUT/s @ID", Leak::Heard)
        .given(|w| w.listen_unix_datagram("@OUT/s")).through(&["@A", "as_stdin", "unix_datagram"]).refused(),
    unix_socket_outside_is_not_reached => weaker("@A unix @OUT/s @ID", Leak::Heard).given(|w| w.listen_unix("@OUT/s")),
    unix_socket_in_the_project_is_not_reached => weaker("@A unix s @ID", Leak::Heard)
        .given(|w| w.listen_unix("@PROJECT/s")).may_refuse(),
    abstract_socket_is_not_reached => weaker("@A unix @@glee-@ID @ID", Leak::Heard)
        .given(|w| w.listen(Listener::unix_abstract(&w.fill("glee-@ID")))),
    netlink_is_refused => weaker("@A netlink 0", Leak::Claimed),
    memory_of_the_host_is_not_read => against("@A proc_mem @PID; @A process_vm_readv @PID; @A ptrace_peek @PID",
        Leak::Secret),
    descriptor_of_the_host_is_not_taken => against("@A pidfd_getfd @PID; @A proc_fds", Leak::Secret),
    environment_of_the_host_is_not_read => weaker("cat /proc/@PID/environ", Leak::Secret).given(|w| {
        let secret = w.secret().to_owned();
        w.victim("@A", &["sleep", "60", "@ID"], &[("TOKEN", secret.as_str())]);
    }),
    kill_does_not_reach_the_host => against("@A kill @PID; @A tgkill @PID; @A pidfd_kill @PID; @A sigqueue @PID",
        Leak::VictimDied),
    signals_of_the_kernel_do_not_reach_the_host => against("@A sigio_kill @PID", Leak::VictimDied),
    new_user_namespace_is_refused => weaker("@A unshare user; @A clone_ns user; @A clone3_ns user", Leak::Claimed),
    shared_memory_of_the_host_is_not_read => weaker("@A shm_read @SHMID", Leak::Secret)
        .given(crate::private::shared_memory),
    setuid_is_not_left => weaker("@A m_chmod evil; @A m_open evil2; @A m_openat2 evil3", Leak::Seen(|w, _| {
        let found = setid_files(w.root());
        (!found.is_empty()).then(|| format!("left: {found:?}"))
    })),
    secret_does_not_pass_in_the_environment => weaker("env", Leak::Secret).secret_env("TOKEN"),
    supervisors_environment_is_not_read => weaker("cat /proc/$PPID/environ /proc/*/environ", Leak::Secret)
        .secret_env("TOKEN"),
    command_is_not_uid_0 => weaker("@A euid", Leak::Claimed).bare(Bare::RootOnly),
    denied_file_is_not_readable => weaker("cat .env", Leak::Secret).secret_at("@PROJECT/.env")
        .yaml("extends: workspace\nisolation: landlock\nfs: {deny: ['.env']}\n").may_refuse(),
    daemon_ends_with_the_run => weaker("@A daemon 20 @ID", Leak::Survived),
    daemon_ends_at_the_deadline => weaker("@A daemon 30 @ID; @A stubborn 30 @ID", Leak::Survived).flags(&["--timeout", "1s"]).endless(Duration::from_secs(2)),
    daemon_ends_with_a_killed_supervisor => weaker("@A daemon 30 @ID; @A mark ready @ID; sleep 30", Leak::Survived)
        .ended_by("KILL"),
    chain_of_forks_ends_with_the_run => weaker("@A chain 20 @ID; sleep 0.4", Leak::Seen(chain_stays)),
    chain_of_forks_ends_with_a_killed_supervisor => weaker("@A chain 20 @ID; @A mark ready @ID; sleep 30",
        Leak::Seen(chain_stays)).ended_by("KILL"),
    process_without_its_first_thread_ends_with_the_run => weaker("@A headless 20 @ID", Leak::Survived),
    process_without_its_first_thread_ends_at_the_deadline => weaker("@A headless 30 @ID; @A stubborn 30 @ID",
        Leak::Survived).flags(&["--timeout", "1s"]).endless(Duration::from_secs(2)),
    process_without_its_first_thread_ends_with_a_killed_supervisor => weaker("@A headless 30 @ID; \
        @A mark ready @ID; sleep 30", Leak::Survived).ended_by("KILL"),
    ignorer_of_signals_ends_with_a_killed_supervisor => weaker("setsid @A stubborn 30 @ID & sleep 0.2; \
        @A mark ready @ID; sleep 30", Leak::Survived).ended_by("KILL"),
    /// Where no control group counts, init looks: it must not be possible to stop it.
    memory_is_bounded_though_a_child_reads_the_terminal_in_inits_group => weaker("@A background_read $PPID \
        @A memory 500", Leak::Claimed)
        .yaml("extends: workspace\nisolation: landlock\nlimits: {memory_mb: 150}\n")
        .through(&["@A", "pty", "ttt"]).only_started(),
    terminal_of_the_user_beside_it_is_not_written => weaker("for t in /dev/pts/[0-9]*; do \
        echo spoken > $t && echo reached-@ID; done", Leak::Seen(|w, o| o.says(&w.fill("reached-@ID"))
        .then(|| "a terminal was written to".into()))).given(|w| {
            w.victim("script", &["-qec", "sleep 60", "/dev/null"], &[]);
            std::thread::sleep(Duration::from_millis(300));
        }),
    nothing_is_typed_into_the_terminal => weaker("@A tiocsti 0 @ID", Leak::Claimed).through(&["@A", "pty", "ttt"])
        .bare(Bare::Where("this kernel lets nobody push input back", || {
            std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").map_or(true, |v| v.trim() == "1")
        })),
}
