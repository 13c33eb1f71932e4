//! Conflicts: fields that an applied configuration sets and other managers own, with kube-apiserver's messages.

use std::collections::BTreeMap;

use serde_json::json;
use webhook::field::quote;

use super::element::{Element, format_path};
use super::owners::{Operation, Owner};
use super::set::FieldSet;
use crate::http::status::Status;

/// A field that another manager owns with a different value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    /// The manager that owns it.
    pub(crate) owner: Owner,
    /// The field.
    pub(crate) path: Vec<Element>,
}

/// The conflicts of all owners. Of one manager, the conflicts through a subresource come first.
pub(crate) fn conflicts_with(fields: &BTreeMap<Owner, FieldSet>) -> Vec<Conflict> {
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

/// The answer: 409 with a cause for each field.
pub(crate) fn status(conflicts: &[Conflict]) -> Status {
    let causes: Vec<_> = conflicts
        .iter()
        .map(|conflict| {
            json!({
                "reason": "FieldManagerConflict",
                "message": format!("conflict with {}", describe_owner(&conflict.owner)),
                "field": format_path(&conflict.path),
            })
        })
        .collect();
    let mut status = Status::plain(409, "Conflict", message(conflicts));
    status.details.insert("causes".to_owned(), causes.into());
    status
}

fn message(conflicts: &[Conflict]) -> String {
    if let [conflict] = conflicts {
        return format!(
            "Apply failed with 1 conflict: conflict with {}: {}",
            describe_owner(&conflict.owner),
            format_path(&conflict.path)
        );
    }
    let mut lines = Vec::new();
    let mut last: Option<&Owner> = None;
    for conflict in conflicts {
        if last != Some(&conflict.owner) {
            lines.push(format!("conflicts with {}:", describe_owner(&conflict.owner)));
            last = Some(&conflict.owner);
        }
        lines.push(format!("- {}", format_path(&conflict.path)));
    }
    format!("Apply failed with {} conflicts: {}", conflicts.len(), lines.join("\n"))
}

/// `"kubectl" with subresource "status" using apps/v1`.
fn describe_owner(owner: &Owner) -> String {
    let mut name = quote(&owner.name);
    if !owner.subresource.is_empty() {
        name = format!("{name} with subresource {}", quote(&owner.subresource));
    }
    match owner.operation {
        Operation::Apply => name,
        Operation::Update => format!("{name} using {}", owner.api_version),
    }
}
