//! Detours to a file: links, renames, `/proc`, inherited descriptors, handles.

use glee_tests::{Attempt, Bare, Leak, Listener, Outcome, World, attempt};

/// A secret outside, and a script that takes a detour to it.
fn detour(script: &'static str) -> Attempt {
    attempt(script, Leak::Secret).secret_at("@OUT/secret")
}

/// A process on the host holds the secret: as descriptor 9, in memory, and as its working directory.
fn held(script: &'static str) -> Attempt {
    attempt(script, Leak::Secret).given(World::keeper)
}

fn nonce_was_heard(world: &World, _: &Outcome) -> Option<String> {
    glee_tests::wait_until(std::time::Duration::from_millis(200), || {
        heard(world).contains(world.nonce())
    });
    heard(world)
        .contains(world.nonce())
        .then(|| format!("the listener heard {}", heard(world)))
}

fn heard(world: &World) -> String {
    String::from_utf8_lossy(&world.heard()).into_owned()
}

fn handle_of_secret(world: &World) {
    let out = std::process::Command::new(glee_tests::attack_tool())
        .args(["handle_of", &world.fill("@OUT/secret")])
        .output()
        .expect("run handle_of");
    world.define("HANDLE", String::from_utf8_lossy(&out.stdout).trim());
}

/// Some machines keep even root out of their first process.
const PID_1_IS_OPEN: Bare = Bare::RootWhere("this machine keeps root out of pid 1", || {
    std::fs::read_link("/proc/1/root").is_ok()
});

