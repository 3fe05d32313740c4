//! Long texts are cut before they are wrapped, never after: a tag is always whole.
//!
//! Pure.

use std::borrow::Cow;

/// Which end of a text matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Instructions: the beginning.
    Start,
    /// A conversation: the end.
    End,
}

/// At most `most` bytes of the text, cut between characters, with a note of how much is missing.
#[must_use]
pub fn cut(text: &str, most: usize, keep: Keep) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    // The longest that the note can be.
    let note = |missing: usize| format!("[{missing} bytes left out]");
    let room = most.saturating_sub(note(text.len()).len() + 1);
    match keep {
        Keep::Start => {
            let kept = text.get(..floor(text, room)).unwrap_or_default();
            Cow::Owned(format!("{kept}\n{}", note(text.len() - kept.len())))
        }
        Keep::End => {
            let kept = text.get(ceil(text, text.len() - room)..).unwrap_or_default();
            Cow::Owned(format!("{}\n{kept}", note(text.len() - kept.len())))
        }
    }
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceil(text: &str, at: usize) -> usize {
    (at..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_stays_as_it_is() {
        assert_eq!(cut("häuser", 7, Keep::Start), "häuser");
    }

    #[test]
    fn a_long_text_loses_its_other_end_between_characters() {
        let text = "ä".repeat(40);
        assert_eq!(
            cut(&text, 32, Keep::Start),
            format!("{}\n[68 bytes left out]", "ä".repeat(6))
        );
        assert_eq!(
            cut(&text, 32, Keep::End),
            format!("[68 bytes left out]\n{}", "ä".repeat(6))
        );
    }

    #[test]
    fn the_result_is_never_longer_than_asked_for_where_the_note_has_room() {
        for most in 30..90 {
            for keep in [Keep::Start, Keep::End] {
                assert!(cut(&"€x".repeat(30), most, keep).len() <= most, "{most}");
            }
        }
    }
}
