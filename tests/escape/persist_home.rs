//! A home that lies in the writable project: what the person's shell, git and this program itself would obey. Under `workspace`.

use glee_tests::{Attempt, Leak, attempt};

/// The project is the home, and the file is not there yet.
fn plant(path: &'static str) -> Attempt {
    let script =
        format!("mkdir -p $(dirname {path}); echo evil > x; cp x {path}; mv x {path}; ln -s x {path}; rm -f x");
    attempt(script, Leak::Changed(path)).workspace().env("HOME", "@PROJECT")
}

/// The home lies below the project.
fn plant_below(path: &'static str) -> Attempt {
    plant(path)
        .given(|w| {
            w.dir("@PROJECT/h");
        })
        .env("HOME", "@PROJECT/h")
}

claims! {
    trust_is_not_planted => plant("@PROJECT/.config/glee/trust.json"),
    trust_is_not_planted_beside_other_configuration => plant("@PROJECT/.config/glee/trust.json")
        .file("@PROJECT/.config/other", ""),
    policy_is_not_planted => plant("@PROJECT/.config/glee/policies/evil.yml").given(|w| { w.dir("@PROJECT/.config"); }),
    trust_is_not_planted_where_xdg_puts_it => plant("@PROJECT/cfg/glee/trust.json").env("HOME", "@HOME")
        .env("XDG_CONFIG_HOME", "@PROJECT/cfg"),
    key_is_not_planted => plant("@PROJECT/.ssh/authorized_keys"),
    configuration_of_git_is_not_planted => plant("@PROJECT/.gitconfig"),
    configuration_of_git_is_not_changed => plant("@PROJECT/.gitconfig").file("@PROJECT/.gitconfig", "[user]\n"),
    configuration_of_git_is_not_planted_where_xdg_puts_it => plant("@PROJECT/.config/git/config"),
    start_of_a_desktop_is_not_planted => plant("@PROJECT/.config/plasma-workspace/env/x.sh").given(|w| { w.dir("@PROJECT/.config"); }),
    configuration_of_a_window_manager_is_not_planted => plant("@PROJECT/.config/sway/config").given(|w| { w.dir("@PROJECT/.config"); }),
    start_of_a_prompt_is_not_planted => plant("@PROJECT/.p10k.zsh"),
    compiled_start_of_zsh_is_not_planted => plant("@PROJECT/.zshrc.zwc").file("@PROJECT/.zshrc", "true\n"),
    compiled_environment_of_zsh_is_not_planted => plant("@PROJECT/.zshenv.zwc"),
    compiled_start_of_zsh_is_not_planted_where_a_variable_puts_it => plant("@PROJECT/z/.zshrc.zwc").given(|w| { w.dir("@PROJECT/z"); })
        .env("HOME", "@HOME").env("ZDOTDIR", "@PROJECT/z"),
    completions_of_zsh_are_not_planted => plant("@PROJECT/.zcompdump"),
    completions_of_zsh_are_not_changed => plant("@PROJECT/.zcompdump-host-5.9").file("@PROJECT/.zcompdump-host-5.9", "old\n"),
    compiled_completions_of_zsh_are_not_planted => plant("@PROJECT/.zcompdump-host-5.9.zwc")
        .file("@PROJECT/.zcompdump-host-5.9", "old\n"),
    cached_prompt_is_not_changed => plant("@PROJECT/.cache/p10k-instant-prompt-me.zsh")
        .file("@PROJECT/.cache/p10k-instant-prompt-me.zsh", "old\n"),
    end_of_a_shell_is_not_planted => plant("@PROJECT/.logout"),
    start_of_a_session_is_not_planted => plant("@PROJECT/.Xsession"),
    compiled_start_of_emacs_is_not_planted => plant("@PROJECT/.emacs.elc"),
    window_manager_is_not_planted => plant("@PROJECT/.config/xmonad/xmonad.hs").given(|w| { w.dir("@PROJECT/.config"); }),
    machines_of_every_project_are_not_planted => plant("@PROJECT/.vagrant.d/Vagrantfile"),
    command_that_gives_a_password_is_not_planted => plant("@PROJECT/.mbsyncrc"),
    shell_of_a_package_manager_is_not_planted => plant("@PROJECT/.config/pnpm/rc").given(|w| { w.dir("@PROJECT/.config"); }),
    script_of_every_build_is_not_planted => plant("@PROJECT/.gradle/init.gradle.kts").given(|w| { w.dir("@PROJECT/.gradle"); }),
    start_of_ipython_is_not_planted => plant("@PROJECT/.ipython/profile_default/startup/x.py"),
    part_of_a_bashrc_is_not_planted => plant("@PROJECT/.bashrc.d/x"),
    keys_of_less_are_not_planted => plant("@PROJECT/.lesskey"),
    choice_of_an_editor_is_not_planted => plant("@PROJECT/.selected_editor"),
    completion_of_bash_is_not_planted => plant("@PROJECT/.local/share/bash-completion/completions/git")
        .given(|w| { w.dir("@PROJECT/.local/share"); }),
    start_of_emacs_is_not_planted => plant("@PROJECT/.config/emacs/init.el").given(|w| { w.dir("@PROJECT/.config"); }),
    aliases_of_bash_are_not_planted => plant("@PROJECT/.bash_aliases"),
    configuration_of_fish_is_not_planted => plant("@PROJECT/.config/fish/config.fish"),
    unit_of_systemd_is_not_planted => plant("@PROJECT/.config/systemd/user/evil.service")
        .given(|w| { w.dir("@PROJECT/.config"); }),
    program_is_not_planted => plant("@PROJECT/.local/bin/ls").given(|w| { w.dir("@PROJECT/.local"); }),
    program_of_a_toolchain_is_not_changed => plant("@PROJECT/.cargo/bin/cargo").file("@PROJECT/.cargo/bin/cargo", "old\n"),
    link_in_place_of_a_toolchain_is_not_planted => attempt("ln -s @OUT .nvm", Leak::Changed("@PROJECT/.nvm")).workspace()
        .env("HOME", "@PROJECT"),
    bashrc_of_a_home_below_is_not_planted => plant_below("@PROJECT/h/.bashrc"),
    key_of_a_home_below_is_not_planted => plant_below("@PROJECT/h/.ssh/authorized_keys"),
    trust_of_a_home_below_is_not_planted => plant_below("@PROJECT/h/.config/glee/trust.json"),
}
