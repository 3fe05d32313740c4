#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::definitions::input::InputKind;
use crate::definitions::parse;
use crate::definitions::template::literal;

fn draft(description: &str, prompt: &str) -> Draft {
    Draft {
        name: AgentName::new("a").unwrap(),
        description: description.to_owned(),
        agent: Some(Cli::Claude),
        prompt: prompt.to_owned(),
        source: Some(Imported {
            from: Cli::Claude,
            file: ".claude/agents/a.md".into(),
            imported_at: "2026-01-09T15:00:00Z".into(),
        }),
        timeout_mins: Some(2.5),
        max_output_kb: Some(7),
        inputs: vec![
            Input {
                name: "x".into(),
                kind: InputKind::Integer,
                description: Some("how: many".into()),
                absent: Absent::Default("3".into()),
            },
            Input {
                name: "y".into(),
                kind: InputKind::String,
                description: None,
                absent: Absent::Default("no".into()),
            },
        ],
        tools: Some(vec![Tool::ReadFile, Tool::Grep]),
        writing: Writing::Nothing,
    }
}

#[test]
fn a_draft_is_written_for_people() {
    let text = draft("Look: twice", "Be kind.\n\n  Be ${x}.\n").text();
    assert_eq!(
        text,
        "name: a\ndescription: \"Look: twice\"\nagent: claude\nprompt: |\n  Be kind.\n\n    Be ${x}.\n\nsource:\n  from: claude\n  file: \".claude/agents/a.md\"\n  imported_at: \"2026-01-09T15:00:00Z\"\ntimeout_mins: 2.5\nmax_output_kb: 7\ninputs:\n  - name: x\n    type: integer\n    description: \"how: many\"\n    default: 3\n  - name: \"y\"\n    type: string\n    default: \"no\"\ntools:\n  - read_file\n  - grep\npermissions:\n  fs:\n    write: []\n"
            .replace("Be ${x}.\n\nsource", "Be ${x}.\nsource")
    );
}

proptest! {
    #[test]
    fn what_is_written_is_read_again_as_the_same(
        description in "[ -~]{0,10}|\\PC{0,30}",
        prompt in "([ -~]|\n|\t){0,60}|(\\PC|\n|\r|\u{85}|\u{feff}){0,40}",
    ) {
        prop_assume!(!description.trim().is_empty() && !description.contains(char::is_control));
        prop_assume!(!prompt.trim().is_empty());
        let draft = draft(&description, &literal(&prompt));
        let read = parse(Path::new("/p/a.yml"), draft.text().as_bytes());
        let read = read.map_err(|error| TestCaseError::fail(format!("{}\n{}", error.render(None), draft.text())))?;
        prop_assert_eq!(read.description, description);
        prop_assert_eq!(read.prompt.fill(&Default::default()), Ok(prompt));
        prop_assert_eq!((read.source, read.inputs, read.tools), (draft.source, draft.inputs, draft.tools));
        prop_assert_eq!((read.max_output_kb, read.timeout.map(|t| t.as_secs())), (Some(7), Some(150)));
    }
}
