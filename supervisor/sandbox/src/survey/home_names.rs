//! The names of a home that its owner's programs read or run: data, nothing else.

/// Besides the names of every tree: what is read at login, by git, by editors and by other tools, relative to the home. In groups,
/// apart by spaces.
pub(super) const NAMES: &[&str] = &[
    // Programs, and what puts them into PATH.
    "bin .config/direnv .config/mise .pixi/bin .krew/bin .yarn/bin .opencode/bin .asdfrc .tool-versions .mise.toml
     .direnvrc .local/bin .cargo/env .local/share/direnv/allow .rvmrc .bun/bin .deno/bin .config/nix .config/nixpkgs
     .config/home-manager .config/guix .config/mise.toml 
     .rye .jenv .phpenv .plenv .tfenv .rd/bin .local/share/flatpak .fly .pulumi .minikube",
    // Shells: what they read, what that sources by custom, and what zsh has compiled beside it and takes instead.
    ".bash_aliases .bashrc.d .profile.d .zshrc.d .zsh .shrc .yashrc .xonshrc .elvish .bash_completion .bash_env
     .fzf.bash .fzf.zsh .p10k.zsh .mkshrc .inputrc .oh-my-zsh .config/fish .config/zsh .config/xonsh .config/elvish
     .config/atuin .local/share/bash-completion .local/share/zsh .local/share/fish .shinit .bash_functions
     .bash_completion.d .config/nushell .config/powershell .bashrc .bash_profile .bash_login .bash_logout .profile
     .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .config/bash_completion .zinit .zplug
     .antigen .bash_it .config/starship.toml .zshenv.zwc .zprofile.zwc .zshrc.zwc .zlogin.zwc .zlogout.zwc .zsh.zwc
     .p10k.zsh.zwc .fzf.zsh.zwc .profile.zwc .zcompdump .zcompdump.zwc .zsh_aliases .zsh_functions .zshrc.local
     .bashrc.local .aliases .functions .exports .zfunc .zfunctions .zprezto .zpreztorc .zim .zimrc .zgen .zgenom
     .logout .config/bash .config/shell .config/sheldon .config/powerline .config/neofetch .config/fastfetch
     .local/share/zinit .local/share/sheldon .local/share/omf .config/omf",
    // Sessions, desktops and terminals.
    ".pam_environment .xprofile .xsession .xsessionrc .xinitrc .xbindkeysrc .xserverrc .vnc/xstartup
     .config/environment.d .config/systemd .config/autostart .config/tmux .config/alacritty .config/wezterm
     .config/ghostty .config/bspwm .config/sxhkd .config/awesome .config/qtile .local/share/dbus-1
     .local/share/kservices5 .local/share/nautilus/scripts .wezterm.lua .xinputrc .ssh/environment .byobu .tmux
     .config/niri .config/labwc .config/river .config/zellij .config/xfce4 .config/dbus-1 .local/share/gnome-shell
     .Xresources .Xdefaults .xmonad .config/plasma-workspace/env .config/i3 .config/sway .config/hypr .config/openbox
     .config/lxsession .config/kitty .local/share/systemd .local/share/applications .tmux.conf .screenrc .rhosts
     .k5login .config/user-tmpfiles.d .local/share/user-tmpfiles.d .gnomerc .config/pipewire .config/wireplumber
     .config/pulse .asoundrc .config/user-dirs.dirs .kde/Autostart .fluxbox/startup .icewm/startup
     .config/herbstluftwm .Xsession .Xclients .config/X11 .config/xmonad .config/waybar .config/polybar .config/rofi
     .config/eww .config/dunst .dunstrc .config/mako .config/kanshi .config/redshift .config/conky
     .conkyrc .xscreensaver .fvwm .fvwm2rc .config/foot .config/terminator .urxvt .config/Thunar .config/dconf
     .config/cosmic .config/lxqt .config/kglobalshortcutsrc .config/khotkeysrc .config/autostart-scripts
     .config/weston.ini .config/wayfire.ini .config/mpv .local/share/kio .local/share/thumbnailers
     .local/share/plasma .local/share/kwin .local/share/cinnamon .local/share/nemo .local/share/nautilus-python",
    // Editors and agents.
    ".config/nvim .config/Code .config/VSCodium .config/Cursor .config/JetBrains .config/zed .config/helix
     .config/emacs .config/vim .config/opencode .vscode-server .vscode-server-insiders .cursor-server
     .windsurf-server .selected_editor .nanorc .exrc .gvimrc .ideavimrc .spacemacs .doom.d .qwen .copilot
     .config/nano .aider.conf.yml .continue .windsurf .vimrc .vim .emacs .emacs.d .emacs.el .emacs.elc .config/doom
     .config/kak .config/micro .config/lvim .config/sublime-text .vscode-oss .vscode-insiders .config/Windsurf
     .local/share/nvim .local/share/JetBrains .local/share/zed .config/goose .config/amp .config/github-copilot",
    // Languages, build tools and debuggers.
    ".config/gdb .config/pip .pythonrc .pythonrc.py .pythonstartup .pdbrc .ghci .lldbinit .gdbearlyinit .mavenrc
     .bazelrc .terraformrc .config/uv .pnpmrc .yarnrc .yarnrc.yml .bunfig.toml .condarc .pydistutils.cfg
     .m2/settings.xml .gradle/init.gradle .gradle/init.d .gradle/gradle.properties .erlang .cargo/config
     .cargo/config.toml .gdbinit .irbrc .ipython/profile_default/startup .Rprofile .jupyter .julia/config .pylintrc
     .gemrc .bundle/config .octaverc .sbclrc .perldb .guile .pryrc .byebugrc .ocamlinit .utoprc .iex.exs
     .Renviron .config/irb .config/pry .ipython/profile_default/ipython_config.py
     .ipython/profile_default/ipython_kernel_config.py .config/ptpython .local/share/jupyter .local/share/virtualenv
     .config/virtualenv .config/pypoetry .ansible .ansible.cfg .clojure .lein .sbt .mix .ammonite .groovy
     .gradle/init.gradle.kts .m2/extensions.xml .luarocks .composer .config/composer .config/yarn .config/pnpm
     .config/NuGet .nuget/NuGet .vagrant.d .chef .jfrog .boto",
    // Containers and clusters.
    ".docker/cli-plugins .config/containers/systemd .config/containers/containers.conf .config/docker .config/libvirt
     .config/containers/containers.conf.d .config/containers/oci .config/helm .local/share/helm .config/k9s
     .config/lazydocker .tsh",
    // Mail, talk and music.
    ".mailrc .muttrc .mailcap .forward .procmailrc .neomuttrc .mutt .config/neomutt .config/mutt .notmuch-config
     .config/notmuch .config/vdirsyncer .mbsyncrc .isyncrc .fetchmailrc .offlineimaprc
     .getmail .msmtprc .config/msmtp .config/aerc .config/himalaya .irssi .purple .weechat .config/weechat
     .local/share/weechat",
    // Git, this program and other tools.
    ".gitconfig .gitconfig.lock .config/git .config/glee .config/lesskey .config/bat .lesskey .less .lessfilter
     .jjconfig.toml .config/jj .config/hg .config/ranger .config/yazi .config/mc .curlrc .wgetrc .psqlrc .sqliterc
     .hgrc .ripgreprc .ackrc .subversion .config/lazygit .tigrc .config/tig .config/lf .config/vifm .config/nnn
     .config/yt-dlp .config/youtube-dl .taskrc .task .config/task 
     .granted .putty .config/remmina .local/share/remmina",
];

