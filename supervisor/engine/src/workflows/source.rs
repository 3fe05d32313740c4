//! Where in a file the text of a value stands.
//!
//! Pure. A question costs the same wherever in the file the answer lies: a file of one long line is as good as another.

use std::ops::Range;

use glee_policy::yaml::Node;

use super::expr::{Place, Template};

/// The text of a file, with its characters and lines counted.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    /// The byte at which each character begins.
    chars: Vec<usize>,
    /// The character with which each line begins.
    lines: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let chars: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let ends = text.chars().enumerate().filter(|(_, c)| *c == '\n');
        let lines = std::iter::once(0).chain(ends.map(|(index, _)| index + 1)).collect();
        Self { text, chars, lines }
    }

    fn byte(&self, character: usize) -> usize {
        self.chars.get(character).copied().unwrap_or(self.text.len())
    }

    fn place(&self, byte: usize) -> Place {
        let character = self.chars.partition_point(|start| *start < byte);
        let line = self.lines.partition_point(|start| *start <= character);
        let begins = line.checked_sub(1).and_then(|last| self.lines.get(last)).copied();
        Place {
            line: small(line),
            column: small(character - begins.unwrap_or(0) + 1),
        }
    }

    /// A template that was read from a node, told where it stands.
    pub(super) fn placed(&self, template: Template, node: &Node) -> Template {
        let begins = place_of(node);
        let written = template.written().to_owned();
        let mut search = Some(Search::new(self, node));
        template.placed(begins, |one| {
            let found = search.as_mut().and_then(|search| search.find(&written, &one.span));
            if found.is_none() {
                // Folded or escaped: what follows would be looked for in vain as well.
                search = None;
            }
            found.unwrap_or(begins)
        })
    }

    /// Where a piece of a node's text stands; where the node begins if that cannot be said.
    pub(super) fn find(&self, node: &Node, written: &str, span: &Range<usize>) -> Place {
        Search::new(self, node)
            .find(written, span)
            .unwrap_or_else(|| place_of(node))
    }
}

pub(super) fn place_of(node: &Node) -> Place {
    Place {
        line: node.line,
        column: node.column,
    }
}

fn small(number: usize) -> u32 {
    number.try_into().unwrap_or(u32::MAX)
}

/// Goes through the file's text of one node, in which a value may be written otherwise than it reads.
struct Search<'l, 't> {
    lines: &'l Lines<'t>,
    from: usize,
    end: usize,
}

impl<'l, 't> Search<'l, 't> {
    fn new(lines: &'l Lines<'t>, node: &Node) -> Self {
        Self {
            lines,
            from: lines.byte(node.span.start),
            end: lines.byte(node.span.end),
        }
    }

    /// Looks for the piece together with what stands before it on its line.
    fn find(&mut self, written: &str, span: &Range<usize>) -> Option<Place> {
        const BEFORE: usize = 48;
        const LONGEST: usize = 48;
        let before = written.get(floor(written, span.start.saturating_sub(BEFORE))..span.start)?;
        let before = before.rsplit('\n').next().unwrap_or_default().trim_start();
        let first = span.start - before.len();
        let last = floor(written, span.end.min(span.start + LONGEST));
        let needle = written.get(first..last)?.lines().next().unwrap_or_default();
        let found = self.lines.text.get(self.from..self.end)?.find(needle)?;
        self.from += found;
        Some(self.lines.place(self.from + before.len()))
    }
}

/// The border of a character at or before a byte.
fn floor(text: &str, mut byte: usize) -> usize {
    byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}
