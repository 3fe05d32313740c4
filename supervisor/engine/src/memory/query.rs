//! Words to search for, out of anything that a person or an agent may write.
//!
//! Pure. INVARIANT: what SQLite's query parser gets are quoted words of letters and digits, joined by `OR`: none of them
//! is an operator, a column or a quote.

/// More words than this do not make a search better.
const MOST_WORDS: usize = 64;
const LONGEST_WORD: usize = 64;

/// At least one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query(String);

impl Query {
    /// `None` if there is no word in the text.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let mut words: Vec<String> = Vec::new();
        for word in text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
        {
            let quoted: String = word.chars().take(LONGEST_WORD).collect();
            let quoted = format!("\"{quoted}\"");
            if !words.contains(&quoted) {
                words.push(quoted);
            }
            if words.len() == MOST_WORDS {
                break;
            }
        }
        (!words.is_empty()).then(|| Self(words.join(" OR ")))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}
