//! Rights: no uid 0, no capability, no way to get them back.

use std::fs;
use std::time::Duration;

use glee_tests::{Bare, Caller, Leak, Outcome, Policy, Run, World, attempt, carrying};

/// The value of a line of `/proc/self/status`.
fn status(outcome: &Outcome, key: &str) -> Option<String> {
    outcome
        .out()
        .lines()
        .find_map(|l| l.strip_prefix(&format!("{key}:\t")).map(str::to_owned))
}

fn some_capability(_: &World, outcome: &Outcome) -> Option<String> {
    let sets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
    sets.into_iter().find_map(|set| {
        let value = status(outcome, set)?;
        value.contains(|c| c != '0').then(|| format!("{set} is {value}"))
    })
}

fn may_gain_privileges(_: &World, outcome: &Outcome) -> Option<String> {
    (status(outcome, "NoNewPrivs").as_deref() == Some("0")).then(|| "no_new_privs is not set".into())
}

fn has_no_filter(_: &World, outcome: &Outcome) -> Option<String> {
    (status(outcome, "Seccomp").as_deref() == Some("0")).then(|| "there is no seccomp filter".into())
}

fn other_groups(world: &World, outcome: &Outcome) -> Option<String> {
    let own = world.caller().gid();
    let groups = status(outcome, "Groups")?;
    let foreign = groups
        .split_whitespace()
        .find(|g| g.parse() != Ok(own) && *g != "65534")?
        .to_owned();
    Some(format!("still in group {foreign}"))
}

claims! {
    command_is_not_uid_0 => attempt("@A euid; id", Leak::Claimed).bare(Bare::RootOnly),
    command_is_not_uid_0_under_workspace => attempt("@A euid", Leak::Claimed).bare(Bare::RootOnly).workspace(),
    command_has_no_capability => attempt("cat /proc/self/status", Leak::Seen(some_capability)),
    command_cannot_gain_privileges => attempt("cat /proc/self/status", Leak::Seen(may_gain_privileges)),
    command_is_filtered => attempt("cat /proc/self/status", Leak::Seen(has_no_filter)),
    command_is_filtered_under_workspace => attempt("cat /proc/self/status", Leak::Seen(has_no_filter)).workspace(),
    command_is_in_no_other_group => attempt("cat /proc/self/status", Leak::Seen(other_groups))
        .through(&["/bin/sh", "-c", "setpriv --groups 4,24 true 2>/dev/null && exec setpriv --groups 4,24 \"$@\"; \
        exec \"$@\"", "sh"]).bare(Bare::RootOnly),
    uid_0_cannot_be_taken => attempt("@A setresuid", Leak::Claimed).bare(Bare::RootOnly),
    gid_0_cannot_be_taken => attempt("@A setresgid", Leak::Claimed).bare(Bare::RootOnly),
    fsuid_0_cannot_be_taken => attempt("@A setfsuid", Leak::Claimed).bare(Bare::RootOnly),
    groups_cannot_be_taken => attempt("@A setgroups", Leak::Claimed).bare(Bare::RootOnly),
    capabilities_cannot_be_used => attempt("@A capable", Leak::Claimed).bare(Bare::RootOnly),
    root_only_file_of_the_project_stays_closed_to_an_owner_trick => attempt("chown 1:1 file; chmod 777 file",
        Leak::Changed("@PROJECT/file"))
        .file("@PROJECT/file", "old\n"),
    file_of_another_user_in_the_project_is_not_readable => attempt("cat foreign", Leak::Secret)
        .secret_at("@PROJECT/foreign")
        .given(|w| { w.give("@PROJECT/foreign", 1); w.mode("@PROJECT/foreign", 0o600); }).bare(Bare::RootOnly),
    su_gains_nothing => attempt("echo | su root -c '@A euid'; su -s /bin/sh root -c '@A euid'", Leak::Claimed)
        .bare(Bare::RootOnly),
    ids_cannot_be_mapped => attempt("echo '0 @UID 1' > /proc/self/uid_map && @A escaped map", Leak::Claimed)
        .bare(Bare::Nobody("the map of the first namespace is fixed")),
}

/// Asks the host's kernel, not the sandbox: whose are the processes inside?
fn real_owner(caller: Caller) {
    let world = World::new(caller);
    let running = Run::sandboxed(&world, Policy::Named("workspace"))
        .script("@A mark ready @ID; @A sleep 3 inner-@ID")
        .spawn();
    assert!(
        running.wait_for_mark("ready"),
        "the command never ran inside: {}",
        running.finish().describe()
    );
    let mark = format!("sleep\x003\x00inner-{}", world.nonce());
    glee_tests::wait_until(Duration::from_secs(2), || !carrying(&mark).is_empty());
    let inner = carrying(&mark);
    assert!(
        !inner.is_empty(),
        "no process of the command is to be seen from the host"
    );
    for pid in inner {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it sleeps");
        let uids = status.lines().find(|l| l.starts_with("Uid:")).expect("a line of uids");
        assert!(
            !uids.split_whitespace().any(|u| u == "0"),
            "a process inside is root for the kernel: {uids}"
        );
    }
    running.signal("KILL");
}

mod processes_inside_are_never_root_for_the_kernel {
    #[test]
    fn as_root() {
        super::real_owner(glee_tests::Caller::Root);
    }

    #[test]
    fn as_user() {
        super::real_owner(glee_tests::Caller::User);
    }
}
