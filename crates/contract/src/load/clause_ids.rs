//! The ids of clauses, which no two clauses may share.

use std::collections::{BTreeMap, BTreeSet};

use super::report::Report;
use super::tree::Span;

/// The ids of all clauses.
#[derive(Default)]
pub(crate) struct ClauseIds {
    /// The first clause of each id.
    first: BTreeMap<String, Span>,
    /// Clauses whose id another clause has already, by the files of both.
    duplicates: BTreeMap<(usize, usize), Vec<(String, Span)>>,
}

impl ClauseIds {
    /// Adds the clause at this position.
    pub(crate) fn add(&mut self, id: &str, span: Span) {
        match self.first.get(id) {
            Some(first) => {
                self.duplicates.entry((first.file, span.file)).or_default().push((id.to_owned(), span));
            }
            None => drop(self.first.insert(id.to_owned(), span)),
        }
    }

    /// Reports ids that several clauses have, once for each pair of files: if a file was copied, all others only follow from that.
    pub(crate) fn report_duplicates(self, report: &Report<'_>) -> BTreeSet<String> {
        for ((of_first, of_second), duplicates) in &self.duplicates {
            let mut shown = duplicates.len();
            let mut further = String::new();
            if of_first != of_second && duplicates.len() > 1 {
                shown = 1;
                let others = duplicates.len() - 1;
                let noun = if others == 1 { "id" } else { "ids" };
                further = format!(", and {others} further {noun} of this file");
            }
            for (id, span) in &duplicates[..shown] {
                let first = self.first[id];
                let place = format!("{}:{}", report.files[first.file].path, first.mark.line);
                let message = format!("duplicate id {id}: {place} uses it already{further}");
                let remedy = if further.is_empty() {
                    "give the clause a new id; ids are never reused"
                } else {
                    "remove one of the files, or give its clauses new ids; ids are never reused"
                };
                report.add("duplicate-id", *span, message, remedy);
            }
        }
        self.first.into_keys().collect()
    }
}
