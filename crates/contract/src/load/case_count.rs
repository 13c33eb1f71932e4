//! Counts the cases of a clause without expanding them.

use super::draft::{Clause, Draft};
use super::flags;
use super::tree::Tree;
use super::variants;
use crate::model::Form;

/// The number of cases; `None` if it depends on the objects of namespaces (form objects).
pub(crate) fn of(draft: &Draft, clause: &Clause) -> Option<usize> {
    let rows = clause.table.as_ref().map_or(1, |table| match draft.form {
        Form::Flags => table.rows.iter().filter(|row| flags::has_cases(row)).count(),
        _ => table.rows.len(),
    });
    let empty = Tree::empty(clause.span);
    let variants = |given: Option<&Tree>, when: Option<&Tree>| {
        variants::of(given.unwrap_or(&empty), when.unwrap_or(&empty)).len()
    };
    match draft.form {
        Form::Objects => None,
        Form::Scenario | Form::Configuration => Some(rows),
        Form::Versions => {
            let when = clause.when.as_ref().or(draft.versions_form.when.as_ref());
            let places = clause.versions_form.runs_on.as_ref().or(draft.versions_form.runs_on.as_ref());
            let places = places.map_or(0, |places| places.list().map_or(1, <[Tree]>::len));
            Some(rows * variants(None, when) * places)
        }
        Form::Mutation | Form::Validation | Form::Flags | Form::Process => {
            Some(rows * variants(clause.given.as_ref(), clause.when.as_ref()))
        }
    }
}
