#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::testing::Scratch;

#[test]
fn a_link_in_the_place_of_the_instructions_is_not_read() {
    let place = Scratch::new();
    assert!(instructions(place.path()).unwrap().is_none());
    fs::write(place.path().join(".env"), "SECRET").unwrap();
    symlink(".env", place.path().join(AGENTS_MD)).unwrap();
    let error = instructions(place.path()).unwrap_err();
    assert!(error.help().contains("plain file"), "{error}");
}

#[test]
fn blocks_stand_in_the_documented_order_and_only_the_task_is_never_cut() {
    let long = "x".repeat(MOST_TOLD + 1);
    let found = Instructions {
        file: "/p/AGENTS.md".into(),
        text: long.clone(),
        digest: String::new(),
        standing: Standing::Changed,
    };
    let label = |written| Label::parse(written).unwrap();
    let prompt = prompt(Parts {
        agent: Some((label("agent:a"), Standing::Trusted, "be kind".into())),
        instructions: Some(&found),
        memories: Some("m".into()),
        session: Some((label("session:s"), "h".into())),
        step: Vec::new(),
        task: long.as_str().into(),
    });
    let told: Vec<(String, Trust, usize)> = prompt
        .blocks
        .iter()
        .map(|block| {
            (
                block.label().to_string(),
                block.trust(),
                block.text().len().min(MOST_TOLD),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("agent:a".into(), Trust::Trusted, 7),
            ("AGENTS.md".into(), Trust::Untrusted, told[1].2),
            ("memory".into(), Trust::Untrusted, 1),
            ("session:s".into(), Trust::Untrusted, 1),
        ]
    );
    assert!(prompt.blocks[1].text().len() <= MOST_TOLD && prompt.blocks[1].text().ends_with("bytes left out]"));
    assert_eq!(prompt.task, long);
}
