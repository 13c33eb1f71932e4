//! Whether each column of a table is used, and changes something.

use super::expand::{Context, Used};
use super::table::{Row, Table};
use crate::model::Form;

impl Context<'_> {
    /// Notes columns that are not used, and inputs that change nothing.
    pub(super) fn check_columns(&self, table: &Table, used: &Used) {
        for (at, column) in table.columns.iter().enumerate() {
            if !used.before.contains(&at) && !used.after.contains(&at) {
                let remedy = format!("write `<{}>` where it matters, or drop it", column.name);
                self.lint.add(
                    "unused-column",
                    column.span,
                    format!("column {:?} is not used", column.name),
                    remedy,
                );
            }
        }
        // Rows that are named by hand are examples, each for itself.
        // Times may differ from row to row in a scenario without any other outcome.
        let timed = match self.draft.form {
            Form::Scenario => used.after.is_empty(),
            // Each row is a rule of its own.
            Form::Objects => true,
            _ => false,
        };
        if timed || table.rows.len() < 2 || table.rows.iter().all(|row| row.case.is_some()) {
            return;
        }
        // What a document draws beside each of its versions may be the same throughout.
        let same = |at: usize| table.rows.iter().all(|row| row.cells[at].raw == table.rows[0].cells[at].raw);
        let drawn = |at: usize| self.draft.form == Form::Versions && same(at);
        for (at, column) in table.columns.iter().enumerate() {
            let is_input = used.before.contains(&at) && !used.after.contains(&at);
            if is_input && !drawn(at) && !matters(table, at, used) {
                let message = format!("no two rows show that {:?} changes the outcome", column.name);
                let remedy = "add a row that differs in it alone, or drop it";
                self.lint.add("idle-column", column.span, message, remedy);
            }
        }
    }
}

/// Whether two rows differ in this column and in the outcome, and in no other input.
fn matters(table: &Table, column: usize, used: &Used) -> bool {
    let others: Vec<usize> = used.before.iter().copied().filter(|at| *at != column).collect();
    let same = |a: &Row, b: &Row, at: &usize| a.cells[*at].raw == b.cells[*at].raw;
    let pairs =
        table.rows.iter().enumerate().flat_map(|(at, a)| table.rows[at + 1..].iter().map(move |b| (a, b)));
    pairs.into_iter().any(|(a, b)| {
        !same(a, b, &column)
            && others.iter().all(|at| same(a, b, at))
            && !used.after.iter().all(|at| same(a, b, at))
    })
}
