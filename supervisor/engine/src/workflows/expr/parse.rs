//! One expression: what it asks for, and what else if that is not there.
//!
//! Pure. A plain loop: nothing in the language nests.

use std::ops::Range;

use super::lex::{Kind, Lexer, Token};
use super::problem::{ExprFault, ExprProblem};
use super::{GroupField, Reference, StepField};
use crate::definitions::template::is_name;
use crate::workflows::model::StepRef;
use crate::workflows::name::{GroupName, StepName};

/// The operands between `??`, at least one; a literal only as the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) operands: Vec<Operand>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    Reference { reference: Reference, span: Range<usize> },
    Literal(String),
}

/// Reads from behind a `${` up to its `}`; also says where the text goes on.
pub(super) fn chain(text: &str, opened: usize, from: usize) -> Result<(Chain, usize), ExprProblem> {
    let mut lexer = Lexer::new(text, opened, from);
    let mut operands = Vec::new();
    loop {
        let token = lexer.next()?;
        let operand = match token.kind {
            Kind::Number(_) | Kind::Text(_) if operands.is_empty() => {
                return Err(at(token.span, ExprFault::LiteralFirst));
            }
            Kind::Number(number) => Operand::Literal(number.to_owned()),
            Kind::Text(text) => Operand::Literal(text),
            Kind::Word(word) => {
                let start = token.span.start;
                let reference = reference(&mut lexer, word, &token.span)?;
                Operand::Reference {
                    reference,
                    span: start..lexer.position(),
                }
            }
            Kind::End if operands.is_empty() => return Err(at(opened..token.span.end, ExprFault::Empty)),
            Kind::Dot | Kind::Open | Kind::Close | Kind::Else | Kind::End => {
                return Err(unexpected("what to put here", &token));
            }
        };
        let is_literal = matches!(operand, Operand::Literal(_));
        operands.push(operand);
        let token = lexer.next()?;
        match token.kind {
            Kind::End => return Ok((Chain { operands }, lexer.position())),
            Kind::Else if is_literal => return Err(at(token.span, ExprFault::AfterLiteral)),
            Kind::Else => {}
            Kind::Word(_) | Kind::Number(_) | Kind::Text(_) | Kind::Dot | Kind::Open | Kind::Close => {
                return Err(unexpected("`}` or `??`", &token));
            }
        }
    }
}

/// What follows a first word.
fn reference(lexer: &mut Lexer<'_>, word: &str, span: &Range<usize>) -> Result<Reference, ExprProblem> {
    match word {
        "inputs" => {
            expect(lexer, &Kind::Dot, "`.` and the name of an input after `inputs`")?;
            let (name, span) = name(lexer, "the name of an input")?;
            input(name, span)
        }
        "steps" => {
            let which = step(lexer)?;
            expect(
                lexer,
                &Kind::Dot,
                "`.` and `output`, `status`, `error` or `duration_ms`",
            )?;
            let field = field(
                lexer,
                "a step",
                StepField::WORDS,
                &["output", "status", "error", "duration_ms"],
            )?;
            Ok(Reference::Step { which, field })
        }
        "parallel_group" => {
            expect(lexer, &Kind::Dot, "`.` and the name of a group after `parallel_group`")?;
            let (word, span) = name(lexer, "the name of a group")?;
            let name = GroupName::new(word).ok_or_else(|| not_a_name(word, "a group", span))?;
            expect(
                lexer,
                &Kind::Dot,
                "`.` and `outputs`, `succeeded`, `failed` or `status`",
            )?;
            let field = field(
                lexer,
                "a group",
                GroupField::WORDS,
                &["outputs", "succeeded", "failed", "status"],
            )?;
            Ok(Reference::Group { name, field })
        }
        other => input(other, span.clone()),
    }
}

fn input(name: &str, span: Range<usize>) -> Result<Reference, ExprProblem> {
    if is_name(name) {
        Ok(Reference::Input(name.to_owned()))
    } else {
        Err(not_a_name(name, "an input", span))
    }
}

/// `[0]` or `.NAME` after `steps`.
fn step(lexer: &mut Lexer<'_>) -> Result<StepRef, ExprProblem> {
    const MOST_DIGITS: usize = 9;
    let token = lexer.next()?;
    match token.kind {
        Kind::Open => {
            let token = lexer.next()?;
            let Kind::Number(number) = token.kind else {
                return Err(unexpected("the number of a step, counted from 0", &token));
            };
            if !number.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(unexpected("the number of a step, counted from 0", &token));
            }
            let index = number.parse().ok().filter(|_| number.len() <= MOST_DIGITS);
            let index = index.ok_or_else(|| at(token.span, ExprFault::Index(number.to_owned())))?;
            expect(lexer, &Kind::Close, "`]`")?;
            Ok(StepRef::Index(index))
        }
        Kind::Dot => {
            let (word, span) = name(lexer, "the name of a step; by its number it is `steps[0]`")?;
            let name = StepName::new(word).ok_or_else(|| not_a_name(word, "a step", span))?;
            Ok(StepRef::Name(name))
        }
        Kind::Word(_) | Kind::Number(_) | Kind::Text(_) | Kind::Close | Kind::Else | Kind::End => {
            Err(unexpected("`[0]` or `.NAME` after `steps`", &token))
        }
    }
}

fn name<'t>(lexer: &mut Lexer<'t>, wanted: &'static str) -> Result<(&'t str, Range<usize>), ExprProblem> {
    let token = lexer.next()?;
    match token.kind {
        Kind::Word(word) => Ok((word, token.span)),
        Kind::Number(_) | Kind::Text(_) | Kind::Dot | Kind::Open | Kind::Close | Kind::Else | Kind::End => {
            Err(unexpected(wanted, &token))
        }
    }
}

fn field<T: Copy>(
    lexer: &mut Lexer<'_>,
    of: &'static str,
    words: &'static [(&'static str, T)],
    known: &'static [&'static str],
) -> Result<T, ExprProblem> {
    let (word, span) = name(lexer, "the name of a field")?;
    let found = words.iter().find(|(known, _)| *known == word);
    found.map(|(_, field)| *field).ok_or_else(|| {
        let name = word.to_owned();
        at(span, ExprFault::NoField { of, name, known })
    })
}

fn expect(lexer: &mut Lexer<'_>, kind: &Kind<'_>, wanted: &'static str) -> Result<(), ExprProblem> {
    let token = lexer.next()?;
    if token.kind == *kind {
        Ok(())
    } else {
        Err(unexpected(wanted, &token))
    }
}

fn at(span: Range<usize>, fault: ExprFault) -> ExprProblem {
    ExprProblem { span, fault }
}

fn unexpected(wanted: &'static str, token: &Token<'_>) -> ExprProblem {
    let found = token.kind.found();
    at(token.span.clone(), ExprFault::Unexpected { wanted, found })
}

fn not_a_name(name: &str, of: &'static str, span: Range<usize>) -> ExprProblem {
    let name = name.to_owned();
    at(span, ExprFault::NotAName { name, of })
}
