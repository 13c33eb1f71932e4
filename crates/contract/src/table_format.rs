//! The formatter of `fmt`: aligns the columns of tables and changes nothing else.

/// The text with its tables aligned.
#[must_use]
pub fn align(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut aligned = String::with_capacity(text.len());
    let mut at = 0;
    while at < lines.len() {
        let rows = lines[at..].iter().take_while(|line| is_row(line)).count();
        match rows {
            0 => {
                aligned.push_str(lines[at]);
                at += 1;
            }
            rows => {
                aligned.push_str(&table(&lines[at..at + rows]));
                at += rows;
            }
        }
    }
    aligned
}

fn is_row(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && line.starts_with('|') && line.ends_with('|') && !line.ends_with("\\|")
}

fn table(lines: &[&str]) -> String {
    let rows: Vec<Vec<&str>> = lines.iter().map(|line| cells(line.trim())).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    // Lint reports rows of different length; they stay unchanged.
    if rows.iter().any(|row| row.len() != columns) {
        return lines.concat();
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let indent = &lines[0][..lines[0].len() - lines[0].trim_start().len()];
    let mut aligned = String::new();
    for (line, row) in lines.iter().zip(&rows) {
        aligned.push_str(indent);
        aligned.push('|');
        for (cell, width) in row.iter().zip(&widths) {
            let padding = " ".repeat(width - cell.chars().count());
            aligned.extend([" ", cell, &padding, " |"]);
        }
        aligned.push_str(if line.ends_with('\n') { "\n" } else { "" });
    }
    aligned
}

/// The trimmed cells of `| a | b |`; an escaped bar is part of its cell.
fn cells(row: &str) -> Vec<&str> {
    let inner = &row[1..row.len() - 1];
    let mut cells = Vec::new();
    let mut start = 0;
    let mut escaped = false;
    for (at, c) in inner.char_indices() {
        if c == '|' && !escaped {
            cells.push(inner[start..at].trim());
            start = at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    cells.push(inner[start..].trim());
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_nothing_else_changes() {
        let text = "a: 1   # comment\n  table: |\n    | x | longer|\n    | \"a \\| b\" | ~ |\n  b:  2\n";
        let wanted = "a: 1   # comment\n  table: |\n    | x        | longer |\n    | \"a \\| b\" | ~      |\n  b:  2\n";
        assert_eq!(align(text), wanted);
        assert_eq!(align(wanted), wanted, "aligning twice changes nothing");
    }

    #[test]
    fn empty_cells_and_a_last_line_without_newline_stay() {
        assert_eq!(align("| a | |\n| bb | c |"), "| a  |   |\n| bb | c |");
    }

    #[test]
    fn rows_of_different_length_are_left_for_lint() {
        let text = "| a | b |\n| c |\n";
        assert_eq!(align(text), text);
    }
}
