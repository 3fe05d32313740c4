//! Grants and denials of places that a sandbox has its own of, or that are the kernel's: given, or refused by name.

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

/// A `run` with these words, in this directory.
fn run_in(at: &Place, dir: &str, words: &[&str]) -> Seen {
    Seen::of(&at.call([&["run"], words].concat()).cwd(dir).go())
}

#[track_caller]
fn prints(at: &Place, dir: &str, words: &[&str], expected: &str) {
    let seen = run_in(at, dir, words);
    let expected = at.world.fill(expected);
    assert_eq!(
        (seen.status, seen.stdout.as_str()),
        (0, expected.as_str()),
        "{words:?}: {}",
        seen.stderr
    );
}

/// Is the path readable, by `policy explain`, in a policy of this file for this project?
#[track_caller]
fn explained(at: &Place, dir: &str, path: &str) -> bool {
    let words = ["policy", "explain", "@OUT/policy.yml", "--path", path, "--json"];
    let seen = Seen::of(&at.call(words).cwd(dir).go());
    let answer: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap_or_else(|e| panic!("{e}: {seen:?}"));
    let answer = answer.as_array().map_or(&answer, |list| &list[0]);
    answer["allowed"].as_bool().unwrap_or_else(|| panic!("{answer}"))
}

claims! {
    fn a_project_in_tmp_stays_when_everything_may_be_read(at) {
        for place in ["/tmp", "/var/tmp", "/dev/shm"] {
            let dir = format!("{place}/glee-places-@ID");
            at.world.file(&format!("{dir}/project/file"), "here\n");
            at.world.file(&format!("{dir}/beside"), "beside\n");
            let dir = format!("{dir}/project");
            let look = ["sh", "-c", "pwd; cat file; cat ../beside 2>/dev/null || echo private"];
            let expected = format!("{dir}\nhere\nprivate\n");
            prints(at, &dir, &[&["--read", "/", "--"], &look[..]].concat(), &expected);
            for read in ["[\"/\", \".\"]", "[\"/\"]"] {
                at.world.file("@OUT/policy.yml", &format!("fs: {{read: {read}}}\n"));
                prints(at, &dir, &[&["--policy", "@OUT/policy.yml", "--"], &look[..]].concat(), &expected);
                let told = ["file", "../beside"].map(|name| explained(at, &dir, &format!("{dir}/{name}")));
                assert_eq!(told, [true, false], "{place} {read}");
            }
            at.world.file(&format!("{dir}/.glee/config.yml"), "");
            prints(at, &dir, &[&["--read", "/", "--"], &look[..]].concat(), &expected);
        }
    }

    fn what_else_is_granted_in_tmp_stays_when_everything_may_be_read(at) {
        at.world.file("/tmp/glee-places-@ID/data/file", "data\n");
        at.world.program("/tmp/glee-places-@ID/bin/tool", "#!/bin/sh\ncat /tmp/glee-places-@ID/data/file; ls /tmp/glee-places-@ID\n");
        let tool = at.world.fill("#!/bin/sh\ncat /tmp/glee-places-@ID/data/file; ls /tmp/glee-places-@ID\n");
        at.world.program("/tmp/glee-places-@ID/bin/tool", &tool);
        let words = ["--read", "/", "--read", "/tmp/glee-places-@ID/data", "--", "/tmp/glee-places-@ID/bin/tool"];
        prints(at, "@PROJECT", &words, "data\nbin\ndata\n");
    }

    fn shared_memory_is_granted_like_tmp(at) {
        at.world.file("/dev/shm/glee-places-@ID/file", "here\n");
        let cat = ["--", "sh", "-c", "cat /dev/shm/glee-places-@ID/file"];
        prints(at, "@PROJECT", &[&["--read", "/dev/shm"], &cat[..]].concat(), "here\n");
        let write = ["--", "sh", "-c", "echo new > /dev/shm/glee-places-@ID/file; cat /dev/shm/glee-places-@ID/file"];
        prints(at, "@PROJECT", &[&["--write", "/dev/shm/glee-places-@ID"], &write[..]].concat(), "new\n");
        assert_eq!(at.host("cat /dev/shm/glee-places-@ID/file"), "new\n");
        prints(at, "/dev/shm", &["--", "pwd"], "/dev/shm\n");
        at.world.file("@OUT/policy.yml", "fs: {read: [\".\", \"/dev/shm\"]}\n");
        assert!(explained(at, "@PROJECT", "/dev/shm/glee-places-@ID/file"));
    }

    fn shared_memory_may_be_written_if_it_is_granted(at) {
        let words = ["--write", "/dev/shm", "--", "sh", "-c", "echo x > /dev/shm/glee-places-@ID"];
        let seen = run_in(at, "@PROJECT", &words);
        let left = at.host("cat /dev/shm/glee-places-@ID; rm /dev/shm/glee-places-@ID");
        assert_eq!((seen.status, seen.stdout.as_str(), left.as_str()), (0, "", "x\n"), "{}", seen.stderr);
    }

    fn shared_memory_stays_private_if_devices_are_granted(at) {
        at.world.file("/dev/shm/glee-places-@ID/file", "here\n");
        for flag in ["--read", "--write"] {
            let words = [flag, "/dev", "--", "sh", "-c", "ls /dev/shm; echo x > /dev/null; echo ran"];
            prints(at, "@PROJECT", &words, "ran\n");
        }
    }

    fn files_of_the_kernel_may_be_read_if_they_are_granted(at) {
        let cases = [
            ("/sys/kernel/mm", "ls /sys/kernel/mm > /tmp/seen; test -s /tmp/seen"),
            ("/proc/sys/kernel", "cat /proc/sys/kernel/ostype > /dev/null"),
            ("/dev/zero", "head -c 1 /dev/zero > /dev/null"),
        ];
        for (path, script) in cases {
            prints(at, "@PROJECT", &["--read", path, "--", "sh", "-euc", &format!("{script}; echo ran")], "ran\n");
        }
    }

    fn without_the_null_device_nothing_runs_and_the_rule_is_named(at) {
        at.world.file("@OUT/policy.yml", "fs:\n  deny: [\"/dev/null\"]\n");
        at.is_refused(
            &["run", "--policy", "@OUT/policy.yml", "--", "echo", "ran"],
            &["fs.deny: /dev/null", "policy.yml:2", "without which no program runs"],
        );
        let seen = at.seen(["policy", "explain", "@OUT/policy.yml", "--path", "/dev/null"]);
        assert!(seen.status != 0 && seen.stderr.contains("without which no program runs"), "{seen:?}");
    }

    fn everything_in_the_project_can_be_denied(at) {
        at.world.file("@PROJECT/file", "secret\n");
        at.world.file("@OUT/policy.yml", "extends: workspace\nfs: {deny: [\"**\"]}\n");
        for _ in 0..2 {
            let look = "cat file .glee/* 2>/dev/null || echo hidden";
            prints(at, "@PROJECT", &["--policy", "@OUT/policy.yml", "--", "sh", "-c", look], "hidden\n");
            at.world.file("@PROJECT/.glee/config.yml", "");
        }
    }
}

/// Who is root outside is somebody else inside, whom the kernel's own files cannot be given.
mod kernel_files {
    use super::Place;
    use glee_tests::Caller;

    #[test]
    fn are_refused_by_name_for_writing_as_root() {
        let at = Place::of(Caller::Root);
        let words = ["run", "--write", "/sys/kernel/mm", "--", "echo", "ran"];
        at.is_refused(&words, &["fs.write: /sys/kernel/mm", "(--write)"]);
    }
}
