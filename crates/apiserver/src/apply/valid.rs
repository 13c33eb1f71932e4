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

/// Whether the elements of every keyed list and set say what tells them apart.
pub(crate) fn tells_apart(place: &Place, value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().all(|(name, value)| {
            let holds = value.is_object() || value.is_array();
            !holds || place.child(name).is_none_or(|(below, _)| tells_apart(&below, value))
        }),
        Value::Array(items) if place.form(Some(value)) == Form::List => {
            let (below, atomic) = (place.items(), place.is_atomic(Form::List));
            items.iter().all(|item| (atomic || place.element(item).is_ok()) && tells_apart(&below, item))
        }
        _ => true,
    }
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

#[cfg(test)]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn elements_say_what_tells_them_apart() {
        let ty = Kinds::kubernetes().type_of("", "v1", "ServiceAccount").expect("a kind of Kubernetes");
        let place = Place::root(ty, true);
        let table = [
            (json!({"secrets": [{"name": "a"}], "imagePullSecrets": [{}]}), true),
            (json!({"secrets": [{"name": "a"}, {"namespace": "b"}]}), false),
            (json!({"metadata": {"name": "a"}}), true),
        ];
        for (object, want) in table {
            assert_eq!(tells_apart(&place, &object), want, "{object}");
        }
    }
}
