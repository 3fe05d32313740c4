//! Whose files a run makes: the project owner's, whoever started it, with the caller's umask.

use std::fs;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::Path;

use glee_tests::Caller;

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

fn owner(path: &Path) -> (u32, u32) {
    let meta = fs::symlink_metadata(path).unwrap_or_else(|e| panic!("`{}`: {e}", path.display()));
    (meta.uid(), meta.gid())
}

/// Makes files, directories and links of each kind; then the host looks at whose they are.
#[track_caller]
fn new_files_belong_to(at: &Place, uid: u32, gid: u32) {
    let seen = at.run(
        "workspace",
        "echo x > file; mkdir -p dir/sub; ln -s file link; echo y > dir/sub/deep; cat file dir/sub/deep",
    );
    assert_eq!(seen.whole(), (0, "x\ny\n", ""));
    let project = at.project();
    let owners = ["file", "dir", "dir/sub", "dir/sub/deep", "link"].map(|name| owner(&project.join(name)));
    assert_eq!(owners, [(uid, gid); 5]);
}

claims! {
    fn new_files_in_ones_own_project_are_ones_own(at) {
        new_files_belong_to(at, at.world.caller().uid(), at.world.caller().gid());
    }

    fn inside_the_projects_files_are_the_commands_own(at) {
        at.host("echo x > file && chmod 600 file && mkdir dir && chmod 700 dir");
        let script = "cat file; echo y >> file; touch dir/new; stat -c %u file dir . | sort -u | grep -cx $(id -u)";
        assert_eq!(at.run("workspace", script).whole(), (0, "x\n1\n", ""));
        assert_eq!(at.host("stat -c '%u:%g %a' file dir/new"), {
            let (uid, gid) = (at.world.caller().uid(), at.world.caller().gid());
            format!("{uid}:{gid} 600\n{uid}:{gid} 644\n")
        });
    }

    fn the_callers_umask_is_kept(at) {
        let call = at.shell("workspace", "umask; touch file; mkdir dir").through(["sh", "-c", "umask 027; exec \"$@\"", "sh"]);
        let seen = call.go();
        assert_eq!((seen.code(), seen.out().as_str(), seen.err().as_str()), (Some(0), "0027\n", ""));
        assert_eq!(at.host("stat -c %a file dir"), "640\n750\n");
    }

    fn a_umask_that_takes_the_owners_rights_is_the_commands_alone(at) {
        let masked = ["sh", "-c", "umask 0777; exec \"$@\"", "sh"];
        for policy in ["restricted", "workspace", "inherit"] {
            let seen = at.shell(policy, "umask").through(masked).go();
            assert_eq!((seen.code(), seen.out().as_str(), seen.err().as_str()), (Some(0), "0777\n", ""), "{policy}");
        }
        for words in ["runs list", "runs show latest", "audit verify"] {
            let seen = at.seen(words.split(' '));
            assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{words}");
        }
        assert_eq!(at.host("find @STATE/glee -type d ! -perm 0700 -o -type f ! -perm 0600"), "");
    }

    fn no_setuid_bit_can_be_left_behind(at) {
        let seen = at.run("workspace", "cp /bin/true tool; chmod 4755 tool || :; chmod 2755 tool || :; mkdir dir; chmod 2755 dir || :");
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert_eq!(at.host("find . -perm /6000"), "");
    }

    fn the_report_belongs_to_the_caller(at) {
        at.reported(&["--policy", "workspace", "--", "true"]);
        let report = at.world.root().join("report.json");
        assert_eq!(owner(&report), (at.world.caller().uid(), at.world.caller().gid()));
    }
}

/// Root in an ordinary user's project: what is made there is that user's.
#[test]
fn new_files_of_root_in_a_users_project_are_that_users() {
    let at = Place::of(Caller::Root);
    let (uid, gid) = (Caller::User.uid(), Caller::User.gid());
    lchown(at.project(), Some(uid), Some(gid)).expect("give the project away");
    at.world.file("@PROJECT/before", "theirs\n");
    lchown(at.project().join("before"), Some(uid), Some(gid)).expect("give the file away");
    assert_eq!(
        at.run("workspace", "cat before; echo more >> before").whole(),
        (0, "theirs\n", "")
    );
    new_files_belong_to(&at, uid, gid);
    assert_eq!(owner(&at.project().join("before")), (uid, gid));
}

