//! The parts of a plan in words: steps, limits, Landlock rights, the system call filter.

use glee_sandbox::plan::{Containment, MountStep, Namespace, SandboxPlan};
use glee_sandbox::seccomp::{Action, DenialAction, NetworkRule, Observe, SocketRule, Table};
use glee_sandbox::steps::Step;
use glee_sandbox::sys::landlock;
use glee_sandbox::sys::limits::Resource;

use crate::plan_view::{LimitView, SeccompView, StepView};

pub(crate) fn step_view(step: Step, plan: &SandboxPlan) -> StepView {
    let identity = &plan.identity;
    let what = match step {
        Step::Workspace => plan.workspace.name().to_owned(),
        Step::Cgroup => cgroup(plan),
        Step::Placeholders => count(plan.placeholders.len(), "name"),
        Step::Watch => count(plan.watches.len() + plan.glob_watches.len(), "rule"),
        Step::Namespaces => {
            // The cgroup namespace has a step of its own.
            let made = plan.namespaces.iter().filter(|n| **n != Namespace::Cgroup);
            made.map(|n| n.name()).collect::<Vec<_>>().join(", ")
        }
        Step::IdMaps | Step::Identity => format!("uid {}, gid {}", identity.uid, identity.gid),
        Step::Mounts => count(plan.mounts.len(), "mount step"),
        Step::Rlimits => plan
            .rlimits
            .iter()
            .map(|(r, _)| rlimit(*r))
            .collect::<Vec<_>>()
            .join(", "),
        Step::Landlock => count(plan.landlock.as_ref().map_or(0, |l| l.rules.len()), "rule"),
        Step::WorkingDirectory => plan.command.cwd.to_string_lossy().into_owned(),
        Step::PseudoTerminal => "if the caller is on a terminal".to_owned(),
        Step::Exec => plan.command.program.to_string_lossy().into_owned(),
        Step::Hostname => "sandbox".to_owned(),
        Step::Doors => count(plan.doors.list.len(), "socket"),
        Step::Receipt => count(plan.canaries.len(), "attempt"),
        Step::Sources => {
            let binds = plan.mounts.iter().filter(|m| matches!(m, MountStep::Bind { .. }));
            count(binds.count(), "tree")
        }
        Step::Seccomp
        | Step::Janitor
        | Step::Companion
        | Step::CgroupNamespace
        | Step::PivotRoot
        | Step::Loopback
        | Step::Session
        | Step::SecondProcess
        | Step::BoundingSet
        | Step::Capabilities
        | Step::NoNewPrivs
        | Step::CloseRange => String::new(),
    };
    StepView {
        name: step.name(),
        who: step.who().name(),
        what,
        reason: step.reason(),
    }
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

fn cgroup(plan: &SandboxPlan) -> String {
    let request = &plan.cgroup;
    let set = [
        ("memory", request.memory_mb),
        ("pids", request.pids),
        ("cpu", request.cpu_millis),
    ];
    set.into_iter()
        .filter(|(_, value)| value.is_some())
        .map(|(name, _)| name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn rlimit(resource: Resource) -> &'static str {
    match resource {
        Resource::Core => "RLIMIT_CORE",
        Resource::Data => "RLIMIT_DATA",
        Resource::Fsize => "RLIMIT_FSIZE",
        Resource::Memlock => "RLIMIT_MEMLOCK",
        Resource::Msgqueue => "RLIMIT_MSGQUEUE",
        Resource::Nice => "RLIMIT_NICE",
        Resource::Nofile => "RLIMIT_NOFILE",
        Resource::Nproc => "RLIMIT_NPROC",
        Resource::Rtprio => "RLIMIT_RTPRIO",
        Resource::Sigpending => "RLIMIT_SIGPENDING",
    }
}

pub(crate) fn limits(plan: &SandboxPlan) -> Vec<LimitView> {
    let view = |name, value, by| LimitView { name, value, by };
    let request = &plan.cgroup;
    let mut list = Vec::new();
    list.extend(
        request
            .memory_mb
            .map(|mb| view("memory", format!("{mb} MiB"), "cgroup, else a watchdog")),
    );
    list.extend(request.pids.map(|n| view("pids", n.to_string(), "cgroup")));
    list.extend(
        request
            .cpu_millis
            .map(|n| view("cpu", format!("{} CPUs", n as f64 / 1000.0), "cgroup")),
    );
    list.extend(
        plan.rlimits
            .iter()
            .map(|(r, value)| view(rlimit(*r), value.to_string(), "rlimits")),
    );
    if plan.containment == Containment::Namespaces {
        let space = format!("{} MiB", plan.private_bytes >> 20);
        list.push(view("private space", space, "size of a tmpfs"));
    }
    let seconds = |time: std::time::Duration| format!("{} s", time.as_secs_f64());
    list.extend(plan.deadline.map(|time| view("runtime", seconds(time), "deadline")));
    list.push(view("grace", seconds(plan.grace), "between SIGTERM and SIGKILL"));
    list
}

/// The kernel's names, without their prefix.
const RIGHTS: [&str; 16] = [
    "execute",
    "write_file",
    "read_file",
    "read_dir",
    "remove_dir",
    "remove_file",
    "make_char",
    "make_dir",
    "make_reg",
    "make_sock",
    "make_fifo",
    "make_block",
    "make_sym",
    "refer",
    "truncate",
    "ioctl_dev",
];

pub(crate) fn rights(mask: u64) -> Vec<&'static str> {
    let mask = mask & landlock::ALL_FS;
    RIGHTS
        .into_iter()
        .enumerate()
        .filter(|(bit, _)| mask & (1 << bit) != 0)
        .map(|(_, name)| name)
        .collect()
}

/// The rights in a few words where they are one of the usual sets.
pub(crate) fn rights_in_short(rights: &[&'static str]) -> String {
    let has = |name| rights.contains(&name);
    match rights {
        ["execute", "read_file", "read_dir"] => "read, execute".to_owned(),
        ["read_file", "read_dir"] => "read".to_owned(),
        ["read_dir"] => "list".to_owned(),
        ["write_file", "read_file", "read_dir", "truncate", "ioctl_dev"] => "devices".to_owned(),
        all if all.len() == 13 && !has("make_char") && !has("make_block") && !has("ioctl_dev") => {
            "read, write, execute; no devices".to_owned()
        }
        some => some.join(", "),
    }
}

pub(crate) fn seccomp(plan: &SandboxPlan) -> Option<SeccompView> {
    let spec = plan.seccomp.as_ref()?;
    let actions: Vec<Action> = Table::builtin()
        .map(|table| table.iter().map(|s| s.action).collect())
        .unwrap_or_default();
    let of = |wanted: fn(&Action) -> bool| actions.iter().filter(|action| wanted(action)).count();
    Some(SeccompView {
        network: match spec.network {
            NetworkRule::LoopbackOnly => "loopback only",
            NetworkRule::Host => "the host's",
        },
        sockets: match spec.sockets {
            SocketRule::Namespaced => "unix, IPv4, IPv6, NETLINK_ROUTE",
            SocketRule::NoSockets => "connected unix pairs only",
        },
        denial: match spec.denial {
            DenialAction::Notify => "refused and reported",
            DenialAction::Errno => "refused",
        },
        observed: match spec.observe {
            Observe::Nothing => "nothing that is allowed",
            Observe::Attributes => "changing extended attributes",
            Observe::Attempts => "opening, executing, changing, connecting",
            Observe::Everything => "opening, executing, changing, connecting, looking",
        },
        debug: spec.debug,
        allowed: of(|a| matches!(a, Action::Allow)),
        by_argument: of(|a| matches!(a, Action::Rule(_))),
        denied: of(|a| matches!(a, Action::Deny)),
        unknown_to_the_command: of(|a| matches!(a, Action::Enosys | Action::Absent)),
        killed: of(|a| matches!(a, Action::Kill)),
    })
}
