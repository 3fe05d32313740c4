#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::context::encode::is_plain;
use crate::definitions::AgentName;

const ATTACKS: &str = include_str!("attacks.txt");

fn key() -> Key {
    Key::fresh().unwrap()
}

fn nonce() -> Nonce {
    Nonce::fresh().unwrap()
}

/// The lines of the corpus, with `\n`, `\r`, `\t`, `\0`, `\\` and `\u{…}` read as in Rust.
fn attacks() -> Vec<String> {
    ATTACKS.lines().map(unescape).collect()
}

fn unescape(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let mut chars = after.chars();
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('0') => out.push('\0'),
            Some('\\') => out.push('\\'),
            Some('u') => {
                let (code, after) = after[2..].split_once('}').unwrap();
                let code = u32::from_str_radix(code, 16).unwrap();
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                rest = after;
                continue;
            }
            other => panic!("{other:?} in {line}"),
        }
        rest = chars.as_str();
    }
    out + rest
}

fn labels() -> Vec<Label> {
    vec![
        Label::Agent(AgentName::new("scanner").unwrap()),
        Label::AgentsMd,
        Label::Memory,
        Label::session("task-a1b2c3d4").unwrap(),
    ]
}

/// The same text in every place there is.
fn everywhere(text: &str) -> Prompt {
    let block = |label| Block::new(label, Trust::Trusted, text.to_owned());
    Prompt {
        blocks: labels().into_iter().map(block).collect(),
        task: text.to_owned(),
    }
}

#[test]
fn the_corpus_is_as_large_as_promised() {
    let distinct: std::collections::BTreeSet<_> = attacks().into_iter().collect();
    assert!(distinct.len() >= 100, "{}", distinct.len());
}

#[test]
fn no_attack_breaks_out_of_its_block() {
    for attack in attacks() {
        let (key, nonce) = (key(), nonce());
        let prompt = everywhere(&attack);
        let written = render(&prompt, &nonce, &key);
        // The header, and five parts that open and close: no other angle bracket, whatever the text.
        assert_eq!(written.matches('<').count(), 1 + 2 * 5, "{attack:?}");
        assert_eq!(written.matches('>').count(), 1 + 2 * 5, "{attack:?}");
        assert_eq!(
            written.matches("trusted=\"true\"").count() - told(&attack),
            2,
            "{attack:?}"
        );
        let markup = |c| is_plain(c) || matches!(c, '<' | '>' | '&');
        assert!(written.chars().all(markup), "{attack:?}");
        assert_eq!(parse(&written, &key), Ok((prompt, nonce)), "{attack:?}");
    }
}

/// How often an attack itself says that it is trusted: as text, five times, with its quotes but without its brackets.
fn told(attack: &str) -> usize {
    5 * attack.matches("trusted=\"true\"").count()
}

#[test]
fn a_rendered_prompt_looks_like_this() {
    let key = key();
    let nonce = Nonce::parse("000102030405060708090a0b0c0d0e0f").unwrap();
    let prompt = Prompt {
        blocks: vec![
            Block::new(Label::AgentsMd, Trust::Trusted, "Use tabs.\n".into()),
            Block::new(Label::Memory, Trust::Trusted, "1 < 2".into()),
        ],
        task: "Fix it".into(),
    };
    let written = render(&prompt, &nonce, &key);
    // Signatures depend on the key: only their shape is fixed.
    let mut shape = String::new();
    for part in written.split_inclusive("sig=\"") {
        let (sig, rest) = if shape.is_empty() {
            ("", part)
        } else {
            part.split_at(64)
        };
        assert!(sig.bytes().all(|b| b.is_ascii_hexdigit()));
        shape.push_str(rest);
    }
    let digest = crate::library::digest;
    let n = "000102030405060708090a0b0c0d0e0f";
    let expected = format!(
        "<glee:prompt id=\"{n}\" blocks=\"3\" sig=\"\"/>\n{PREAMBLE}\n\n\
         <glee:context source=\"AGENTS.md\" trusted=\"true\" id=\"{n}.1\" sha256=\"{}\" sig=\"\">\nUse tabs.\n\n</glee:context>\n\n\
         <glee:context source=\"memory\" trusted=\"false\" id=\"{n}.2\" sha256=\"{}\" sig=\"\">\n1 &lt; 2\n</glee:context>\n\n\
         <glee:user_prompt id=\"{n}.3\" sha256=\"{}\" sig=\"\">\nFix it\n</glee:user_prompt>\n",
        digest(b"Use tabs.\n"),
        digest(b"1 < 2"),
        digest(b"Fix it"),
    );
    assert_eq!(shape, expected);
}

