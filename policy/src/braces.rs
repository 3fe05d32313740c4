//! `{a,b}` in a pattern, written out.
//!
//! Pure, on bytes. Braces nest and may contain slashes; `\\` takes the next byte literally. The caller bounds the length of
//! the pattern, and so the recursion; the number of alternatives is bounded here, since braces multiply.

use crate::glob::GlobProblem;

const MAX_ALTERNATIVES: usize = 64;

/// Every pattern that a pattern with braces stands for.
pub(crate) fn written_out(pattern: &[u8]) -> Result<Vec<Vec<u8>>, GlobProblem> {
    let mut budget = MAX_ALTERNATIVES;
    expand(pattern, &mut budget)
}

/// Writes out braces, outermost first.
fn expand(pattern: &[u8], budget: &mut usize) -> Result<Vec<Vec<u8>>, GlobProblem> {
    let Some((before, choices, after)) = first_brace(pattern)? else {
        *budget = budget.checked_sub(1).ok_or(GlobProblem::TooMany)?;
        return Ok(vec![pattern.to_vec()]);
    };
    let mut out = Vec::new();
    for choice in choices {
        out.extend(expand(&[before, choice, after].concat(), budget)?);
    }
    Ok(out)
}

type Brace<'a> = (&'a [u8], Vec<&'a [u8]>, &'a [u8]);

fn first_brace(pattern: &[u8]) -> Result<Option<Brace<'_>>, GlobProblem> {
    let (mut open, mut depth, mut start, mut escaped) = (None, 0usize, 0, false);
    let mut choices = Vec::new();
    for (i, b) in pattern.iter().enumerate() {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => {
                if depth == 0 {
                    (open, start) = (Some(i), i + 1);
                }
                depth += 1;
            }
            b',' if depth == 1 => {
                choices.push(pattern.get(start..i).unwrap_or_default());
                start = i + 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    choices.push(pattern.get(start..i).unwrap_or_default());
                    let before = pattern.get(..open.unwrap_or(i)).unwrap_or_default();
                    return Ok(Some((before, choices, pattern.get(i + 1..).unwrap_or_default())));
                }
            }
            _ => {}
        }
    }
    if open.is_some() {
        Err(GlobProblem::Brace)
    } else {
        Ok(None)
    }
}
