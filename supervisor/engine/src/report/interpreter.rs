//! Why a script could not be executed, where its interpreter stayed outside.
//!
//! Reads the first line of scripts; changes nothing.

use std::path::PathBuf;

use glee_sandbox::plan::{MountStep, SandboxPlan};
use glee_sandbox::survey::find_command;

use super::Report;
use crate::text::visible;

impl Report {
    /// Names the interpreter that no grant covers: it is a script itself, and those are not opened by another's word.
    pub fn name_interpreter(&mut self, plan: &SandboxPlan) {
        if let Some(reason) = &mut self.reason
            && let Some(interpreter) = closed(plan)
        {
            let path = visible(&interpreter.to_string_lossy());
            reason.push_str(&format!(
                ": its interpreter `{path}` is a script, which needs a grant of its own (`--read {path}`)"
            ));
        }
    }
}

fn closed(plan: &SandboxPlan) -> Option<PathBuf> {
    let command = &plan.command;
    let found = find_command(command.program.as_os_str(), &command.cwd, None).ok()?;
    let interpreter = found.script_interpreter()?;
    let is_shown = |step: &MountStep| matches!(step, MountStep::Bind { at, .. } if interpreter.starts_with(at));
    (!plan.mounts.iter().any(is_shown)).then_some(interpreter)
}
