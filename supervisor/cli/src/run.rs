//! `run`: hands what was typed to the engine, and says what the engine has to say.

use std::path::{Path, PathBuf};

use glee_engine::agent::overlay::Overlay;
use glee_engine::audit::record::Need;
use glee_engine::run::{self, Finished, Observe, Options, Prepared, Purpose, Records};
use glee_engine::select::Selected;
use glee_engine::tasks::job::Job;
use glee_engine::text::visible;
use glee_engine::trust::Standing;
use glee_policy::exceeds::Excess;
use glee_policy::{Flags, resolved};
use glee_sandbox::receipt::Wish;

use crate::args::{Backend, RunArgs, Switch, Workspace};
use crate::asked::{self, Line};
use crate::{print, summary};

/// Runs the command and returns the exit status.
pub(crate) fn run(arguments: RunArgs, project: Option<PathBuf>) -> i32 {
    let observe = observe(&arguments);
    let summary = !arguments.no_denials;
    let job = match arguments.job.as_deref().map(job).transpose() {
        Ok(job) => job,
        Err(error) => {
            print::error(&format!("cannot take up the job: {error}"), None);
            return 125;
        }
    };
    let cwd = std::env::current_dir().unwrap_or_default();
    let options = Options {
        purpose: Purpose::Work,
        policy: arguments.policy,
        project,
        flags: Flags {
            cwd,
            read: arguments.read,
            write: arguments.write,
            net: arguments.net,
            env: arguments.env,
            timeout: arguments.timeout,
        },
        report: arguments.report,
        receipt: match arguments.receipt {
            Some(Switch::Off) => Wish::Off,
            Some(Switch::On) | None => Wish::Take,
        },
        key_file: arguments.key_file,
        audit: if arguments.require_audit {
            Need::Required
        } else {
            Need::Wanted
        },
        observe,
        workspace: Workspace::wanted(arguments.workspace),
        records: if arguments.kernel_audit {
            Records::Take
        } else {
            Records::Leave
        },
        backend: arguments.backend.map(backend),
        job,
        command: arguments.command,
    };
    let finished = run::run(&options, &mut announce);
    if let Some(refusal) = &finished.refusal {
        print::refusal(refusal, finished.status);
    } else if let Some(reason) = &finished.report.reason {
        let name = finished.report.command.first().map(String::as_str).unwrap_or_default();
        print::error(&format!("cannot execute `{name}`: {reason}"), None);
    }
    match finished.report.cause {
        Some("listener") if finished.report.outcome != "signaled" => print::warning(
            "the process that notes what is refused did not answer at the end: the list of denials is not complete",
            None,
        ),
        Some("listener") => print::error(
            "the process that answers for the system call filter died or got stuck, so the run was ended",
            Some("nothing was allowed because of it; `--no-denials` leaves it less to do"),
        ),
        Some("warden") => print::error(
            "names changed faster than those among them that must stay hidden or read-only could be covered, so the run was ended",
            Some("the report's `appeared` says what was covered; `unwatched` where nobody could look"),
        ),
        Some("deadline") | None => {}
        Some(cause) => print::note(&format!("the limit on {cause} was reached")),
    }
    if let Some([was, is]) = &finished.displaced {
        let (was, is) = (visible(was), visible(is));
        print::note(&format!(
            "the command made a directory of `{was}`, where the report is: it was renamed to `{is}`"
        ));
    }
    let ours = finished.displaced.as_ref().map(|[was, _]| was);
    let of_git = finished.report.set_aside.iter().filter(|path| Some(*path) != ours);
    for path in of_git.map(|path| visible(path)) {
        print::note(&format!(
            "`{path}` could make git run programs outside: it was renamed to `{path}.set-aside`"
        ));
    }
    for path in finished.report.not_disarmed.iter().map(|path| visible(path)) {
        print::error(
            &format!("`{path}` can make git run programs outside, and could not be renamed"),
            Some("look at it and remove it before you use git here"),
        );
    }
    for path in finished.report.privileges_removed.iter().map(|path| visible(path)) {
        print::note(&format!(
            "`{path}` was changed by the command: its setuid and setgid bits and capabilities were removed"
        ));
    }
    for path in finished.report.privileges_unknown.iter().map(|path| visible(path)) {
        print::error(
            &format!("cannot look through `{path}` for changed programs with a setuid bit"),
            Some("look yourself: find DIR -newerct TIME -perm /6000"),
        );
    }
    tell_workspace(&finished);
    if let Some(error) = &finished.audit_error {
        print::warning(
            &format!("this run is not wholly in the audit log: {error}"),
            Some(error.help()),
        );
    }
    if let Some(error) = &finished.report_error {
        let to = options.report.unwrap_or_default();
        print::error(&format!("cannot write the report to `{}`: {error}", to.display()), None);
    }
    if summary {
        summary::print(&finished.report);
    }
    finished.status
}

