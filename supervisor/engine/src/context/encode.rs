//! Text inside a tag: every character that is not known to be harmless is written as an entity.
//!
//! Pure. The rule allows; it does not forbid: letters and digits of every script, the marks that belong to them, common
//! punctuation and pictures, newline and tab. Everything else (`<`, `>`, `&`, what looks like them, control, bidi,
//! zero-width, unassigned, private) becomes `&#x…;`. INVARIANT: `decode(encode(x)) == x`, and the output has no `<` or `>`,
//! and no `&` that does not begin an entity.

/// Letters that look like `<`, `>` or `&`, or like nothing at all.
const DECEIVERS: &[u32] = &[0x115f, 0x1160, 0x1433, 0x1438, 0x16b2, 0x3164, 0xa778, 0xffa0, 0x16f3f];

/// Not letters, and harmless: marks on letters, punctuation without anything like an angle bracket, arrows, pictures.
const HARMLESS: &[(u32, u32)] = &[
    (0xa1, 0xac),
    (0xae, 0xff),
    (0x300, 0x34e),
    (0x350, 0x36f),
    (0x591, 0x5f4),
    (0x606, 0x61b),
    (0x61d, 0x6dc),
    (0x6de, 0x6ff),
    (0x900, 0xfff),
    (0x2010, 0x2027),
    (0x2030, 0x2038),
    (0x203b, 0x205e),
    (0x20a0, 0x20bf),
    (0x2100, 0x214f),
    (0x2190, 0x2263),
    (0x2270, 0x22cf),
    (0x2300, 0x2328),
    (0x232b, 0x23ff),
    (0x2460, 0x24ff),
    (0x2500, 0x276b),
    (0x2772, 0x27bf),
    (0x3001, 0x3003),
    (0x3005, 0x3007),
    (0x300c, 0x301f),
    (0xff01, 0xff05),
    (0xff07, 0xff0f),
    (0xff1a, 0xff1b),
    (0xff1d, 0xff1d),
    (0xff1f, 0xff20),
    (0xff3b, 0xff40),
    (0xff5b, 0xff65),
    (0x1f000, 0x1faff),
];

/// Does it stand for itself?
#[must_use]
pub fn is_plain(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '<' | '>' | '&' => false,
        ' '..='~' => true,
        _ => {
            let code = u32::from(c);
            let listed = || HARMLESS.iter().any(|(first, last)| (*first..=*last).contains(&code));
            !is_ignorable(code) && !DECEIVERS.contains(&code) && (c.is_alphanumeric() || listed())
        }
    }
}

/// Shown as nothing, whatever else it may be: a letter's property does not save it.
fn is_ignorable(code: u32) -> bool {
    matches!(code, 0xad | 0x34f | 0x61c | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f | 0x2028..=0x202e
        | 0x2060..=0x206f | 0xfe00..=0xfe0f | 0xfeff | 0xfff0..=0xfffb | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
        | 0xe0000..=0xe0fff)
}

#[must_use]
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if is_plain(c) => out.push(c),
            c => out.push_str(&format!("&#x{:x};", u32::from(c))),
        }
    }
    out
}

/// The text, if `encode` would write it in exactly this way.
#[must_use]
pub fn decode(written: &str) -> Option<String> {
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (name, after) = after.split_once(';')?;
        out.push(match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            _ => char::from_u32(u32::from_str_radix(name.strip_prefix("#x")?, 16).ok()?)?,
        });
        rest = after;
    }
    out.push_str(rest);
    // One way to write a text: a second one would be a way to say two things at once.
    (encode(&out) == written).then_some(out)
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
