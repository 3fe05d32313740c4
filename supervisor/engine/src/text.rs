//! Text for a terminal: aligned columns, and nothing that drives it.
//!
//! Pure. INVARIANT: what came from a file or a path is passed through `visible` before it is printed.

/// Control, bidi, zero-width and blank characters made visible; a newline too, so that one value stays on one line.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut last = ' ';
    for c in text.chars() {
        if c.is_control() || (is_unseen(c) && !(c == EMOJI && is_symbol(last))) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
        last = c;
    }
    out
}

/// Makes an emoji of the symbol before it.
const EMOJI: char = '\u{fe0f}';

fn is_symbol(c: char) -> bool {
    !c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace() && !is_unseen(c)
}

/// Takes no room, or looks like a space and is none.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

/// JSON in which every character that drives a terminal or hides is an escape: it means the same, and can be shown.
#[must_use]
pub fn plain_json(json: String) -> String {
    let is_odd = |c: char| c >= '\u{7f}' && (c.is_control() || is_unseen(c));
    if !json.contains(is_odd) {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_odd(c) {
            // Only in strings can there be such a one.
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// A text of several lines, each made visible behind a bar: nothing in it can pass for a line of ours.
#[must_use]
pub fn quoted(text: &str, indent: &str) -> String {
    text.lines()
        .map(|line| format!("{indent}| {}\n", visible(line)))
        .collect()
}

/// Rows in columns two spaces apart, each line after `indent`. A cell of several lines continues below itself.
/// The last column is not padded, so that lines have no trailing spaces.
#[must_use]
pub fn columns(rows: &[Vec<String>], indent: &str) -> String {
    let wide = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..wide)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .flat_map(|c| c.lines().map(width))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut out = String::new();
    for row in rows {
        let height = row.iter().map(|cell| cell.lines().count()).max().unwrap_or(0).max(1);
        for line in 0..height {
            let mut text = indent.to_owned();
            for (cell, width_of_column) in row.iter().zip(&widths) {
                let part = cell.lines().nth(line).unwrap_or_default();
                text.push_str(part);
                text.extend(std::iter::repeat_n(
                    ' ',
                    width_of_column.saturating_sub(width(part)) + 2,
                ));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
    }
    out
}

/// How wide a terminal shows it: colour sequences of ours take no room.
fn width(text: &str) -> usize {
    let mut count = 0;
    let mut inside = false;
    for c in text.chars() {
        match (inside, c) {
            (false, '\x1b') => inside = true,
            (true, 'm') => inside = false,
            (true, _) => {}
            (false, _) => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter()
            .map(|row| row.iter().map(|cell| (*cell).to_owned()).collect())
            .collect()
    }

    #[test]
    fn plain_json_means_the_same_and_hides_nothing() {
        let text = "a\u{9b}31m\u{202e}b\u{7f}\u{e0041}é\n⚠";
        let json = plain_json(serde_json::to_string_pretty(&[text]).unwrap());
        assert_eq!(json, "[\n  \"a\\u009b31m\\u202eb\\u007f\\udb40\\udc41é\\n⚠\"\n]");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_spaces() {
        let table = columns(&rows(&[&["a", "bb", "c"], &["aaa", "b", ""], &["ä", "", "x"]]), "  ");
        assert_eq!(table, "  a    bb  c\n  aaa  b\n  ä        x\n");
    }

    #[test]
    fn a_cell_of_several_lines_continues_below_itself() {
        let table = columns(&rows(&[&["x", "one\ntwo", "z"], &["y", "three", "z"]]), "");
        assert_eq!(table, "x  one    z\n   two\ny  three  z\n");
    }

    #[test]
    fn colours_take_no_room_and_nothing_is_printed_for_no_rows() {
        let table = columns(&rows(&[&["\x1b[32myes\x1b[0m", "b"], &["no", "b"]]), "");
        assert_eq!(table, "\x1b[32myes\x1b[0m  b\nno   b\n");
        assert_eq!(columns(&[], ""), "");
    }

    #[test]
    fn what_drives_a_terminal_is_made_visible() {
        assert_eq!(
            visible("a\x1b[31m\n\u{202e}\u{200b}ü"),
            "a\\u{1b}[31m\\n\\u{202e}\\u{200b}ü"
        );
    }

    #[test]
    fn what_cannot_be_seen_is_made_visible_and_an_emoji_stays_one() {
        for c in "\u{fe00}\u{fe0f}\u{e0100}\u{e01ef}\u{3164}\u{115f}\u{1160}\u{2800}\u{ffa0}\u{e0041}".chars() {
            assert_eq!(visible(&format!("a{c}")), format!("a{}", c.escape_default()));
        }
        assert_eq!(
            visible("\u{26a0}\u{fe0f} 한 가 ❤\u{fe0f}"),
            "\u{26a0}\u{fe0f} 한 가 ❤\u{fe0f}"
        );
        // One says nothing; a row of them could.
        assert_eq!(visible("❤\u{fe0f}\u{fe0f}\u{fe0e}"), "❤\u{fe0f}\\u{fe0f}\\u{fe0e}");
    }

    #[test]
    fn no_line_of_a_quoted_text_passes_for_one_of_ours() {
        assert_eq!(
            quoted("a\n\nstart it?\r\x1b", "  "),
            "  | a\n  | \n  | start it?\\r\\u{1b}\n"
        );
    }
}
