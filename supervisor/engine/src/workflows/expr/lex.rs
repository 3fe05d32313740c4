//! The words of an expression.
//!
//! Pure. INVARIANT: every call moves on or is at the end; every span lies in the text.

use std::ops::Range;

use super::problem::{ExprFault, ExprProblem};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) span: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind<'t> {
    Word(&'t str),
    /// As written.
    Number(&'t str),
    /// Without its quotes, its escapes resolved.
    Text(String),
    Dot,
    Open,
    Close,
    /// `??`
    Else,
    /// `}`: the expression is over.
    End,
}

impl Kind<'_> {
    /// What stands there, for a message.
    pub(super) fn found(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Number(number) => format!("the number `{number}`"),
            Self::Text(_) => "a text".into(),
            Self::Dot => "`.`".into(),
            Self::Open => "`[`".into(),
            Self::Close => "`]`".into(),
            Self::Else => "`??`".into(),
            Self::End => "`}`".into(),
        }
    }
}

/// Goes through the text of an expression, from behind its `${`.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// Where the `${` stands.
    opened: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, opened: usize, at: usize) -> Self {
        Self { text, at, opened }
    }

    /// Where the next word begins, or the blanks before it.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn next(&mut self) -> Result<Token<'t>, ExprProblem> {
        let rest = self.rest();
        let trimmed = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.at += rest.len() - trimmed.len();
        let Some(first) = trimmed.chars().next() else {
            return Err(ExprProblem {
                span: self.opened..self.text.len(),
                fault: ExprFault::Unclosed,
            });
        };
        match first {
            '.' => Ok(self.token(Kind::Dot, 1)),
            '[' => Ok(self.token(Kind::Open, 1)),
            ']' => Ok(self.token(Kind::Close, 1)),
            '}' => Ok(self.token(Kind::End, 1)),
            '?' if trimmed.starts_with("??") => Ok(self.token(Kind::Else, 2)),
            '"' => self.quoted(trimmed),
            c if c.is_ascii_alphabetic() || c == '_' => {
                let length = length_of(trimmed, |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
                Ok(self.token(Kind::Word(trimmed.get(..length).unwrap_or_default()), length))
            }
            c if c.is_ascii_digit() || c == '-' => self.number(trimmed),
            other => Err(self.wrong(other)),
        }
    }

    fn token(&mut self, kind: Kind<'t>, length: usize) -> Token<'t> {
        let span = self.at..self.at + length;
        self.at = span.end;
        Token { kind, span }
    }

    fn wrong(&self, c: char) -> ExprProblem {
        ExprProblem {
            span: self.at..self.at + c.len_utf8(),
            fault: ExprFault::Character(c),
        }
    }

    /// `12`, `-3`, `2.5`.
    fn number(&mut self, text: &'t str) -> Result<Token<'t>, ExprProblem> {
        let sign = usize::from(text.starts_with('-'));
        let digits = |from: usize| length_of(text.get(from..).unwrap_or_default(), |c| c.is_ascii_digit());
        let whole = digits(sign);
        if whole == 0 {
            return Err(self.wrong('-'));
        }
        let mut length = sign + whole;
        if text.get(length..).is_some_and(|rest| rest.starts_with('.')) {
            let fraction = digits(length + 1);
            if fraction > 0 {
                length += 1 + fraction;
            }
        }
        Ok(self.token(Kind::Number(text.get(..length).unwrap_or_default()), length))
    }

    fn quoted(&mut self, text: &'t str) -> Result<Token<'t>, ExprProblem> {
        let mut value = String::new();
        let mut chars = text.char_indices().skip(1);
        while let Some((index, c)) = chars.next() {
            match c {
                '"' => return Ok(self.token(Kind::Text(value), index + 1)),
                '\\' => match chars.next() {
                    Some((_, c @ ('"' | '\\'))) => value.push(c),
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, other)) => {
                        let from = self.at + index;
                        return Err(ExprProblem {
                            span: from..from + 1 + other.len_utf8(),
                            fault: ExprFault::Escape(other),
                        });
                    }
                    None => break,
                },
                other => value.push(other),
            }
        }
        Err(ExprProblem {
            span: self.at..self.text.len(),
            fault: ExprFault::UnclosedText,
        })
    }
}

fn length_of(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}
