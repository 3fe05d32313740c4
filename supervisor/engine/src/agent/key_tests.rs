use super::*;

fn command(script: &str) -> Option<Vec<String>> {
    Some(["sh", "-c", script].map(str::to_owned).to_vec())
}

#[test]
fn a_command_prints_the_key() {
    let found = find(None, command("echo secret-1").as_deref(), &[]).unwrap();
    assert_eq!(found.unwrap().reveal(), "secret-1");
}

#[test]
fn a_file_comes_before_a_command() {
    let path = env::temp_dir().join(format!("glee-key-{}", std::process::id()));
    fs::write(&path, "secret-2\n").unwrap();
    let found = find(Some(&path), command("echo secret-1").as_deref(), &[]);
    fs::remove_file(&path).unwrap();
    assert_eq!(found.unwrap().unwrap().reveal(), "secret-2");
}

#[test]
fn what_is_no_key_is_an_error() {
    for script in [
        "true",
        "echo a b",
        "printf 'a\\nb\\n'",
        "head -c 9000 /dev/zero | tr '\\0' a",
    ] {
        assert!(
            matches!(find(None, command(script).as_deref(), &[]), Err(KeyError::NoKey { .. })),
            "{script}"
        );
    }
    assert!(find(None, command("head -c 90000 /dev/zero | tr '\\0' a").as_deref(), &[]).is_err());
    assert!(matches!(
        find(None, command("exit 3").as_deref(), &[]),
        Err(KeyError::Failed { .. })
    ));
}

#[test]
fn nothing_set_is_no_key_and_no_error() {
    assert_eq!(find(None, None, &["GLEE_NO_SUCH_VARIABLE".to_owned()]).unwrap(), None);
}

#[test]
fn a_key_is_not_printed() {
    let found = find(None, command("echo secret-1").as_deref(), &[]).unwrap();
    assert_eq!(format!("{found:?}"), "Some(Key)");
}
