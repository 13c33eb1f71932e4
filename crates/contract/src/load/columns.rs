//! Checks that each column of a table is used and changes the outcome.

use super::expand::{Context, UsedColumns};
use super::report::distance;
use super::table::{Table, TableRow};
use super::tree::BareWord;
use crate::model::Form;

impl Context<'_> {
    /// Reports unused columns, and inputs that change no outcome.
    pub(super) fn check_columns(&self, table: &Table, used: &UsedColumns) {
        for (at, column) in table.columns.iter().enumerate() {
            if !used.before.contains(&at) && !used.after.contains(&at) {
                let remedy =
                    format!("write `<{}>` in given, when, then or config, or remove the column", column.name);
                self.lint.add(
                    "unused-column",
                    column.span,
                    format!("column {:?} is not used", column.name),
                    remedy,
                );
            }
        }
        self.check_near_words(table, used);
        // Rows named in a column `case` are independent examples.
        // Times in a scenario may differ between rows without changing the outcome.
        let timed = match self.draft.form {
            Form::Scenario => used.after.is_empty(),
            // Each row is its own rule.
            Form::Objects => true,
            _ => false,
        };
        if timed || table.rows.len() < 2 || table.rows.iter().all(|row| row.case.is_some()) {
            return;
        }
        // A column that the source document has beside each version may have the same value in all rows.
        let same = |at: usize| table.rows.iter().all(|row| row.cells[at].raw == table.rows[0].cells[at].raw);
        let is_constant = |at: usize| self.draft.form == Form::Versions && same(at);
        for (at, column) in table.columns.iter().enumerate() {
            let is_input = used.before.contains(&at) && !used.after.contains(&at);
            if is_input && !is_constant(at) && !changes_outcome(table, at, used) {
                let message = format!("no two rows show that {:?} changes the outcome", column.name);
                let remedy =
                    "add a row that differs only in this column and in the outcome, or remove the column";
                self.lint.add("idle-column", column.span, message, remedy);
            }
        }
    }
}

impl Context<'_> {
    /// Reports an outcome that is almost an operator: it would be compared as a text, and no answer has it.
    fn check_near_words(&self, table: &Table, used: &UsedColumns) {
        let outcomes = used.after.difference(&used.before);
        for (at, row) in outcomes.flat_map(|at| table.rows.iter().map(move |row| (*at, row))) {
            let cell = &row.cells[at];
            let is_bare = cell.tree.text() == Some(cell.raw.as_str());
            let Some(near) = near_word(&cell.raw).filter(|_| is_bare) else { continue };
            let message = format!("{:?} is a text and not the operator `{near}`", cell.raw);
            let remedy = format!("did you mean `{near}`? If not, quote it: \"{}\"", cell.raw);
            self.lint.add("near-word", cell.tree.span, message, remedy);
        }
    }
}

/// The operator that a word is but for one letter.
fn near_word(text: &str) -> Option<&'static str> {
    let words = [BareWord::Present, BareWord::Absent, BareWord::Unchanged].map(BareWord::name);
    words.into_iter().find(|word| distance(text, word) == 1)
}

/// Whether two rows differ in this column and in the outcome, but in no other input.
fn changes_outcome(table: &Table, column: usize, used: &UsedColumns) -> bool {
    let others: Vec<usize> = used.before.iter().copied().filter(|at| *at != column).collect();
    let same = |a: &TableRow, b: &TableRow, at: &usize| a.cells[*at].raw == b.cells[*at].raw;
    let pairs =
        table.rows.iter().enumerate().flat_map(|(at, a)| table.rows[at + 1..].iter().map(move |b| (a, b)));
    pairs.into_iter().any(|(a, b)| {
        !same(a, b, &column)
            && others.iter().all(|at| same(a, b, at))
            && !used.after.iter().all(|at| same(a, b, at))
    })
}
