//! The program that stands in for the supervisor.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use glee_tests::{World, installed_copy};

/// The keeper, in the project, as the caller, with a state directory of this world.
pub(crate) fn keeper_in(world: &World) -> Command {
    let state = world.dir(&world.root().join("state").display().to_string());
    let mut command = world.host_command(&keeper().display().to_string());
    command.env("XDG_STATE_HOME", state);
    command
}

/// What it prints, or what it complains of.
pub(crate) fn said_by(world: &World, arguments: &[&str]) -> Result<String, String> {
    let done = keeper_in(world).args(arguments).output().expect("start the keeper");
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

pub(crate) fn keeper() -> &'static Path {
    static KEEPER: OnceLock<PathBuf> = OnceLock::new();
    KEEPER.get_or_init(|| installed_copy(Path::new(env!("CARGO_BIN_EXE_keeper")), "keeper"))
}
