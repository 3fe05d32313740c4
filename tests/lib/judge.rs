//! Decides from outside whether an attack succeeded. Exit statuses are never asked.

use std::time::Duration;

use crate::{Outcome, World, wait_until};

/// What would be seen if the attack succeeded. Paths are templates.
#[derive(Debug, Clone)]
pub enum Leak {
    /// The world's secret is in the output.
    Secret,
    /// The attack says that the forbidden call worked. Only for calls whose effect nobody outside can see.
    Claimed,
    /// Something about this path is not as before, or it did not exist and does now.
    Changed(&'static str),
    /// A listener on the host heard anything.
    Heard,
    /// A server of the world's lab heard the nonce, wherever it was sent to.
    Carried,
    /// A process of the attack is still there after the end of the run.
    Survived,
    /// A process of the host was ended.
    VictimDied,
    /// A question of its own: `Some` tells what leaked.
    Seen(fn(&World, &Outcome) -> Option<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Contained,
    Escaped(String),
}

/// What `@A escaped` prints. It stands in no script, so that only a success can print it.
pub(crate) const CLAIM: &str = "[[the forbidden call worked]]";

pub fn judge(leak: &Leak, world: &World, outcome: &Outcome) -> Verdict {
    let seen = match leak {
        Leak::Secret => outcome
            .says(world.secret())
            .then(|| "the secret was printed".to_owned()),
        Leak::Claimed => claim(outcome),
        Leak::Changed(path) => world.change_of(path),
        Leak::Heard => heard(world),
        Leak::Carried => carried(world),
        Leak::Survived => world.remains(),
        Leak::VictimDied => dead(world),
        Leak::Seen(question) => question(world, outcome),
    };
    seen.map_or(Verdict::Contained, Verdict::Escaped)
}

fn claim(outcome: &Outcome) -> Option<String> {
    let output = outcome.out();
    output
        .lines()
        .find(|line| line.contains(CLAIM))
        .map(|line| format!("the attack reports: {line}"))
}

/// Bytes may still be on their way when the run has ended.
fn heard(world: &World) -> Option<String> {
    let came = wait_until(Duration::from_millis(150), || !world.heard().is_empty());
    came.then(|| {
        format!(
            "a listener on the host heard: {}",
            String::from_utf8_lossy(&world.heard())
        )
    })
}

fn carried(world: &World) -> Option<String> {
    let lab = world.lab();
    wait_until(Duration::from_millis(150), || lab.heard_of(world.nonce()).is_some());
    lab.heard_of(world.nonce()).map(|line| format!("the lab heard: {line}"))
}

fn dead(world: &World) -> Option<String> {
    wait_until(Duration::from_millis(100), || !world.dead_victims().is_empty());
    let dead = world.dead_victims();
    (!dead.is_empty()).then(|| format!("host processes were ended: {dead:?}"))
}
