//! What a repository says about its own sandbox is a stranger's word: it may narrow, it never widens.

use glee_tests::{Attempt, Caller, Leak, Listener, Policy, Run, World, attempt, binary};

/// The project's own configuration asks for this; nobody has trusted it; the caller names no policy.
fn asks(permissions: &'static str, script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak)
        .given(move |w| {
            let text: String = permissions.lines().map(|l| format!("    {}\n", l.trim_end())).collect();
            w.file(
                "@PROJECT/.glee/config.yml",
                &w.fill(&format!("security:\n  subagent_permissions:\n{text}")),
            );
        })
        .policy(Policy::Unstated)
        .may_refuse()
}

fn reading(permissions: &'static str) -> Attempt {
    asks(permissions, "cat @OUT/secret @HOME/.ssh/id", Leak::Secret)
        .secret_at("@OUT/secret")
        .secret_at("@HOME/.ssh/id")
}

fn talking(permissions: &'static str) -> Attempt {
    asks(permissions, "@A tcp @PORT @ID", Leak::Heard).given(|w| w.listen(Listener::tcp()))
}

/// A profile file in the repository, with the name of a built-in one.
fn shadow(name: &'static str, policy: Policy) -> Attempt {
    attempt("cat @OUT/secret", Leak::Secret)
        .secret_at("@OUT/secret")
        .policy(policy)
        .may_refuse()
        .given(move |w| {
            for extension in ["yml", "yaml"] {
                w.file(
                    &format!("@PROJECT/.glee/policies/{name}.{extension}"),
                    &w.fill("mode: restricted\nfs: {read: ['/', '@OUT']}\n"),
                );
            }
        })
}

/// The person's own policy extends a name that only the repository has a profile for, or that leads there in two steps.
fn extended(policy: Policy, team: &'static str) -> Attempt {
    attempt("cat @OUT/secret", Leak::Secret)
        .secret_at("@OUT/secret")
        .policy(policy)
        .may_refuse()
        .file("@HOME/.config/glee/policies/mine.yml", "extends: ours\n")
        .file("@HOME/.config/glee/policies/ours.yml", "extends: team\n")
        .given(move |w| {
            w.file("@PROJECT/.glee/policies/team.yml", &w.fill(team));
        })
}

/// A directory in which another user may also write holds the project, and that user has put a `.glee` there.
fn planted_above(w: &World) {
    w.dir("@OUT/shared/mine");
    w.file("@OUT/shared/.glee/config.yml", "security: {}\n");
    w.secret_at("@OUT/shared/secret");
    for path in ["@OUT/shared/.glee/config.yml", "@OUT/shared/.glee", "@OUT/shared"] {
        w.give(path, 1);
    }
    w.mode("@OUT/shared", 0o1777);
}

