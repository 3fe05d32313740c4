//! What is shown while a workflow runs: on a terminal a line for each step that runs, elsewhere a line for each thing that happens.

use std::collections::BTreeMap;
use std::io::IsTerminal;

use glee_engine::store::Used;
use glee_engine::tasks::Progress;
use glee_engine::text::visible;
use glee_engine::workflows::StepResult;
use glee_engine::workflows::run::Event;
use glee_engine::workflows::run::machine::NodeId;
use glee_engine::workflows::run::tree::Tree;
use indicatif::{MultiProgress, ProgressBar};

use crate::print;
use crate::subagent::{said, styled};

/// The lines of one run.
pub(crate) struct Lines {
    screen: Option<MultiProgress>,
    bars: BTreeMap<NodeId, ProgressBar>,
    /// How many steps are over, of how many.
    over: usize,
    tokens: u64,
}

impl Lines {
    pub(crate) fn new() -> Self {
        Self {
            screen: std::io::stderr().is_terminal().then(MultiProgress::new),
            bars: BTreeMap::new(),
            over: 0,
            tokens: 0,
        }
    }

    pub(crate) fn tell(&mut self, tree: &Tree, event: &Event<'_>) {
        match event {
            Event::Begun { node } => self.begun(tree, *node),
            Event::Progress { node, progress } => self.progress(tree, *node, progress),
            Event::Ended { node, result, used } => self.ended(tree, *node, result, *used),
        }
    }

    /// Something that stands for itself.
    pub(crate) fn note(&self, text: &str) {
        match &self.screen {
            // Nobody to tell is no reason to stop.
            Some(screen) => drop(screen.println(text)),
            None => print::note(text),
        }
    }

    /// Before a question: nothing draws over it.
    pub(crate) fn quiet<T>(&self, ask: impl FnOnce() -> T) -> T {
        match &self.screen {
            Some(screen) => screen.suspend(ask),
            None => ask(),
        }
    }

    fn begun(&mut self, tree: &Tree, node: NodeId) {
        let title = title(tree, node);
        match &self.screen {
            None => print::note(&format!("{title}: running")),
            Some(screen) => {
                let bar = screen.add(ProgressBar::new_spinner());
                styled(&bar, &title);
                bar.set_message("waiting");
                self.bars.insert(node, bar);
            }
        }
    }

    fn progress(&mut self, tree: &Tree, node: NodeId, progress: &Progress) {
        if self.screen.is_some() && !self.bars.contains_key(&node) {
            self.begun(tree, node);
        }
        if let Some(bar) = self.bars.get(&node) {
            bar.set_message(said(progress));
        }
    }

    fn ended(&mut self, tree: &Tree, node: NodeId, result: &StepResult, used: Used) {
        if let Some(bar) = self.bars.remove(&node) {
            bar.finish_and_clear();
        }
        self.over += 1;
        let tokens = used.input_tokens.unwrap_or(0) + used.output_tokens.unwrap_or(0);
        self.tokens += tokens;
        let mut line = format!("{}: {}", title(tree, node), result.status.word());
        if result.duration_ms > 0 {
            line.push_str(&format!(" in {}ms", result.duration_ms));
        }
        if tokens > 0 {
            line.push_str(&format!(", {tokens} tokens"));
        }
        if let Some(error) = &result.error {
            line.push_str(&format!(": {}", visible(error)));
        }
        line.push_str(&format!(" [{}/{}]", self.over, tree.spots.len()));
        self.note(&line);
    }
}

fn title(tree: &Tree, node: NodeId) -> String {
    let spot = tree.spot(node);
    spot.map(|spot| format!("{} {}", spot.path, spot.who()))
        .unwrap_or_default()
}
