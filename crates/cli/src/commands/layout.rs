//! Tables and lists that fit the terminal: what is long wraps below its column, and never widens the others.

use conformance::render::{self, plural};
use jiff::Timestamp;

/// Space before each line of a table.
const INDENT: &str = "  ";
/// Space between columns.
const GAP: usize = 2;
/// The narrowest last column; if the others leave less, it begins on a separate line.
const NARROWEST: usize = 16;

/// The text in lines of this width; all of them indented by this.
pub(crate) fn wrap(text: &str, width: usize, indent: &str) -> String {
    format!("{}\n", render::wrap(text, width, indent, indent))
}

/// The same, with lines after the first indented by more.
pub(crate) fn hang(text: &str, width: usize, indent: &str) -> String {
    format!("{}\n", render::wrap(text, width, indent, &format!("{indent}  ")))
}

/// A table whose columns are as wide as their widest cells; the last column wraps.
pub(crate) fn table(rows: &[Vec<String>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.saturating_sub(1)).map(widest).collect();
    let before = INDENT.len() + widths.iter().map(|width| width + GAP).sum::<usize>();
    let room = width.saturating_sub(before);
    let is_below = room < NARROWEST && widest(columns.saturating_sub(1)) > room;
    rows.iter().map(|row| line(row, &widths, (before, room), width, is_below)).collect()
}

fn line(
    row: &[String],
    widths: &[usize],
    (before, room): (usize, usize),
    width: usize,
    is_below: bool,
) -> String {
    let first: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
    let first = format!("{INDENT}{}", first.join("  "));
    let Some(last) = row.get(widths.len()) else { return format!("{}\n", first.trim_end()) };
    if is_below {
        let deeper = format!("{INDENT}    ");
        return format!("{}\n{}", first.trim_end(), wrap(last, width, &deeper));
    }
    let gap = " ".repeat(if widths.is_empty() { 0 } else { GAP });
    let last = render::wrap(last, room.max(1), "", "");
    let mut lines = last.lines();
    let mut text = format!("{first}{gap}{}", lines.next().unwrap_or_default());
    text.truncate(text.trim_end().len());
    for line in lines {
        text.extend(["\n", &" ".repeat(before), line]);
    }
    format!("{text}\n")
}

/// `1 shoot`, `12 shoots`.
pub(crate) fn shoots(count: usize) -> String {
    plural(count, "shoot")
}

/// Names by time: `06-03 22:00 garden-dev/a, garden-dev/b; 06-04 22:00 garden-dev/c`.
pub(crate) fn by_time(entries: &[(Timestamp, &str)], format: &str) -> String {
    let mut entries = entries.to_vec();
    entries.sort();
    let mut times: Vec<(String, Vec<&str>)> = Vec::new();
    for (at, name) in entries {
        let at = at.strftime(format).to_string();
        match times.last_mut().filter(|(last, _)| *last == at) {
            Some((_, names)) => names.push(name),
            None => times.push((at, vec![name])),
        }
    }
    let of_time = times.iter().map(|(at, names)| format!("{at} {}", names.join(", ")));
    of_time.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
    }

    #[test]
    fn the_last_column_wraps_below_itself_and_widens_nothing() {
        let long = "a reason of many words that does not fit beside the others in so few columns";
        let text = table(&rows(&[&["1.27.4", "stays", "short"], &["1.27.3", "moves", long]]), 50);
        let want = "  1.27.4  stays  short\n  1.27.3  moves  a reason of many words that does\n                 \
                    not fit beside the others in so\n                 few columns\n";
        assert_eq!(text, want);
        assert!(table(&rows(&[&["a", long]]), 40).lines().all(|line| line.chars().count() <= 40));
    }

    #[test]
    fn a_last_column_without_room_begins_below() {
        let wide = "x".repeat(40);
        let text = table(&rows(&[&[&wide, "a reason of some words"]]), 50);
        assert_eq!(text, format!("  {wide}\n      a reason of some words\n"));
    }

    #[test]
    fn names_are_listed_once_for_each_time() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (one, other) = (at("2024-06-03T22:00:00Z"), at("2024-06-04T22:00:00Z"));
        let entries = [(other, "c"), (one, "a"), (one, "b")];
        assert_eq!(by_time(&entries, "%m-%d %H:%M"), "06-03 22:00 a, b; 06-04 22:00 c");
        assert_eq!(by_time(&entries, "%Y"), "2024 a, b, c");
    }
}
