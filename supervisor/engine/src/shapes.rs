//! Tables of names, written as text: words between white space, each a pattern of how a path ends.
//!
//! Pure. `makefile` is a name, `.config/fish` a name in a directory, `*.mk` and `requirements*.txt` many names. There is one
//! star at most, in the last name. It stands for anything, also for nothing, but not for nothing at the beginning: `.mk`
//! is no `*.mk`.

use std::collections::HashMap;

/// One pattern without its last name, and what is said of it.
#[derive(Debug)]
struct End<T> {
    above: Vec<&'static str>,
    says: T,
}

/// Patterns that are found by the last name of a path.
#[derive(Debug)]
pub(crate) struct Shapes<T> {
    exact: HashMap<&'static str, Vec<End<T>>>,
    starred: Vec<(&'static str, &'static str, End<T>)>,
}

impl<T: Copy> Shapes<T> {
    /// `words`: each with what is said of it.
    pub(crate) fn new(words: impl IntoIterator<Item = (&'static str, T)>) -> Self {
        let mut shapes = Self {
            exact: HashMap::new(),
            starred: Vec::new(),
        };
        for (word, says) in words {
            let (above, name) = word.rsplit_once('/').unwrap_or(("", word));
            let above = above.split('/').filter(|part| !part.is_empty()).collect();
            let end = End { above, says };
            match name.split_once('*') {
                Some((before, after)) => shapes.starred.push((before, after, end)),
                None => shapes.exact.entry(name).or_default().push(end),
            }
        }
        shapes
    }

    /// What is said of a path with these names, in small letters.
    pub(crate) fn of(&self, names: &[String]) -> Option<T> {
        let (name, above) = names.split_last()?;
        let lies = |end: &&End<T>| {
            let skipped = above.len().checked_sub(end.above.len());
            skipped
                .and_then(|skipped| above.get(skipped..))
                .is_some_and(|dirs| dirs == end.above)
        };
        let exact = self.exact.get(name.as_str()).into_iter().flatten();
        let starred = self
            .starred
            .iter()
            .filter(|(before, after, _)| fits(name, before, after))
            .map(|(_, _, end)| end);
        exact.chain(starred).find(lies).map(|end| end.says)
    }
}

fn fits(name: &str, before: &str, after: &str) -> bool {
    let least = before.len() + after.len() + usize::from(before.is_empty());
    name.len() >= least && name.starts_with(before) && name.ends_with(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(path: &str) -> Option<u8> {
        let words = [
            ("makefile", 1),
            ("*.mk", 2),
            ("requirements*.txt", 3),
            (".rc*", 4),
            ("a/b/c", 5),
            ("d/*.e", 6),
        ];
        let names: Vec<String> = path.split('/').map(str::to_owned).collect();
        Shapes::new(words).of(&names)
    }

    #[test]
    fn a_star_stands_for_nothing_too_but_not_at_the_beginning() {
        let paths = [
            "x/makefile",
            "x.mk",
            ".mk",
            "requirements.txt",
            "requirements-dev.txt",
            ".rc",
            ".rcx",
            "requirement.txt",
        ];
        let expected = [Some(1), Some(2), None, Some(3), Some(3), Some(4), Some(4), None];
        assert_eq!(paths.map(said), expected);
    }

    #[test]
    fn a_directory_must_be_right_above() {
        let paths = ["a/b/c", "x/a/b/c", "b/c", "a/x/b/c", "d/x.e", "d/x/x.e", "x.e"];
        assert_eq!(paths.map(said), [Some(5), Some(5), None, None, Some(6), None, None]);
    }
}