/// An ordinary user in a directory of root's may read what everyone may read.
#[test]
fn a_user_in_a_project_of_roots_reads_and_cannot_write() {
    let at = Place::of(Caller::User);
    at.world.file("@PROJECT/file", "content\n");
    lchown(at.project(), Some(0), Some(0)).expect("give the project to root");
    lchown(at.project().join("file"), Some(0), Some(0)).expect("give the file to root");
    for policy in ["restricted", "workspace"] {
        let seen = at.run(
            policy,
            "cat file; echo x > new || echo kept; echo x >> file || echo kept",
        );
        assert_eq!(
            (seen.status, seen.stdout.as_str()),
            (0, "content\nkept\nkept\n"),
            "{policy}: {}",
            seen.stderr
        );
    }
}

/// Somebody's closed directory in what root lets a command write: what must be protected in it is, as a whole.
#[test]
fn closed_directories_of_others_do_not_keep_root_from_running() {
    let at = Place::of(Caller::Root);
    at.host("git init -q data/repo; git init -q open; mkdir -p data/config @OUT/h/.local/share; chmod 700 data @OUT/h/.local");
    at.host("chown -R 61234:61234 data @OUT/h/.local");
    let script = "mv data x 2> /dev/null || echo held; ls data 2> /dev/null || echo closed; \
        echo x 2> /dev/null > open/.git/hooks/pre-commit || echo protected";
    let expected = (0, "held\nclosed\nprotected\n", "");
    assert_eq!(at.run("workspace", script).whole(), expected);
    let call = at
        .shell("workspace", script)
        .env("XDG_CONFIG_HOME", "@PROJECT/data/config");
    assert_eq!(Seen::of(&call.go()).whole(), expected);
    let words = [
        "run",
        "--write",
        "@OUT",
        "--",
        "sh",
        "-c",
        "cd @OUT/h && echo x > new && mv .local y 2> /dev/null || echo held",
    ];
    let call = at.call(words).env("HOME", "@OUT/h");
    assert_eq!(Seen::of(&call.go()).whole(), (0, "held\n", ""));
    assert_eq!(at.host("cat @OUT/h/new; ls"), "x\ndata\nopen\n");
    lchown(at.project(), Some(Caller::User.uid()), Some(Caller::User.gid())).expect("give the project away");
    assert_eq!(
        at.run("workspace", "mv data x 2> /dev/null || echo held").whole(),
        (0, "held\n", "")
    );
}

/// Overlayfs cannot map owners: what root owns there can be read as everybody reads it, and is not written.
#[test]
fn a_project_of_roots_on_an_overlay_is_read_as_it_is() {
    let at = Place::of(Caller::Root);
    let seen = at.in_mount_namespace(
        "mkdir -p @OUT/disk; mount -t tmpfs none @OUT/disk; cd @OUT/disk; mkdir lower upper work over
         mount -t overlay none -o lowerdir=lower,upperdir=upper,workdir=work over; mkdir over/p; cd over/p
         echo open > file; echo closed > own; chmod 600 own
         as_caller @BIN run --policy restricted --report @OUT/report.json -- sh -c 'cat file; cat own || echo refused'
         grep -c 'cannot map owners' @OUT/report.json
         as_caller @BIN run --policy workspace -- cat file || echo $?",
    );
    assert_eq!(seen.stdout, "open\nrefused\n1\n125\n", "{}", seen.stderr);
    for words in [
        "over/p` cannot map owners: what is closed",
        "(`chown`)",
        "put it on a volume",
    ] {
        assert!(seen.stderr.contains(words), "{words}: {}", seen.stderr);
    }
    assert!(!seen.stderr.contains("as the owner of the project"), "{}", seen.stderr);
}

/// What is missing is named, and what to do about it.
#[test]
fn root_without_its_capabilities_and_in_a_chroot_is_told_what_helps() {
    let at = Place::of(Caller::Root);
    let seen = at.in_mount_namespace(
        "as_caller setpriv --bounding-set -sys_admin @BIN run --policy restricted -- true || echo $?
         mkdir @OUT/root; mount --rbind / @OUT/root; chroot @OUT/root sh -c 'cd @PROJECT; @BIN run --policy restricted -- true' || echo $?",
    );
    assert_eq!(seen.stdout, "125\n125\n", "{}", seen.stderr);
    for words in ["root has no CAP_SYS_ADMIN here", "In a chroot nobody can make one"] {
        assert!(seen.stderr.contains(words), "{words}: {}", seen.stderr);
    }
    assert!(!seen.stderr.contains("filesystem cannot map owners"), "{}", seen.stderr);
}
