//! The caller names a script of the project: what its first line says opens nothing, and `fs.deny` wins over it.

use std::time::Duration;

use glee_tests::{Caller, Outcome, Policy, Run, World};

const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// A script of the project that the caller runs by its name, in a world where others hold the secret.
fn world(caller: Caller, script: &str) -> World {
    let world = World::new(caller);
    let tool = format!("#!/bin/sh\n: {}\n", world.secret());
    for at in ["@HOME/.local/bin/deploy", "@HOME/private/tool"] {
        world.file(at, &tool);
        world.mode(at, 0o755);
    }
    world.secret_at("@HOME/.ssh/id");
    world.file("@PROJECT/build.sh", &world.fill(script));
    world.mode("@PROJECT/build.sh", 0o755);
    world
}

fn run<'w>(run: Run<'w>, path: &str) -> Run<'w> {
    run.command(["./build.sh"])
        .env("PATH", path)
        .limit(Duration::from_secs(20))
}

/// The script prints `ran` and tries to read; bare it succeeds.
#[track_caller]
fn opens_nothing(caller: Caller, script: &str, path: &str, prepare: fn(&World)) {
    let ready = || {
        let world = world(caller, script);
        prepare(&world);
        world
    };
    let bare = ready();
    let outcome = run(Run::bare(&bare), path).go();
    assert!(
        outcome.says(bare.secret()),
        "the attack does not work bare: {}",
        outcome.describe()
    );
    let world = ready();
    let outcome = run(Run::sandboxed(&world, Policy::Named("restricted")), path).go();
    assert!(!outcome.says(world.secret()), "ESCAPED: {}", outcome.describe());
    assert!(outcome.says("ran"), "the script did not run: {}", outcome.describe());
}

#[track_caller]
fn refused(outcome: &Outcome, status: i32) {
    assert!(!outcome.hung, "it hangs: {}", outcome.describe());
    assert_eq!(outcome.code(), Some(status), "{}", outcome.describe());
}

fn word_after_an_option_of_env(caller: Caller) {
    let script = "#!/usr/bin/env -S -u deploy sh\necho ran; cat @HOME/.local/bin/deploy\n";
    opens_nothing(caller, script, "/usr/bin:/bin:@HOME/.local/bin", |_| {});
}

fn word_under_another_path(caller: Caller) {
    let script = "#!/usr/bin/env -S PATH=@PROJECT/bin deploy\n";
    opens_nothing(caller, script, "/usr/bin:/bin:@HOME/.local/bin", |w| {
        w.file(
            "@PROJECT/bin/deploy",
            &w.fill("#!/bin/sh\necho ran; /usr/bin/cat @HOME/.local/bin/deploy\n"),
        );
        w.mode("@PROJECT/bin/deploy", 0o755);
    });
}

fn link_of_the_project(caller: Caller) {
    // `tool` runs what it is given, as an interpreter does, and holds a secret itself.
    let script = "#!/usr/bin/env tool\necho ran; cat @HOME/private/tool\n";
    opens_nothing_but_runs_bare(caller, script);
}

/// The interpreter is reached by a link that the project has put into a directory of PATH: it is not granted, so the script
/// cannot run at all.
#[track_caller]
fn opens_nothing_but_runs_bare(caller: Caller, script: &str) {
    let ready = || {
        let world = world(caller, script);
        let tool = format!("#!/bin/sh\n: {}\nexec sh \"$@\"\n", world.secret());
        world.file("@HOME/private/tool", &tool);
        world.mode("@HOME/private/tool", 0o755);
        world.dir("@PROJECT/node_modules/.bin");
        world.link(&world.fill("@HOME/private/tool"), "@PROJECT/node_modules/.bin/tool");
        world
    };
    let path = "/usr/bin:/bin:./node_modules/.bin";
    let bare = ready();
    let outcome = run(Run::bare(&bare), path).go();
    assert!(
        outcome.says(bare.secret()),
        "the attack does not work bare: {}",
        outcome.describe()
    );
    let world = ready();
    let outcome = run(Run::sandboxed(&world, Policy::Named("restricted")), path).go();
    assert!(!outcome.says(world.secret()), "ESCAPED: {}", outcome.describe());
}

fn deny_wins_over_the_command(caller: Caller) {
    let world = world(caller, "");
    world.host_does("ln -sf @HOME/private/tool @PROJECT/build.sh");
    let named = Run::sandboxed(&world, Policy::Yaml("extends: restricted\n".into()));
    refused(&run(named, USUAL).go(), 0);
    let deny = "extends: restricted\nfs: {deny: ['@HOME/private']}\n";
    let outcome = run(Run::sandboxed(&world, Policy::Yaml(deny.into())), USUAL).go();
    refused(&outcome, 125);
    assert!(outcome.err().contains("fs.deny"), "{}", outcome.describe());
}

fn deny_wins_over_the_interpreter(caller: Caller) {
    let world = world(caller, "#!@HOME/private/sh\necho ran\n");
    world.host_does("cp /bin/sh @HOME/private/sh");
    let outcome = run(Run::sandboxed(&world, Policy::Named("restricted")), USUAL).go();
    assert!(outcome.says("ran"), "{}", outcome.describe());
    let deny = "extends: restricted\nfs: {deny: ['@HOME/private/sh']}\n";
    refused(&run(Run::sandboxed(&world, Policy::Yaml(deny.into())), USUAL).go(), 125);
}

fn pipe_is_no_command(caller: Caller) {
    let world = world(caller, "");
    world.host_does("rm @PROJECT/build.sh; mkfifo -m 755 @PROJECT/build.sh");
    let outcome = run(Run::sandboxed(&world, Policy::Named("restricted")), USUAL).go();
    refused(&outcome, 126);
}

macro_rules! as_both {
    ($($claim:ident => $proof:ident,)*) => {$(
        mod $claim {
            #[test]
            fn as_root() {
                super::$proof(glee_tests::Caller::Root);
            }

            #[test]
            fn as_user() {
                super::$proof(glee_tests::Caller::User);
            }
        }
    )*};
}

as_both! {
    word_after_an_option_of_env_opens_no_file => word_after_an_option_of_env,
    word_that_env_looks_for_elsewhere_opens_no_file => word_under_another_path,
    interpreter_behind_a_link_of_the_project_is_not_opened => link_of_the_project,
    denied_command_is_refused => deny_wins_over_the_command,
    denied_interpreter_is_refused => deny_wins_over_the_interpreter,
    pipe_as_a_command_is_refused_and_does_not_hang => pipe_is_no_command,
}
