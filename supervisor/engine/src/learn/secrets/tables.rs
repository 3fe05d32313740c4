//! The names of what holds secrets, in small letters, as `shapes` reads them.

/// Files and directories, with everything below them, wherever they lie.
pub(super) const NAMES: &[&str] = &[
    // Keys, and stores of keys and passwords.
    ".ssh .gnupg .pki .putty .password-store .keychain .step .age .config/age .config/sops .config/op .config/keybase
     .config/bitwarden* .config/1password keyrings keystores kwallet* id_rsa* id_dsa* id_ecdsa* id_ed25519* ssh_host_*
     insecure_private_key secring* *.pem *.key *.p8 *.p12 *.pfx *.pkcs12 *.jks *.jceks *.bks *.keystore *.keytab *.keychain
     *.kdb *.kdbx *.psafe3 *.ppk *.gpg *.pgp *.asc *.age *.agekey *.ovpn *.snk .dbus-keyrings wireguard/*.conf .wireguard
     .vnc/passwd tigervnc/passwd .vncpasswd .smbpasswd smbpasswd *.keyring *.skey *.macaroon *.pk8 *.priv cwallet.sso rootkey.csv
     *accesskeys.csv acme.json x509up_u* *.potfile john.pot .2fa .google_authenticator .irods/.irodsa .lpass .config/rbw
     .local/share/rbw .local/share/lpass .local/share/signal-cli .config/borg/keys .config/keepassxc .gh_pat .gist .bw_session
     .restic-pw* .vault-pass* .ansible_vault_pass* .deepl .p4tickets .p4enviro",
    // Variables and settings in which programs are given passwords.
    ".dev.vars* .curlrc .renviron .usqlpass .alpine.pwd *.tfstate.*.backup
     .env* *.env env.local env.prod* env.dev* env.stag* .flaskenv *.tfvars *.tfvars.json *.tfstate local.settings.json
     appsettings.* wp-config* settings-security.xml auth.json auth.toml shadow htpasswd .htpasswd *.passwd .vault_pass* .vault
     .ansible/vault_pass* database.yml",
    // Clouds and their storage.
    ".aws .azure .oci gcloud .aliyun .bluemix .tccli .openstack clouds.yaml .config/openstack .config/doctl .config/hcloud
     .config/linode-cli .config/scw .config/exoscale .config/upctl* .config/yandex-cloud .vultr-cli* .civo.json ovh.conf .ovh.conf
     .gsutil .boto .s3cfg .s3curl .passwd-s3fs .mc .b2_account_info .config/b2 .config/rclone rclone.conf .rclone.conf adc.json
     .terraform.d .terraformrc terraform.rc .pulumi .saml2aws .okta* .awsvault .granted
     .config/hcp .config/coderv2 .obsutilconfig .cdsapirc .config/snapcraft .acme.sh .config/oras .config/regctl .oscrc
     .config/vultr-cli* .config/cloudflared openrc.sh *-openrc.sh .tencentcloud* .lambda_cloud .tugboat .config/lambda_cloud .config/civo*",
    // Where programs are served from, and what they call.
    ".fly .config/fly .railway .netlify .config/netlify .wrangler .config/.wrangler .cloudflared .vercel com.vercel.cli
     .config/vercel .heroku .config/heroku .config/configstore .config/firebase .supabase .config/supabase .cf .platformsh .expo
     .koyeb.yaml .serverlessrc .ngrok .ngrok2 .config/ngrok ngrok.yml .config/stripe .twilio-cli .sentryclirc .config/sentry
     .config/tailscale .transifexrc .travis .circleci/cli.yml .coveralls.yml .config/slack .slack .jira.d .config/.jira .config/jira",
    // Registries and package managers.
    ".npmrc npmrc .yarnrc .yarnrc.yml .pypirc pip.conf pip.ini .condarc .config/pypoetry .hex .jfrog .bundle/config .gemrc
     .m2/settings* .gradle/gradle.properties .cabal/config nuget.config .nuget helm/registry .docker .dockercfg
     .luarocks/upload_config.lua .pause .conan/.conan.db .config/attic .config/nix/nix.conf
     .config/pnpm/rc .pnpmrc .bunfig.toml .config/nix/netrc netrc .config/cachix .config/cabal/config .config/hex .config/npm
     helm/repositories.yaml .helm/repository/repositories.yaml .cpanrc .config/pip",
    // Repositories and their hosts.
    ".netrc* _netrc* .git-credentials* .gitcookies .hgrc .subversion/auth .cvspass .config/gh .config/glab-cli .config/hub
     .config/tea .config/lab",
    // Clusters and machines.
    ".kube kubeconfig* *.kubeconfig .minikube .talos talosconfig .config/argocd .argocd .chef .vagrant.d .tsh krb5cc_* .rhosts
     .rancher",
    // Data, databases and models.
    ".pgpass* pgpass* .pg_service.conf my.cnf .my.cnf* .mylogin.cnf .odbc.ini cqlshrc .influxdbv2 .dbt .kaggle kaggle.json
     .databrickscfg .databricks .snowflake .snowsql .config/snowflake .huggingface .config/wandb .comet.config
     .mongorc.js .jupyter/*.json jupyter/runtime
     .modal.toml .runpod .config/replicate",
    // Agents and their models.
    ".config/github-copilot github-copilot .copilot .config/llm io.datasette.llm .config/openai .openai .config/anthropic .anthropic
     .aider.conf.yml .cursor/mcp.json .mcp.json mcp.json mcp_config.json claude_desktop_config.json .config/goose .config/opencode
     .config/aichat .config/shell_gpt .sgptrc .continue/config.* .config/crush crush/crush.json crush.json .config/amp",
    // Mail.
    ".msmtprc .config/msmtp .mailrc .muttrc .mutt .config/mutt .config/neomutt .mbsyncrc .isyncrc .offlineimaprc .fetchmailrc
     .getmail .authinfo* .config/aerc .config/himalaya .thunderbird",
    // Browsers, and programs that keep a session.
    "cookies login*data .w3m/cookie .lynx_cookies .floorp .config/evolution .config/goa-1.0 launcher_accounts.json .httpie/sessions
     .zuliprc
     .mozilla .librewolf .waterfox .zen .config/google-chrome* .config/chromium* .config/bravesoftware .config/microsoft-edge*
     .config/vivaldi* .config/opera* .config/librewolf .var/app snap/firefox snap/chromium logins.json key3.db key4.db
     .config/discord* .config/signal* .config/element* telegramdesktop .config/filezilla .config/remmina .local/share/remmina
     globalstorage state.vscdb syncthing/config.xml .config/syncthing .local/state/syncthing weechat/sec.conf .weechat/sec.conf .irssi
     .purple/accounts.xml
     .android/adbkey* .lftp lftp/bookmarks .config/exercism .config/spotify-tui .config/transmission-daemon transmission-daemon
     passwd.txt *.cookie",
    // What was typed.
    "*_history *_history.txt *-history.json .histfile .zhistory .history history.sqlite .viminfo .lesshst .dbshell atuin
     history.txt .rhistory main.shada
     pgcli/history mycli/history litecli/history .pgcli-history .mycli-history .litecli-history",
    // Who may use the screen.
    ".xauthority* xauthority .iceauthority* .serverauth* .mutter-xwaylandauth* xauth_*",
    // Money.
    "wallet.dat *.wallet .litecoin .dogecoin .zcash .bitmonero .lnd .electron-cash .stellar .bitcoin .ethereum .electrum .monero .solana .config/solana",
];

/// Places of the machine.
pub(super) const PLACES: &[&str] = &[
    "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d",
    "/etc/ceph",
    "/etc/chrony/chrony.keys",
    "/etc/corosync/authkey",
    "/etc/exim4/passwd.client",
    "/etc/gitlab-runner",
    "/etc/luks",
    "/etc/mosquitto/passwd",
    "/etc/msmtprc",
    "/etc/netplan",
    "/etc/ntp.keys",
    "/etc/passwd-s3fs",
    "/etc/pgbouncer/userlist.txt",
    "/etc/samba/smbpasswd",
    "/etc/security/opasswd",
    "/etc/swanctl",
    "/etc/vault.d",
    "/var/backups",
    "/var/lib/etcd",
    "/var/lib/iwd",
    "/var/lib/krb5kdc",
    "/var/lib/samba/private",
    "/var/lib/tailscale",
    "/var/lib/vault",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/ipsec.d",
    "/etc/sssd",
    "/etc/NetworkManager/system-connections",
    "/etc/wpa_supplicant",
    "/etc/mysql/debian.cnf",
    "/etc/postfix/sasl_passwd",
    "/run/secrets",
    "/run/credentials",
    "/var/run/secrets",
    "/var/lib/cloud",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/lib/rancher",
    "/var/lib/sss",
    "/var/mail",
    "/var/spool/mail",
];

/// Words of a name, between whatever is no letter or digit, or the end of one: `mytoken`.
pub(super) const WORDS: &str =
    "secret secrets token tokens password passwords passphrase credential credentials credstore apikey apikeys";

/// Words that count in a file of data, but not in the name of a library or of its source.
pub(super) const WORDS_OF_DATA: &str = "key keys auth oauth oauth2 cookie cookies";
pub(super) const DATA: &str = "json yaml yml toml xml ini conf cfg txt csv db sqlite properties plist dat bin";

/// Accounts of programs, in a file of data.
pub(super) const ACCOUNTS: &[&str] = &[
    "service-account",
    "service_account",
    "serviceaccount",
    "firebase-adminsdk",
];

/// What a name ends in if it is an earlier state of the file.
pub(super) const EARLIER: &[&str] = &[
    "~", ".bak", ".old", ".orig", ".save", ".backup", ".tmp", ".swp", ".copy",
];

/// Certificates that everybody may read, although they end like keys.
pub(super) const PUBLIC: &str = "cacert.pem ca.pem cert.pem ca-bundle.pem roots.pem chain.pem fullchain.pem";

/// Examples of files with variables, which are there to be read.
pub(super) const EXAMPLES: &str = ".env.example .env.sample .env.template .env.dist";
