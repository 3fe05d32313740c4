use std::path::Path;

use super::*;
use crate::cgroup;
use crate::plan::{
    Access, CommandPlan, Containment, Doors, GitPlan, Identity, Kind, LandlockPlan, MountStep, Namespace, Records,
    SandboxPlan,
};
use crate::seccomp::{DenialAction, FilterSpec, NetworkRule, Observe, SocketRule};
use crate::sys::landlock::{READ_DIR, READ_FILE, WRITE_FILE};

fn bind(at: &str, access: Access) -> MountStep {
    MountStep::Bind {
        from: at.into(),
        at: at.into(),
        kind: Kind::Dir,
        access,
        idmap: None,
    }
}

/// `restricted` in `/p`, roughly.
fn plan() -> SandboxPlan {
    SandboxPlan {
        workspace: crate::plan::Workspace::Shared,
        containment: Containment::Namespaces,
        identity: Identity {
            uid: 1000,
            gid: 1000,
            user: "ada".into(),
            from_root: false,
        },
        namespaces: vec![Namespace::User, Namespace::Mount, Namespace::Net],
        cgroup: cgroup::Request {
            run: "run".into(),
            memory_mb: None,
            pids: None,
            cpu_millis: None,
            tree: cgroup::Tree::Namespace,
        },
        mounts: vec![bind("/usr", Access::ReadOnly), bind("/p", Access::ReadOnly)],
        placeholders: Vec::new(),
        doors: Doors::default(),
        git: GitPlan {
            trees: Vec::new(),
            fresh: Vec::new(),
            not_bare: Vec::new(),
            repositories: Vec::new(),
            known: Default::default(),
            pointers: Default::default(),
            unlinked: Default::default(),
            own: Default::default(),
            named: Default::default(),
            shared: None,
            links: Default::default(),
            remotes: Vec::new(),
        },
        watches: Vec::new(),
        glob_watches: Vec::new(),
        ways: Vec::new(),
        private_bytes: 0,
        rlimits: Vec::new(),
        landlock: Some(LandlockPlan {
            rules: vec![
                ("/usr".into(), READ_FILE | READ_DIR),
                ("/p".into(), READ_FILE | READ_DIR),
            ],
            deny_tcp: false,
        }),
        seccomp: Some(FilterSpec {
            network: NetworkRule::LoopbackOnly,
            sockets: SocketRule::Namespaced,
            denial: DenialAction::Notify,
            observe: Observe::Attempts,
            debug: false,
        }),
        records: Records::Leave,
        receipt: Wish::Take,
        canaries: Vec::new(),
        left_out: Vec::new(),
        command: CommandPlan {
            program: "/usr/bin/true".into(),
            argv: Vec::new(),
            env: Vec::new(),
            cwd: "/p/src".into(),
        },
        deadline: None,
        grace: Duration::ZERO,
        memory_bytes: None,
        insisted: Vec::new(),
        ledger: Vec::new(),
        omitted: Vec::new(),
    }
}

fn attempts(plan: &SandboxPlan, abi: u32) -> Vec<Attempt> {
    canaries(plan, abi).into_iter().map(|canary| canary.attempt).collect()
}

fn path(attempt: fn(PathBuf) -> Attempt, path: &str) -> Attempt {
    attempt(Path::new(path).to_owned())
}

#[test]
fn a_contained_run_has_a_canary_for_every_wall() {
    let list = attempts(&plan(), 7);
    let wanted = [
        Attempt::Fact(Fact::NoNewPrivs),
        Attempt::Fact(Fact::Capabilities),
        Attempt::Fact(Fact::BoundingSet),
        Attempt::Fact(Fact::Uid),
        Attempt::BecomeRoot,
        path(Attempt::Read, "/sys"),
        path(Attempt::Write, "/"),
        path(Attempt::Write, "/p"),
        Attempt::ReadParent,
        Attempt::Fact(Fact::SeccompMode),
        Attempt::IoUring,
        Attempt::Mount,
        Attempt::Connect([192, 0, 2, 1].into()),
        Attempt::Connect("2001:db8::1".parse().expect("an address")),
        Attempt::HostSocket,
        Attempt::UserNamespace,
    ];
    assert_eq!(list, wanted);
}

#[test]
fn what_the_policy_grants_is_no_canary() {
    let mut wide = plan();
    wide.mounts = vec![
        bind("/sys", Access::ReadOnly),
        bind("/p", Access::ReadWrite),
        MountStep::Protect {
            at: "/p/.git/hooks".into(),
        },
    ];
    let list = attempts(&wide, 7);
    assert!(!list.contains(&path(Attempt::Read, "/sys")), "{list:?}");
    assert!(!list.contains(&path(Attempt::Write, "/p")), "{list:?}");
    assert!(list.contains(&path(Attempt::Unprotected, "/p/.git/hooks")), "{list:?}");
}

#[test]
fn something_private_over_the_tree_is_not_taken_for_the_tree() {
    let mut covered = plan();
    covered.mounts.push(MountStep::Private {
        at: "/p".into(),
        name: "home",
    });
    assert!(!attempts(&covered, 7).contains(&path(Attempt::Write, "/p")));
}

