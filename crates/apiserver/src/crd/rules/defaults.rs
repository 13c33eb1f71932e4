//! Whether the defaults of a structural schema are valid for it.
//!
//! Source: k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting (validation.go).

use std::collections::BTreeMap;

use serde_json::json;
use webhook::field::{Error, ErrorKind, Shown};

use super::super::field_error::error;
use super::Node;
use crate::object::structural::{self, Schema};

/// The errors of the defaults at the root, in fields and in elements of lists.
pub(super) fn check(root: Node<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    walk(root, true, &mut errors);
    errors
}

fn walk(node: Node<'_>, is_root: bool, errors: &mut Vec<Error>) {
    check_one(node, is_root, errors);
    if let Some(keywords) = node.below("items") {
        walk(Node { path: &node.at("items"), keywords }, false, errors);
    }
    for (name, keywords) in node.entries("properties") {
        walk(Node { path: &node.at(&format!("properties[{name}]")), keywords }, false, errors);
    }
}

fn check_one(node: Node<'_>, is_root: bool, errors: &mut Vec<Error>) {
    const FIELD: &str = "value";
    let Some(default) = node.get("default") else { return };
    let at = node.at("default");
    let mut schema = Schema::read(&node.keywords.clone().into());
    // The root is a resource as good as an embedded one.
    schema.embedded |= is_root;
    let holder = Schema { properties: BTreeMap::from([(FIELD.to_owned(), schema)]), ..Schema::default() };
    if !structural::prune(&mut json!({FIELD: default}), &holder).is_empty() {
        let value = Some(Shown::verbatim(default));
        errors.push(error(ErrorKind::Invalid, &at, value, "must not have unknown fields"));
    }
    let Some(schema) = holder.properties.get(FIELD) else { return };
    errors.extend(structural::default_errors(default, schema).into_iter().map(|mut error| {
        error.field = match error.field.as_str() {
            "" | structural::NO_FIELD => at.clone(),
            field => format!("{at}.{field}"),
        };
        error
    }));
}
