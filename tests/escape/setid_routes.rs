//! Whatever way root's own setuid program is changed, it does not stay one. Nobody asks for a list of what was changed, so that the
//! kernel's word for what was written stands for a look at every file, wherever that is enough.

use std::os::unix::fs::PermissionsExt;

use glee_tests::{Caller, Outcome, Policy, Run, World};

/// The mode of a file, and whether its content is what it was.
fn look(world: &World, at: &str) -> (u32, bool) {
    let path = world.path(at);
    let mode = std::fs::metadata(&path).expect("look at it").permissions().mode() & 0o7777;
    (mode, std::fs::read(&path).expect("read it") == b"program")
}

fn setuid(world: &World, at: &str) {
    world.file(at, "program");
    world.mode(at, 0o4755);
}

/// One way: where the program lies, and how it is changed.
struct Route {
    at: &'static str,
    script: &'static str,
    policy: Policy,
    flags: &'static [&'static str],
    through: &'static [&'static str],
    given: fn(&World),
    after: fn(&World),
}

fn route(at: &'static str, script: &'static str) -> Route {
    Route {
        at,
        script,
        policy: Policy::Named("workspace"),
        flags: &[],
        through: &[],
        given: |_| {},
        after: |_| {},
    }
}

impl Route {
    fn world(&self) -> World {
        let world = World::new(Caller::Root);
        (self.given)(&world);
        setuid(&world, self.at);
        setuid(&world, "@PROJECT/untouched");
        // The clock that stamps inodes may be a tick behind: what was made just now must not pass for changed.
        std::thread::sleep(std::time::Duration::from_millis(50));
        world
    }

    fn go(&self, world: &World, run: Run<'_>) -> Outcome {
        let outcome = run.flags(self.flags).through(self.through).script(self.script).go();
        assert!(outcome.left(), "{}", outcome.describe());
        let (mode, same) = look(world, self.at);
        let changed = !same || mode & 0o777 != 0o755;
        assert!(changed, "nothing was changed: {}", outcome.describe());
        outcome
    }

    /// Bare the bit stays, and after a run it is gone, from this file alone.
    fn prove(self) {
        let bare = self.world();
        self.go(&bare, Run::bare(&bare));
        assert_eq!(look(&bare, self.at).0 & 0o4000, 0o4000, "the attack does not work bare");
        (self.after)(&bare);

        let world = self.world();
        let outcome = self.go(&world, Run::sandboxed(&world, self.policy.clone()));
        let (seen, untouched) = (look(&world, self.at).0, look(&world, "@PROJECT/untouched"));
        (self.after)(&world);
        assert_eq!(seen & 0o6000, 0, "ESCAPED: {}", outcome.describe());
        assert_eq!(untouched, (0o4755, true), "{}", outcome.describe());
    }
}

macro_rules! routes {
    ($($name:ident => $route:expr;)*) => { $(#[test] fn $name() { $route.prove(); })* };
}

const FILE: &str = "@PROJECT/deep/program";

routes! {
    a_mapping_is_seen => route(FILE, "@A m_map deep/program");
    a_mapping_that_outlives_its_descriptor_is_seen => route(FILE, "@A map_closed deep/program");
    a_descriptor_in_flight_is_seen => route(FILE, "timeout 2 @A map_in_flight deep/program & sleep 0.3");
    a_mapping_of_who_is_killed_is_seen => route(FILE, "@A map_and_stay deep/program & sleep 0.3; kill -9 $!");
    a_mapping_of_who_ends_with_the_run_is_seen => route(FILE, "timeout 2 @A map_and_stay deep/program & sleep 0.3");
    a_file_with_another_name_is_seen => route(FILE, "@A map_renamed deep/program");
    a_file_through_a_second_name_is_seen => route(FILE, "@A map_linked deep/program");
    a_file_that_was_moved_is_seen => route("@PROJECT/moved", "mv moved x; @A m_map x; mv x moved");
    a_file_of_another_generation_is_seen => route(FILE, "@A map_renumbered deep/program");
    a_mapping_of_a_child_is_seen => route(FILE, "@A map_inherited deep/program");
    a_file_of_the_callers_is_seen => Route {
        through: &["/bin/sh", "-c", "exec \"$@\" 0<>@PROJECT/deep/program", "sh"],
        ..route(FILE, "@A map_standard_input")
    };
    a_file_in_a_repository_is_seen => Route {
        given: World::git_init,
        ..route("@PROJECT/.git/info/program", "@A m_map .git/info/program")
    };
    a_file_beside_a_hidden_one_is_seen => Route {
        policy: Policy::Yaml("extends: workspace\nfs: {deny: ['conf/deep/key']}\n".to_owned()),
        given: |w| { w.file("@PROJECT/conf/deep/key", "key"); },
        ..route("@PROJECT/conf/deep/program", "@A m_map conf/deep/program")
    };
    a_file_in_a_grant_below_a_pin_is_seen => Route {
        policy: Policy::Yaml(
            "extends: workspace\nfs: {deny: ['conf/key'], write: ['conf/inner']}\n".to_owned(),
        ),
        given: |w| { w.file("@PROJECT/conf/key", "key"); w.dir("@PROJECT/conf/inner"); },
        ..route("@PROJECT/conf/inner/program", "@A m_map conf/inner/program")
    };
    a_file_in_another_grant_is_seen => Route {
        flags: &["--write", "@OUT/tree"],
        given: |w| { w.dir("@OUT/tree"); },
        ..route("@OUT/tree/program", "@A m_map @OUT/tree/program")
    };
    a_file_that_is_a_grant_itself_is_seen => Route {
        flags: &["--write", "@OUT/program"],
        ..route("@OUT/program", "@A m_map @OUT/program")
    };
    a_file_in_a_mount_of_the_projects_is_seen => Route {
        given: |w| { w.dir("@PROJECT/mounted"); w.host_does("mount -t tmpfs none @PROJECT/mounted"); },
        after: |w| w.host_does("umount -l @PROJECT/mounted"),
        ..route("@PROJECT/mounted/program", "@A m_map mounted/program")
    };
    a_file_among_more_than_are_looked_at_is_seen => route(FILE, "@A map_among_many deep/program 6000");
    a_file_among_more_than_the_kernel_keeps_is_seen => route(FILE, "@A map_among_many deep/program 20000");
    an_access_list_is_seen => route(FILE, "@A open_to_all deep/program");
}

/// In memory no time tells what was changed, so a look at all files takes the bit from each. That one keeps it shows that nobody looked.
#[test]
fn where_nothing_was_written_nothing_is_looked_at() {
    for (script, expected) in [
        ("true", 0o4755),
        ("echo > new; rm new; echo > kept", 0o4755),
        ("@A m_map setuid", 0o755),
    ] {
        let world = World::new(Caller::Root);
        world.host_does("mount -t tmpfs none @PROJECT");
        setuid(&world, "@PROJECT/setuid");
        let outcome = Run::sandboxed(&world, Policy::Named("workspace")).script(script).go();
        let seen = look(&world, "@PROJECT/setuid").0;
        world.host_does("umount -l @PROJECT");
        assert!(outcome.left(), "{}", outcome.describe());
        assert_eq!(seen, expected, "{script}: {}", outcome.describe());
    }
}
