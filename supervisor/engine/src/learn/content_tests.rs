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
