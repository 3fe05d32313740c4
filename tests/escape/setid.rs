//! No setuid or setgid bit, no device node and no file capability may be left on the host. Under `workspace`, in a project
//! that is root's own when root is the caller: there such a file would be setuid root.

use glee_tests::{Attempt, Bare, Leak, Outcome, World, attempt, setid_files};

/// One way to set the bit on `evil` in the project.
fn marks(script: &'static str) -> Attempt {
    attempt(script, Leak::Seen(found)).workspace()
}

fn found(world: &World, _: &Outcome) -> Option<String> {
    let files: Vec<_> = setid_files(world.root())
        .into_iter()
        .filter(|p| !p.ends_with("given"))
        .collect();
    (!files.is_empty()).then(|| format!("left on the host: {files:?}"))
}

claims! {
    chmod_leaves_no_setuid => marks("@A m_chmod evil"),
    chmod_leaves_no_setgid => marks("@A m_chmod_gid evil"),
    fchmod_leaves_no_setid => marks("@A m_fchmod evil"),
    fchmodat_leaves_no_setuid => marks("@A m_fchmodat evil"),
    fchmodat2_leaves_no_setuid => marks("@A m_fchmodat2 evil"),
    high_bits_of_the_mode_do_not_hide_setuid => marks("@A m_chmod_high evil"),
    bits_above_32_of_the_mode_do_not_hide_setuid => marks("@A m_chmod_wide evil"),
    open_leaves_no_setuid => marks("@A m_open evil"),
    nameless_file_leaves_no_setuid => marks("@A m_open_tmpfile evil"),
    openat2_leaves_no_setuid => marks("@A m_openat2 evil"),
    creat_leaves_no_setuid => marks("@A m_creat evil"),
    mknod_leaves_no_setuid => marks("@A m_mknod evil"),
    mknodat_leaves_no_setuid => marks("@A m_mknodat evil"),
    directory_gets_no_setgid => marks("@A m_mkdir_gid evil"),
    umask_leaves_no_setid => marks("@A m_umask evil"),
    shell_chmod_leaves_no_setuid => marks("cp /bin/true evil; chmod u+s evil; chmod g+s evil; chmod 6755 evil"),
    install_leaves_no_setuid => marks("install -m 4755 /bin/true evil"),
    mkdir_with_a_mode_leaves_no_setgid => marks("mkdir -m 2755 evil"),
    tar_leaves_no_setuid => marks("tar -xpf given.tar").given(|w| {
        w.file("@OUT/evil", "");
        w.mode("@OUT/evil", 0o4755);
        w.host_command("tar").args(["-cf", "given.tar", "-C", &w.fill("@OUT"), "evil"]).output()
        .expect("make the archive");
        std::fs::remove_file(w.path("@OUT/evil")).expect("remove the original");
    }),
    copy_that_preserves_leaves_no_setuid => marks("cp -p /usr/bin/mount evil").bare(Bare::RootOnly),
    move_from_tmp_leaves_no_setuid => marks("cp /bin/true /tmp/glee-@ID; chmod 4755 /tmp/glee-@ID; \
        mv /tmp/glee-@ID evil; rm -f /tmp/glee-@ID"),
    move_from_home_leaves_no_setuid => marks("cp /bin/true ~/t; chmod 4755 ~/t; mv ~/t evil"),
    hard_link_to_a_setuid_program_is_not_made => marks("ln /usr/bin/mount evil").bare(Bare::RootWhere(
        "/usr is another filesystem than the project", || std::process::Command::new("sh")
            .args(["-c", "[ $(stat -c %d /usr/bin/mount) = $(stat -c %d /root) ]"]).status()
            .is_ok_and(|s| s.success()))),
    setuid_in_a_write_grant_is_refused => marks("@A m_chmod @OUT/tree/evil").given(|w| { w.dir("@OUT/tree"); })
        .flags(&["--write", "@OUT/tree"]),
    setuid_in_a_landlock_only_run_is_refused => marks("@A m_chmod evil")
        .yaml("extends: workspace\nisolation: landlock\n").may_refuse(),
    character_device_is_not_made => marks("@A dev_char evil").bare(Bare::RootOnly),
    block_device_is_not_made => marks("@A dev_block evil").bare(Bare::RootOnly),
    device_in_tmp_is_not_made => attempt("@A dev_char /tmp/glee-@ID; rm -f /tmp/glee-@ID", Leak::Claimed)
        .bare(Bare::RootOnly),
    file_capabilities_are_not_left => attempt("@A file_caps evil", Leak::Changed("@PROJECT/evil"))
        .given(|w| { w.file("@PROJECT/evil", "\n"); }).workspace().bare(Bare::RootOnly),

    setuid_program_in_the_project_gains_nothing => attempt("./given euid", Leak::Claimed).given(given_setuid)
        .bare(Bare::UserOnly),
    setuid_program_in_the_project_gains_nothing_under_workspace => attempt("./given euid", Leak::Claimed)
        .given(given_setuid).bare(Bare::UserOnly).workspace(),
    setuid_program_in_usr_gains_nothing => attempt("/usr/local/lib/glee-@ID/given euid", Leak::Claimed).given(|w| {
        root_program(w, "/usr/local/lib/glee-@ID/given");
    }).bare(Bare::UserOnly),
    program_with_file_capabilities_gains_nothing => attempt("./given capable", Leak::Claimed).given(|w| {
        root_program(w, "@PROJECT/given");
        w.mode("@PROJECT/given", 0o755);
        let tool = glee_tests::attack_tool();
        let done = std::process::Command::new(tool).args(["file_caps", &w.fill("@PROJECT/given")]).status();
        assert!(done.is_ok_and(|s| s.success()), "the harness cannot set a file capability");
        settle();
    }).bare(Bare::UserOnly),
}

