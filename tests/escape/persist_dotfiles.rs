//! Parts of a home that lie in the writable project although the home does not: linked into it, in a project that is one of the
//! home's own directories, or moved there by a variable. Under `workspace`.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// Writes `path` in every way there is.
fn overwrite(path: &'static str) -> Attempt {
    let script = format!(
        "mkdir -p $(dirname {path}); echo evil > x; cp x {path}; mv x {path}; rm -rf {path}; mkdir -p $(dirname {path}); \
         echo evil > {path}; rm -f x"
    );
    attempt(script, Leak::Changed(path)).workspace()
}

/// The project is a repository of dotfiles.
fn linked(path: &'static str, target: &'static str, at: &'static str) -> Attempt {
    overwrite(path).given(move |w| {
        let dir = at.rsplit_once('/').map_or(at, |(dir, _)| dir);
        w.dir(dir);
        w.link(target, at);
    })
}

/// The project is one of the home's own directories.
fn within(path: &'static str, project: &'static str) -> Attempt {
    overwrite(path)
        .given(move |w| {
            w.dir(project);
        })
        .cwd(project)
        .env("HOME", "@OUT")
}

/// The project is the home, of which a variable has moved a part.
fn moved(path: &'static str, variable: &'static str, value: &'static str) -> Attempt {
    overwrite(path).env("HOME", "@PROJECT").env(variable, value)
}

/// The caller's git is told of a template for new repositories.
fn template(given: fn(&World)) -> Attempt {
    let script = "mkdir -p t/hooks; printf '#!/bin/sh\\ntouch @OUT/pwned\\n' > t/hooks/post-checkout; chmod +x t/hooks/post-checkout";
    attempt(script, Leak::Seen(a_clone_ran_code))
        .workspace()
        .given(|w| {
            w.dir("@OUT/origin");
            w.git("@OUT/origin", &["init", "-q"]);
            w.git("@OUT/origin", &["commit", "-q", "--allow-empty", "-m", "first"]);
            w.file("@HOME/.gitconfig", &w.fill("[init]\n\ttemplateDir = ~/project/t\n"));
        })
        .given(given)
}

fn a_clone_ran_code(w: &World, _: &Outcome) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    w.host_does("git clone -q @OUT/origin @OUT/clone$$");
    fs::exists(w.path("@OUT/pwned"))
        .unwrap_or(false)
        .then(|| "a clone on the host ran what the sandbox had planted".into())
}

/// More that a home's owner obeys, none of it there.
const PLANTED: &[&str] = &[
    ".config/user-tmpfiles.d/x.conf",
    ".local/share/user-tmpfiles.d/x.conf",
    ".config/containers/systemd/x.container",
    ".config/containers/containers.conf",
    ".local/share/direnv/allow/x",
    ".gnomerc",
    ".config/bash_completion",
    ".config/pipewire/pipewire.conf",
    ".config/wireplumber/main.lua.d/x.lua",
    ".config/pulse/default.pa",
    ".asoundrc",
    ".jupyter/jupyter_config.py",
    ".julia/config/startup.jl",
    ".zinit/bin/zinit.zsh",
    ".zplug/init.zsh",
    ".antigen/antigen.zsh",
    ".bash_it/bash_it.sh",
    ".config/user-dirs.dirs",
    ".config/starship.toml",
    ".kde/Autostart/x.sh",
    ".fluxbox/startup",
    ".icewm/startup",
    ".config/herbstluftwm/autostart",
    ".rvmrc",
    ".bun/bin/ls",
    ".deno/bin/ls",
];

fn plant_all() -> Attempt {
    let each = |name: &&str| format!("mkdir -p $(dirname {name}); echo evil > {name}");
    let script = PLANTED.iter().map(each).collect::<Vec<_>>().join("\n");
    let found = |w: &World, _: &Outcome| {
        let there = |name: &&&str| w.path(&format!("@PROJECT/{name}")).is_file();
        let planted: Vec<_> = PLANTED.iter().filter(there).collect();
        (!planted.is_empty()).then(|| format!("planted: {planted:?}"))
    };
    attempt(script, Leak::Seen(found))
        .workspace()
        .env("HOME", "@PROJECT")
        .given(|w| {
            w.dir("@PROJECT/.config");
            w.dir("@PROJECT/.local/share");
        })
}

