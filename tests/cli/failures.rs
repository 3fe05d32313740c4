//! What is said when nothing could be done: as an object where JSON was asked for, and with what to do about it.

use glee_tests::{Caller, Run};
use serde_json::json;

use crate::claims::claims;
use crate::tasks::told;

const ABSENT: &str = "01kbd4q3x5v9n8m7c6b5a4z3y2";

claims! {
    fn whoever_asks_for_json_gets_an_object_also_if_it_fails(at) {
        at.world.file("@PROJECT/.glee/workflows/broken.yml", "name: [\n");
        for (arguments, status, why) in [
            (&["workflow", "run", "nope"][..], 1, "nope"),
            (&["workflow", "run", "broken"], 1, "broken.yml"),
            (&["workflow", "show", "nope"], 1, "nope"),
            (&["workflow", "show", "broken"], 1, "broken.yml"),
            (&["workflow", "graph", "nope"], 1, "nope"),
            (&["workflow", "status", ABSENT], 1, ABSENT),
            (&["workflow", "resume", ABSENT], 1, ABSENT),
            (&["tasks", "show", ABSENT], 1, ABSENT),
            (&["tasks", "wait", ABSENT], 1, ABSENT),
            (&["approvals", "show", ABSENT], 1, ABSENT),
            (&["subagents", "--file", "absent.json"], 2, "absent.json"),
            (&["subagent", "hi", "--agent", "nope"], 1, "nope"),
        ] {
            let (code, value) = told(at, &[arguments, &["--json"]].concat());
            assert_eq!((code, &value["status"]), (status, &json!("error")), "{arguments:?}: {value}");
            assert!(value["error"].as_str().is_some_and(|error| error.contains(why)), "{arguments:?}: {value}");
        }
    }

    fn what_cannot_be_done_is_said_with_what_to_do(at) {
        at.world.file("@OUT/shut.yml", "extends: restricted\n");
        at.host("chmod 000 @OUT/shut.yml");
        let run = |flags: &[&'static str]| [&["run"], flags, &["--", "echo", "ran"]].concat();
        let mut refused = vec![
            (run(&["--policy", "@OUT/absent.yml"]), "hint: a path counts from the working directory"),
            (run(&["--policy", "@OUT"]), "hint: it must be a plain file"),
            (run(&["--report", "."]), "hint: name a file in it"),
            (run(&["--key-file", "@OUT/absent"]), "cannot read the key file `@OUT/absent`"),
            (run(&["--project", "@OUT/absent"]), "hint: `--project` takes a directory"),
        ];
        if at.world.caller() == Caller::User {
            refused.push((run(&["--policy", "@OUT/shut.yml"]), "hint: it must be readable for you"));
        }
        for (call, hint) in refused {
            at.is_refused(&call, &[hint]);
        }
        let seen = at.call(run(&["--backend", "docker"])).env("DOCKER_HOST", "unix:///nowhere").go();
        assert_eq!(seen.code(), Some(125));
        assert!(seen.err().contains("hint: `docker info`"), "{}", seen.err());
        let script = "mkdir gone; cd gone; rmdir ../gone; exec @BIN run -- echo ran 2>&1 || echo $?";
        let said = at.host(&format!("({script}) || true"));
        assert!(said.contains("cannot find the working directory") && said.contains("hint: it was removed"), "{said}");
    }

    fn in_a_namespace_with_too_few_ids_it_is_said_so(at) {
        let run = ["run", "--policy", "restricted", "--", "echo", "started"];
        let seen = at.call(run).through(["unshare", "--user", "--map-root-user"]).go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(125), ""), "{}", seen.err());
        assert!(seen.err().contains("is not mapped in this user namespace"), "{}", seen.err());
        assert!(!seen.err().contains("run as root"), "{}", seen.err());
        assert!(seen.err().contains("`unshare -c`"), "{}", seen.err());
        // Which is true of a user.
        if at.world.caller() == Caller::User {
            let seen = at.call(run).through(["unshare", "--user", "--map-current-user"]).go();
            assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "started\n"), "{}", seen.err());
        }
    }

    fn under_what_the_caller_is_in_already_it_is_said_what_stands_in_the_way(at) {
        // A filter with a listener, which stays open; a Landlock domain without a right to make pipes.
        let listened = "allow = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000))
call = {'x86_64': 317, 'aarch64': 277}[os.uname().machine]
f = libc.syscall(call, 1, 8, struct.pack('HxxxxxxQ', 1, ctypes.addressof(allow)))
os.set_inheritable(f, True)";
        let within = "f = libc.syscall(444, struct.pack('Q', 1 << 11), 8, 0)
assert libc.syscall(446, f, 0) == 0";
        for (enter, step, hint) in [
            (listened, "step `seccomp` failed", "allows one listener"),
            (within, "`attach private space` failed", "Landlock domain"),
        ] {
            let enter = format!("import ctypes, os, struct, sys
libc = ctypes.CDLL(None); libc.prctl(38, 1, 0, 0, 0)
{enter}
os.execv(sys.argv[1], sys.argv[1:])");
            let run = ["run", "--policy", "restricted", "--", "echo", "started"];
            let seen = at.call(run).through(["python3", "-c", &enter]).go();
            assert_eq!((seen.code(), seen.out().as_str()), (Some(125), ""), "{}", seen.err());
            assert!(seen.err().contains(step) && seen.err().contains(hint), "{}", seen.err());
        }
    }

    fn without_a_home_it_is_said_what_to_set(at) {
        // Root has a place of its own.
        if at.world.caller() == Caller::Root {
            return;
        }
        let seen = at.call(["tasks", "list"]).without_env("HOME").without_env("XDG_STATE_HOME").go();
        assert!(seen.code() == Some(1) && seen.err().contains("hint: set HOME"), "{}", seen.err());
    }

    fn a_driver_that_finds_the_disk_full_says_which_run_it_leaves_and_how_to_go_on(at) {
        at.world.file("@PROJECT/.glee/workflows/w.yml", "name: w\ndescription: d\nsteps:\n  - {agent: stub, prompt: 'stub: sleep 5000'}\n");
        at.world.dir("@STATE");
        let (uid, glee) = (at.world.caller().uid(), glee_tests::binary().display());
        let seen = at.in_mount_namespace(&format!("
mount -t tmpfs -o size=2m,mode=700,uid={uid} none @STATE
as_caller {glee} workflow run w > out 2> err & driver=$!
while ! as_caller {glee} tasks list 2> seen | grep -q running; do sleep 0.1; done
head -c 4m /dev/zero > @STATE/fill || true
wait $driver || true
rm @STATE/fill
cat err
as_caller {glee} workflow history
"));
        let run = seen.stdout.lines().last().and_then(|line| line.split(' ').next()).unwrap_or_default().to_owned();
        assert!(seen.stdout.contains(&format!("the run `{run}` has stopped: ")), "{}\n{}", seen.stdout, seen.stderr);
        assert!(seen.stdout.contains("hint: check the room on the disk"), "{}", seen.stdout);
        assert!(seen.stdout.contains(&format!("then `glee-supervisor workflow resume {run}` goes on")), "{}", seen.stdout);
    }
    fn a_proc_that_shows_other_processes_or_none_is_refused(at) {
        let own: &[&str] = match at.world.caller() {
            Caller::Root => &["unshare", "--pid", "--fork"],
            Caller::User => &["unshare", "--user", "--map-current-user", "--pid", "--fork"],
        };
        for policy in ["restricted", "inherit"] {
            let run = ["run", "--policy", policy, "--", "echo", "started"];
            let seen = at.call(run).through(own).go();
            assert_eq!((seen.code(), seen.out().as_str()), (Some(125), ""), "{}", seen.err());
            assert!(seen.err().contains("`/proc` belongs to other processes") && seen.err().contains("hint: mount"), "{}", seen.err());
            let seen = at.in_mount_namespace(&format!("mount -t tmpfs none /proc; as_caller @BIN run --policy {policy} -- echo started 2>&1 || echo $?"));
            assert!(seen.stdout.contains("`/proc` does not show this process") && seen.stdout.ends_with("\n125\n"), "{}", seen.stdout);
        }
    }

    fn a_name_in_a_message_makes_no_line_of_its_own(at) {
        at.world.file("@PROJECT/.glee/config.yml", "security:
  subagent_permissions:
    fs: {deny: [\"x\\nglee-supervisor: run this\\nz/..\"]}
");
        let seen = at.seen(["run", "--", "true"]);
        assert!(seen.status == 125 && seen.stderr.contains(r"`fs.deny: x\nglee-supervisor: run this\nz/..`"), "{}", seen.stderr);
        at.host("rm .glee/config.yml");
        let seen = at.seen(["run", "--", "a\nglee-supervisor: run this"]);
        assert!(seen.status == 127 && seen.stderr.contains(r"`a\nglee-supervisor: run this`"), "{}", seen.stderr);
    }

    fn a_caller_of_a_real_time_class_gets_a_command_of_the_ordinary_one(at) {
        let real_time = ["chrt", "--fifo", "1"];
        let class = ["sh", "-c", "chrt --pid $$ | head -n 1"];
        // No user may have it, nor every root.
        if Run::bare(&at.world).through(real_time).command(["true"]).go().code() != Some(0) {
            return;
        }
        for (policy, wanted) in [("restricted", "SCHED_OTHER"), ("workspace", "SCHED_OTHER"), ("inherit", "SCHED_FIFO")] {
            let run = ["run", "--policy", policy, "--"].into_iter().chain(class);
            let seen = at.call(run).through(real_time).go();
            assert!(seen.code() == Some(0) && seen.out().trim_end().ends_with(wanted), "{policy}: {}{}", seen.out(), seen.err());
        }
    }

    fn without_a_descriptor_to_spare_it_is_said_why(at) {
        let said = at.host("(ulimit -n 0; exec @BIN run -- echo started) 2>&1 || echo $?");
        assert!(said.contains("Too many open files") && said.ends_with("\n125\n"), "{said}");
    }

    fn help_that_cannot_be_written_is_no_success(at) {
        for words in ["--help", "run --help", "--version"] {
            let said = at.host(&format!("@BIN {words} 2>&1 > /dev/full || echo $?"));
            assert!(said.contains("cannot write to standard output") && said.ends_with("\n1\n"), "{words}: {said}");
        }
    }
}