/// What is obeyed in some of those, for a tree that is such a directory itself or that single files are linked into.
///
/// The rest there is the project's own content: who works on the configuration of an editor means to change it.
pub(super) const INNER: &[&str] = &[
    ".config/git/config",
    ".config/git/config.lock",
    ".config/fish/config.fish",
    ".config/fish/conf.d",
    ".config/fish/functions",
    ".config/systemd/user",
    ".config/zsh/.zshenv",
    ".config/zsh/.zshrc",
    ".config/zsh/.zprofile",
    ".config/zsh/.zlogin",
    ".config/zsh/.zlogout",
    ".config/zsh/.zshenv.zwc",
    ".config/zsh/.zshrc.zwc",
    ".config/zsh/.zprofile.zwc",
    ".config/zsh/.zlogin.zwc",
    ".config/zsh/.zlogout.zwc",
    ".config/zsh/.zcompdump",
    ".config/zsh/.zcompdump.zwc",
    ".ssh/config",
    ".ssh/authorized_keys",
    ".ssh/rc",
];

/// How names begin that end in a host, a version or a user, and where: zsh sources those that are there, and rather what is
/// compiled beside them.
pub(super) const BEGINNINGS: &[(&str, &str)] = &[
    ("", ".zcompdump-"),
    (".config/zsh", ".zcompdump-"),
    (".cache", "p10k-"),
    (".cache/zsh", "zcompdump"),
    (".cache/prezto", "zcompdump"),
];