claims! {
    bashrc_that_is_linked_into_the_project => linked("@PROJECT/bashrc", "project/bashrc", "@HOME/.bashrc")
        .file("@PROJECT/bashrc", "old\n"),
    bashrc_that_is_linked_to_nothing_in_the_project => linked("@PROJECT/bashrc", "project/bashrc", "@HOME/.bashrc"),
    bashrc_behind_two_links => linked("@PROJECT/bashrc", "@OUT/link", "@HOME/.bashrc").file("@PROJECT/bashrc", "old\n")
        .given(|w| w.link("@PROJECT/bashrc", "@OUT/link")),
    link_of_the_project_on_the_way_to_a_bashrc => linked("@PROJECT/bashrc", "project/bashrc", "@HOME/.bashrc")
        .given(|w| { w.file("@OUT/bashrc", "old\n"); w.link("@OUT/bashrc", "@PROJECT/bashrc"); }),
    configuration_of_git_that_is_linked_into_the_project =>
        linked("@PROJECT/gitconfig", "project/gitconfig", "@HOME/.gitconfig").file("@PROJECT/gitconfig", "[user]\n"),
    lock_of_a_configuration_of_git_that_is_linked_into_the_project =>
        linked("@PROJECT/gitconfig.lock", "project/gitconfig", "@HOME/.gitconfig").file("@PROJECT/gitconfig", "[user]\n"),
    configuration_that_the_callers_includes_without_a_repository => overwrite("@PROJECT/more.cfg")
        .file("@PROJECT/more.cfg", "[user]\n").file("@HOME/.gitconfig", "[include]\n\tpath = ~/project/more.cfg\n"),
    hooks_that_the_callers_configuration_names_without_a_repository => overwrite("@PROJECT/hooks/pre-commit")
        .file("@HOME/.gitconfig", "[core]\n\thooksPath = ~/project/hooks\n"),
    directory_that_is_linked_into_the_project => linked("@PROJECT/fish/config.fish", "../project/fish", "@HOME/.config/fish")
        .file("@PROJECT/fish/config.fish", "old\n"),
    whole_configuration_that_is_linked_into_the_project =>
        linked("@PROJECT/config/autostart/x.desktop", "project/config", "@HOME/.config").given(|w| { w.dir("@PROJECT/config"); }),
    directory_of_programs_that_is_linked_into_the_project => linked("@PROJECT/bin/ls", "project/bin", "@HOME/bin")
        .file("@PROJECT/bin/other", ""),
    keys_that_are_linked_into_the_project => linked("@PROJECT/ssh/authorized_keys", "project/ssh", "@HOME/.ssh")
        .file("@PROJECT/ssh/authorized_keys", "old\n"),
    directory_that_is_linked_to_the_project => linked("@PROJECT/config.fish", "../project", "@HOME/.config/fish")
        .file("@PROJECT/config.fish", "old\n"),
    file_of_a_directory_that_is_linked_into_the_project =>
        linked("@PROJECT/config.fish", "../../project/config.fish", "@HOME/.config/fish/config.fish")
        .file("@PROJECT/config.fish", "old\n"),
    unit_that_is_linked_into_a_project_of_dotfiles =>
        linked("@PROJECT/x.service", "../../../project/x.service", "@HOME/.config/systemd/user/x.service")
        .file("@PROJECT/x.service", "old\n").given(|w| { w.file("@PROJECT/profile", ""); w.link("project/profile", "@HOME/.profile"); }),
    unit_that_is_linked_within_the_home => overwrite("@PROJECT/dotfiles/x.service").env("HOME", "@PROJECT")
        .file("@PROJECT/dotfiles/x.service", "old\n").given(|w| {
            w.dir("@PROJECT/.config/systemd/user");
            w.link("../../../dotfiles/x.service", "@PROJECT/.config/systemd/user/x.service");
        }),

    configuration_of_git_in_a_project_that_is_the_configuration => within("@OUT/.config/git/config", "@OUT/.config")
        .file("@OUT/.config/git/config", "[user]\n"),
    configuration_of_git_in_a_project_that_is_its_directory => within("@OUT/.config/git/config", "@OUT/.config/git"),
    unit_in_a_project_that_is_the_configuration => within("@OUT/.config/systemd/user/x.service", "@OUT/.config"),
    configuration_of_fish_in_a_project_that_is_its_directory => within("@OUT/.config/fish/conf.d/x.fish", "@OUT/.config/fish"),
    program_in_a_project_within_the_home => within("@OUT/.local/bin/ls", "@OUT/.local"),
    key_in_a_project_that_is_the_directory_of_keys => within("@OUT/.ssh/authorized_keys", "@OUT/.ssh"),
    login_in_a_project_that_is_the_configuration => within("@OUT/.config/gh/config.yml", "@OUT/.config")
        .file("@OUT/.config/gh/config.yml", "old\n"),

    configuration_of_git_that_a_variable_has_moved => moved("@PROJECT/cfg/git/config", "XDG_CONFIG_HOME", "@PROJECT/cfg")
        .given(|w| { w.dir("@PROJECT/cfg"); }),
    unit_in_a_configuration_that_a_variable_has_moved =>
        moved("@PROJECT/cfg/systemd/user/x.service", "XDG_CONFIG_HOME", "@PROJECT/cfg").given(|w| { w.dir("@PROJECT/cfg"); }),
    unit_in_a_configuration_that_a_variable_has_moved_behind_a_link =>
        moved("@PROJECT/real/systemd/user/x.service", "XDG_CONFIG_HOME", "@PROJECT/cfg")
        .given(|w| { w.dir("@PROJECT/real"); w.link("real", "@PROJECT/cfg"); }),
    unit_in_data_that_a_variable_has_moved => moved("@PROJECT/data/systemd/user/x.service", "XDG_DATA_HOME", "@PROJECT/data")
        .given(|w| { w.dir("@PROJECT/data"); }),
    start_of_zsh_that_a_variable_has_moved => moved("@PROJECT/zd/.zshenv", "ZDOTDIR", "@PROJECT/zd")
        .given(|w| { w.dir("@PROJECT/zd"); }),
    start_of_zsh_in_a_project_that_is_not_the_home => moved("@PROJECT/zd/.zshrc", "ZDOTDIR", "@PROJECT/zd")
        .env("HOME", "@HOME").file("@PROJECT/zd/.zshrc", "old\n"),

    template_of_repositories_is_not_made => template(|_| {}),
    template_of_repositories_is_not_changed => template(|w| { w.file("@PROJECT/t/description", ""); }),
    template_of_repositories_behind_a_link => template(|w| {
        w.file("@PROJECT/t/description", "");
        w.dir("@PROJECT/h");
        w.link("@PROJECT/h", "@PROJECT/t/hooks");
    }),
    what_a_home_obeys_is_not_planted => plant_all(),
}
