//! Schema errors of an applied configuration, in kube-apiserver's words.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::element::Element;
use super::schema_node::{Form, SchemaNode, format_go_struct};

/// The schema violations, such as `.spec.x: field not declared in schema`. With `allow_duplicates`, keys of lists may
/// occur more than once.
pub(crate) fn errors(node: &SchemaNode, value: &Value, allow_duplicates: bool) -> Vec<String> {
    let mut errors = Vec::new();
    check_value(node, value, allow_duplicates, FieldPath::Root, &mut errors);
    errors
}

/// Whether all elements of keyed lists and sets have a valid key.
pub(crate) fn has_list_keys(node: &SchemaNode, value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            let is_tree = value.is_object() || value.is_array();
            !is_tree || node.child(name).is_none_or(|(below, _)| has_list_keys(&below, value))
        }),
        Value::Array(items) if node.form(Some(value)) == Form::List => {
            let (below, atomic) = (node.items(), node.is_atomic(Form::List));
            items.iter().all(|item| (atomic || node.element(item).is_ok()) && has_list_keys(&below, item))
        }
        _ => true,
    }
}

/// Joins errors into one message.
pub(crate) fn join(errors: &[String]) -> String {
    match errors {
        [one] => one.clone(),
        many => std::iter::once("errors:".to_owned())
            .chain(many.iter().map(|error| format!("  {error}")))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// The path of a value. It is a text only in an error: most values have none.
#[derive(Clone, Copy)]
enum FieldPath<'a> {
    Root,
    Field(&'a Self, &'a str),
    Element(&'a Self, &'a Element),
    Index(&'a Self, usize),
}

impl fmt::Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(above, name) => write!(f, "{above}.{name}"),
            Self::Element(above, element) => write!(f, "{above}{element}"),
            Self::Index(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}

fn check_value(
    node: &SchemaNode,
    value: &Value,
    allow_duplicates: bool,
    path: FieldPath<'_>,
    errors: &mut Vec<String>,
) {
    let mut push = |why: String| {
        errors.push(if matches!(path, FieldPath::Root) { why } else { format!("{path}: {why}") });
    };
    match (node.form(Some(value)), value) {
        (Form::Scalar, value) => {
            if let Some(why) = node.scalar_error(value) {
                push(why);
            }
        }
        (_, Value::Null) => {}
        (Form::List, Value::Array(items)) => check_list(node, items, allow_duplicates, path, errors),
        (Form::List, other) => push(format!("expected list, got {}", format_go_struct(other))),
        (_, Value::Object(fields)) => {
            for (name, value) in fields {
                let path = FieldPath::Field(&path, name);
                let Some((below, _)) = node.child(name) else {
                    errors.push(format!("{path}: field not declared in schema"));
                    break;
                };
                check_value(&below, value, allow_duplicates, path, errors);
            }
        }
        (_, other) => push(format!("expected map, got {}", format_go_struct(other))),
    }
}

fn check_list(
    node: &SchemaNode,
    items: &[Value],
    allow_duplicates: bool,
    path: FieldPath<'_>,
    errors: &mut Vec<String>,
) {
    let (below, atomic) = (node.items(), node.is_atomic(Form::List));
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        if atomic {
            check_value(&below, item, allow_duplicates, FieldPath::Index(&path, index), errors);
            continue;
        }
        let element = match node.element(item) {
            Ok(element) => element,
            Err(why) => {
                errors.push(format!("{path}: element {index}: {why}"));
                return;
            }
        };
        if !allow_duplicates && seen.contains(&element) {
            errors.push(format!("{path}: duplicate entries for key {element}"));
        }
        check_value(&below, item, allow_duplicates, FieldPath::Element(&path, &element), errors);
        seen.insert(element);
    }
}

#[cfg(test)]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn elements_of_keyed_lists_have_their_keys() {
        let ty = Kinds::kubernetes().type_of("", "v1", "ServiceAccount").expect("a kind of Kubernetes");
        let node = SchemaNode::root(ty, true);
        let table = [
            (json!({"secrets": [{"name": "a"}], "imagePullSecrets": [{}]}), true),
            (json!({"secrets": [{"name": "a"}, {"namespace": "b"}]}), false),
            (json!({"metadata": {"name": "a"}}), true),
        ];
        for (object, want) in table {
            assert_eq!(has_list_keys(&node, &object), want, "{object}");
        }
    }
}
