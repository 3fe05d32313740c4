//! Two texts compared line by line, as a unified diff.
//!
//! Pure. Bounded: texts that differ in very many lines are shown as one replaced by the other.

use std::fmt::Write as _;

/// Lines shown around a change.
const AROUND: usize = 3;
/// The most cells of the comparison.
const MOST: usize = 4_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit<'a> {
    Same(&'a str),
    Less(&'a str),
    More(&'a str),
}

/// The difference with its two headings; empty if there is none.
#[must_use]
pub fn unified(from: &str, to: &str, from_name: &str, to_name: &str) -> String {
    if from == to {
        return String::new();
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (from.lines().collect(), to.lines().collect());
    let edits = edits(&old, &new);
    let mut out = format!("--- {from_name}\n+++ {to_name}\n");
    for hunk in hunks(&edits) {
        out.push_str(&hunk);
    }
    out
}

fn edits<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Edit<'a>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = (old.len() - head).min(new.len() - head);
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(rest)
        .take_while(|(a, b)| a == b)
        .count();
    let middle =
        |all: &[&'a str]| -> Vec<&'a str> { all.iter().skip(head).take(all.len() - head - tail).copied().collect() };
    let (a, b) = (middle(old), middle(new));
    let same = |lines: &[&'a str]| lines.iter().map(|line| Edit::Same(line)).collect::<Vec<_>>();
    let mut out = same(old.get(..head).unwrap_or_default());
    if a.len().saturating_mul(b.len()) > MOST {
        out.extend(a.iter().map(|line| Edit::Less(line)));
        out.extend(b.iter().map(|line| Edit::More(line)));
    } else {
        out.extend(compare(&a, &b));
    }
    out.extend(same(old.get(old.len() - tail..).unwrap_or_default()));
    out
}

/// By the longest common subsequence.
fn compare<'a>(a: &[&'a str], b: &[&'a str]) -> Vec<Edit<'a>> {
    let width = b.len() + 1;
    // `common[i * width + j]`: how many lines `a[i..]` and `b[j..]` share.
    let mut common = vec![0_u32; (a.len() + 1) * width];
    let at = |common: &[u32], i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    for (i, left) in a.iter().enumerate().rev() {
        for (j, right) in b.iter().enumerate().rev() {
            let best = if left == right {
                at(&common, i + 1, j + 1) + 1
            } else {
                at(&common, i + 1, j).max(at(&common, i, j + 1))
            };
            if let Some(cell) = common.get_mut(i * width + j) {
                *cell = best;
            }
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    loop {
        match (a.get(i), b.get(j)) {
            (Some(left), Some(right)) if left == right => {
                out.push(Edit::Same(left));
                (i, j) = (i + 1, j + 1);
            }
            (Some(left), right) if right.is_none() || at(&common, i + 1, j) >= at(&common, i, j + 1) => {
                out.push(Edit::Less(left));
                i += 1;
            }
            (_, Some(right)) => {
                out.push(Edit::More(right));
                j += 1;
            }
            (_, None) => return out,
        }
    }
}

fn hunks(edits: &[Edit<'_>]) -> Vec<String> {
    let is_change = |edit: &Edit<'_>| !matches!(edit, Edit::Same(_));
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (at, _) in edits.iter().enumerate().filter(|(_, edit)| is_change(edit)) {
        let (from, to) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(edits.len()));
        match ranges.last_mut() {
            Some((_, end)) if *end >= from => *end = to,
            Some(_) | None => ranges.push((from, to)),
        }
    }
    ranges.iter().map(|(from, to)| hunk(edits, *from, *to)).collect()
}

fn hunk(edits: &[Edit<'_>], from: usize, to: usize) -> String {
    let count = |range: &[Edit<'_>]| {
        let old = range.iter().filter(|edit| !matches!(edit, Edit::More(_))).count();
        let new = range.iter().filter(|edit| !matches!(edit, Edit::Less(_))).count();
        (old, new)
    };
    let (before, shown) = (
        edits.get(..from).unwrap_or_default(),
        edits.get(from..to).unwrap_or_default(),
    );
    let ((old_before, new_before), (old, new)) = (count(before), count(shown));
    // A side without lines is named by the line before it.
    let start = |before: usize, lines: usize| before + usize::from(lines > 0);
    let mut out = format!(
        "@@ -{},{old} +{},{new} @@\n",
        start(old_before, old),
        start(new_before, new)
    );
    for edit in shown {
        let _ = match edit {
            Edit::Same(line) => writeln!(out, " {line}"),
            Edit::Less(line) => writeln!(out, "-{line}"),
            Edit::More(line) => writeln!(out, "+{line}"),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(unified("a\nb\n", "a\nb\n", "x", "y"), "");
    }

    #[test]
    fn changes_are_shown_with_what_is_around_them() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n3\n", "\nthree\n").replace("\n18\n", "\n");
        let expected = "--- a\n+++ b\n@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n@@ -15,6 +15,5 @@\n 15\n 16\n 17\n-18\n 19\n 20\n";
        assert_eq!(unified(&old, &new, "a", "b"), expected);
    }

    #[test]
    fn a_new_file_is_all_additions() {
        assert_eq!(
            unified("", "x\ny\n", "/dev/null", "b"),
            "--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+x\n+y\n"
        );
        assert_eq!(unified("x\n", "", "a", "b"), "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-x\n");
    }

    #[test]
    fn a_huge_difference_is_still_shown() {
        let lines = |word: &str| (0..3000).map(|n| format!("{word}{n}\n")).collect::<String>();
        let diff = unified(&lines("a"), &lines("b"), "a", "b");
        assert_eq!(diff.lines().count(), 3 + 6000);
    }
}
