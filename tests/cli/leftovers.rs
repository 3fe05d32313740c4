//! What is left after a run, however it ends: nothing.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use glee_tests::{Running, carrying, mounts, wait_until};

use crate::claims::claims;
use crate::seen::told;
use crate::support::Place;

/// How long what ends by itself may take; an engine removes one container after the other.
fn soon() -> Duration {
    let contained = std::env::var_os("GLEE_BACKEND").is_some();
    Duration::from_secs(if contained { 45 } else { 5 })
}

/// A tree that hides: a child in a session of its own and one that ignores every signal, each marked with the nonce.
fn tree(at: &Place) -> String {
    let id = at.world.nonce();
    format!(
        "setsid sh -c 'sleep 300; :' {id} & sh -c 'trap \"\" HUP INT QUIT TERM; sleep 300; :' {id} &
         mkdir -p /tmp/x $HOME/x; echo x > /tmp/x/y; echo ready; wait"
    )
}

/// A run whose tree is up, and the cgroups that were made for it.
fn started(at: &Place, arguments: &[&str], script: &str) -> (Running, BTreeSet<PathBuf>) {
    let running = at
        .call([&["run"], arguments, &["--", "sh", "-c", script]].concat())
        .spawn();
    assert!(running.wait_for("ready"), "the command did not start");
    let seen = carrying(at.world.nonce());
    assert!(seen.len() >= 3, "the host sees the supervisor and the tree: {seen:?}");
    let own: BTreeSet<_> = cgroups("self").collect();
    let made = seen
        .iter()
        .flat_map(|pid| cgroups(&pid.to_string()))
        .filter(|dir| !own.contains(dir))
        .collect();
    (running, made)
}

/// The directories of a process's cgroups, in every hierarchy in which they exist.
fn cgroups(pid: &str) -> impl Iterator<Item = PathBuf> + use<> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    let paths: Vec<_> = text
        .lines()
        .filter_map(|l| Some(l.splitn(3, ':').nth(2)?.trim_start_matches('/').to_owned()))
        .collect();
    let tops = fs::read_dir("/sys/fs/cgroup")
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path());
    let tops: Vec<_> = tops
        .filter(|p| p.is_dir())
        .chain([PathBuf::from("/sys/fs/cgroup")])
        .collect();
    tops.into_iter()
        .flat_map(move |top| paths.clone().into_iter().map(move |p| top.join(p)))
        .filter(|dir| dir.is_dir())
}

/// Every cgroup that any supervisor has made, in every hierarchy; its name begins with `glee-` and the supervisor's pid.
fn groups_of_supervisors() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut todo = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(dir) = todo.pop() {
        let below = fs::read_dir(&dir).into_iter().flatten().flatten();
        for dir in below
            .filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()))
            .map(|e| e.path())
        {
            if name_of(&dir).starts_with("glee-") {
                found.insert(dir);
            } else {
                todo.push(dir);
            }
        }
    }
    found
}

