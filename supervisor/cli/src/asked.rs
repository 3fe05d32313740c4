//! What a project asks for, line by line: many paths that come from one built-in profile are one line.

/// One line of a list.
pub(crate) enum Line<'a, T> {
    One(&'a T),
    Many { profile: &'a str, count: usize },
}

/// Fewer are shown as they are.
const MANY: usize = 4;

/// The list, in its order; `profile` names the built-in profile that an entry comes from.
pub(crate) fn lines<T>(list: &[T], profile: impl Fn(&T) -> Option<&str>) -> Vec<Line<'_, T>> {
    let mut lines: Vec<Line<'_, T>> = Vec::new();
    for entry in list {
        let Some(name) = profile(entry) else {
            lines.push(Line::One(entry));
            continue;
        };
        let count = list.iter().filter(|other| profile(other) == Some(name)).count();
        let told = |line: &Line<'_, T>| matches!(line, Line::Many { profile, .. } if *profile == name);
        if count < MANY {
            lines.push(Line::One(entry));
        } else if !lines.iter().any(told) {
            lines.push(Line::Many { profile: name, count });
        }
    }
    lines
}

/// What is said in place of `count` paths.
pub(crate) fn many(count: usize) -> String {
    format!("fs.read of {count} paths in the home")
}

/// Where they stand.
pub(crate) fn place(profile: &str) -> String {
    format!("built-in {profile}.yml; `glee-supervisor policy show {profile}` lists them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_of_one_profile_are_one_line_and_all_else_stays() {
        let list = ["w 1", "own", "w 2", "w 3", "v 1", "w 4", "v 2"];
        let told: Vec<String> = lines(&list, |entry| entry.split_once(' ').map(|(profile, _)| profile))
            .into_iter()
            .map(|line| match line {
                Line::One(entry) => (*entry).to_owned(),
                Line::Many { profile, count } => format!("{profile}: {count}"),
            })
            .collect();
        assert_eq!(told, ["w: 4", "own", "v 1", "v 2"]);
    }
}
