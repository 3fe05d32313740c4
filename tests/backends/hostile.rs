//! Images, names and containers that try to get more than the policy says.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use glee_tests::{Caller, Outcome, Policy, Run, attack_tool, binary};

use crate::claims::claims;
use crate::support::Place;

/// An image with one static program under several names, made with these lines of a Containerfile.
fn image(at: &Place, lines: &str) -> String {
    // In the image too: who removes one of the same content removes all of them.
    let nonce = at.world.nonce();
    let context = at.world.root().join("context");
    for dir in ["proc", "dev", "sys", "etc", "tmp", "run", "var", "data"] {
        fs::create_dir_all(context.join("root").join(dir)).expect("make the image");
    }
    // A private place has the mode of what it is mounted on.
    fs::set_permissions(context.join("root/tmp"), fs::Permissions::from_mode(0o1777)).expect("open it");
    let bin = context.join("root/usr/bin");
    fs::create_dir_all(&bin).expect("make the image");
    let source = context.join("show.c");
    fs::write(&source, SHOW).expect("write the program");
    let built = Command::new("gcc")
        .args(["-static", "-O1", "-o"])
        .arg(bin.join("show"))
        .arg(&source)
        .status();
    assert!(built.expect("gcc runs").success());
    fs::copy(attack_tool(), bin.join("sleeper")).expect("copy the tool");
    fs::write(
        context.join("Containerfile"),
        format!("FROM scratch\nADD root /\nLABEL of={nonce}\n{lines}\n"),
    )
    .expect("write it");
    let name = format!("localhost/glee-hostile-{nonce}");
    let context = context.display().to_string();
    let built = at.podman_ends(&[
        "build",
        // Looking for cached layers fails while other tests remove their images.
        "--no-cache",
        "--quiet",
        "--network",
        "none",
        "--format",
        "docker",
        "--tag",
        &name,
        &context,
    ]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    format!("sha256:{}", String::from_utf8_lossy(&built.stdout).trim())
}

/// Prints its user, its variables, and whether it can write to each of its arguments.
const SHOW: &str = r#"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) {
    printf("uid %s\n", getuid() ? "ordinary" : "root");
    for (char **e = environ; *e; e++) printf("env %s\n", *e);
    for (int i = 1; i < argc; i++) {
        int fd = open(argv[i], O_WRONLY | O_CREAT, 0644);
        printf("%s %s\n", fd < 0 ? "refused" : "written", argv[i]);
    }
}
"#;

fn run(at: &Place, image: &str, more: &str, command: &[&str]) -> Outcome {
    let policy = format!("extends: restricted\nimage: \"{image}\"\n{more}");
    let run = Run::sandboxed(&at.world, Policy::Yaml(policy)).flags(["--backend", "podman"]);
    let seen = run
        .env("LD_PRELOAD", "/callers.so")
        .command(command.iter().copied())
        .go();
    at.podman(&["rmi", "--force", image]);
    seen
}

#[test]
fn what_an_image_says_about_users_variables_and_programs_does_not_count() {
    let at = Place::of(Caller::Root);
    let lines = "ENV LD_PRELOAD=/evil.so LD_LIBRARY_PATH=/evil PATH=/evil IMAGE=1 HOME=/data BASH_ENV=/evil\nUSER 0:0\n\
                 ENTRYPOINT [\"/usr/bin/sleeper\", \"sleep\", \"60\"]\nCMD [\"x\"]\nWORKDIR /data\nSTOPSIGNAL SIGWINCH\nEXPOSE 80";
    let image = image(&at, lines);
    let more = "env: {allow: [PATH, HOME, LD_PRELOAD, IMAGE]}\n";
    let seen = run(
        &at,
        &image,
        more,
        &[
            "show",
            "/usr/bin/new",
            "/data/new",
            "/new",
            "/.glee/init",
            "/etc/passwd",
            "/tmp/new",
        ],
    );
    assert_eq!(seen.code(), Some(0), "{}", seen.describe());
    let out = seen.out();
    assert!(out.starts_with("uid ordinary\n"), "{out}");
    for word in ["evil", "IMAGE=", "callers.so", "LD_"] {
        assert!(!out.contains(word), "`{word}`: {out}");
    }
    assert!(
        out.contains(&format!("env HOME={}\n", at.world.home().display())),
        "{out}"
    );
    let written: Vec<&str> = out.lines().filter(|line| line.starts_with("written")).collect();
    assert_eq!(written, ["written /tmp/new"], "{out}");
}