fn name_of(dir: &Path) -> String {
    dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Starts runs and kills each supervisor a little later after its start than the one before; these were their pids.
fn kill_at_many_moments(at: &Place) -> Vec<u32> {
    let kill = |wait: u64| {
        let running = at
            .call(["run", "--policy", "workspace", "--", "sh", "-c", &tree(at)])
            .spawn();
        std::thread::sleep(Duration::from_micros(250 * wait));
        let pid = running.pid();
        running.signal("KILL");
        running.finish();
        pid
    };
    (0..100).map(kill).collect()
}

/// The machine's mounts; with an engine, whose other containers come and go, those that show something of this world.
fn mounts_of(at: &Place) -> BTreeSet<String> {
    let root = at.world.root().display().to_string();
    let all = mounts(&at.world).into_iter();
    all.filter(|line| std::env::var_os("GLEE_BACKEND").is_none() || line.contains(&root))
        .collect()
}

/// No process, cgroup, mount, temporary file or file in the project, and the home as it was.
#[track_caller]
fn nothing_is_left(at: &Place, mounted: &BTreeSet<String>, cgroups: &BTreeSet<PathBuf>) {
    let id = at.world.nonce();
    assert!(
        wait_until(soon(), || carrying(id).is_empty()),
        "processes are left: {:?}",
        carrying(id)
    );
    let left = || cgroups.iter().filter(|dir| dir.exists()).collect::<Vec<_>>();
    assert!(
        wait_until(soon(), || left().is_empty()),
        "cgroups are left: {:?}",
        left()
    );
    // An engine is still at work when a killed supervisor is gone.
    let new = || mounts_of(at).difference(mounted).cloned().collect::<Vec<_>>();
    assert!(wait_until(soon(), || new().is_empty()), "mounts are left: {:?}", new());
    assert_eq!(
        at.host("ls -A; ls -A $HOME; ls -A @TMP; ls -A @OUT; find @CONFIG -type f"),
        "project\n",
        "files are left"
    );
}

/// Runs under fresh directories for temporary files, in a namespace of the test's own, and finds them empty afterwards.
///
/// `end` is what the host does to the supervisor, whose pid is `$run`, once the command is up.
fn leaves_no_temporary_file(at: &Place, script: &str, end: &str) {
    let seen = at.in_mount_namespace(&format!(
        "for dir in /tmp /var/tmp /run /dev/shm; do mount -t tmpfs -o mode=1777 tmpfs $dir; done
         (become_caller @BIN run --policy workspace -- sh -c 'echo x > /tmp/inside; echo up; {script}' \
             2> @OUT/err > @OUT/out) & run=$!
         n=0; until grep -q up @OUT/out; do sleep 0.05; n=$((n+1)); test $n -lt 200; done
         {end}
         wait $run || :
         sleep 0.3; find /tmp /var/tmp /run /dev/shm -mindepth 1 -not -path /run/mount"
    ));
    assert_eq!((seen.status, seen.stdout.as_str()), (0, ""), "{}", seen.stderr);
}

claims! {
    fn what_holds_a_missing_name_can_be_watched_and_nothing_else(at) {
        at.world.git_init();
        at.world.file("@PROJECT/try.py", r#"
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def watch(name):
    if libc.inotify_add_watch(libc.inotify_init(), name.encode(), 2) < 0: raise OSError(ctypes.get_errno(), "")
for name in ".envrc", ".git/config.lock":
    for what in (watch, lambda n: open(n), lambda n: open(n, "w"), lambda n: open(n, "x"),
                 lambda n: socket.socket(socket.AF_UNIX).connect(n), lambda n: socket.socket(socket.AF_UNIX).bind(n),
                 lambda n: os.chmod(n, 0o666), lambda n: os.utime(n), lambda n: os.rename(n, n + "2"),
                 lambda n: os.rename("try.py", n), os.unlink, lambda n: os.link(n, n + "2")):
        try: what(name); print("done", end=" ")
        except OSError as e: print(errno.errorcode[e.errno], end=" ")
    print()
"#);
        let before = at.host("cd @PROJECT; ls -A . .git");
        let seen = at.run("workspace", "python3 try.py");
        // `.git` is a mount of its own, into which nothing can be moved.
        let told = ["EBUSY", "EXDEV"].map(|moved| {
            format!("done ENXIO EACCES EEXIST EACCES EADDRINUSE EROFS EROFS EBUSY {moved} EBUSY EXDEV \n")
        });
        assert_eq!((seen.status, seen.stdout), (0, told.concat()), "{}", seen.stderr);
        assert_eq!(at.host("cd @PROJECT; ls -A . .git"), before);
    }

    fn what_an_older_run_left_without_permissions_is_removed(at) {
        let before = at.host("cd @PROJECT; ls -A");
        at.host("cd @PROJECT; python3 -c 'import os, stat; os.mknod(\".envrc\", stat.S_IFSOCK)'");
        assert_eq!(at.host("cd @PROJECT; ls -A"), format!("{before}.envrc\n"));
        assert_eq!(at.run("workspace", "true").status, 0);
        assert_eq!(at.host("cd @PROJECT; ls -A"), before);
    }

    fn a_directory_that_the_command_closes_keeps_nothing_of_ours(at) {
        at.host("git init -q .; mkdir out");
        for (mode, report) in [("555", "r.json"), ("0", "out/r.json"), ("0", "r.json")] {
            let before = at.contents();
            let script = format!("chmod {mode} .git out .");
            let seen = at.seen(["run", "--policy", "workspace", "--report", report, "--", "sh", "-c", &script]);
            assert_eq!((seen.status, seen.stderr.as_str()), (0, ""));
            for dir in [".", ".git", "out"].map(|name| at.project().join(name)) {
                let found = fs::metadata(&dir).expect("it is there").mode() & 0o7777;
                assert_eq!(format!("{found:o}"), mode, "the command's own word for {}", dir.display());
                fs::set_permissions(&dir, Permissions::from_mode(0o755)).expect("we may");
            }
            at.host(&format!("test -s {report}; rm {report}"));
            assert_eq!(at.contents(), before);
        }
    }

    fn a_run_that_ends_by_itself_leaves_nothing(at) {
        let mounted = mounts_of(at);
        let (running, cgroups) = started(at, &["--policy", "workspace"], &tree(at).replace("wait", "sleep 0.5"));
        assert_eq!(told(&running.finish()), 0);
        nothing_is_left(at, &mounted, &cgroups);
    }

    fn a_run_that_meets_its_deadline_leaves_nothing(at) {
        let mounted = mounts_of(at);
        let (running, cgroups) = started(at, &["--policy", "workspace", "--timeout", "1s"], &tree(at));
        assert_eq!(told(&running.finish()), 124);
        nothing_is_left(at, &mounted, &cgroups);
    }

    fn a_run_ended_by_two_signals_leaves_nothing(at) {
        let mounted = mounts_of(at);
        let (running, cgroups) = started(at, &["--policy", "workspace"], &tree(at));
        running.signal("TERM");
        running.signal("TERM");
        assert!([137, 143].contains(&told(&running.finish())));
        nothing_is_left(at, &mounted, &cgroups);
    }

    fn kill_9_of_the_supervisor_leaves_no_process_and_no_file(at) {
        let mounted = mounts_of(at);
        let (running, _) = started(at, &["--policy", "workspace"], &tree(at));
        running.signal("KILL");
        assert_eq!(told(&running.finish()), 137);
        nothing_is_left(at, &mounted, &BTreeSet::new());
    }

    fn kill_9_of_the_supervisor_leaves_no_cgroup(at) {
        let mounted = mounts_of(at);
        let (running, cgroups) = started(at, &["--policy", "workspace"], &tree(at));
        running.signal("KILL");
        assert_eq!(told(&running.finish()), 137);
        nothing_is_left(at, &mounted, &cgroups);
    }

    fn kill_9_right_after_the_start_leaves_no_process_and_no_file(at) {
        let mounted = mounts_of(at);
        kill_at_many_moments(at);
        nothing_is_left(at, &mounted, &BTreeSet::new());
    }

    fn kill_9_right_after_the_start_leaves_no_cgroup(at) {
        let before = groups_of_supervisors();
        let killed = kill_at_many_moments(at);
        let left = || {
            let made = groups_of_supervisors().into_iter().filter(|dir| !before.contains(dir));
            made.filter(|dir| killed.iter().any(|pid| name_of(dir).starts_with(&format!("glee-{pid}-")))).collect::<Vec<_>>()
        };
        assert!(wait_until(soon(), || left().is_empty()), "{} cgroups are left: {:?}", left().len(), left().first());
    }

    fn a_refused_run_leaves_nothing(at) {
        let mounted = mounts_of(at);
        at.is_refused(&["run", "--policy", "nosuch", "--", "echo", "started"], &[]);
        at.seen(["run", "--policy", "workspace", "--", "no-such-command"]);
        nothing_is_left(at, &mounted, &BTreeSet::new());
    }

    fn the_read_only_islands_of_a_writable_project_leave_no_litter(at) {
        at.host("git init -q . && rm -rf .git/hooks && mkdir sub && git init -q sub/nested && echo x > file");
        let before = at.contents();
        assert_eq!(at.run("workspace", "cat file").whole(), (0, "x\n", ""));
        assert_eq!(at.contents(), before);
        let running = at.shell("workspace", "echo ready; sleep 300").spawn();
        assert!(running.wait_for("ready"), "the command did not start");
        running.signal("KILL");
        running.finish();
        assert!(wait_until(soon(), || at.contents() == before), "left:\n{}\nwas:\n{before}", at.contents());
    }

    fn no_ending_leaves_a_temporary_file(at) {
        leaves_no_temporary_file(at, "exit 3", "");
        leaves_no_temporary_file(at, "kill -9 $$", "");
        leaves_no_temporary_file(at, "sleep 100", "kill -TERM $run");
        leaves_no_temporary_file(at, "sleep 100", "kill -KILL $run");
    }

    fn the_next_run_has_swept_the_cgroups_of_a_dead_one(at) {
        let (running, cgroups) = started(at, &["--policy", "restricted"], &tree(at));
        running.signal("KILL");
        running.finish();
        assert_eq!(at.run("restricted", ":").whole(), (0, "", ""));
        let left = || cgroups.iter().filter(|dir| dir.exists()).collect::<Vec<_>>();
        assert!(wait_until(soon(), || left().is_empty()), "the next run did not sweep {:?}", left());
    }
}

/// The kernel says when the last mount of a filesystem is gone: one more in a mount namespace that is still being taken down
/// would keep it. Prints how often it was kept: by another process with such a namespace, and by a run that has returned.
const LAST_MOUNT: &str = r#"
import ctypes, os, struct, subprocess, sys
libc, place, run = ctypes.CDLL(None), sys.argv[1], sys.argv[2:]
UNMOUNT = 0x2000

def is_kept(use):
    subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', place], check=True)
    queue = libc.inotify_init1(os.O_NONBLOCK)
    libc.inotify_add_watch(queue, place.encode(), 0x200)
    use()
    subprocess.run(['umount', place], check=True)
    try:
        events = os.read(queue, 4096)
    except BlockingIOError:
        events = b''
    os.close(queue)
    return not any(struct.unpack_from('iI', events, at)[1] & UNMOUNT for at in range(0, len(events), 16))

holders = []
def hold():
    holders.append(subprocess.Popen(['unshare', '--mount', 'sh', '-c', 'echo up; exec sleep 60'], stdout=subprocess.PIPE))
    holders[0].stdout.readline()

print(is_kept(hold))
holders[0].kill(); holders[0].wait()
print(sum(is_kept(lambda: subprocess.run(run, check=True, cwd=place)) for _ in range(20)))
"#;

#[test]
fn the_mounts_of_root_are_gone_when_run_returns() {
    let at = Place::of(glee_tests::Caller::Root);
    at.world.file("@TMP/last.py", LAST_MOUNT);
    at.world.dir("@TMP/place");
    let seen = at.host(
        "unshare --mount --propagation private python3 @TMP/last.py @TMP/place @BIN run --policy restricted -- true",
    );
    assert_eq!(seen, "True\n0\n");
}
