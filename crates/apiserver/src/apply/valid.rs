//! What is wrong with a configuration before it is applied, in the words of kube-apiserver.

use std::collections::BTreeSet;

use serde_json::Value;

use super::place::{Form, Place, held};

/// What does not fit the schema, as `.spec.x: field not declared in schema`; empty if all fits. `again` allows an
/// element of a list to be there more than once.
pub(crate) fn errors(place: &Place, value: &Value, again: bool) -> Vec<String> {
    let mut found = Vec::new();
    at(place, value, again, "", &mut found);
    found
}

/// The errors as one message.
pub(crate) fn joined(errors: &[String]) -> String {
    match errors {
        [one] => one.clone(),
        many => std::iter::once("errors:".to_owned())
            .chain(many.iter().map(|error| format!("  {error}")))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn at(place: &Place, value: &Value, again: bool, path: &str, found: &mut Vec<String>) {
    let mut say = |path: &str, why: String| {
        found.push(if path.is_empty() { why } else { format!("{path}: {why}") });
    };
    match (place.form(Some(value)), value) {
        (Form::Scalar, value) => {
            if let Some(why) = place.scalar_error(value) {
                say(path, why);
            }
        }
        (_, Value::Null) => {}
        (Form::List, Value::Array(items)) => list(place, items, again, path, found),
        (Form::List, other) => say(path, format!("expected list, got {}", held(other))),
        (_, Value::Object(fields)) => {
            for (name, value) in fields {
                let path = format!("{path}.{name}");
                let Some((below, _)) = place.child(name) else {
                    found.push(format!("{path}: field not declared in schema"));
                    break;
                };
                at(&below, value, again, &path, found);
            }
        }
        (_, other) => say(path, format!("expected map, got {}", held(other))),
    }
}

fn list(place: &Place, items: &[Value], again: bool, path: &str, found: &mut Vec<String>) {
    let below = place.items();
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let step = if place.is_atomic(Form::List) {
            format!("[{index}]")
        } else {
            match place.element(item) {
                Ok(element) => {
                    let step = element.to_string();
                    if !seen.insert(element) && !again {
                        found.push(format!("{path}: duplicate entries for key {step}"));
                    }
                    step
                }
                Err(why) => {
                    found.push(format!("{path}: element {index}: {why}"));
                    return;
                }
            }
        };
        at(&below, item, again, &format!("{path}{step}"), found);
    }
}
