//! Text for a terminal: aligned columns, and nothing that drives it.
//!
//! Pure. INVARIANT: what came from a file or a path is passed through `visible` before it is printed.

/// Control, bidi and zero-width characters made visible; a newline too, so that one value stays on one line.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let invisible = matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
        if c.is_control() || invisible {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
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
}