fn given_setuid(w: &World) {
    root_program(w, "@PROJECT/given");
}

/// A setuid-root copy of the attack binary, in a directory that only the caller's group may enter.
fn root_program(w: &World, at: &str) {
    let path = w.path(at);
    let dir = path.parent().expect("a parent").display().to_string();
    w.dir(&dir);
    w.mode(&dir, 0o750);
    w.file(at, "");
    std::fs::copy(glee_tests::attack_tool(), &path).expect("copy the tool");
    w.give(at, 0);
    w.mode(at, 0o4755);
    settle();
}

/// An inode's times move in ticks: what was changed in the tick of the start counts as changed during the run.
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(30));
}

/// The mode and the first byte of a program that root has given rights to, and whether it has capabilities.
fn rights(w: &World, at: &str) -> (u32, u8, bool) {
    use std::os::unix::fs::PermissionsExt;
    let path = w.path(at);
    let mode = std::fs::metadata(&path).expect("look at it").permissions().mode() & 0o7777;
    let first = std::fs::read(&path).expect("read it").first().copied().unwrap_or(0);
    let listed = std::process::Command::new("getcap")
        .arg(&path)
        .output()
        .expect("`getcap` is not installed: this test needs the package `libcap2-bin`");
    (mode, first, !listed.stdout.is_empty())
}

fn privileged(in_memory: bool) -> World {
    let world = World::new(glee_tests::Caller::Root);
    if in_memory {
        world.host_does("mount -t tmpfs none @PROJECT");
    }
    for at in [
        "@PROJECT/setuid",
        "@PROJECT/deep/setgid",
        "@PROJECT/capable",
        "@PROJECT/untouched",
    ] {
        world.file(at, "program");
    }
    world.mode("@PROJECT/setuid", 0o4755);
    world.mode("@PROJECT/deep/setgid", 0o2755);
    world.mode("@PROJECT/untouched", 0o4755);
    let tool = glee_tests::attack_tool();
    let done = std::process::Command::new(tool)
        .args(["file_caps", &world.fill("@PROJECT/capable")])
        .status();
    assert!(
        done.is_ok_and(|s| s.success()),
        "the harness cannot set a file capability"
    );
    // The clock that stamps inodes may be a tick behind: what was made just now must not pass for changed.
    std::thread::sleep(std::time::Duration::from_millis(50));
    world
}

const MAPS: &str = "@A m_map setuid; @A m_map deep/setgid; @A m_map capable";