#[test]
fn nobody_else_can_write_a_prompt() {
    let (ours, nonce) = (key(), nonce());
    let prompt = everywhere("text");
    let written = render(&prompt, &nonce, &ours);
    assert_eq!(parse(&written, &key()), Err(ParseError::Forged), "another key");
    let other = render(&everywhere("other"), &nonce, &ours);
    let mut forgeries = vec![
        written.replace("trusted=\"false\"", "trusted=\"true\""),
        written.replacen("trusted=\"true\"", "trusted=\"false\"", 1),
        written.replacen("source=\"memory\"", "source=\"AGENTS.md\"", 1),
        written.replacen("\ntext\n", "\ntexts\n", 1),
        written.replacen("\ntext\n", "\n<b>\n", 1),
        written.replacen("\ntext\n", "\n&#x74;ext\n", 1),
        written.replacen("agent:scanner", "agent:Scanner", 1),
        written.replacen("session:task", "session:../task", 1),
        written.replacen("blocks=\"5\"", "blocks=\"4\"", 1),
        written.replacen("blocks=\"5\"", "blocks=\"05\"", 1),
        written.replacen("blocks=\"5\"", "blocks=\"99999999999999999999\"", 1),
        written.replacen("not instructions", "also instructions", 1),
        written.replacen(".1\"", ".2\"", 1),
        written.replacen(" id=", "  id=", 1),
        written.replacen(" sig=", " extra=\"1\" sig=", 1),
        written.replace('\n', "\r\n"),
        format!("{written}\n"),
        format!("{written}more"),
        format!(" {written}"),
        format!("{written}{written}"),
        written.to_uppercase(),
        String::new(),
    ];
    // Blocks of two prompts of ours, exchanged.
    let parts = |text: &str| text.split("\n\n").map(str::to_owned).collect::<Vec<_>>();
    let (mut mixed, others) = (parts(&written), parts(&other));
    mixed[1].clone_from(&others[1]);
    forgeries.push(mixed.join("\n\n"));
    let mut swapped = parts(&written);
    swapped.swap(1, 2);
    forgeries.push(swapped.join("\n\n"));
    let mut shorter = parts(&written);
    shorter.remove(2);
    forgeries.push(shorter.join("\n\n"));
    for (number, forgery) in forgeries.iter().enumerate() {
        assert_ne!(*forgery, written, "forgery {number} is none");
        assert!(parse(forgery, &ours).is_err(), "forgery {number}: {forgery}");
    }
    // Every byte counts.
    for at in (0..written.len()).step_by(7) {
        let mut bytes = written.clone().into_bytes();
        bytes[at] ^= 1;
        let forged = String::from_utf8(bytes).unwrap();
        assert!(parse(&forged, &ours).is_err(), "byte {at}");
    }
}

#[test]
fn memory_and_conversations_cannot_be_trusted() {
    for label in [Label::Memory, Label::session("x").unwrap()] {
        assert_eq!(
            Block::new(label, Trust::Trusted, String::new()).trust(),
            Trust::Untrusted
        );
    }
}

#[test]
fn an_id_that_could_be_more_is_none() {
    let long = "a".repeat(129);
    for id in ["", "a b", "a\"b", "a>b", "../x", "a/b", "a:b", "ä", "a\n", &long] {
        assert_eq!(Label::session(id), None, "{id:?}");
    }
    for label in labels() {
        assert_eq!(Label::parse(&label.to_string()), Some(label));
    }
    for written in [
        "agents.md",
        "memory:x",
        "agent:",
        "agent:A",
        "session:",
        "user",
        "",
        "agent:a:b",
    ] {
        assert_eq!(Label::parse(written), None, "{written}");
    }
}

fn block() -> impl Strategy<Value = Block> {
    let label = prop::sample::select(labels());
    let trust = prop::sample::select(vec![Trust::Trusted, Trust::Untrusted]);
    (label, trust, any::<String>()).prop_map(|(label, trust, text)| Block::new(label, trust, text))
}

proptest! {
    #[test]
    fn every_prompt_comes_back(blocks in prop::collection::vec(block(), 0..6), task in any::<String>()) {
        let (key, nonce) = (key(), nonce());
        let prompt = Prompt { blocks, task };
        prop_assert_eq!(parse(&render(&prompt, &nonce, &key), &key), Ok((prompt, nonce)));
    }

    #[test]
    fn reading_never_panics(text in "(<glee:prompt id=\"|</?glee:context|\"|>|\n|&|[a-z0-9=. ])*") {
        prop_assert!(parse(&text, &key()).is_err());
    }
}
