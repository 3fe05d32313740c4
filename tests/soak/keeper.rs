//! The program that stands in for the supervisor.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use glee_tests::{World, installed_copy};

/// What the keeper prints, in the project, as the caller; or what it complains of.
pub(crate) fn said_by(world: &World, arguments: &[&str]) -> Result<String, String> {
    let mut command = world.host_command(&keeper().display().to_string());
    let done = command.args(arguments).output().expect("start the keeper");
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

pub(crate) fn keeper() -> &'static Path {
    static KEEPER: OnceLock<PathBuf> = OnceLock::new();
    KEEPER.get_or_init(|| installed_copy(Path::new(env!("CARGO_BIN_EXE_keeper")), "keeper"))
}
