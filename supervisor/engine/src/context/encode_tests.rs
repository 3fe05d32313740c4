use proptest::prelude::*;

use super::*;

#[test]
fn ordinary_text_of_any_script_stays_readable() {
    for text in [
        "fn main() { println!(\"{}\", 1 + 2); }\n\tif x == 'y' { z }",
        "Grüße, naïve café — “quoted” … 100 € ½",
        "Привет, мир! Ελληνικά",
        "你好，世界。「引号」、全角！",
        "こんにちは。カタカナ ー 漢字",
        "नमस्ते दुनिया",
        "שָׁלוֹם",
        "مرحبا، كيف حالك؟",
        "안녕하세요",
        "สวัสดี",
        "✅ ❌ 🚀 → ← ├── └──",
        "e\u{301}",
    ] {
        assert_eq!(encode(text), text);
    }
}

#[test]
fn what_could_deceive_is_written_out() {
    assert_eq!(encode("<a href='x'>&lt;"), "&lt;a href='x'&gt;&amp;lt;");
    for c in [
        '\0',
        '\u{7}',
        '\u{8}',
        '\u{b}',
        '\r',
        '\u{1b}',
        '\u{7f}',
        '\u{85}',
        '\u{9b}',
        '\u{a0}',
        '\u{ad}',
        '\u{34f}',
        '\u{61c}',
        '\u{115f}',
        '\u{1438}',
        '\u{1433}',
        '\u{16b2}',
        '\u{1680}',
        '\u{17b4}',
        '\u{180e}',
        '\u{2000}',
        '\u{200b}',
        '\u{200d}',
        '\u{200e}',
        '\u{200f}',
        '\u{2028}',
        '\u{2029}',
        '\u{202a}',
        '\u{202e}',
        '\u{2039}',
        '\u{203a}',
        '\u{2060}',
        '\u{2066}',
        '\u{2069}',
        '\u{226a}',
        '\u{2329}',
        '\u{232a}',
        '\u{276e}',
        '\u{2770}',
        '\u{27e8}',
        '\u{2800}',
        '\u{3000}',
        '\u{3008}',
        '\u{300b}',
        '\u{3164}',
        '\u{a778}',
        '\u{e000}',
        '\u{fe0f}',
        '\u{fe64}',
        '\u{feff}',
        '\u{ff06}',
        '\u{ff1c}',
        '\u{ff1e}',
        '\u{ffa0}',
        '\u{fff9}',
        '\u{fffd}',
        '\u{16f3f}',
        '\u{1d173}',
        '\u{e0001}',
        '\u{e0041}',
        '\u{e0100}',
        '\u{f0000}',
        '\u{10ffff}',
    ] {
        let code = format!("&#x{:x};", u32::from(c));
        assert_eq!(encode(&c.to_string()), code);
        assert_eq!(decode(&code).as_deref(), Some(c.to_string().as_str()));
    }
}

#[test]
fn there_is_one_way_to_write_a_text() {
    for other in [
        "<",
        ">",
        "&",
        "&lt",
        "&LT;",
        "&#60;",
        "&#x3c;",
        "&#x3C;",
        "&#x0;&",
        "&#x000;",
        "&#x61;",
        "&#X0;",
        "&#xd800;",
        "&#x110000;",
        "&#x-1;",
        "&#x+1;",
        "&#x;",
        "&;",
        "&quot;",
        "&apos;",
        "\r",
        "\u{200b}",
        "&amp",
        "& amp;",
        "&#xffffffffff;",
    ] {
        assert_eq!(decode(other), None, "{other:?}");
    }
}

proptest! {
    #[test]
    fn every_text_comes_back(text in any::<String>()) {
        let written = encode(&text);
        prop_assert!(written.chars().all(is_plain_or_entity), "{written:?}");
        prop_assert_eq!(decode(&written), Some(text));
    }

    #[test]
    fn every_character_comes_back(c in any::<char>()) {
        let text = c.to_string();
        prop_assert_eq!(decode(&encode(&text)), Some(text));
    }

    #[test]
    fn reading_never_panics(text in "[&#x;a-f0-9<>]{0,30}|\\PC{0,30}") {
        if let Some(read) = decode(&text) {
            prop_assert_eq!(encode(&read), text);
        }
    }
}

fn is_plain_or_entity(c: char) -> bool {
    c == '&' || is_plain(c)
}
