//! The proof of an attempt: it works bare, it is contained in the sandbox, and the run leaves nothing behind.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::attempt::{Ending, LIMIT, Project};
use crate::{
    Attempt, Caller, Inside, Leak, Outcome, Refusal, Run, Verdict, World, judge, setid_files, tree, wait_until,
};

impl Attempt {
    /// Fails the test unless the attack works bare (where it should) and is contained.
    pub fn prove(&self, caller: Caller) {
        match self.bare.waived(caller) {
            Some(why) => eprintln!("no bare control as {}: {why}", caller.name()),
            None => self.prove_bare(caller),
        }
        if std::env::var_os("GLEE_ESCAPE_BARE_ONLY").is_none() {
            self.prove_contained(caller);
        }
    }

    fn prove_bare(&self, caller: Caller) {
        let world = self.world(caller);
        let outcome = self.run(Run::bare(&world).limit(self.bare_limit), &world);
        assert!(
            outcome.entered(),
            "the bare control did not start: {}",
            outcome.describe()
        );
        let works = || judge(&self.leak, &world, &outcome) != Verdict::Contained;
        if !wait_until(Duration::from_secs(1), works) {
            panic!(
                "bare control failed: as {} this attack does not work even without the sandbox, so it proves nothing\n{}",
                caller.name(),
                outcome.describe()
            );
        }
    }

    fn prove_contained(&self, caller: Caller) {
        let world = self.world(caller);
        world.be_patient(Duration::from_secs(4));
        let (setid, project) = (setid_files(world.root()), tree(&world.project()));
        let outcome = self.run(Run::sandboxed(&world, self.policy.clone()).limit(LIMIT), &world);
        if let Verdict::Escaped(how) = judge(&self.leak, &world, &outcome) {
            panic!("ESCAPED as {}: {how}\n{}", caller.name(), outcome.describe());
        }
        self.check_ran(caller, &outcome);
        for check in &self.then {
            check(&world, &outcome);
        }
        self.check_remains(&world, &setid, &outcome);
        if let Project::StaysAsItWas = self.project {
            // The supervisor's death is cleaned up after by a process that outlives it for a moment.
            wait_until(Duration::from_secs(2), || tree(&world.project()) == project);
            assert_eq!(
                tree(&world.project()),
                project,
                "the project is not as it was\n{}",
                outcome.describe()
            );
        }
    }

    fn world(&self, caller: Caller) -> World {
        let world = World::new(caller);
        for step in &self.given {
            step(&world);
        }
        if let Leak::Changed(path) = &self.leak {
            world.watch(path);
        }
        world
    }

    fn run(&self, run: Run<'_>, world: &World) -> Outcome {
        let mut run = run
            .flags(&self.flags)
            .through(&self.through)
            .cwd(self.cwd)
            .script(&self.script);
        for (name, value) in &self.env {
            run = run.env(name, value);
        }
        for name in &self.secret_env {
            run = run.env(name, world.secret());
        }
        let running = run.spawn();
        if let Some(step) = &self.meanwhile
            && running.wait_for_mark("ready")
        {
            step(world);
            world.file("@PROJECT/go", "");
        }
        if let Ending::Signal(name) = self.ending {
            running.wait_for_mark("ready");
            running.signal(name);
        }
        running.finish()
    }

    fn check_ran(&self, caller: Caller, outcome: &Outcome) {
        let who = caller.name();
        assert!(
            !outcome.hung,
            "as {who} the run did not end within {LIMIT:?}: {}",
            outcome.describe()
        );
        let refusal = match (self.refusal, caller) {
            (Refusal::AsRoot, Caller::Root) => Refusal::Yes,
            (Refusal::AsRoot, Caller::User) => Refusal::No,
            (other, _) => other,
        };
        match (refusal, self.inside) {
            (Refusal::Yes, _) => {
                assert!(
                    !outcome.entered(),
                    "as {who} the command ran, though it had to be refused: {}",
                    outcome.describe()
                );
                assert_eq!(outcome.code(), Some(125), "as {who}, a refusal: {}", outcome.describe());
            }
            (Refusal::Maybe, _) if outcome.code() == Some(125) => {
                assert!(
                    !outcome.entered(),
                    "as {who} the command ran, and 125 says it did not: {}",
                    outcome.describe()
                );
            }
            (Refusal::No | Refusal::Maybe | Refusal::AsRoot, Inside::Started) => {
                assert!(
                    outcome.entered(),
                    "as {who} the command never ran inside: {}",
                    outcome.describe()
                );
            }
            (Refusal::No | Refusal::Maybe | Refusal::AsRoot, Inside::Ended) => {
                assert!(
                    outcome.left(),
                    "as {who} the script did not run to its end inside: {}",
                    outcome.describe()
                );
            }
        }
    }

    /// What no run may leave on the host, whatever it was about.
    fn check_remains(&self, world: &World, before: &[PathBuf], outcome: &Outcome) {
        world.unmount();
        if let Some(left) = world.remains() {
            panic!("ESCAPED: {left}\n{}", outcome.describe());
        }
        let after = setid_files(world.root());
        assert_eq!(
            after,
            before,
            "ESCAPED: setuid, setgid or device files were left on the host\n{}",
            outcome.describe()
        );
        let mounts = fs::read_to_string("/proc/self/mountinfo").expect("read the host's mounts");
        assert!(
            !mounts.contains(world.nonce()),
            "a mount was left on the host\n{mounts}"
        );
    }
}