#[test]
fn with_the_hosts_network_nothing_is_connected_to() {
    let mut host = plan();
    host.namespaces.retain(|n| *n != Namespace::Net);
    let is_network = |a: &Attempt| matches!(a, Attempt::Connect(_));
    assert_eq!(attempts(&host, 6).iter().filter(|a| is_network(a)).count(), 0);
    // Abstract sockets are the host's then, and Landlock keeps from them only where it can.
    assert!(attempts(&host, 6).contains(&Attempt::HostSocket));
    assert!(!attempts(&host, 5).contains(&Attempt::HostSocket));
}

#[test]
fn an_address_that_a_door_made_local_is_not_tried() {
    let mut doors = plan();
    doors.doors.local = vec![([192, 0, 2, 0].into(), 24), ([198, 18, 0, 0].into(), 15)];
    let list = attempts(&doors, 7);
    assert!(list.contains(&Attempt::Connect([198, 51, 100, 1].into())), "{list:?}");
    assert!(!list.contains(&Attempt::Connect([192, 0, 2, 1].into())), "{list:?}");
    doors.doors.local = vec![([0, 0, 0, 0].into(), 0), ("::".parse().expect("an address"), 0)];
    assert!(!attempts(&doors, 7).iter().any(|a| matches!(a, Attempt::Connect(_))));
}

#[test]
fn without_namespaces_the_canaries_are_landlocks_and_the_filters() {
    let mut weaker = plan();
    weaker.containment = Containment::Landlock;
    weaker.namespaces.clear();
    weaker.mounts.clear();
    weaker.landlock = Some(LandlockPlan {
        rules: vec![("/tmp".into(), WRITE_FILE), ("/p".into(), READ_DIR)],
        deny_tcp: true,
    });
    let list = attempts(&weaker, 7);
    assert!(list.contains(&path(Attempt::Read, "/sys")), "{list:?}");
    assert!(list.contains(&path(Attempt::Write, "/var/tmp")), "{list:?}");
    assert!(list.contains(&Attempt::Socket(Family::Unix)), "{list:?}");
    assert!(list.contains(&Attempt::Socket(Family::Internet)), "{list:?}");
    assert!(!list.contains(&Attempt::HostSocket), "{list:?}");
    assert!(!list.contains(&path(Attempt::Write, "/")), "{list:?}");
}

#[test]
fn inherit_promises_one_thing_and_off_nothing() {
    let mut inherit = plan();
    inherit.containment = Containment::Inherit;
    inherit.seccomp = None;
    assert_eq!(attempts(&inherit, 7), [Attempt::Fact(Fact::NoNewPrivs)]);
    assert_eq!(left_out(&inherit), []);
    let mut off = plan();
    off.receipt = Wish::Off;
    assert_eq!((attempts(&off, 7), left_out(&off)), (Vec::new(), Vec::new()));
    assert_eq!(left_out(&plan()).len(), 1);
}

/// For every canary of every plan: success, an error that is not on the list and silence are all surprises.
#[test]
fn only_an_expected_answer_holds() {
    let list = canaries(&plan(), 7);
    for canary in &list {
        let fine: Vec<Answer> = match &canary.expected {
            Expected::Refused(errors) => errors.iter().map(|e| Err(*e)).collect(),
            Expected::Is(value) => vec![Ok(*value)],
        };
        assert!(fine.iter().all(|answer| canary.holds(*answer)), "{canary:?}");
        for surprise in [Ok(3), Err(libc::EINTR), Err(libc::EMFILE), Err(libc::EINPROGRESS)] {
            assert!(!canary.holds(surprise), "{canary:?} {surprise:?}");
        }
    }
    let good: Vec<Answer> = list
        .iter()
        .map(|canary| match &canary.expected {
            Expected::Refused(errors) => Err(errors.first().copied().unwrap_or(0)),
            Expected::Is(value) => Ok(*value),
        })
        .collect();
    let surprises = |answers: &[Answer]| judge(&list, answers).iter().filter(|tried| !tried.holds()).count();
    assert_eq!(surprises(&good), 0);
    for wrong in 0..good.len() {
        let mut answers = good.clone();
        if let Some(answer) = answers.get_mut(wrong) {
            *answer = Ok(3);
        }
        assert_eq!(surprises(&answers), 1, "{:?}", list.get(wrong));
    }
    assert_eq!(surprises(&good[..good.len() - 2]), 2);
    assert_eq!(surprises(&[]), list.len());
}

#[test]
fn an_answer_survives_the_message() {
    for answer in [
        Ok(0),
        Ok(1),
        Ok(u64::from(u32::MAX)),
        Err(1),
        Err(libc::EROFS),
        Err(4095),
    ] {
        assert_eq!(decode(encode(answer)), answer);
    }
    // What cannot be is an error all the same, never a success.
    assert!(decode(encode(Err(0))).is_err() && decode(encode(Err(-5))).is_err() && decode(i64::MIN).is_err());
}
