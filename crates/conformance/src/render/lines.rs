//! Lines of a text for a terminal.

use std::fmt::Write as _;

use super::style::View;

/// The text after a head that takes this many columns, wrapped below it.
pub(super) fn prefixed(out: &mut String, (head, columns): (&str, usize), text: &str, view: &View<'_>) {
    for (at, wrapped) in view.lines_beside(text, columns).iter().enumerate() {
        let indent = " ".repeat(columns);
        line(out, &format!("{}{wrapped}", if at == 0 { head } else { &indent }));
    }
}

/// A line of text, without blanks at its end.
pub(super) fn line(out: &mut String, text: &str) {
    writeln!(out, "{}", text.trim_end()).expect("writing to memory does not fail");
}
