//! Reaching the project through or around a copy of it (`--workspace cow` and `worktree`).

use glee_tests::{Attempt, Leak, World, attempt};

/// Changes a file of the project, which a run on the project itself may.
fn cow(script: &'static str) -> Attempt {
    attempt(script, Leak::Changed("@PROJECT/file"))
        .file("@PROJECT/file", "old content\n")
        .workspace()
        .flags(&["--workspace", "cow"])
        .project_unchanged()
}

/// Makes something in the project that the host would run.
fn cow_makes(script: &'static str, name: &'static str) -> Attempt {
    attempt(script, Leak::Changed(name))
        .given(World::git_init)
        .workspace()
        .flags(&["--workspace", "cow"])
        .project_unchanged()
}

fn commit(world: &World) {
    world.git_init();
    world.file("@PROJECT/file", "old content\n");
    let script = "git add -A && git -c user.name=a -c user.email=a@b commit -q -m first";
    let done = world.host_command("sh").args(["-c", script]).status();
    assert!(done.is_ok_and(|status| status.success()), "the harness can commit");
}

/// The same, in a worktree.
fn worktree(script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak)
        .given(commit)
        .workspace()
        .flags(&["--workspace", "worktree"])
}

claims! {
    a_copy_keeps_a_write_from_the_project => cow("echo evil > file"),
    a_copy_keeps_an_append_from_the_project => cow("echo evil >> file"),
    a_copy_keeps_a_truncation_from_the_project => cow("@A truncate file"),
    a_copy_keeps_a_removal_from_the_project => cow("rm -f file"),
    a_copy_keeps_a_rename_from_the_project => cow("mv file other"),
    a_copy_keeps_a_replacement_from_the_project => cow("echo evil > new; mv -f new file"),
    a_copy_keeps_a_mode_from_the_project => cow("chmod 777 file"),
    a_copy_keeps_times_from_the_project => cow("@A utimes file"),
    a_copy_keeps_attributes_from_the_project => cow("@A setxattr file"),
    a_copy_keeps_a_shared_mapping_from_the_project => cow("@A shared_map file"),
    a_copy_keeps_a_hard_link_from_the_project => cow("ln file second; echo evil > second"),
    a_copy_is_not_left_through_its_working_directory => cow("echo evil > /proc/self/cwd/file"),
    a_copy_is_not_left_through_its_root => cow("echo evil > /proc/self/root@PROJECT/file"),
    a_copy_is_not_left_through_pid_1 => cow("(echo evil > /proc/1/root@PROJECT/file) || echo evil > file"),
    a_copy_keeps_a_hook_from_the_project => cow_makes("echo evil > .git/hooks/pre-commit", "@PROJECT/.git/hooks/pre-commit"),
    a_copy_keeps_a_start_up_file_from_the_project => cow_makes("echo evil > .envrc", "@PROJECT/.envrc"),
    a_copy_keeps_a_configuration_from_the_project =>
        cow_makes("git config core.fsmonitor evil", "@PROJECT/.git/config"),
    a_worktree_keeps_a_write_from_the_project => worktree("echo evil > file", Leak::Changed("@PROJECT/file")),
    a_worktree_keeps_a_removal_from_the_project => worktree("rm -f file", Leak::Changed("@PROJECT/file")),
    a_worktree_keeps_a_hook_from_the_repository => worktree(
        "mkdir -p $(git rev-parse --git-common-dir)/hooks; echo evil > $(git rev-parse --git-common-dir)/hooks/pre-commit",
        Leak::Changed("@PROJECT/.git/hooks/pre-commit")),
    a_worktree_keeps_a_configuration_from_the_repository =>
        worktree("git config core.fsmonitor evil", Leak::Changed("@PROJECT/.git/config")),
    a_worktree_keeps_the_projects_index_from_being_changed => worktree(
        "echo evil > e; c=$(git rev-parse --git-common-dir); GIT_INDEX_FILE=$c/index git add e",
        Leak::Changed("@PROJECT/.git/index")),
    a_worktree_keeps_the_projects_message_from_becoming_a_link => worktree(
        "ln -sf config $(git rev-parse --git-common-dir)/COMMIT_EDITMSG",
        Leak::Changed("@PROJECT/.git/COMMIT_EDITMSG")),
    a_worktree_keeps_its_pointer_from_being_replaced => worktree(
        "git config core.fsmonitor evil; rm -rf .git; mkdir -p .git/hooks; echo evil > .git/config",
        Leak::Changed("@PROJECT/.git/config")),
}
