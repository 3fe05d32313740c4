use super::*;

const HOME: &str = "/home/ann";

/// Those of the paths for which the answer is not this one. What does not begin with a slash lies in the home.
fn others(is: bool, paths: &str) -> Vec<&str> {
    let home = Path::new(HOME);
    paths
        .split_ascii_whitespace()
        .filter(|path| is_secret(&home.join(path), Some(home)) != is)
        .collect()
}

#[test]
fn secrets_are_known_by_their_names() {
    let paths = "/home/bob/.ssh/id .ssh/config work/.npmrc .pypirc /srv/app/config/master.key /srv/backup/id_rsa.old
        /opt/x/api-token.txt /opt/x/Secrets.yaml /opt/x/secrets/plain /opt/x/db_password ext/service-account.json
        ext/my-service-account-dev.json mytoken.txt dbpassword /etc/shadow /etc/ssh/ssh_host_rsa_key /run/secrets/db
        .vagrant.d/insecure_private_key x/ssh_host_rsa_key x/deploy_key x/private-key.json x/api-key.txt x/oauth2.json
        x/cookies.txt x/x.pkcs12 x/x.asc x/proj-firebase-adminsdk-1.json x/X.PEM .putty/sessions/a .gnupg/x .config/sops/age/keys.txt
        .local/share/keyrings/login .vault-token /tmp/krb5cc_1000 .password-store/a.gpg";
    assert_eq!(others(true, paths), Vec::<&str>::new());
}

#[test]
fn credentials_of_clouds_hosts_and_registries_are_secrets() {
    let paths = ".aws/config .config/gcloud/x .azure/x .aliyun/config.json .bluemix/config.json .config/doctl/config.yaml
        .config/hcloud/cli.toml .config/linode-cli .config/scw/config.yaml .fly/config.yml .config/netlify/config.json
        .railway/config.json .wrangler/config/default.toml .config/.wrangler/config/default.toml .config/heroku/x
        .config/configstore/firebase-tools.json .gsutil/credstore .boto .cloudflared/cert.pem .config/helm/registry/config.json
        .config/pypoetry/auth.toml .hex/hex.config .jfrog/jfrog-cli.conf.v6 .bundle/config .yarnrc .cabal/config
        .subversion/auth/svn.simple/x .config/github-copilot/hosts.json .config/github-copilot/apps.json .config/llm/keys.json
        .config/io.datasette.llm/keys.json .kaggle/kaggle.json .databrickscfg .sentryclirc .snowflake/config.toml .snowsql/config
        .config/stripe/config.toml .twilio-cli/config.json .ngrok2/ngrok.yml .config/ngrok/ngrok.yml .config/argocd/config
        .mc/config.json .msmtprc .cursor/mcp.json .aider.conf.yml .docker/config.json .kube/config .netrc .netrc.gpg .config/gh/hosts.yml
        .cargo/credentials.toml .terraform.d/credentials.tfrc.json .pgpass .my.cnf x/NuGet.Config .m2/settings.xml
        .config/rclone/rclone.conf .git-credentials .config/git/credentials";
    assert_eq!(others(true, paths), Vec::<&str>::new());
}

#[test]
fn settings_histories_sessions_and_what_was_kept_of_them_are_secrets() {
    let paths = "/srv/app/.env /srv/app/.env.production /srv/app/.env~ /srv/app/.env.bak x/backup.env.bak x/prod.env x/env.local
        x/.flaskenv x/.envrc x/terraform.tfvars x/terraform.tfstate.backup x/local.settings.json x/appsettings.Production.json
        x/wp-config.php .Xauthority .ICEauthority .viminfo .bash_history .local/share/fish/fish_history
        .config/Code/User/globalStorage/state.vscdb .mozilla/firefox/x/cookies.sqlite .config/google-chrome/Default/Cookies
        x/.id_rsa.swp x/#id_rsa# x/server.key.orig~ wallet.dat .ansible/vault_pass.txt .config/wireguard/wg0.conf .vnc/passwd
        .config/syncthing/config.xml .local/state/syncthing/config.xml .config/weechat/sec.conf .irssi/config .purple/accounts.xml
        .jupyter/jupyter_server_config.json .local/share/jupyter/runtime/jpserver-1.json .rancher/cli2.json .config/attic/config.toml
        .config/nix/nix.conf .dbus-keyrings/x .config/pgcli/history .mycli-history .config/litecli/history .mongorc.js
        /srv/app/config/database.yml";
    assert_eq!(others(true, paths), Vec::<&str>::new());
}

#[test]
fn credentials_of_smaller_registries_clouds_and_agents_are_secrets() {
    let paths = ".config/pnpm/rc .bunfig.toml .config/nix/netrc .config/cachix/cachix.dhall .config/cabal/config .config/hex/hex.config
        .config/helm/repositories.yaml .helm/repository/repositories.yaml .cpanrc .config/vultr-cli.yaml .config/cloudflared/cert.pem
        work/openrc.sh work/acme-openrc.sh .tencentcloud/credentials .tencentcloud/x .lambda_cloud/lambda_keys .tugboat .modal.toml
        .runpod/config.toml .config/replicate/hosts .config/aichat/config.yaml .config/shell_gpt/.sgptrc .continue/config.json
        .config/crush/crush.json .local/share/crush/crush.json .config/amp/settings.json .android/adbkey .lftp/bookmarks
        .local/share/lftp/bookmarks .config/exercism/user.json .config/spotify-tui/client.yml
        .config/transmission-daemon/settings.json x/passwd.txt x/session.cookie";
    assert_eq!(others(true, paths), Vec::<&str>::new());
}

#[test]
fn what_only_resembles_a_secret_is_none() {
    let paths = "/etc/passwd /opt/tool/lib/libx.so .config/app/settings.json /opt/model/tokenizer.json
        /opt/python/site-packages/certifi/cacert.pem /srv/app/.env.example .gitignore /opt/keyboard/layouts /usr/bin/env
        /opt/docs/service-account.md /opt/sdk/google/auth/transport.py /opt/node_modules/cookie/index.js /opt/lib/http/cookies.py
        /opt/include/key.h /opt/node_modules/object-keys/index.js /srv/app/alembic/env.py /opt/x/monkey.json .config/fish/config.fish
        .cargo/config.toml /opt/x/author.json /opt/x/history.md /opt/x/config.json .config/git/config /opt/x/a.old
        .local/share/jupyter/kernels/python3/kernel.json .jupyter/custom/custom.css /etc/nix/nix.conf .config/weechat/irc.conf
        .purple/prefs.xml .config/pgcli/config .vnc/xstartup";
    assert_eq!(others(false, paths), Vec::<&str>::new());
}

#[test]
fn every_name_is_written_as_it_is_compared() {
    let words = NAMES
        .iter()
        .chain([&WORDS, &WORDS_OF_DATA, &DATA, &PUBLIC, &EXAMPLES])
        .flat_map(|text| text.split_ascii_whitespace());
    let loud: Vec<&str> = words.filter(|word| word.to_lowercase() != *word).collect();
    assert_eq!(loud, Vec::<&str>::new());
}

#[test]
fn secret_variables_are_known_by_their_names() {
    for secret in [
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "NPM_AUTH",
        "OPENAI_API_KEY",
    ] {
        assert!(is_secret_variable(secret), "{secret}");
    }
    for plain in ["EDITOR", "XDG_DATA_DIRS", "KEYMAP", "JAVA_HOME", "PWD"] {
        assert!(!is_secret_variable(plain), "{plain}");
    }
}
