//! Secrets at plain paths, and what their mere names and sizes tell. Under `restricted`.

use std::fs;

use glee_tests::{Attempt, Bare, Leak, Outcome, World, attempt};

/// `cat` of a file that holds the secret.
fn reading(path: &'static str) -> Attempt {
    attempt(format!("cat {path}"), Leak::Secret).secret_at(path)
}

/// The secret is the name of a file in `dir`; `script` lists it.
fn naming(dir: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Secret).given(move |w| {
        w.file(&format!("{dir}/name-{}", w.secret()), "");
    })
}

/// The project is the home, and the secret lies at `path` because links lead there.
fn linked(path: &'static str, given: fn(&World)) -> Attempt {
    reading(path).given(given).env("HOME", "@PROJECT")
}

/// The home lies in the project, and the host makes or replaces a secret while the command runs.
fn later(host: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Secret)
        .secret_at("@OUT/secret")
        .given(|w| {
            w.dir("@PROJECT/h");
        })
        .env("HOME", "@PROJECT/h")
        .meanwhile(move |w| {
            w.host_does(host);
            w.settle();
        })
}

/// The attack says whether the thing is there.
fn sensing(script: &'static str) -> Attempt {
    attempt(script, Leak::Claimed)
        .secret_at("@OUT/secret")
        .secret_at("@HOME/.ssh/id_ed25519")
}

fn shadow_line(_: &World, outcome: &Outcome) -> Option<String> {
    let shadow = fs::read_to_string("/etc/shadow").expect("the harness is root");
    shadow
        .lines()
        .find(|l| outcome.says(l))
        .map(|l| format!("a line of /etc/shadow: {l}"))
}

fn foreign_account(world: &World, outcome: &Outcome) -> Option<String> {
    let passwd = fs::read_to_string("/etc/passwd").expect("read /etc/passwd");
    let known = ["root", "nobody", world.caller().name()];
    let mut names = passwd
        .lines()
        .filter_map(|l| l.split(':').next())
        .filter(|n| !known.contains(n));
    names
        .find(|n| outcome.out().lines().any(|l| l.starts_with(&format!("{n}:"))))
        .map(|n| format!("the account {n}"))
}

