//! What is never proposed: keys, tokens, passwords and the files that hold them.
//!
//! Pure; by name alone. INVARIANT: too much rather than too little. What is taken for a secret is listed, and a person who
//! knows better grants it by hand.

use std::path::{Component, Path};

use glee_sandbox::survey::SECRETS;

/// Directories that hold secrets wherever they lie.
const DIRS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".oci",
    ".password-store",
    ".terraform.d",
    "gcloud",
    "keyrings",
    "kwalletd",
];

/// Places of the machine.
const PLACES: &[&str] = &[
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/run/secrets",
    "/var/run/secrets",
    "/var/lib/docker",
    "/var/lib/kubelet",
];

/// Files by their whole name, in lower case.
const FILES: &[&str] = &[
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    "pip.conf",
    ".condarc",
    ".git-credentials",
    ".gitcookies",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".dockercfg",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".terraformrc",
    "kubeconfig",
    "auth.json",
    "wallet.dat",
    "shadow",
    "settings-security.xml",
    "access_tokens.db",
];

const ENDINGS: &[&str] = &[
    "pem", "key", "p12", "pfx", "jks", "keystore", "kdbx", "ppk", "gpg", "age", "ovpn", "tfstate", "keytab",
];

/// Words of a name, between whatever is no letter or digit.
const WORDS: &[&str] = &[
    "secret",
    "secrets",
    "token",
    "tokens",
    "password",
    "passwords",
    "credential",
    "credentials",
    "apikey",
    "apikeys",
];

/// Certificates that everybody may read, although they end like keys.
const PUBLIC: &[&str] = &[
    "cacert.pem",
    "ca.pem",
    "cert.pem",
    "ca-bundle.pem",
    "roots.pem",
    "chain.pem",
    "fullchain.pem",
];

/// Examples of files with variables, which are there to be read.
const EXAMPLES: &[&str] = &[".env.example", ".env.sample", ".env.template", ".env.dist"];

/// Is this a secret, or does it lie in a place of secrets?
#[must_use]
pub fn is_secret(path: &Path, home: Option<&Path>) -> bool {
    let of_the_home = home.is_some_and(|home| SECRETS.iter().any(|name| path.starts_with(home.join(name))));
    let parts = || {
        path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
    };
    let in_a_dir = parts().any(|name| DIRS.contains(&name.as_str()));
    let in_a_place = PLACES.iter().any(|place| path.starts_with(place));
    // A directory named like a secret holds secrets.
    of_the_home || in_a_dir || in_a_place || parts().any(|name| is_secret_name(&name))
}

/// The name of a variable that looks like it holds one.
#[must_use]
pub fn is_secret_variable(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = ["key", "pat", "auth", "pass", "passwd", "pwd"];
    name != "pwd"
        && name
            .split('_')
            .any(|word| words.contains(&word) || WORDS.iter().any(|secret| word.contains(secret)))
}

fn is_secret_name(name: &str) -> bool {
    if PUBLIC.contains(&name) || EXAMPLES.contains(&name) {
        return false;
    }
    let ending = name
        .rsplit_once('.')
        .filter(|(stem, _)| !stem.is_empty())
        .map(|(_, end)| end);
    let by_word = name
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| WORDS.contains(&word));
    FILES.contains(&name)
        || name.starts_with(".env.")
        || ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"]
            .iter()
            .any(|key| name.starts_with(key))
        || ending.is_some_and(|end| ENDINGS.contains(&end))
        || by_word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_their_names() {
        let home = Some(Path::new("/home/ann"));
        for secret in [
            "/home/ann/.ssh/config",
            "/home/ann/.aws/config",
            "/home/ann/.config/gh/hosts.yml",
            "/home/ann/.config/gcloud/x",
            "/home/ann/.docker/config.json",
            "/home/ann/.cargo/credentials.toml",
            "/home/ann/.netrc",
            "/home/ann/work/.npmrc",
            "/home/ann/.pypirc",
            "/home/ann/.kube/config",
            "/srv/app/.env",
            "/srv/app/.env.production",
            "/srv/app/config/master.key",
            "/srv/backup/id_rsa.old",
            "/opt/x/api-token.txt",
            "/opt/x/Secrets.yaml",
            "/opt/x/secrets/plain",
            "/opt/x/db_password",
            "/etc/shadow",
            "/etc/ssh/ssh_host_rsa_key",
            "/home/bob/.ssh/id",
            "/run/secrets/db",
        ] {
            assert!(is_secret(Path::new(secret), home), "{secret}");
        }
        for plain in [
            "/etc/passwd",
            "/opt/tool/lib/libx.so",
            "/home/ann/.config/app/settings.json",
            "/opt/model/tokenizer.json",
            "/opt/python/site-packages/certifi/cacert.pem",
            "/srv/app/.env.example",
            "/home/ann/.gitignore",
            "/opt/keyboard/layouts",
        ] {
            assert!(!is_secret(Path::new(plain), home), "{plain}");
        }
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
}
