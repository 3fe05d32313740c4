use super::*;

fn shell(script: &str) -> Subject {
    Subject::new("shell", PathBuf::from("/bin/sh"), Path::new("/"), Path::new("/")).args(["-c", script])
}

#[test]
fn a_start_takes_as_long_as_the_command() {
    let taken = shell("sleep 0.05").time().unwrap();
    assert!(taken >= Duration::from_millis(50), "{taken:?}");
}

#[test]
fn a_failing_start_is_an_error_and_not_a_time() {
    assert!(shell("exit 3").time().is_err());
}

#[test]
fn a_failing_check_repeats_the_last_words() {
    let message = shell("echo first >&2; echo why >&2; echo >&2; exit 1")
        .check()
        .unwrap_err();
    assert!(message.to_string().ends_with("why"), "{message}");
}

#[test]
fn the_environment_is_path_lang_and_home_only() {
    // `PWD`, `OLDPWD`, `SHLVL` and `_` are the shell's own.
    let script = "env | grep -vE '^(PATH|LANG|HOME|PWD|OLDPWD|SHLVL|_)=' && exit 1; exit 0";
    shell(script).check().unwrap();
}

#[test]
fn every_subject_gets_one_sample_per_round() {
    let samples = interleave(&[shell("exit 0"), shell("sleep 0.02")], 3, Pace::AtOnce).unwrap();
    let counts: Vec<usize> = samples.iter().map(Samples::len).collect();
    assert_eq!(counts, [3, 3]);
    assert!(samples[1].median() >= 20.0, "{samples:?}");
}