claims! {
    ssh_key_is_not_readable => reading("@HOME/.ssh/id_ed25519"),
    cloud_credentials_are_not_readable => reading("@HOME/.aws/credentials"),
    netrc_is_not_readable => reading("@HOME/.netrc"),
    git_credentials_are_not_readable => reading("@HOME/.git-credentials"),
    forge_token_is_not_readable => reading("@HOME/.config/gh/hosts.yml"),
    login_of_claude_is_not_readable => reading("@HOME/.claude/.credentials.json"),
    login_of_codex_is_not_readable => reading("@HOME/.codex/auth.json"),
    shell_history_is_not_readable => reading("@HOME/.bash_history"),
    gpg_home_is_not_readable => reading("@HOME/.gnupg/private-keys-v1.d/key"),
    cargo_credentials_are_not_readable_under_workspace => reading("@HOME/.cargo/credentials.toml").workspace(),
    cargo_credentials_of_old_are_not_readable_under_workspace => reading("@HOME/.cargo/credentials").workspace(),
    npm_token_is_not_readable_under_workspace => reading("@HOME/.npmrc").workspace(),
    npm_token_of_a_node_version_is_not_readable_under_workspace =>
        reading("@HOME/.nvm/versions/node/v22.1.0/etc/npmrc").workspace(),
    npm_token_beside_global_programs_is_not_readable_under_workspace => reading("@HOME/.npm-global/etc/npmrc").workspace(),
    pip_password_of_a_python_version_is_not_readable_under_workspace => reading("@HOME/.pyenv/versions/3.13/pip.conf").workspace(),
    conda_token_of_an_environment_is_not_readable_under_workspace => reading("@HOME/miniconda3/envs/one/.condarc").workspace(),
    conda_channels_of_an_environment_are_not_readable_under_workspace =>
        reading("@HOME/miniconda3/envs/one/condarc.d/one.yml").workspace(),
    npm_token_of_conda_is_not_readable_under_workspace => reading("@HOME/miniconda3/etc/npmrc").workspace(),
    npm_token_of_proto_is_not_readable_under_workspace => reading("@HOME/.proto/tools/node/22.1.0/etc/npmrc").workspace(),
    token_of_pnpm_is_not_readable_under_workspace => reading("@HOME/.local/share/pnpm/rc").workspace(),
    npm_token_beside_programs_of_pnpm_is_not_readable_under_workspace => reading("@HOME/.local/share/pnpm/global/5/.npmrc").workspace(),
    token_of_bun_is_not_readable_under_workspace => reading("@HOME/.bun/install/global/bunfig.toml").workspace(),
    pip_password_of_an_environment_is_not_readable_under_workspace => reading("@HOME/.pyenv/versions/3.13/envs/one/pip.conf").workspace(),
    pip_password_of_asdf_is_not_readable_under_workspace => reading("@HOME/.asdf/installs/python/3.13/pip.conf").workspace(),
    pip_password_of_mise_is_not_readable_under_workspace => reading("@HOME/.local/share/mise/installs/python/3.13/pip.conf").workspace(),
    pip_password_of_uv_is_not_readable_under_workspace => reading("@HOME/.local/share/uv/python/cpython-3.13/pip.conf").workspace(),
    pip_password_of_pipx_is_not_readable_under_workspace => reading("@HOME/.local/share/pipx/venvs/one/pip.conf").workspace(),
    pip_password_of_poetry_is_not_readable_under_workspace => reading("@HOME/.local/share/pypoetry/venv/pip.conf").workspace(),
    opam_token_is_not_readable_under_workspace => reading("@HOME/.opam/plugins/opam-publish/me.token").workspace(),
    container_login_is_not_readable_in_a_home =>
        reading("@OUT/.config/containers/auth.json").cwd("@OUT").env("HOME", "@OUT"),
    wallet_is_not_readable_in_a_home => reading("@OUT/.electrum/wallets/one").cwd("@OUT").env("HOME", "@OUT"),
    history_of_fish_is_not_readable_in_a_writable_home =>
        reading("@OUT/.local/share/fish/fish_history").cwd("@OUT").env("HOME", "@OUT").workspace(),
    ssh_key_is_not_readable_under_workspace => reading("@HOME/.ssh/id_ed25519").workspace(),
    toolchains_of_home_are_not_readable_under_restricted => reading("@HOME/.cargo/bin/tool"),
    sibling_project_is_not_readable => reading("@HOME/other-project/src/key.rs"),
    file_beside_the_project_is_not_readable => reading("@HOME/notes.txt"),
    directory_outside_home_is_not_readable => reading("@OUT/secret"),
    parent_directories_are_not_readable => attempt("cat ../../outside/secret", Leak::Secret).secret_at("@OUT/secret"),
    shadow_is_not_readable => attempt("cat /etc/shadow", Leak::Seen(shadow_line)).bare(Bare::RootOnly),
    etc_beyond_what_programs_need_is_not_readable => reading("/etc/glee-@ID/secret"),
    accounts_of_the_host_are_not_readable => attempt("cat /etc/passwd; getent passwd", Leak::Seen(foreign_account)),
    home_of_root_is_not_readable => reading("/root/glee-@ID/secret").bare(Bare::RootOnly),
    home_of_another_user_is_not_readable => reading("/home/glee-other-@ID/secret"),
    var_lib_is_not_readable => reading("/var/lib/glee-@ID/secret"),
    var_log_is_not_readable => reading("/var/log/glee-@ID/secret"),
    var_spool_is_not_readable => reading("/var/spool/glee-@ID/secret"),
    run_is_not_readable => reading("/run/glee-@ID/secret"),
    mnt_is_not_readable => reading("/mnt/glee-@ID/secret"),
    opt_is_not_readable => reading("/opt/glee-@ID/secret"),
    srv_is_not_readable => reading("/srv/glee-@ID/secret"),
    top_level_directories_are_not_readable => reading("/glee-@ID/secret"),
    tmp_of_the_host_is_not_readable => reading("/tmp/glee-@ID/secret"),
    var_tmp_of_the_host_is_not_readable => reading("/var/tmp/glee-@ID/secret"),
    dev_shm_of_the_host_is_not_readable => reading("/dev/shm/glee-@ID/secret"),
    sys_is_absent => attempt("@A can_read /sys/kernel/uevent_seqnum", Leak::Claimed),
    directory_of_the_named_command_is_not_readable => attempt("cat $(dirname @A)/glee-@ID", Leak::Secret)
        .given(|w| {
            let dir = glee_tests::attack_tool().parent().expect("a parent").display().to_string();
            w.secret_at(&format!("{dir}/glee-@ID"));
        }),
    policy_file_is_not_readable => attempt("cat @OUT/../policy.yml", Leak::Seen(|_, o| {
        o.says("why-this-policy").then(|| "the text of the policy".into())
    })).yaml("extends: restricted # why-this-policy\n").file("@OUT/../policy.yml", "# why-this-policy\n"),

    credentials_behind_a_link_are_not_readable => linked("@PROJECT/store/credentials", |w| w.link("store", "@PROJECT/.aws")),
    credentials_behind_a_link_are_not_readable_under_workspace =>
        linked("@PROJECT/store/credentials", |w| w.link("store", "@PROJECT/.aws")).workspace(),
    credentials_behind_a_link_of_their_own_are_not_readable => linked("@PROJECT/store/credentials", |w| {
        w.dir("@PROJECT/.aws");
        w.link("../store/credentials", "@PROJECT/.aws/credentials");
    }),
    credentials_behind_two_links_are_not_readable => linked("@PROJECT/store/deep/credentials", |w| {
        w.link("store/deep", "@PROJECT/other");
        w.link("@PROJECT/other", "@PROJECT/.aws");
    }),
    forge_token_in_a_linked_configuration_is_not_readable =>
        linked("@PROJECT/cfg/gh/hosts.yml", |w| w.link("cfg", "@PROJECT/.config")),
    forge_token_in_a_project_that_is_the_configuration_is_not_readable =>
        reading("@OUT/.config/gh/hosts.yml").cwd("@OUT/.config").env("HOME", "@OUT"),
    login_that_the_host_replaces_in_a_home_stays_hidden => later(
        "cp @OUT/secret @PROJECT/h/n; mv -f @PROJECT/h/n @PROJECT/h/.netrc", "cat h/.netrc").file("@PROJECT/h/.netrc", "old\n"),
    login_that_the_host_replaces_in_a_writable_home_stays_hidden => later(
        "cp @OUT/secret @PROJECT/h/n; mv -f @PROJECT/h/n @PROJECT/h/.config/containers/auth.json", "cat h/.config/containers/auth.json")
        .file("@PROJECT/h/.config/containers/auth.json", "old\n").workspace(),
    login_that_the_host_replaces_behind_a_link_stays_hidden => later(
        "cp @OUT/secret @PROJECT/h/n; mv -f @PROJECT/h/n @PROJECT/h/store/netrc", "cat h/.netrc h/store/netrc")
        .file("@PROJECT/h/store/netrc", "old\n").given(|w| w.link("store/netrc", "@PROJECT/h/.netrc")),
    forge_token_that_the_host_makes_in_a_home_is_hidden => later(
        "mkdir -p @PROJECT/h/.config/gh; cp @OUT/secret @PROJECT/h/.config/gh/hosts.yml", "cat h/.config/gh/hosts.yml"),
    forge_token_that_the_host_makes_anew_in_a_writable_home_stays_hidden => later(
        "rm -r @PROJECT/h/.config/gh; mkdir @PROJECT/h/.config/gh; cp @OUT/secret @PROJECT/h/.config/gh/hosts.yml", "cat h/.config/gh/hosts.yml")
        .file("@PROJECT/h/.config/gh/hosts.yml", "old\n").workspace(),
    wallet_that_the_host_makes_in_a_writable_home_is_hidden => later(
        "mkdir -p @PROJECT/h/.electrum/wallets; cp @OUT/secret @PROJECT/h/.electrum/wallets/one", "cat h/.electrum/wallets/one").workspace(),

    names_in_ssh_directory_are_not_listed => naming("@HOME/.ssh", "ls -a @HOME/.ssh"),
    names_beside_the_project_are_not_listed => naming("@HOME", "ls -a @HOME"),
    names_outside_are_not_listed => naming("@OUT", "ls -a @OUT ../../outside"),
    names_of_the_hosts_tmp_are_not_listed => naming("/tmp", "ls -a /tmp"),
    names_of_home_directories_are_not_listed => naming("/home", "ls -a /home"),
    names_of_top_level_directories_are_not_listed => naming("", "ls -a /"),
    names_of_var_are_not_listed => naming("/var/lib", "ls -a /var/lib"),
    link_targets_outside_are_not_told => attempt("readlink @OUT/link", Leak::Secret)
        .given(|w| w.link(&format!("/{}", w.secret()), "@OUT/link")),

    stat_of_a_hidden_key_fails => sensing("stat @HOME/.ssh/id_ed25519 && @A escaped stat"),
    statx_outside_fails => sensing("@A statx @OUT/secret"),
    access_outside_fails => sensing("@A access @OUT/secret"),
    path_descriptor_outside_fails => sensing("@A opath @OUT/secret"),
    chdir_outside_fails => sensing("@A chdir @OUT"),
    inotify_outside_fails => sensing("@A inotify @OUT"),
    file_handle_outside_fails => sensing("@A name_to_handle @OUT/secret"),
    existence_test_outside_fails => sensing("test -e @OUT/secret && @A escaped test"),
    execution_outside_fails => attempt("@OUT/tool", Leak::Secret).given(|w| {
        w.program("@OUT/tool", &format!("#!/bin/sh\necho {}\n", w.secret()));
    }),
}
