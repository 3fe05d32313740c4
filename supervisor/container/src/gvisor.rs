//! gVisor (`runtime: runsc`): a kernel of its own between the command and this machine's, and what is missing there.
//!
//! Pure. Measured with runsc 20221219: no Landlock, no listener for a filter, no mount over a socket, no descriptor that leaves it, and a
//! network stack in which only the sandbox itself can listen. What a policy asks of these is refused by name, or left out and reported.

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Network, Runtime};
use glee_sandbox::contained::Kernel;
use glee_sandbox::plan::SandboxPlan;
use glee_sandbox::receipt::{Attempt, Canary, LeftOut};
use glee_sandbox::seccomp::{DenialAction, FilterSpec, Observe};

use crate::facts::{Engine, Facts, Rights};
use crate::lower::{Refused, later, origin};

/// What a run in gVisor does not give, for the report.
pub const NOT_GIVEN: &[&str] = &[
    "Landlock: gVisor has none; mounts alone decide about files",
    "denials: gVisor tells nobody what it refused",
];

/// Refuses what gVisor cannot enforce, and a machine that cannot start it.
pub(crate) fn check(sandbox: &SandboxPlan, policy: &ResolvedPolicy, facts: &Facts) -> Result<(), Refused> {
    if policy.runtime == Runtime::Default {
        return Ok(());
    }
    let refused = |key: &str, clause: &str, reason: &str, help: &str| {
        Err(Refused::Clause {
            clause: clause.to_owned(),
            origin: origin(policy, key),
            reason: reason.to_owned(),
            help: help.to_owned(),
        })
    };
    let (key, clause) = ("runtime", "runtime: runsc");
    match (facts.engine, facts.rights) {
        (Engine::Podman, Rights::Root) => {}
        (Engine::Podman, Rights::User | Rights::Daemon) => {
            let help = "run as root, or say `runtime: default`";
            return refused(key, clause, "an ordinary user's Podman cannot start gVisor", help);
        }
        (Engine::Docker, Rights::Root | Rights::User | Rights::Daemon) => {
            let reason = "its daemon decides whether gVisor may open the socket over which pid 1 is met";
            return refused(key, clause, reason, "use `--backend podman`, or say `runtime: default`");
        }
    }
    if !facts.has_runsc {
        let help = "install gVisor (the package `runsc`), or say `runtime: default`";
        return refused(key, clause, "`runsc` is not installed", help);
    }
    if let Some(name) = sandbox.placeholders.first() {
        let reason = format!(
            "gVisor cannot mount over a socket, and so keep `{}` from being made in `{}`",
            name.name.display(),
            name.dir.display()
        );
        let help = "grant no tree for writing, or say `runtime: default`";
        return refused("fs.write", "fs.write", &reason, help);
    }
    if let Some(clause) = later(sandbox) {
        let reason =
            "nothing can be mounted in gVisor while it runs, so what appears under that name later would be seen";
        return refused("fs.deny", clause, reason, "leave it out, or say `runtime: default`");
    }
    match &policy.network {
        Network::Off => Ok(()),
        Network::Names { .. } | Network::Host => refused(
            "network",
            "network",
            "gVisor has a network stack of its own, in which the supervisor can open no door",
            "say `network: false` and `model_access: none`, or `runtime: default`",
        ),
    }
}

pub(crate) fn kernel(runtime: Runtime) -> Kernel {
    match runtime {
        Runtime::Default => Kernel::Host,
        Runtime::Runsc => Kernel::Gvisor,
    }
}

/// Nobody can be asked about a call.
pub(crate) fn filter(spec: FilterSpec, runtime: Runtime) -> FilterSpec {
    match runtime {
        Runtime::Default => spec,
        Runtime::Runsc => FilterSpec {
            denial: DenialAction::Errno,
            observe: Observe::Nothing,
            ..spec
        },
    }
}

/// Those that mean something there, and what is not tried, by name.
pub(crate) fn canaries(list: Vec<Canary>, runtime: Runtime) -> (Vec<Canary>, Vec<LeftOut>) {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for canary in list {
        match (runtime, meaningless(&canary.attempt)) {
            (Runtime::Default, _) | (Runtime::Runsc, None) => kept.push(canary),
            (Runtime::Runsc, Some(why)) => left_out.push(LeftOut {
                name: canary.name(),
                reason: format!("{}: {why}", canary.tried()).into(),
            }),
        }
    }
    (kept, left_out)
}

fn meaningless(attempt: &Attempt) -> Option<&'static str> {
    match attempt {
        Attempt::Read(_) => Some("in gVisor that is gVisor's own, and says nothing about this machine's"),
        Attempt::Write(_) => Some("gVisor has no nameless files to try a directory with"),
        Attempt::Unprotected(_)
        | Attempt::Connect(_)
        | Attempt::HostSocket
        | Attempt::Socket(_)
        | Attempt::UserNamespace
        | Attempt::ReadParent
        | Attempt::IoUring
        | Attempt::Mount
        | Attempt::BecomeRoot
        | Attempt::Fact(_) => None,
    }
}
