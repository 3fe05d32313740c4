//! What a home directory keeps that no agent needs: hidden when it lies in the project, which is the home directory then, or
//! lies above it, or is a directory in it such as `.config`.
//!
//! A policy that grants the project for reading then grants the home with everything in it, and nobody who types `run`
//! in their home means that. Who really wants one of these names it (`--read ~/.ssh/config`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::grants::Cover;
use glee_policy::resolved::{Isolation, Mode};

use super::deny::Found;
use super::shown::Shown;
use super::{Hidden, kind, links};

/// What hides them.
pub const OF_A_HOME: &str = "keys, tokens and histories of a home directory stay hidden when it is the project";

/// Entries of one of these that are looked at for links.
const ENTRIES: usize = 1024;

/// Keys, tokens, passwords, histories, browsers and mail, relative to the home directory.
pub const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".pki",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/glee",
    ".local/state/glee",
    ".mozilla",
    ".thunderbird",
    ".kube",
    ".docker",
    ".oci",
    ".terraform.d",
    ".vault-token",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".config/git/credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    ".env",
];

/// More of the same, which may be made, where it is not among what the host obeys (`home_names`): the programs that read it run
/// nothing that it names. It is hidden from then on, as in every later run.
const MORE: &[&str] = &[
    // Keys and passwords.
    ".age .config/age .config/keybase .config/Bitwarden .config/1Password .config/Yubico .putty .step .saml2aws .granted .awsvault",
    // Clouds, and where programs are served from.
    ".aliyun .bluemix .boto .gsutil .mc .passwd-s3fs .b2_account_info .config/b2 .config/doctl .config/hcloud .config/linode-cli
     .config/scw .config/exoscale .config/openstack .config/yandex-cloud .config/configstore .config/firebase .config/heroku
     .config/netlify .config/vercel .config/stripe .config/ngrok .config/cloudflared .config/.wrangler .config/tailscale
     .cloudflared .wrangler .ngrok2 .fly .railway .pulumi .terraformrc .sentryclirc .twilio-cli .local/share/com.vercel.cli",
    // Clusters, containers and machines.
    ".config/containers/auth.json .config/helm .config/argocd .minikube .talos .chef .vagrant.d .tsh .rancher .android/adbkey",
    // Registries and repositories.
    ".config/composer/auth.json .composer/auth.json .config/pypoetry/auth.toml .config/NuGet .nuget/NuGet .config/nix/netrc
     .config/npm .config/pnpm/rc .config/cachix .config/hex .hex .jfrog .condarc .bundle/config .luarocks/upload_config.lua
     .local/share/gem/credentials .local/share/uv/credentials .opam/plugins/opam-publish .dotnet/corefx .gitcookies
     .subversion/auth .config/tea .config/exercism",
    // Data and models.
    ".databrickscfg .databricks .snowflake .snowsql .config/snowflake .dbt .kaggle .huggingface .cache/huggingface/token
     .config/wandb .mylogin.cnf .pg_service.conf .influxdbv2 .config/openai .config/anthropic .config/io.datasette.llm
     .config/github-copilot .copilot .config/goose .local/share/opencode/auth.json .local/share/amp .qwen .modal.toml .runpod",
    // Mail, talk, browsers and remote screens.
    ".msmtprc .config/msmtp .mbsyncrc .isyncrc .offlineimaprc .fetchmailrc .getmail .config/aerc .config/himalaya .irssi .purple
     .weechat/sec.conf .config/weechat/sec.conf .config/Signal .config/Slack .config/discord .config/Element
     .local/share/TelegramDesktop .config/microsoft-edge .config/vivaldi .config/opera .librewolf .waterfox .zen .var/app
     snap/firefox snap/chromium .config/filezilla .config/remmina .local/share/remmina .vnc/passwd .Xauthority .ICEauthority
     .config/Code/User/globalStorage .config/VSCodium/User/globalStorage .config/Cursor/User/globalStorage",
    // Money.
    ".bitcoin .ethereum .electrum .monero .config/solana",
    // What was typed and seen.
    ".histfile .zhistory .history .sh_history .irb_history .php_history .rediscli_history .dbshell .mongodb .lesshst .viminfo
     .local/share/fish/fish_history .local/share/atuin .local/share/recently-used.xbel",
];

/// This program's own state, unless a grant names it or something in it: the arguments of every run are there.
pub(super) fn of_ours(state: &Path, policy: &ResolvedPolicy, shown: &Shown<'_>) -> Option<Hidden> {
    // Landlock alone cannot hide; it refuses to write there.
    if policy.mode == Mode::Inherit || policy.isolation == Isolation::Landlock {
        return None;
    }
    let path = links::follow(state).end?;
    let (_, top) = shown.at(&path)?;
    let meta = std::fs::symlink_metadata(&path).ok()?;
    let kind = kind(&meta);
    (!top.starts_with(&path)).then_some(Hidden::Present { path, kind })
}

/// The keys by which the supervisor knows its own writing again: no grant shows them, not even one that names them.
pub(super) fn keys(state: &Path, policy: &ResolvedPolicy, shown: &Shown<'_>) -> Option<Hidden> {
    if policy.mode == Mode::Inherit || policy.isolation == Isolation::Landlock {
        return None;
    }
    let path = links::follow(&state.join("keys")).end?;
    shown.at(&path)?;
    let meta = std::fs::symlink_metadata(&path).ok()?;
    let kind = kind(&meta);
    Some(Hidden::Present { path, kind })
}

/// Those that only the project's own grant would show, now and when the host makes or replaces one, by every name: a link that
/// ends in the project hides nothing if what it leads to can be read beside it. No link hides where the command works.
pub(super) fn find([project, cwd]: [&Path; 2], homes: &BTreeSet<&Path>, cover: &Cover<'_>, denied: &mut Found) {
    let by_the_project = |path: &PathBuf| cover.at(path).is_some_and(|(_, grant)| grant.path.as_path() == project);
    let here = |path: &PathBuf| path != project && path.starts_with(project);
    let more = MORE.iter().flat_map(|group| group.split_ascii_whitespace());
    let names: Vec<&str> = SECRETS.iter().copied().chain(more).collect();
    let names = homes.iter().flat_map(|home| names.iter().map(|name| home.join(name)));
    let mut places = BTreeSet::new();
    for path in names.filter(here).filter(by_the_project) {
        for path in denied.aside.forms(&path, project).into_iter().chain([path]) {
            let (plain, ends) = look(&path);
            places.extend(plain);
            places.extend(
                ends.into_iter()
                    .filter(|end| !cwd.starts_with(end) && by_the_project(end)),
            );
        }
    }
    for path in places {
        denied.hide(path, OF_A_HOME);
    }
}

/// Where a secret lies: at its name, unless a link leads there; and where links end that are on its way or in it.
fn look(path: &Path) -> (Option<PathBuf>, Vec<PathBuf>) {
    let way = links::follow(path);
    let plain = way.links.is_empty() || way.links.iter().any(|link| link == path);
    let entries = way.end.iter().flat_map(std::fs::read_dir).flatten();
    let linked = entries
        .take(ENTRIES)
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let mut ends: Vec<PathBuf> = linked.filter_map(|entry| links::follow(&entry.path()).end).collect();
    if !way.links.is_empty() {
        ends.extend(way.end);
    }
    (plain.then(|| path.to_owned()), ends)
}