#[test]
fn an_image_with_a_volume_is_refused_by_name() {
    let at = Place::of(Caller::Root);
    let before = at.podman(&["volume", "ls", "--quiet"]);
    let image = image(&at, "VOLUME [\"/data\", \"/usr/bin\"]");
    let seen = run(&at, &image, "", &["show", "/data/new"]);
    assert_eq!(
        (seen.code(), seen.out().as_str()),
        (Some(125), ""),
        "{}",
        seen.describe()
    );
    assert!(
        seen.err().contains("`/data`") && seen.err().contains("VOLUME"),
        "{}",
        seen.err()
    );
    assert_eq!(at.podman(&["volume", "ls", "--quiet"]), before);
}

/// An engine starts it beside pid 1, and so without Landlock and our filter.
#[test]
fn a_health_check_of_an_image_never_runs() {
    let at = Place::of(Caller::Root);
    let image = image(
        &at,
        "HEALTHCHECK --interval=1s CMD [\"/usr/bin/show\", \"/tmp/checked\"]",
    );
    let before = at.running();
    let policy = Policy::Yaml(format!("extends: restricted\nimage: \"{image}\"\n"));
    let run = Run::sandboxed(&at.world, policy).flags(["--backend", "podman"]);
    let running = run
        .command(["sleeper", "enter", at.world.nonce(), "/usr/bin/sleeper", "sleep", "4"])
        .spawn();
    assert!(running.wait_for("enter:"), "the command did not start");
    let ours = at
        .running()
        .into_iter()
        .find(|run| !before.contains(run))
        .expect("its container");
    let name = format!("glee-{ours}");
    let check = at.podman(&["inspect", "--format", "{{json .Config.Healthcheck}}", &name]);
    let checked = at.podman_ends(&["healthcheck", "run", &name]);
    let _ = running.finish();
    at.podman(&["rmi", "--force", &image]);
    assert!(!check.contains("show"), "{check}");
    assert!(!checked.status.success(), "it has a health check");
}

/// Under the name of another image: what counts is the digest.
#[test]
fn a_name_that_looks_like_an_image_id_does_not_lead_to_another_image() {
    let at = Place::of(Caller::Root);
    let image = image(&at, "");
    let wanted = "ab".repeat(32);
    let alias = format!("localhost/sha256:{wanted}");
    at.podman(&["tag", &image, &alias]);
    let policy = Policy::Yaml(format!("extends: restricted\nimage: \"sha256:{wanted}\"\n"));
    let seen = Run::sandboxed(&at.world, policy)
        .flags(["--backend", "podman"])
        .command(["show"])
        .go();
    at.podman(&["rmi", "--force", &alias, &image]);
    assert_eq!(
        (seen.code(), seen.out().as_str()),
        (Some(125), ""),
        "{}",
        seen.describe()
    );
}

