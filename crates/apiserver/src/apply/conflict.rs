//! Fields that a configuration wants and others own, in the words of kube-apiserver.

use std::collections::BTreeMap;

use serde_json::json;
use webhook::field::quote;

use super::element::{Element, shown};
use super::owners::{Operation, Owner};
use super::set::FieldSet;
use crate::http::status::Status;

/// A field that somebody else owns with another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// Who owns it.
    pub(crate) owner: Owner,
    /// The field.
    pub(crate) path: Vec<Element>,
}

/// The conflicts about the fields of each owner; of one who writes through a subresource too, those of that come first.
pub(crate) fn all(fields: &BTreeMap<Owner, FieldSet>) -> Vec<Conflict> {
    let mut owners: Vec<&Owner> = fields.keys().collect();
    owners.sort_by_key(|owner| {
        (&owner.name, owner.operation, &owner.api_version, owner.subresource.is_empty(), &owner.subresource)
    });
    let of = |owner: &Owner| {
        let owner = owner.clone();
        fields[&owner].paths().into_iter().map(move |path| Conflict { owner: owner.clone(), path })
    };
    owners.into_iter().flat_map(of).collect()
}

/// The refusal: 409 with a cause for each field.
pub(crate) fn refusal(conflicts: &[Conflict]) -> Status {
    let causes: Vec<_> = conflicts
        .iter()
        .map(|conflict| {
            json!({
                "reason": "FieldManagerConflict",
                "message": format!("conflict with {}", named(&conflict.owner)),
                "field": shown(&conflict.path),
            })
        })
        .collect();
    let mut status = Status::plain(409, "Conflict", message(conflicts));
    status.details.insert("causes".to_owned(), causes.into());
    status
}

fn message(conflicts: &[Conflict]) -> String {
    if let [one] = conflicts {
        return format!(
            "Apply failed with 1 conflict: conflict with {}: {}",
            named(&one.owner),
            shown(&one.path)
        );
    }
    let mut lines = Vec::new();
    let mut last: Option<&Owner> = None;
    for conflict in conflicts {
        if last != Some(&conflict.owner) {
            lines.push(format!("conflicts with {}:", named(&conflict.owner)));
            last = Some(&conflict.owner);
        }
        lines.push(format!("- {}", shown(&conflict.path)));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

/// `"kubectl" with subresource "status" using apps/v1`.
fn named(owner: &Owner) -> String {
    let mut name = quote(&owner.name);
    if !owner.subresource.is_empty() {
        name = format!("{name} with subresource {}", quote(&owner.subresource));
    }
    match owner.operation {
        Operation::Apply => name,
        Operation::Update => format!("{name} using {}", owner.api_version),
    }
}
