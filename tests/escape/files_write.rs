//! Changing what lies outside, and under `restricted` also what lies inside.

use glee_tests::{Attempt, Bare, Leak, attempt};

/// Changes a canary outside although the project is writable.
fn outside(script: &'static str) -> Attempt {
    attempt(script, Leak::Changed("@OUT/file"))
        .file("@OUT/file", "old content\n")
        .workspace()
}

/// Makes something new outside.
fn new_outside(script: &'static str) -> Attempt {
    attempt(script, Leak::Changed("@OUT/new")).workspace()
}

/// Changes the project under a profile that may only read it.
fn read_only(script: &'static str) -> Attempt {
    attempt(script, Leak::Changed("@PROJECT/file"))
        .file("@PROJECT/file", "old content\n")
        .project_unchanged()
}

/// Changes a tree that `--read` granted.
fn granted_to_read(script: &'static str) -> Attempt {
    attempt(script, Leak::Changed("@OUT/file"))
        .file("@OUT/file", "old content\n")
        .flags(&["--read", "@OUT"])
}

claims! {
    file_outside_cannot_be_written => outside("echo evil > @OUT/file"),
    file_outside_cannot_be_appended_to => outside("echo evil >> @OUT/file"),
    file_outside_cannot_be_truncated => outside("@A truncate @OUT/file"),
    file_outside_cannot_be_removed => outside("rm -f @OUT/file"),
    file_outside_cannot_be_renamed => outside("mv @OUT/file @OUT/file2"),
    file_outside_cannot_be_replaced => outside("echo evil > new; mv -f new @OUT/file"),
    file_outside_cannot_be_exchanged => outside("echo evil > new; @A exchange new @OUT/file"),
    mode_outside_cannot_be_changed => outside("chmod 777 @OUT/file"),
    owner_outside_cannot_be_changed => outside("chown 1:1 @OUT/file").bare(Bare::RootOnly),
    times_outside_cannot_be_changed => outside("@A utimes @OUT/file"),
    attributes_outside_cannot_be_changed => outside("@A setxattr @OUT/file"),
    hard_link_outside_cannot_be_made => outside("ln @OUT/file @OUT/second"),
    hard_link_into_the_project_cannot_be_written => outside("ln @OUT/file here && echo evil > here"),
    symlink_in_the_project_cannot_be_written_through => outside("echo evil > link")
        .given(|w| w.link("@OUT/file", "@PROJECT/link")),
    symlink_made_inside_cannot_be_written_through => outside("ln -s @OUT/file link; echo evil > link"),
    shared_mapping_outside_cannot_be_written => outside("@A shared_map @OUT/file"),
    file_outside_cannot_be_made => new_outside("echo evil > @OUT/new"),
    directory_outside_cannot_be_made => new_outside("mkdir @OUT/new"),
    symlink_outside_cannot_be_made => new_outside("ln -s /etc @OUT/new"),
    fifo_outside_cannot_be_made => new_outside("mkfifo @OUT/new"),
    nameless_file_cannot_be_linked_outside => new_outside("@A tmpfile_link @PROJECT @OUT/new"),
    directory_of_the_project_cannot_be_moved_out => new_outside("mkdir d; mv d @OUT/new"),
    archive_with_dots_does_not_unpack_outside => new_outside("tar -xPf evil.tar").given(|w| {
        w.file("@OUT/new", "evil\n");
        let mut tar = w.host_command("tar");
        tar.args(["-cPf", "evil.tar", "../../outside/new"]).output().expect("make the archive");
        std::fs::remove_file(w.path("@OUT/new")).expect("remove the original");
    }),

    start_up_file_of_the_shell_is_not_written => attempt("echo evil >> @HOME/.bashrc", Leak::Changed("@HOME/.bashrc"))
        .file("@HOME/.bashrc", "# mine\n").workspace(),
    authorized_keys_are_not_written => attempt("mkdir -p @HOME/.ssh; echo evil > @HOME/.ssh/authorized_keys",
        Leak::Changed("@HOME/.ssh/authorized_keys")).workspace(),
    autostart_is_not_written => attempt("mkdir -p @HOME/.config/autostart; \
        echo evil > @HOME/.config/autostart/e.desktop",
        Leak::Changed("@HOME/.config/autostart/e.desktop")).workspace(),
    global_git_configuration_is_not_written => attempt("git config --global core.pager evil; \
        echo evil >> @HOME/.gitconfig",
        Leak::Changed("@HOME/.gitconfig")).file("@HOME/.gitconfig", "[user]\n").workspace(),
    toolchain_in_home_is_not_written => attempt("echo evil > @HOME/.cargo/bin/tool",
        Leak::Changed("@HOME/.cargo/bin/tool"))
        .file("@HOME/.cargo/bin/tool", "#!/bin/sh\n").workspace(),
    program_in_local_bin_is_not_written => attempt("mkdir -p @HOME/.local/bin; echo evil > @HOME/.local/bin/ls",
        Leak::Changed("@HOME/.local/bin/ls")).workspace(),
    usr_is_not_written => attempt("touch /usr/glee-@ID; rm -f /usr/glee-@ID/x; mkdir /usr/glee-@ID",
        Leak::Changed("/usr/glee-@ID"))
        .given(|w| { w.file("/usr/glee-@ID", ""); std::fs::remove_file(w.path("/usr/glee-@ID")).expect("remove"); })
        .bare(Bare::RootOnly).workspace(),
    program_of_the_callers_in_usr_local_is_not_written => attempt("echo evil > /usr/local/lib/glee-@ID/tool",
        Leak::Changed("/usr/local/lib/glee-@ID/tool")).file("/usr/local/lib/glee-@ID/tool", "#!/bin/sh\n").workspace(),
    etc_is_not_written => attempt("echo evil > /etc/glee-@ID/file", Leak::Changed("/etc/glee-@ID/file"))
        .file("/etc/glee-@ID/file", "old\n").workspace(),
    /// What the caller named as the command is readable, not writable.
    named_command_is_not_written => attempt("echo evil > @A; cp -f /bin/true @A; rm -f @A", Leak::Seen(|w, _| {
        let size = std::fs::metadata(w.path("@COPY")).map(|m| m.len()).unwrap_or(0);
        (size < 100_000).then(|| "the command's file was changed".into())
    })).given(|w| {
        let copy = w.path("@OUT/command");
        std::fs::copy(glee_tests::attack_tool(), &copy).expect("copy the tool");
        w.give("@OUT/command", w.caller().uid());
        w.define("COPY", copy.display());
        w.define("A", copy.display());
    }).workspace().only_started(),

    restricted_cannot_write_the_project => read_only("echo evil > file"),
    restricted_cannot_remove_from_the_project => read_only("rm -f file"),
    restricted_cannot_rename_in_the_project => read_only("mv file file2"),
    restricted_cannot_change_modes_in_the_project => read_only("chmod 777 file"),
    restricted_cannot_change_times_in_the_project => read_only("@A utimes file"),
    restricted_cannot_change_attributes_in_the_project => read_only("@A setxattr file"),
    restricted_cannot_reopen_a_file_for_writing => read_only("@A reopen file"),
    restricted_cannot_reopen_a_path_descriptor_for_writing => read_only("@A reopen file path"),
    restricted_cannot_write_through_a_mapping => read_only("@A shared_map file"),
    restricted_cannot_link_in_the_project => read_only("ln file file2"),
    restricted_cannot_make_files_in_the_project => attempt("echo evil > new; mkdir dir", Leak::Changed("@PROJECT/new"))
        .project_unchanged(),
    restricted_cannot_write_beside_its_sessions => attempt("mkdir -p .glee/agents; echo evil > .glee/new",
        Leak::Changed("@PROJECT/.glee/new"))
        .given(|w| { w.dir("@PROJECT/.glee"); }).project_unchanged(),
    deeper_files_are_as_read_only_as_the_project => attempt("echo evil > a/b/c/file",
        Leak::Changed("@PROJECT/a/b/c/file"))
        .file("@PROJECT/a/b/c/file", "old\n").project_unchanged(),

    read_grant_cannot_be_written => granted_to_read("echo evil > @OUT/file"),
    read_grant_cannot_change_modes => granted_to_read("chmod 777 @OUT/file"),
    read_grant_cannot_be_removed => granted_to_read("rm -f @OUT/file"),
    read_grant_cannot_be_renamed => granted_to_read("mv @OUT/file @OUT/other"),
    read_grant_cannot_be_reopened => granted_to_read("@A reopen @OUT/file"),
    read_grant_inside_a_write_grant_stays_read_only => attempt("echo evil > sub/file; mv sub sub2; \
        echo evil > sub2/file",
        Leak::Seen(|w, _| {
            let at = ["@PROJECT/sub/file",
            "@PROJECT/sub2/file"].map(|p| std::fs::read_to_string(w.path(p)).unwrap_or_default());
            at.iter().any(|t| t.contains("evil")).then(|| "the file was written".into())
        })).file("@PROJECT/sub/file", "old\n")
        .yaml("extends: restricted\nfs: {read: ['sub'], write: ['other']}\n").given(|w| { w.dir("@PROJECT/other"); }),
}