/// What became of a copy.
fn tell_workspace(finished: &Finished) {
    let workspace = &finished.report.workspace;
    if let Some(error) = &finished.lost {
        print::error(
            &format!("what the command changed in its copy is lost: {error}"),
            Some(error.help()),
        );
    }
    if let Some(run) = &workspace.kept {
        let (created, changed, deleted) = (workspace.created, workspace.changed, workspace.deleted);
        print::note(&format!(
            "{created} created, {changed} changed, {deleted} deleted in a copy; the project is as it was\n  \
             see it:     glee-supervisor runs diff {run}\n  take it:    glee-supervisor runs apply {run}\n  \
             forget it:  glee-supervisor runs discard {run}"
        ));
    }
    if let (Some(branch), Some(path)) = (&workspace.branch, &workspace.path) {
        let path = visible(path);
        let also = if workspace.uncommitted {
            ", and changes in no commit"
        } else {
            ""
        };
        let noun = if workspace.commits == 1 { "commit" } else { "commits" };
        // What is in no commit cannot be merged.
        let first = if workspace.uncommitted {
            format!("git -C {path} add -A && git -C {path} commit && ")
        } else {
            String::new()
        };
        print::note(&format!(
            "{} {noun} on the branch `{branch}`{also}\n  worktree:   {path}\n  take it:    {first}git merge {branch}\n  \
             forget it:  git worktree remove --force {path} && git branch -D {branch}",
            workspace.commits
        ));
    }
    if let Some(first) = workspace.not_kept.first() {
        print::warning(
            &format!(
                "not all that changed is kept: `{}` and {} more",
                visible(first),
                workspace.not_kept.len() - 1
            ),
            Some("`limits.disk_mb` bounds it; `runs apply RUN PATH` takes single paths"),
        );
    }
}

/// What a worker says, for as long as it lives.
fn job(path: &Path) -> std::io::Result<Job> {
    let job = Job::read(path)?;
    job.stay_with_worker()?;
    Ok(job)
}

/// How closely to look at what the command tries.
fn observe(arguments: &RunArgs) -> Observe {
    match (arguments.no_denials, arguments.explain) {
        (true, _) => Observe::Nothing,
        (false, true) => Observe::Everything,
        (false, false) if arguments.report.is_some() || summary::is_wanted() => Observe::Attempts,
        // Looking takes time, and nobody would read of it.
        (false, false) => Observe::Nothing,
    }
}

fn backend(typed: Backend) -> resolved::Backend {
    match typed {
        Backend::Auto => resolved::Backend::Auto,
        Backend::Native => resolved::Backend::Native,
        Backend::Podman => resolved::Backend::Podman,
        Backend::Docker => resolved::Backend::Docker,
    }
}

/// What must be said before the command starts.
pub(crate) fn announce(prepared: &Prepared) {
    announce_policy(&prepared.selected);
    if let Some(remark) = prepared.remark {
        print::note(remark);
    }
    if let Some(note) = prepared.overlay.as_ref().and_then(Overlay::note) {
        print::note(&note);
    }
}

/// What the project asked for and does not get.
pub(crate) fn announce_policy(selected: &Selected) {
    if selected.withheld.is_empty() {
        return;
    }
    let why = match selected.standing {
        Some(Standing::Changed) => "has changed since it was trusted",
        Some(Standing::Untrusted | Standing::Trusted) | None => "is not trusted",
    };
    let name = &visible(&selected.policy.name);
    let shown = |file: &PathBuf| format!("`{}`", visible(&file.display().to_string()));
    let extended: Vec<String> = selected.extended.iter().map(shown).collect();
    let mut text = if extended.is_empty() {
        format!("`{name}` {why}; it only narrows `restricted`. Not granted:")
    } else {
        let files = extended.join(", ");
        format!("`{name}` extends {files} of the project, which {why}; it only narrows `restricted`. Not granted:")
    };
    for line in asked::lines(&selected.withheld, Excess::read_by_profile) {
        match line {
            Line::One(excess) => text.push_str(&format!("\n  - {excess}")),
            Line::Many { profile, count } => {
                text.push_str(&format!("\n  - {} ({})", asked::many(count), asked::place(profile)));
            }
        }
    }
    let own = [PathBuf::from(&selected.policy.name)];
    let asks = if extended.is_empty() {
        &own[..]
    } else {
        &selected.extended
    };
    for file in asks {
        text.push_str(&format!("\nto grant it: glee-supervisor trust{}", profile_flag(file)));
    }
    print::note(&text);
}

/// A profile in the project's own directory is trusted by name.
fn profile_flag(file: &Path) -> String {
    let dir = file.parent().filter(|dir| dir.ends_with(".glee/policies"));
    match (dir, file.file_stem()) {
        (Some(_), Some(name)) => format!(" --policy {}", visible(&name.display().to_string())),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_of_the_project_is_named_in_the_hint() {
        assert_eq!(profile_flag(Path::new("/p/.glee/policies/wide.yml")), " --policy wide");
        assert_eq!(profile_flag(Path::new("/p/.glee/config.yml")), "");
    }
}