claims! {
    file_below_dev_that_may_only_be_read_is_not_written => attempt("echo evil > /dev/shm/glee-@ID",
        Leak::Changed("/dev/shm/glee-@ID")).file("/dev/shm/glee-@ID", "old\n").flags(&["--read", "/dev/shm/glee-@ID"]),
    symlink_in_the_project_leads_nowhere => detour("cat link").given(|w| w.link("@OUT/secret", "@PROJECT/link")),
    directory_symlink_in_the_project_leads_nowhere => detour("cat dir/secret")
        .given(|w| w.link("@OUT", "@PROJECT/dir")),
    relative_symlink_in_the_project_leads_nowhere => detour("cat link")
        .given(|w| w.link("../../outside/secret", "@PROJECT/link")),
    symlink_made_inside_leads_nowhere => detour("ln -s @OUT/secret link; cat link").workspace(),
    symlink_to_proc_root_leads_nowhere => detour("cat link")
        .given(|w| w.link("/proc/self/root@OUT/secret", "@PROJECT/link")),
    hard_link_cannot_pull_a_file_in => detour("ln @OUT/secret here; cat here").workspace(),
    rename_cannot_pull_a_file_in => detour("mv @OUT/secret here; cat here").workspace(),
    rename_cannot_pull_a_directory_in => detour("mv @OUT here; cat here/secret").workspace(),
    openat2_outside_is_refused => detour("@A openat2 @OUT/secret"),
    mapping_of_a_file_outside_is_refused => detour("@A mmap @OUT/secret"),

    /// A repository can ship a link where the profile grants a private directory.
    sessions_directory_that_is_a_symlink_grants_nothing => detour("cat .glee/agent_sessions/secret; \
        ls .glee/agent_sessions/")
        .given(|w| { w.dir("@PROJECT/.glee"); w.link("@OUT", "@PROJECT/.glee/agent_sessions"); }).may_refuse(),
    sessions_directory_that_is_a_symlink_is_not_written_through => attempt(
        "echo evil > .glee/agent_sessions/file", Leak::Changed("@OUT/file")
    ).file("@OUT/file", "old\n")
        .given(|w| { w.dir("@PROJECT/.glee"); w.link("@OUT", "@PROJECT/.glee/agent_sessions"); }).may_refuse(),
    glee_directory_that_is_a_symlink_grants_nothing => detour("cat .glee/secret .glee/agent_sessions/secret")
        .secret_at("@OUT/agent_sessions/secret").given(|w| w.link("@OUT", "@PROJECT/.glee")).may_refuse(),
    /// The invoking person means a directory of the project; the repository has made it a link to elsewhere.
    relative_write_grant_is_not_led_out_by_a_symlink => attempt("echo evil > build/file", Leak::Changed("@OUT/file"))
        .file("@OUT/file", "old\n").given(|w| w.link("@OUT", "@PROJECT/build"))
        .yaml("extends: restricted\nfs: {read: ['.'], write: ['build']}\n").may_refuse(),
    relative_read_grant_is_not_led_out_by_a_symlink => detour("cat data/secret")
        .given(|w| w.link("@OUT", "@PROJECT/data"))
        .yaml("extends: restricted\nfs: {read: ['data']}\n").may_refuse(),

    root_of_proc_self_is_the_sandbox => detour("cat /proc/self/root@OUT/secret /proc/thread-self/root@OUT/secret"),
    root_of_pid_1_is_not_the_hosts => detour("cat /proc/1/root@OUT/secret").bare(PID_1_IS_OPEN),
    root_of_any_process_is_not_the_hosts => held("for p in /proc/[0-9]*; do cat $p/root@OUT/secret; done"),
    working_directory_of_pid_1_leads_nowhere => detour("cat /proc/1/cwd@OUT/secret; cat /proc/1/cwd/..@OUT/secret; \
        (cd /proc/1/cwd && cat .@OUT/secret)").bare(PID_1_IS_OPEN),
    working_directory_of_any_process_leads_nowhere => held("for p in /proc/[0-9]*; do cat $p/cwd/secret; done"),
    descriptors_of_other_processes_are_not_readable => held("@A proc_fds"),
    descriptors_cannot_be_taken_from_a_host_process => held("@A pidfd_getfd @PID"),

    inherited_directory_is_closed => detour("@A openat_inherited secret").through(&["@A", "hand_down", "@OUT", "d"]),
    inherited_directory_cannot_be_entered => detour("@A fchdir_inherited secret")
        .through(&["@A", "hand_down", "@OUT", "d"]),
    inherited_directory_is_not_in_proc => detour("for f in /proc/self/fd/*; do cat $f/secret; done")
        .through(&["@A", "hand_down", "@OUT", "d"]),
    inherited_root_directory_is_closed => detour("for f in /proc/*/fd/*; do cat $f@OUT/secret; done")
        .through(&["@A", "hand_down", "/", "d"]),
    inherited_file_is_closed => detour("@A read_inherited").through(&["@A", "hand_down", "@OUT/secret", "r"]),
    inherited_file_is_not_writable => attempt("@A write_inherited evil", Leak::Changed("@OUT/file"))
        .file("@OUT/file", "old\n").through(&["@A", "hand_down", "@OUT/file", "w"]),
    inherited_connection_is_closed => attempt("@A write_inherited @ID", Leak::Seen(nonce_was_heard))
        .given(|w| w.listen(Listener::tcp())).through(&["@A", "hand_down_socket", "@PORT"]),
    no_descriptor_above_2_is_open => attempt("@A count_inherited", Leak::Claimed)
        .secret_at("@OUT/secret").through(&["@A", "hand_down", "@OUT/secret", "r"]),

    /// What the caller redirects is open for the command, in the way it was opened and no other.
    standard_input_that_is_a_directory_leads_nowhere => detour("@A openat_fd 0 secret; cat /proc/self/fd/0/secret; \
        cat /dev/stdin/secret")
        .through(&["/bin/sh", "-c", "exec \"$@\" < @OUT", "sh"]).refused(),
    standard_input_that_is_the_root_leads_nowhere => detour("@A openat_fd 0 .@OUT/secret; \
        cat /proc/self/fd/0@OUT/secret")
        .through(&["/bin/sh", "-c", "exec \"$@\" < /", "sh"]).refused(),
    standard_input_cannot_be_written => attempt("echo evil > /proc/self/fd/0; echo evil > /dev/stdin; \
        @A overwrite /proc/self/fd/0",
        Leak::Changed("@OUT/file")).file("@OUT/file", "old\n").through(&["/bin/sh", "-c", "exec \"$@\" < @OUT/file",
        "sh"]),
    standard_output_that_is_a_log_cannot_be_read => attempt("(exec 5>&1; cat /proc/self/fd/5 > copy); \
        cat /proc/$$/fd/1 >> copy",
        Leak::Seen(|w, _| {
            let copy = std::fs::read_to_string(w.path("@PROJECT/copy")).unwrap_or_default();
            copy.contains(w.secret()).then(|| "what the log held before was read".into())
        })).secret_at("@OUT/log").workspace().only_started().given(|w| w.mode("@OUT/log", 0o666))
        .through(&["/bin/sh", "-c", "\"$@\" >> @OUT/log; cat @OUT/log | grep -v secret", "sh"]),

    /// What covers a file lies on the sandbox's mounts, and what the caller redirects on the host's.
    protected_standard_input_cannot_be_written => attempt("echo evil > /proc/self/fd/0; echo evil > /dev/stdin; \
        truncate -s 0 /proc/self/fd/0; @A overwrite /proc/self/fd/0", Leak::Changed("@PROJECT/.envrc"))
        .file("@PROJECT/.envrc", "old\n").given(|w| w.mode("@PROJECT/.envrc", 0o666)).workspace()
        .through(&["/bin/sh", "-c", "exec \"$@\" < @PROJECT/.envrc", "sh"]),
    standard_input_in_a_protected_directory_cannot_be_written => attempt("echo evil > /dev/stdin",
        Leak::Changed("@PROJECT/.claude/prompt.md")).file("@PROJECT/.claude/prompt.md", "old\n")
        .given(|w| w.mode("@PROJECT/.claude/prompt.md", 0o666)).workspace()
        .through(&["/bin/sh", "-c", "exec \"$@\" < @PROJECT/.claude/prompt.md", "sh"]),
    denied_file_that_is_lent_for_appending_cannot_be_read => attempt("cat /proc/self/fd/0", Leak::Secret)
        .secret_at("@PROJECT/.env").given(|w| w.mode("@PROJECT/.env", 0o666))
        .yaml("extends: restricted\nfs: {read: ['.'], deny: ['**/.env']}\n")
        .through(&["/bin/sh", "-c", "exec \"$@\" 0>> @PROJECT/.env", "sh"]).refused(),

    handle_of_a_hidden_file_cannot_be_opened => detour("@A open_handle @PROJECT @HANDLE")
        .given(handle_of_secret).bare(Bare::RootOnly),
    handle_of_a_hidden_file_cannot_be_opened_through_usr => detour("@A open_handle /usr @HANDLE")
        .given(handle_of_secret).bare(Bare::RootOnly),
}
