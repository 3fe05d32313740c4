//! A text with expressions in it.
//!
//! Pure.

use std::ops::Range;

use super::Reference;
use super::parse::{Chain, Operand, chain};
use super::problem::ExprProblem;

/// A text with places for values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    written: String,
    pub(super) pieces: Vec<Piece>,
    uses: Vec<Use>,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Expression(Chain),
}

/// One reference where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    pub reference: Reference,
    /// In bytes of the text.
    pub span: Range<usize>,
    /// Is there a `??` behind it?
    pub has_fallback: bool,
    /// Where it stands in the file, as `parse` found it; 1:1 in a text that is in none.
    pub place: Place,
}

/// A line and a column of the file, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

impl Default for Place {
    fn default() -> Self {
        Self { line: 1, column: 1 }
    }
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, ExprProblem> {
        let (mut pieces, mut uses, mut plain) = (Vec::new(), Vec::new(), String::new());
        let mut at = 0;
        let rest = |at: usize| text.get(at..).unwrap_or_default();
        while let Some(found) = rest(at).find('$') {
            plain.push_str(rest(at).get(..found).unwrap_or_default());
            at += found;
            if rest(at).starts_with("$${") {
                plain.push_str("${");
                at += 3;
            } else if rest(at).starts_with("${") {
                let (chain, end) = chain(text, at, at + 2)?;
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                uses.extend(uses_of(&chain));
                pieces.push(Piece::Expression(chain));
                at = end;
            } else {
                plain.push('$');
                at += 1;
            }
        }
        plain.push_str(rest(at));
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain));
        }
        Ok(Self {
            written: text.to_owned(),
            pieces,
            uses,
            place: Place::default(),
        })
    }

    /// Everything that is wrong with a text, in its order; after a fault it goes on behind the next `}`. At most so many.
    #[must_use]
    pub fn faults(text: &str, most: usize) -> Vec<ExprProblem> {
        let (mut faults, mut from) = (Vec::new(), 0);
        while faults.len() < most
            && let Some(rest) = text.get(from..)
            && let Err(mut fault) = Self::parse(rest)
        {
            let behind = rest.get(fault.span.start..).and_then(|rest| rest.find('}'));
            let next = behind.map(|behind| from + fault.span.start + behind + 1);
            fault.span = from + fault.span.start..from + fault.span.end;
            faults.push(fault);
            from = next.unwrap_or(text.len());
        }
        faults
    }

    /// As its author wrote it.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// What it asks for, in the order of the text.
    #[must_use]
    pub fn references(&self) -> Vec<&Reference> {
        self.uses.iter().map(|one| &one.reference).collect()
    }

    /// The same with where each stands.
    #[must_use]
    pub fn uses(&self) -> &[Use] {
        &self.uses
    }

    /// The text itself, if it asks for nothing.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Where it begins in the file.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Says where it begins in the file, and where each use stands; asked in the order of the text.
    pub(in crate::workflows) fn placed(mut self, begins: Place, mut place: impl FnMut(&Use) -> Place) -> Self {
        self.place = begins;
        for one in &mut self.uses {
            one.place = place(one);
        }
        self
    }
}

fn uses_of(chain: &Chain) -> impl Iterator<Item = Use> + '_ {
    let last = chain.operands.len().saturating_sub(1);
    chain
        .operands
        .iter()
        .enumerate()
        .filter_map(move |(index, operand)| match operand {
            Operand::Reference { reference, span } => Some(Use {
                reference: reference.clone(),
                span: span.clone(),
                has_fallback: index < last,
                place: Place::default(),
            }),
            Operand::Literal(_) => None,
        })
}
