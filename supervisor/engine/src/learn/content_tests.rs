use super::*;

#[test]
fn a_value_for_a_key_a_token_or_a_password_is_a_secret() {
    for text in [
        "token: abcdef123",
        "password = \"0123456789\"",
        "{\"a\":1,\"api_key\":\"sk-abcdef\"}",
        "  \"apiKey\" : 'abcdef'",
        "api-key = abcdefgh",
        "_authToken=abcdefgh",
        "//registry.example.org/:_authToken=abcdefgh",
        "<password>abcdefg</password>",
        "export DB_PASSWORD=\"abcdefg\"",
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "ftp://me:word@example.org",
        "[x]\nclient_secret = \"0123456789abcdef\"",
        "machine example.org login me password 0123456789",
        "set -gx API_KEY 0123456789",
        "--password=Abcdef9",
        "user = \"me:word\"",
        "key=abcdef0123456789ABCD",
        "\"auth\": \"YWxhZGRpbjpvcGVuc2VzYW1l12\"",
        "d41d8cd98f00b204e9800998ecf8427e\n",
    ] {
        assert!(says_secret(text), "{text}");
    }
}

#[test]
fn what_only_talks_of_a_secret_is_none() {
    for text in [
        "max_tokens: 4096000",
        "tokenizer: \"llama-three\"",
        "token = \"\"",
        "password: ${PASSWORD}",
        "api_key: <yours here>",
        "use_token: false",
        "key: F12345678",
        "\"key\": \"ctrl+shift+p\"",
        "# the token EXPIRES99 soon",
        "3.11.4",
        "path /usr/lib/python3.11/site-packages",
        "https://example.org/a@b:c",
        "password\0=abcdefgh",
    ] {
        assert!(!says_secret(text), "{text}");
    }
}

#[test]
fn only_settings_that_lie_hidden_in_a_home_are_looked_at() {
    let homes = [PathBuf::from("/home/ann")];
    let looked = |path: &str| is_of_settings(Path::new(path), &homes);
    assert!(
        [".config/x/config.json", ".x", ".x/hosts", ".x.toml"]
            .iter()
            .all(|path| looked(&format!("/home/ann/{path}")))
    );
    assert!(
        !["/home/ann/data/x.json", "/opt/.x/config.json", "/home/ann/.x/lib.so"]
            .iter()
            .any(|path| looked(path))
    );
}

#[test]
fn keys_and_tokens_are_secrets_wherever_they_stand() {
    for text in [
        "-----BEGIN RSA PRIVATE KEY-----",
        "let t = \"ghp_0123456789abcdefghijABCDEFGHIJ\";",
        "AKIAIOSFODNN7EXAMPLE",
        "x: glpat-0123456789abcdefghij",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----",
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
        "PuTTY-User-Key-File-3: ssh-ed25519",
        // Numbers come first.
        concat!("xox", "b-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"),
        concat!(
            "xox",
            "p-12345678901-12345678901-123456789012-abcdef0123456789abcdef0123456789"
        ),
    ] {
        assert!(is_secret_itself(text), "{text}");
    }
    for text in [
        "ghp_short",
        "task-0123456789abcdefghijklmn",
        "MAKIAIOSFODNN7EXAMPLE",
        "sk-learn-is-a-library-for-python",
    ] {
        assert!(!is_secret_itself(text), "{text}");
    }
}
