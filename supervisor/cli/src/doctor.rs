//! `doctor`: what the engine found, as a table.

use std::path::PathBuf;

use glee_engine::doctor::{Check, Diagnosis, apparmor, diagnose};
use glee_engine::project::Scene;
use glee_engine::text::columns;

use crate::args_more::DoctorArgs;
use crate::print::{self, Paint};

/// Returns the exit status: 1 if `restricted` could not be enforced.
pub(crate) fn doctor(arguments: &DoctorArgs, project: Option<PathBuf>) -> i32 {
    if arguments.apparmor {
        return match apparmor::profile() {
            Ok(text) => print::bytes(text.as_bytes(), 0),
            Err(error) => {
                print::error(&error.to_string(), Some(error.help()));
                1
            }
        };
    }
    // A directory that is not there is one of the findings, but only if nobody named it.
    let scene = match Scene::find(project.as_deref()) {
        Ok(scene) => Some(scene),
        Err(error) if project.is_some() => {
            print::error(&error.to_string(), None);
            return 1;
        }
        Err(_) => None,
    };
    let diagnosis = diagnose(scene.as_ref().map(|scene| scene.project.as_path()));
    let status = i32::from(!diagnosis.ok);
    if arguments.json {
        return print::json(&diagnosis, status);
    }
    print::bytes(table(&diagnosis, Paint::out).as_bytes(), status)
}

fn table(diagnosis: &Diagnosis, paint: fn(Paint, &str) -> String) -> String {
    let head = ["feature", "found", "needed by", "remedy"].map(|title| paint(Paint::Head, title));
    let mut rows = vec![head.to_vec()];
    rows.extend(diagnosis.checks.iter().map(|check| row(check, paint)));
    let mut text = columns(&rows, "");
    text.push('\n');
    text.push_str(&if diagnosis.ok {
        paint(Paint::Good, "the profile `restricted` can be enforced here")
    } else {
        paint(Paint::Bad, "the profile `restricted` cannot be enforced here")
    });
    text.push('\n');
    text
}

fn row(check: &Check, paint: fn(Paint, &str) -> String) -> Vec<String> {
    let colour = match (check.ok, check.required) {
        (true, _) => Paint::Good,
        (false, true) => Paint::Bad,
        (false, false) => Paint::Doubtful,
    };
    let found = if check.ok {
        check.found.clone()
    } else {
        format!("no: {}", check.found)
    };
    let lines = |text: &str| {
        print::visible(text)
            .lines()
            .flat_map(|line| fold(line, 40))
            .collect::<Vec<_>>()
    };
    let found: Vec<String> = lines(&found).iter().map(|line| paint(colour, line)).collect();
    let remedy = check.remedy.as_deref().map(lines).unwrap_or_default();
    vec![
        check.feature.to_owned(),
        found.join("\n"),
        fold(check.needed_by, 32).join("\n"),
        remedy.join("\n"),
    ]
}

/// The words of a line in lines of at most `width` characters; a longer word (a path) is cut.
fn fold(line: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if last.chars().count() + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => {
                let letters: Vec<char> = word.chars().collect();
                lines.extend(letters.chunks(width).map(String::from_iter));
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn check(feature: &'static str, ok: bool, found: &str, required: bool, remedy: Option<&str>) -> Check {
        let (found, remedy) = (found.to_owned(), remedy.map(str::to_owned));
        Check {
            feature,
            ok,
            found,
            needed_by: "files",
            required,
            remedy,
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_feature_and_a_verdict() {
        let checks = vec![
            check("Landlock", true, "ABI 7", true, None),
            check(
                "user namespace",
                false,
                "Operation not permitted\na = 0",
                true,
                Some("one of:\n- x"),
            ),
        ];
        let text = table(
            &Diagnosis {
                ok: false,
                checks,
                sysctl: BTreeMap::new(),
            },
            |_, text| text.to_owned(),
        );
        let expected = "\
feature         found                        needed by  remedy
Landlock        ABI 7                        files
user namespace  no: Operation not permitted  files      one of:
                a = 0                                   - x

the profile `restricted` cannot be enforced here
";
        assert_eq!(text, expected);
    }

    #[test]
    fn long_lines_are_folded_between_words() {
        assert_eq!(fold("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(fold("a-long-word b", 5), ["a-lon", "g-wor", "d b"]);
        assert_eq!(fold("", 5), Vec::<String>::new());
    }
}
