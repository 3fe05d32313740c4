//! What the end of a run sets aside stays hidden where it was hidden before, in the runs that follow and in those at work.

use glee_tests::{Attempt, Leak, World, attempt, binary};

use crate::persist_nested::ARM;

/// A nested repository of the person's own, with secrets in its configuration, a hook and a module.
fn nested(w: &World) {
    w.define("GLEE", binary().display());
    w.define("STATE", w.root().join("state").display());
    w.secret_at("@OUT/secret");
    w.host_does(&format!(
        "set -e; {ARM} new .; new n; mkdir -p n/.git/modules; git init -q --bare n/.git/modules/m
        key=$(cut -d' ' -f4 @OUT/secret)
        git -C n config http.extraHeader $key; git -C n/.git/modules/m config http.extraHeader $key
        echo \"# $key\" > n/.git/hooks/pre-push"
    ));
    w.settle();
}

/// An earlier run under these rules links it, so that its end takes it for the command's; then the next run looks.
fn after_a_run(deny: &'static str, look: &'static str) -> Attempt {
    let yaml = format!("extends: workspace\nfs: {{deny: [{deny}]}}\n");
    let earlier = yaml.clone();
    attempt(look, Leak::Secret).yaml(&yaml).given(move |w| {
        nested(w);
        w.file("@OUT/earlier.yml", &earlier);
        // In another place git does not mind what it may not read.
        let link = "cp .git/index /tmp/index; GIT_INDEX_FILE=/tmp/index GIT_DIR=/tmp/g; export GIT_INDEX_FILE GIT_DIR
            git init -q --bare /tmp/g; git update-index --add --cacheinfo 160000,$(printf %040d 1),n; cp /tmp/index .git/index";
        w.file("@OUT/link.sh", link);
        w.host_does(
            "export XDG_STATE_HOME=@STATE; @GLEE run --policy @OUT/earlier.yml -- /bin/sh -c \"$(cat @OUT/link.sh)\" > @OUT/log 2>&1
            ls -d n/.git/*.set-aside > @OUT/null",
        );
    })
}

/// It lies there from before.
fn left(base: &str, deny: &str, at: &'static str) -> Attempt {
    attempt(format!("cat {at}; find . -type f -exec cat {{}} +"), Leak::Secret)
        .secret_at(at)
        .yaml(&format!("extends: {base}\nfs: {{deny: ['{deny}']}}\n"))
}

/// While the command runs, something comes to lie there that nothing has covered under its first name.
fn moved(deny: &str, host: &'static str, look: &'static str) -> Attempt {
    attempt(look, Leak::Secret)
        .secret_at("@OUT/secret")
        .file("@PROJECT/g/config", "")
        .file("@PROJECT/g/hooks/deep/key", "")
        .meanwhile(move |w| {
            w.host_does(&format!(
                "set -e; mkdir -p @OUT/hooks/deep @OUT/g/hooks/deep; cp @OUT/secret @OUT/hooks/deep/key; cp @OUT/secret @OUT/g/hooks/deep/key; {host}"
            ));
            w.settle();
        })
        .yaml(&format!("extends: workspace\nfs: {{deny: ['{deny}']}}\n"))
}

const TO_A_NUMBER: &str = "cp @OUT/secret @PROJECT/g/config.set-aside-00112233445566aa";
const WITH_ALL: &str = "mv @OUT/hooks @PROJECT/g/hooks.set-aside";

claims! {
    configuration_that_a_run_set_aside_stays_hidden => after_a_run("'n/.git/config'", "cat n/.git/config.set-aside"),
    configuration_that_a_run_set_aside_stays_hidden_from_a_pattern => after_a_run("'**/.git/config'",
        "cat n/.git/config.set-aside"),
    hook_that_a_run_set_aside_stays_hidden => after_a_run("'n/.git/hooks/pre-push'", "cat n/.git/hooks.set-aside/pre-push"),
    hook_that_a_run_set_aside_stays_hidden_from_a_pattern => after_a_run("'n/.git/hooks/pre-*'",
        "cat n/.git/hooks.set-aside/pre-push"),
    module_that_a_run_set_aside_stays_hidden => after_a_run("'n/.git/modules/m/config'",
        "cat n/.git/modules.set-aside/m/config"),
    module_that_a_run_set_aside_stays_hidden_from_a_pattern => after_a_run("'n/.git/modules/*/config'",
        "cat n/.git/modules.set-aside/m/config"),
    module_that_a_run_set_aside_stays_hidden_from_a_pattern_of_any_depth => after_a_run("'**/modules/*/config'",
        "cat n/.git/modules.set-aside/m/config"),
    configuration_that_a_run_set_aside_stays_hidden_in_a_copy => after_a_run("'n/.git/config'", "cat n/.git/config.set-aside")
        .flags(&["--workspace", "cow"]),
    configuration_that_a_run_set_aside_is_not_moved_away => after_a_run("'n/.git/config'",
        "mv n/.git/config.set-aside x; mv n/.git y; mv n z; cat x y/config.set-aside z/.git/config.set-aside"),
    name_set_aside_with_a_number_is_hidden => left("restricted", "g/config", "@PROJECT/g/config.set-aside-00112233445566aa"),
    reference_set_aside_is_hidden => left("restricted", "g/refs/one", "@PROJECT/g/refs/one.set-aside.lock"),
    name_set_aside_twice_is_hidden => left("restricted", "g/config", "@PROJECT/g/config.set-aside.set-aside-00112233445566aa"),
    directory_set_aside_is_hidden_by_the_name_above => left("workspace", "g", "@PROJECT/g.set-aside/hooks/key"),
    two_names_set_aside_on_one_way_are_hidden => left("workspace", "g/hooks/key", "@PROJECT/g.set-aside/hooks.set-aside/key"),
    name_that_was_cut_when_set_aside_is_hidden => left("workspace", "g/h*s/key", "@PROJECT/g/hoo.cut.set-aside/key"),
    name_set_aside_is_hidden_whatever_another_name_was_made => left("workspace", "g/config",
        "@PROJECT/g/config.set-aside-00112233445566aa").file("@PROJECT/g/config.set-aside", "").file("@PROJECT/g/config", ""),
    directory_closed_over_a_name_set_aside_is_hidden => attempt("chmod 755 g; cat g/config.set-aside", Leak::Secret)
        .secret_at("@PROJECT/g/config.set-aside")
        .given(|w| w.mode("@PROJECT/g", 0o311))
        .yaml("extends: workspace\nfs: {deny: ['g/config']}\n"),
    directory_that_cannot_be_entered_over_a_name_set_aside_is_hidden =>
        attempt("chmod 755 g; cat g/config.set-aside", Leak::Secret)
            .secret_at("@PROJECT/g/config.set-aside")
            .given(|w| w.mode("@PROJECT/g", 0o600))
            .yaml("extends: workspace\nfs: {deny: ['g/config']}\n"),
    directory_that_cannot_be_entered_far_above_a_name_set_aside_is_hidden =>
        attempt("chmod 755 g; cat g/h/config.set-aside", Leak::Secret)
            .secret_at("@PROJECT/g/h/config.set-aside")
            .given(|w| w.mode("@PROJECT/g", 0o600))
            .yaml("extends: workspace\nfs: {deny: ['g/h/config']}\n"),
    end_of_a_link_set_aside_is_hidden => attempt("cat v/token", Leak::Secret)
        .secret_at("@PROJECT/v/token")
        .given(|w| {
            w.dir("@PROJECT/g");
            w.link("../v", "@PROJECT/g/keys.set-aside");
        })
        .yaml("extends: workspace\nfs: {deny: ['g/keys']}\n"),
    name_below_a_link_set_aside_is_hidden => attempt("cat v/token g/keys.set-aside/token", Leak::Secret)
        .secret_at("@PROJECT/v/token")
        .given(|w| {
            w.dir("@PROJECT/g");
            w.link("../v", "@PROJECT/g/keys.set-aside");
        })
        .yaml("extends: workspace\nfs: {deny: ['g/keys/token']}\n"),
    directory_set_aside_behind_a_link_is_hidden_by_the_links_name => attempt("cat g/modules.set-aside/token", Leak::Secret)
        .secret_at("@PROJECT/g/modules.set-aside/token")
        .given(|w| w.link("g/modules", "@PROJECT/keys"))
        .yaml("extends: workspace\nfs: {deny: ['**/keys/*']}\n"),
    name_set_aside_behind_a_link_is_hidden_by_the_links_name => attempt("cat g/modules.set-aside", Leak::Secret)
        .secret_at("@PROJECT/g/modules.set-aside")
        .given(|w| w.link("g/modules", "@PROJECT/keys"))
        .yaml("extends: workspace\nfs: {deny: ['keys']}\n"),
    secret_of_a_home_that_was_set_aside_is_hidden => attempt("cat .claude.set-aside/key", Leak::Secret)
        .secret_at("@HOME/.claude.set-aside/key")
        .yaml("extends: workspace\n")
        .cwd("@HOME"),
    name_set_aside_meanwhile_is_hidden => moved("g/config", "cp @OUT/secret @PROJECT/g/config.set-aside",
        "cat g/config.set-aside"),
    name_set_aside_meanwhile_with_a_number_is_hidden => moved("g/config", TO_A_NUMBER, "cat g/config.set-aside-00112233445566aa"),
    match_set_aside_meanwhile_is_hidden => moved("**/config", TO_A_NUMBER, "cat g/config.set-aside-00112233445566aa"),
    directory_set_aside_meanwhile_is_hidden => moved("g/hooks/deep/key", WITH_ALL, "cat g/hooks.set-aside/deep/key"),
    matches_in_a_directory_set_aside_meanwhile_are_hidden => moved("g/hooks/deep/*", WITH_ALL,
        "cat g/hooks.set-aside/deep/key"),
    match_set_aside_above_a_pattern_meanwhile_is_hidden => moved("g/hooks/deep/*", "mv @OUT/g @PROJECT/g.set-aside",
        "cat g.set-aside/hooks/deep/key"),
}