claims! {
    repository_does_not_widen_reading_to_everything => reading("fs: {read: ['/']}"),
    repository_does_not_widen_reading_to_home => reading("fs: {read: ['.', '~']}"),
    repository_does_not_widen_reading_by_name => reading("fs: {read: ['@OUT/secret', '@HOME/.ssh']}"),
    repository_does_not_widen_reading_by_dots => reading("fs: {read: ['../../outside', '..']}"),
    repository_does_not_widen_writing => asks("fs: {write: ['.']}", "echo evil > file", Leak::Changed("@PROJECT/file"))
        .file("@PROJECT/file", "old\n"),
    repository_does_not_widen_writing_outside => asks("fs: {write: ['@OUT']}", "echo evil > @OUT/file",
        Leak::Changed("@OUT/file"))
        .file("@OUT/file", "old\n"),
    repository_does_not_switch_the_sandbox_off => reading("mode: inherit"),
    repository_does_not_switch_the_sandbox_off_by_extending => reading("extends: inherit"),
    repository_does_not_take_the_workspace_profile => asks("extends: workspace", "echo evil > file",
        Leak::Changed("@PROJECT/file"))
        .file("@PROJECT/file", "old\n"),
    repository_does_not_widen_the_network => talking("network: true"),
    repository_does_not_widen_the_network_by_name => talking("network: {allow: ['127.0.0.1', 'localhost', \
        '127.0.0.1:@PORT']}"),
    repository_does_not_pass_secrets => asks("env: {allow: [PATH, HOME, DEPLOY_TOKEN]}", "env", Leak::Secret)
        .secret_env("DEPLOY_TOKEN"),
    repository_does_not_pass_secrets_by_star => asks("env: {allow: ['DEPLOY_*']}", "env", Leak::Secret)
        .secret_env("DEPLOY_TOKEN"),
    repository_does_not_preload => asks("env: {set: {LD_PRELOAD: '@PROJECT/evil-@ID.so'}}", "env | grep evil-",
        Leak::Seen(|w, o| {
        o.says(&format!("evil-{}.so", w.nonce())).then(|| "LD_PRELOAD was set".into())
    })).env("LD_PRELOAD", "@PROJECT/evil-@ID.so"),
    repository_does_not_weaken_the_isolation => asks("isolation: landlock", "@A statx @OUT/secret", Leak::Claimed)
        .secret_at("@OUT/secret"),
    repository_does_not_choose_the_backend => reading("backend: docker\nimage: evil"),
    repository_does_not_take_away_the_denies => asks("fs: {read: ['.'], deny: []}", "cat @OUT/secret", Leak::Secret)
        .secret_at("@OUT/secret"),
    repository_does_not_lengthen_the_deadline => asks("max_runtime_mins: 100000", "@A stubborn 20 @ID",
        Leak::Survived).flags(&["--timeout", "1s"]).endless(std::time::Duration::from_secs(2)),
    repository_does_not_raise_the_limits => asks("limits: {pids: 100000}", "@A crowd 700 5 @ID", Leak::Claimed)
        .only_started(),
    repository_does_not_mount_logins => asks("auth: mount",
        "cat @HOME/.codex/auth.json @HOME/.claude/.credentials.json", Leak::Secret)
        .secret_at("@HOME/.codex/auth.json").secret_at("@HOME/.claude/.credentials.json"),
    repository_does_not_shadow_restricted => shadow("restricted", Policy::Named("restricted")),
    repository_does_not_shadow_workspace => shadow("workspace", Policy::Named("workspace")),
    repository_does_not_shadow_the_default => shadow("restricted", Policy::Unstated),
    repository_does_not_supply_what_the_users_profile_extends => extended(Policy::Named("mine"), "extends: inherit\n"),
    repository_does_not_supply_grants_that_the_users_profile_extends => extended(Policy::Named("mine"),
        "fs: {read: ['.', '@OUT']}\n"),
    repository_does_not_supply_what_a_policy_file_extends => extended(Policy::Yaml("extends: team\n".into()),
        "extends: inherit\n"),
    repository_does_not_widen_what_the_caller_names => asks("network: true", "@A tcp @PORT @ID", Leak::Heard)
        .given(|w| w.listen(Listener::tcp())).policy(Policy::Named("restricted")),
    repository_does_not_lead_its_configuration_elsewhere => attempt("cat @OUT/secret", Leak::Secret)
        .secret_at("@OUT/secret")
        .file("@OUT/config.yml", "security: {subagent_permissions: {mode: inherit}}\n")
        .given(|w| { w.dir("@PROJECT/.glee"); w.link("@OUT/config.yml", "@PROJECT/.glee/config.yml"); })
        .policy(Policy::Unstated).may_refuse(),
    repository_does_not_bring_its_own_trust => reading("fs: {read: ['/']}").given(|w| {
        for at in ["@PROJECT/.glee/trust", "@PROJECT/.glee/trust.json", "@PROJECT/.glee/trusted.yml"] {
            w.file(at, &w.fill("@PROJECT/.glee/config.yml: trusted\n"));
        }
    }),
    repository_does_not_move_the_users_configuration => asks("env: {set: {XDG_CONFIG_HOME: '@PROJECT/.config'}}",
        "cat @OUT/secret", Leak::Secret)
        .secret_at("@OUT/secret"),
    directory_of_glee_that_another_user_planted_above_is_not_obeyed => attempt("cat ../secret", Leak::Secret)
        .given(planted_above).cwd("@OUT/shared/mine").policy(Policy::Unstated).may_refuse(),
    directory_of_glee_that_another_user_planted_above_is_not_obeyed_under_restricted => attempt("cat ../secret",
        Leak::Secret)
        .given(planted_above).cwd("@OUT/shared/mine").may_refuse(),
}

/// The control of all the above: the same words count once they are trusted, and no longer when they change.
fn counts_only_while_trusted(caller: Caller) {
    let world = World::new(caller);
    world.secret_at("@OUT/secret");
    let asked = world.fill("security:\n  subagent_permissions:\n    fs: {read: ['.', '@OUT']}\n");
    world.file("@PROJECT/.glee/config.yml", &asked);
    let leaks = || {
        let outcome = Run::sandboxed(&world, Policy::Unstated).script("cat @OUT/secret").go();
        assert!(outcome.left(), "the command did not run: {}", outcome.describe());
        outcome.says(world.secret())
    };
    assert!(!leaks(), "untrusted, and it counts");
    let trust = world
        .host_command(&binary().display().to_string())
        .args(["trust", "--yes"])
        .output()
        .expect("run trust");
    assert!(trust.status.success(), "{}", String::from_utf8_lossy(&trust.stderr));
    assert!(
        leaks(),
        "trusted, and it does not count: the attempts above prove nothing"
    );
    world.file("@PROJECT/.glee/config.yml", &format!("{asked}# changed\n"));
    assert!(!leaks(), "changed after it was trusted, and it still counts");
}

mod configuration_counts_only_while_it_is_trusted_and_unchanged {
    #[test]
    fn as_root() {
        super::counts_only_while_trusted(glee_tests::Caller::Root);
    }

    #[test]
    fn as_user() {
        super::counts_only_while_trusted(glee_tests::Caller::User);
    }
}
