//! Aligned columns. Pure.

/// The first column to the left, the others to the right, two spaces between.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().map(|row| width(row.get(column))).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let padding = " ".repeat(width - cell.chars().count());
            match column {
                0 => line.push_str(&format!("{cell}{padding}")),
                _ => line.push_str(&format!("  {padding}{cell}")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

pub fn row<S: ToString>(cells: impl IntoIterator<Item = S>) -> Vec<String> {
    cells.into_iter().map(|cell| cell.to_string()).collect()
}

pub fn millis(value: f64) -> String {
    format!("{value:.2} ms")
}

pub fn kib(value: u64) -> String {
    format!("{value} KiB")
}

fn width(cell: Option<&String>) -> usize {
    cell.map_or(0, |cell| cell.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_characters_and_lines_end_without_blanks() {
        let rows = [row(["name", "×"]), row(["a", "10"]), row(["long name", ""])];
        assert_eq!(aligned(&rows), "name        ×\na          10\nlong name\n");
    }

    #[test]
    fn no_rows_make_no_text() {
        assert_eq!(aligned(&[]), "");
    }
}
