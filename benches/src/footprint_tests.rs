use super::*;
use crate::place::Place;

/// A stand-in for a sandbox: a shell around the command.
fn start(script: &str, command: &[&str], count: usize) -> Result<(Fleet, Duration), BenchError> {
    let shell = PathBuf::from("/bin/sh");
    let subject = Subject::new("shell", shell, Path::new("/"), Path::new("/")).args(["-c", script]);
    Fleet::start(
        &subject,
        PathBuf::from("/nowhere"),
        command,
        count,
        Duration::from_secs(5),
    )
}

#[test]
fn a_fleet_is_weighed_without_its_commands() {
    let (fleet, _) = start("sleep 3.0101 & wait", &["sleep", "3.0101"], 2).unwrap();
    let weight = fleet.weigh();
    assert_eq!((fleet.commands_running(), weight.processes, weight.hidden), (2, 2, 0));
    assert!(weight.memory.pss > 0, "{weight:?}");
}

#[test]
fn a_command_that_outlives_the_kill_is_reported() {
    let (fleet, _) = start("sleep 3.0202 & wait", &["sleep", "3.0202"], 1).unwrap();
    let left = fleet.kill(Duration::from_millis(100)).unwrap_err().to_string();
    assert!(left.contains("1 commands and 0 other processes"), "{left}");
}

#[test]
fn a_fleet_whose_commands_die_with_it_is_gone() {
    let (fleet, _) = start("exec sleep 60.0303", &["sleep", "60.0303"], 3).unwrap();
    fleet.kill(Duration::from_secs(5)).unwrap();
}

#[test]
fn a_sandbox_that_ends_before_its_command_runs_is_an_error_at_once() {
    let begun = Instant::now();
    let error = start("exit 125", &["sleep", "60.0404"], 1).unwrap_err().to_string();
    assert!(error.contains("0 of 1 running, 1 ended"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(4));
}

#[test]
fn a_new_file_is_a_trace_until_it_is_removed() {
    let place = Place::new("test-traces").unwrap();
    let project = place.project();
    let dirs = [project.as_path()];
    let before = Traces::read(&dirs);
    let litter = project.join("litter");
    fs::write(&litter, "").unwrap();
    let name = format!("file {}", litter.display());
    assert!(Traces::read(&dirs).since(&before).contains(&name));
    fs::remove_file(&litter).unwrap();
    assert!(!Traces::read(&dirs).since(&before).contains(&name));
}
