#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;

use super::*;

#[test]
fn what_was_removed_meanwhile_is_no_failure_and_what_cannot_be_opened_is() {
    let dir = std::env::temp_dir().join(format!("glee-setids-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let (since, held) = (Since::now(), File::open(&dir).unwrap());
    fs::write(dir.join("file"), "").unwrap();
    let facts = dir::facts_at(held.as_fd(), OsStr::new("file")).unwrap();
    let look = |name: &str| {
        let mut strip = Strip::new(Times::Elsewhere);
        strip.file(held.as_fd(), &dir, OsStr::new(name), &facts, since);
        strip.failed
    };
    fs::rename(dir.join("file"), dir.join("other")).unwrap();
    let found = [look("other"), look("file"), look("other/in")];
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(found, [false, false, true]);
}
