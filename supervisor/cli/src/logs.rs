//! `logs`: what subagents printed and what became of them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use glee_engine::clock::Moment;
use glee_engine::label::Label;
use glee_engine::logs::{LogError, LogReader, Shown, Stream};
use glee_engine::project::Scene;
use serde::Serialize;

use crate::print;

/// How often a followed log is looked at.
const PAUSE: Duration = Duration::from_millis(200);
/// Lines that are shown unless told otherwise; of one run all there may be.
const LINES: usize = 100;
const LINES_OF_A_RUN: usize = 1_000_000;

#[derive(Debug, Args)]
#[command(after_help = "\
Times are in UTC. With --json each line is an object.

Example:
  glee-supervisor logs --follow --stream all")]
pub(crate) struct LogsArgs {
    /// Go on with what is written from now on
    #[arg(long, short)]
    pub(crate) follow: bool,

    /// Only this run
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<Label>,

    /// Which log
    #[arg(long, value_name = "STREAM", default_value = "subagents")]
    pub(crate) stream: Which,

    /// At most so many lines [default: 100, or all of a run]
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub(crate) lines: Option<usize>,

    /// Print JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Which {
    /// What happened to the subagents
    Subagents,
    /// What they printed
    Stdout,
    /// What they printed as errors
    Stderr,
    All,
}

impl Which {
    fn streams(self) -> &'static [Stream] {
        match self {
            Self::Subagents => &[Stream::Subagents],
            Self::Stdout => &[Stream::Stdout],
            Self::Stderr => &[Stream::Stderr],
            Self::All => &Stream::ALL,
        }
    }
}

/// Returns the exit status.
pub(crate) fn logs(arguments: &LogsArgs, project: Option<PathBuf>) -> i32 {
    let scene = match Scene::find(project.as_deref()) {
        Ok(scene) => scene,
        Err(error) => {
            print::error(&error.to_string(), None);
            return 1;
        }
    };
    show(arguments, &scene).unwrap_or_else(|error| {
        print::error(&error.to_string(), Some(error.help()));
        1
    })
}

fn show(arguments: &LogsArgs, scene: &Scene) -> Result<i32, LogError> {
    let streams = arguments.stream.streams();
    let default = if arguments.run.is_some() { LINES_OF_A_RUN } else { LINES };
    let most = arguments.lines.unwrap_or(default);
    let reader = match LogReader::find(&scene.project)? {
        Some(reader) => reader,
        None if arguments.follow => wait_for(scene)?,
        None => {
            print::note("nothing was logged yet in this project");
            return Ok(0);
        }
    };
    if !arguments.follow {
        return Ok(print::bytes(
            render(&reader.read(streams, arguments.run.as_ref(), most)?, arguments).as_bytes(),
            0,
        ));
    }
    let (mut shown, mut follow) = reader.follow(streams, arguments.run.clone(), most, Moment::now())?;
    loop {
        if let Some(status) = flush(&render(&shown, arguments)) {
            return Ok(status);
        }
        std::thread::sleep(PAUSE);
        shown = follow.poll(Moment::now())?;
    }
}

fn wait_for(scene: &Scene) -> Result<LogReader, LogError> {
    loop {
        if let Some(reader) = LogReader::find(&scene.project)? {
            return Ok(reader);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The status to end with, if nobody reads any more.
fn flush(text: &str) -> Option<i32> {
    use std::io::Write;
    let mut out = std::io::stdout();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => None,
        Err(error) => Some(i32::from(error.kind() != std::io::ErrorKind::BrokenPipe)),
    }
}

#[derive(Serialize)]
struct Object<'a> {
    at: Moment,
    stream: &'static str,
    subagent: u64,
    run: Option<&'a Label>,
    cli: &'a Label,
    text: &'a str,
}

fn render(shown: &[Shown], arguments: &LogsArgs) -> String {
    let line = |shown: &Shown| {
        let line = &shown.line;
        if !arguments.json {
            return format!("{line}\n");
        }
        let object = Object {
            at: line.at,
            stream: shown.stream.as_str(),
            subagent: line.subagent,
            run: shown.run.as_ref(),
            cli: &line.cli,
            text: &line.text,
        };
        serde_json::to_string(&object).map_or_else(|_| String::new(), |text| format!("{text}\n"))
    };
    shown.iter().map(line).collect()
}