/// Root's own project: the files are root's, the command may write them, and a mapping keeps what a write would drop.
#[test]
fn changed_program_of_root_keeps_no_rights() {
    use glee_tests::{Policy, Run};
    let bare = privileged(false);
    Run::bare(&bare).script(MAPS).go();
    assert_eq!(
        rights(&bare, "@PROJECT/setuid"),
        (0o4755, b'X', false),
        "the attack does not work bare"
    );
    assert!(rights(&bare, "@PROJECT/capable").2, "the attack does not work bare");

    let world = privileged(false);
    let outcome = Run::sandboxed(&world, Policy::Named("workspace"))
        .flags(["--report", "@OUT/report.json"])
        .script(MAPS)
        .go();
    assert!(outcome.left(), "{}", outcome.describe());
    let seen = [
        "@PROJECT/setuid",
        "@PROJECT/deep/setgid",
        "@PROJECT/capable",
        "@PROJECT/untouched",
    ]
    .map(|at| rights(&world, at));
    let expected = [
        (0o755, b'X', false),
        (0o755, b'X', false),
        (0o644, b'X', false),
        (0o4755, b'p', false),
    ];
    assert_eq!(seen, expected, "ESCAPED: {}", outcome.describe());
    let report = std::fs::read_to_string(world.path("@OUT/report.json")).expect("read the report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("the report is JSON");
    assert_eq!(
        report["privileges_removed"].as_array().map(Vec::len),
        Some(3),
        "{report}"
    );
    assert!(outcome.err().contains("setuid"), "{}", outcome.describe());
}

/// Moves the changed program where no path is short enough to lead.
const BURIES: &str = "@A m_map setuid; python3 -c '
import os
top = os.open(\".\", os.O_RDONLY)
for _ in range(20):
    os.mkdir(\"d\" * 250)
    os.chdir(\"d\" * 250)
os.rename(\"setuid\", \"setuid\", src_dir_fd=top)
'";

#[test]
fn changed_program_of_root_keeps_no_rights_below_a_path_that_is_too_long() {
    use glee_tests::{Policy, Run};
    let left = |world: &World| {
        let mut find = world.host_command("find");
        let found = find.args([".", "-name", "setuid", "-perm", "/6000"]).output();
        String::from_utf8_lossy(&found.expect("start `find`").stdout)
            .lines()
            .count()
    };
    let bare = privileged(false);
    Run::bare(&bare).script(BURIES).go();
    assert_eq!(left(&bare), 1, "the attack does not work bare");

    for flags in [&[][..], &["--report", "@OUT/report.json"]] {
        let world = privileged(false);
        let outcome = Run::sandboxed(&world, Policy::Named("workspace"))
            .flags(flags)
            .script(BURIES)
            .go();
        assert!(outcome.left(), "{}", outcome.describe());
        assert!(!world.path("@PROJECT/setuid").exists(), "{}", outcome.describe());
        assert_eq!(left(&world), 0, "ESCAPED: {}", outcome.describe());
        assert!(!outcome.err().contains("cannot look through"), "{}", outcome.describe());
    }
}

#[test]
fn changed_program_of_root_keeps_no_rights_after_the_supervisor_was_killed() {
    use glee_tests::{Policy, Run};
    let world = privileged(false);
    let running = Run::sandboxed(&world, Policy::Named("workspace"))
        .script(&format!("{MAPS}; @A mark ready @ID; sleep 30"))
        .spawn();
    assert!(running.wait_for_mark("ready"), "the command did not get so far");
    running.signal("KILL");
    running.finish();
    let clean = || rights(&world, "@PROJECT/setuid").0 == 0o755 && !rights(&world, "@PROJECT/capable").2;
    assert!(
        glee_tests::wait_until(std::time::Duration::from_secs(5), clean),
        "ESCAPED"
    );
}

/// On tmpfs a store through a mapping leaves no trace in the inode's times.
#[test]
fn changed_program_of_root_on_tmpfs_keeps_no_rights() {
    use glee_tests::{Policy, Run};
    let world = privileged(true);
    let outcome = Run::sandboxed(&world, Policy::Named("workspace")).script(MAPS).go();
    let seen = rights(&world, "@PROJECT/setuid");
    world.host_does("umount -l @PROJECT");
    assert!(outcome.left(), "{}", outcome.describe());
    assert_eq!(seen, (0o755, b'X', false), "ESCAPED: {}", outcome.describe());
}