/// What a supervisor and its carrier leave that were killed between making and starting it; and another's container.
#[test]
fn a_container_that_was_made_and_never_started_is_reaped_and_others_are_left_alone() {
    let at = Place::of(Caller::Root);
    let image = image(&at, "");
    let [dead, foreign] = ["dead", "foreign"].map(|word| format!("glee-{word}-{}", at.world.nonce()));
    let run = format!("glee.run={}", dead.trim_start_matches("glee-"));
    let make = |name: &str, labels: &[&str]| {
        let made = at.podman_ends(
            &[
                &["create", "--pull", "never", "--network", "none", "--name", name],
                labels,
                &[&image, "/usr/bin/show"],
            ]
            .concat(),
        );
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    make(&dead, &["--label", &run, "--label", "glee.owner=0"]);
    // It has our kind of name, and not our labels.
    make(&foreign, &[]);
    let seen = at.sh("restricted", "true").go();
    let names = at.podman(&["ps", "--all", "--format", "{{.Names}}"]);
    at.podman(&["rm", "--force", &dead, &foreign]);
    at.podman(&["rmi", "--force", &image]);
    assert_eq!(seen.code(), Some(0), "{}", seen.describe());
    assert!(!names.lines().any(|name| name == dead), "{names}");
    assert!(names.lines().any(|name| name == foreign), "{names}");
}

/// The script's own words for what it saw, in a project and with a home of these names.
fn in_a_place_called(at: &Place, project: &[u8], home: &[u8]) -> (Outcome, PathBuf) {
    let name = |bytes: &[u8]| at.world.root().join(std::ffi::OsStr::from_bytes(bytes));
    let (project, home) = (name(project), name(home));
    for dir in [&project, &home] {
        fs::create_dir_all(dir).expect("make a place");
        std::os::unix::fs::chown(dir, Some(at.world.caller().uid()), Some(at.world.caller().gid()))
            .expect("give it away");
    }
    let script = "pwd -P; echo x > made; echo x > \"$HOME/made\"; echo x 2>/dev/null > .envrc || echo kept";
    let enter = "export HOME=\"$1\"; cd \"$2\"; shift 2; exec \"$@\"";
    let mut argv: Vec<std::ffi::OsString> = ["sh", "-euc", enter, "sh"].map(Into::into).to_vec();
    argv.extend([home.clone().into(), project.clone().into(), binary().into()]);
    let words = [
        "run",
        "--backend",
        "podman",
        "--policy",
        "workspace",
        "--",
        "sh",
        "-c",
        script,
    ];
    argv.extend(words.map(Into::into));
    let seen = Run::bare(&at.world).raw_command(argv).go();
    assert!(
        !home.join("made").exists(),
        "{home:?} is not private: {}",
        seen.describe()
    );
    assert!(!project.join(".envrc").exists(), "{}", seen.describe());
    (seen, project)
}

claims! {
    fn a_name_with_an_engines_separators_means_itself(at) {
        for name in [&b"a,b"[..], b"x,U=true,ro=false", b"a:b", b"a:/usr:rw", b"say \"no\"", b"new\nline", b"back\\slash", b"-v"] {
            let (seen, project) = in_a_place_called(at, name, b"home-1");
            let expected = [project.as_os_str().as_bytes(), b"\nkept\n"].concat();
            assert_eq!((seen.code(), &seen.stdout), (Some(0), &expected), "{}", seen.describe());
            assert!(project.join("made").is_file(), "{}", seen.describe());
        }
        for name in [&b"h,size=9g"[..], b"h \"x\"", b"h\nx"] {
            let (seen, project) = in_a_place_called(at, b"project-1", name);
            assert_eq!(seen.code(), Some(0), "{}", seen.describe());
            assert!(project.join("made").is_file(), "{}", seen.describe());
        }
    }

    fn a_name_that_podman_cannot_say_is_refused(at) {
        let cases: [(&[u8], &[u8]); 6] = [
            (b"a:b,U=true", b"home-1"), (b"a:\"b\"", b"home-1"), (b"a:b\nc", b"home-1"), (b"\xff\xfe", b"home-1"),
            (b"project-1", b"h:ro"), (b"project-1", b"h\xff"),
        ];
        for (project, home) in cases {
            let (seen, project) = in_a_place_called(at, project, home);
            assert_eq!((seen.code(), seen.out().as_str()), (Some(125), ""), "{}", seen.describe());
            assert!(seen.err().contains("cannot mount") && seen.err().contains("--backend native"), "{}", seen.err());
            let left: Vec<_> = fs::read_dir(&project).expect("list").flatten().map(|entry| entry.file_name()).collect();
            assert!(left.is_empty() || left == ["made"], "{left:?}");
        }
    }

    fn workspaces_of_their_own_are_refused(at) {
        at.world.git_init();
        for workspace in ["cow", "worktree"] {
            let seen = at.sh("workspace", "echo ran > made").flags(["--workspace", workspace]).go();
            assert_eq!(seen.code(), Some(125), "{}", seen.describe());
            assert!(seen.err().contains(&format!("--workspace {workspace}")), "{}", seen.err());
            assert!(!at.world.project().join("made").exists());
        }
    }

    fn a_supervisor_killed_while_the_engine_is_at_work_leaves_nothing_in_the_project(at) {
        for turn in 0..12u64 {
            let running = at.sh("workspace", "sleep 60").spawn();
            std::thread::sleep(std::time::Duration::from_millis(20 * turn));
            running.signal("KILL");
            let _ = running.finish();
        }
        let left = || fs::read_dir(at.world.project()).expect("list").count();
        // The janitor waits for the engine, which may have much to do.
        assert!(glee_tests::wait_until(std::time::Duration::from_secs(90), || left() == 0), "{} names are left", left());
        // Nothing comes after that either.
        std::thread::sleep(std::time::Duration::from_secs(1));
        assert_eq!(left(), 0);
    }
}
