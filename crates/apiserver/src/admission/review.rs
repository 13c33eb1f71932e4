//! The admission review: a request as webhooks see it.

use std::borrow::Cow;

use serde_json::{Value, json};
use webhook::review::{GroupVersionKind, Operation};

use super::response::AdmissionResult;
use crate::call::Call;
use crate::http::notes::Notes;

/// A request that passes through admission.
#[derive(Debug)]
pub(crate) struct Review<'a> {
    /// The operation.
    pub(crate) operation: Operation,
    /// The kind of the objects: that of the resource or of its subresource.
    pub(crate) kind: GroupVersionKind,
    /// The object's name; empty while it is unknown, and for a collection.
    pub(crate) name: String,
    /// The object's namespace; that of a Namespace is its own name.
    pub(crate) namespace: String,
    /// The object after the request; absent for deletions.
    pub(crate) object: Option<Value>,
    /// The object before the request; absent for creations.
    pub(crate) old: Option<Cow<'a, Value>>,
    /// `CreateOptions`, `DeleteOptions` and so on.
    pub(crate) options: Value,
    /// Whether the request is a dry run.
    pub(crate) dry_run: bool,
    /// Warnings and audit annotations of webhooks.
    pub(crate) notes: Notes,
}

impl Review<'_> {
    /// The review of a request, without objects.
    pub(crate) fn new(call: &Call, operation: Operation, name: &str, dry_run: bool, options: Value) -> Self {
        let resource = &call.target.resource;
        let is_namespace = call.target.table == "namespaces";
        let namespace = if is_namespace { name } else { call.path.namespace.as_str() };
        let own = (resource.group.as_str(), resource.version.as_str(), resource.kind.as_str());
        let subresource = resource.subresource(&call.path.subresource);
        let (group, version, kind) = subresource.map_or(own, |subresource| {
            (subresource.group.as_str(), subresource.version.as_str(), subresource.kind.as_str())
        });
        let kind =
            GroupVersionKind { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() };
        Self {
            operation,
            kind,
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            object: None,
            old: None,
            options,
            dry_run,
            notes: Notes::default(),
        }
    }

    /// Adds the warnings and audit annotations of a webhook.
    pub(super) fn take_notes(&mut self, webhook: &str, result: &AdmissionResult) {
        self.notes.warn(result.warnings.iter().cloned());
        let annotations = result.annotations.iter();
        self.notes
            .annotations
            .extend(annotations.map(|(key, value)| (format!("{webhook}/{key}"), value.clone())));
    }
}

/// The options of a request as webhooks receive them.
pub(crate) fn options(call: &Call, kind: &str) -> Value {
    let mut options = json!({"apiVersion": "meta.k8s.io/v1", "kind": kind});
    for name in ["fieldManager", "fieldValidation"] {
        if !call.query.text(name).is_empty() && kind != "DeleteOptions" {
            options[name] = call.query.text(name).into();
        }
    }
    if call.query.dry_run() {
        options["dryRun"] = json!([call.query.text("dryRun")]);
    }
    options
}
