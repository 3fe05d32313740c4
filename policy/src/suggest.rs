//! "Did you mean": the nearest of a few known words.
//!
//! Pure. Bounded: words longer than 64 characters have no neighbour.

/// The known word that is at most two edits (a third of its length) away from `word`.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    if word.chars().count() > LONGEST {
        return None;
    }
    let folded = word.to_lowercase().replace('-', "_");
    known
        .into_iter()
        .map(|candidate| (distance(&folded, candidate), candidate))
        .filter(|(d, candidate)| *d <= 2.min(candidate.len() / 3 + usize::from(candidate.len() > 1)))
        .min_by_key(|(d, _)| *d)
        .map(|(_, candidate)| candidate)
}

/// Edits (insert, delete, replace, swap of neighbours counts two) between two words.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = Vec::with_capacity(row.len());
        next.push(left);
        for (cb, above) in b.iter().zip(row.iter().skip(1)) {
            let cost = (diagonal + usize::from(ca != *cb)).min(left + 1).min(above + 1);
            diagonal = *above;
            left = cost;
            next.push(cost);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
