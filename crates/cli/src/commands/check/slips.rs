//! Warnings about fields of users' manifests that their kinds do not have: an API server would drop them.

use std::collections::BTreeMap;

use conformance::objects::Read;
use contract::manifest;

use crate::terminal::Terminal;

/// Number of warnings that are printed; the rest is counted.
const PRINTED: usize = 20;

/// Unknown fields by kind and path, whatever the object.
#[derive(Default)]
pub(super) struct Slips(BTreeMap<(String, String), Slip>);

struct Slip {
    /// The first object with the field.
    origin: String,
    remedy: String,
    objects: usize,
}

impl Slips {
    /// Notes the unknown fields of an object.
    pub(super) fn note(&mut self, read: &Read) {
        let kind = read.object["kind"].as_str().unwrap_or_default();
        for (field, _) in manifest::by_place(manifest::unknown_fields(&read.object)) {
            let slip = self.0.entry((kind.to_owned(), field.path)).or_insert_with(|| Slip {
                origin: read.origin.clone(),
                remedy: field.remedy,
                objects: 0,
            });
            slip.objects += 1;
        }
    }

    /// Prints them to standard error.
    pub(super) fn print(&self, terminal: &Terminal) {
        for ((kind, path), Slip { origin, remedy, objects }) in self.0.iter().take(PRINTED) {
            let others = if *objects > 1 { format!(" (in {objects} objects)") } else { String::new() };
            let text = format!("warning: {origin}: a {kind} has no field {path}{others}; {remedy}");
            terminal.note(&terminal.wrap(&text, "  "));
        }
        if self.0.len() > PRINTED {
            terminal.note(&format!("warning: {} more unknown fields", self.0.len() - PRINTED));
        }
    }
}
