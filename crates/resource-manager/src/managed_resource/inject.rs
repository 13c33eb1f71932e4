//! Injects labels into every object of a ManagedResource, its pod template and its volume claim templates.

use std::collections::BTreeMap;

use serde_json::Value;

use super::unstructured::{self, at, at_mut, fields_at};

/// Why labels cannot be injected; the texts are the original's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InjectError {
    /// A value is not a map.
    #[error("{path} accessor error: {found} is of the type {kind}, expected {expected}")]
    Type {
        /// Dotted, with a leading dot.
        path: String,
        /// The value, as Go prints it.
        found: String,
        /// Its Go type.
        kind: &'static str,
        /// The wanted Go type.
        expected: &'static str,
    },
    /// A label of a template is not a string.
    #[error(
        "{path} accessor error: contains non-string key in the map: {found} is of the type {kind}, expected string"
    )]
    Label {
        /// Dotted, with a leading dot.
        path: String,
        /// The value, as Go prints it.
        found: String,
        /// Its Go type.
        kind: &'static str,
    },
    /// A volume claim template is not a map.
    #[error(
        "failed to inject labels into .spec.volumeClaimTemplates[{index}], is not a map[string]interface{{}}"
    )]
    Template {
        /// Its index.
        index: usize,
    },
}

/// GRM-MR-022: the labels to inject: those of the ManagedResource, and the managed-by label.
#[must_use]
pub fn labels_to_inject(
    inject: Option<&BTreeMap<String, String>>,
    managed_by: &str,
) -> BTreeMap<String, String> {
    let mut labels = inject.cloned().unwrap_or_default();
    labels.insert(api::resources::MANAGED_BY.to_owned(), managed_by.to_owned());
    labels
}

/// GRM-MR-023 and GRM-MR-024: sets labels of the object, of `spec.template` and of each of
/// `spec.volumeClaimTemplates`.
///
/// # Errors
/// When a template, or its labels, have the wrong type; the object must not be used then.
pub fn inject_labels(object: &mut Value, labels: &BTreeMap<String, String>) -> Result<(), InjectError> {
    if labels.is_empty() {
        return Ok(());
    }
    let mut own = unstructured::labels(object);
    own.extend(labels.clone());
    unstructured::put(object, &["metadata", "labels"], Some(unstructured::to_value(own)));
    if nested(object, &["spec", "template"], Expected::Map)?.is_some() {
        check_labels(object, &["spec", "template", "metadata", "labels"])?;
        add(at_mut(object, &["spec", "template"]), labels);
    }
    inject_into_claims(object, labels)
}

fn inject_into_claims(object: &mut Value, labels: &BTreeMap<String, String>) -> Result<(), InjectError> {
    let path = ["spec", "volumeClaimTemplates"];
    let Some(Value::Array(templates)) = nested(object, &path, Expected::List)? else { return Ok(()) };
    for (index, template) in templates.iter().enumerate() {
        if !template.is_object() {
            return Err(InjectError::Template { index });
        }
        check_labels(template, &["metadata", "labels"])?;
    }
    for template in at_mut(object, &path).and_then(Value::as_array_mut).into_iter().flatten() {
        add(Some(template), labels);
    }
    Ok(())
}

fn add(template: Option<&mut Value>, labels: &BTreeMap<String, String>) {
    let fields = template.and_then(|template| fields_at(template, &["metadata", "labels"]));
    if let Some(fields) = fields {
        let values = labels.iter().map(|(key, label)| (key.clone(), Value::from(label.as_str())));
        fields.extend(values);
    }
}

/// Checks that the labels at a path are absent or strings.
fn check_labels(object: &Value, path: &[&str]) -> Result<(), InjectError> {
    let Some(labels) = nested(object, path, Expected::Map)? else { return Ok(()) };
    let mut values = labels.as_object().into_iter().flatten().map(|(_, value)| value);
    let Some(other) = values.find(|value| !value.is_string()) else { return Ok(()) };
    let path = format!(".{}", path.join("."));
    Err(InjectError::Label { path, found: go_value(other), kind: go_type(other) })
}

#[derive(Clone, Copy)]
enum Expected {
    Map,
    List,
}

/// The map or list at a path; `None` if it or a parent is absent or a parent is null.
fn nested<'a>(
    object: &'a Value,
    path: &[&str],
    expected: Expected,
) -> Result<Option<&'a Value>, InjectError> {
    let wrong = |length: usize, found: &Value, expected| InjectError::Type {
        path: format!(".{}", path[..length].join(".")),
        found: go_value(found),
        kind: go_type(found),
        expected,
    };
    for length in 1..path.len() {
        match at(object, &path[..length]) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Object(_)) => {}
            Some(other) => return Err(wrong(length + 1, other, "map[string]interface{}")),
        }
    }
    match (at(object, path), expected) {
        (None, _) => Ok(None),
        (Some(value @ Value::Object(_)), Expected::Map) | (Some(value @ Value::Array(_)), Expected::List) => {
            Ok(Some(value))
        }
        (Some(other), Expected::Map) => Err(wrong(path.len(), other, "map[string]interface{}")),
        (Some(other), Expected::List) => Err(wrong(path.len(), other, "[]interface{}")),
    }
}

/// A JSON value as Go's `%v` prints it.
fn go_value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_value).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let pairs = fields.iter().map(|(key, value)| format!("{key}:{}", go_value(value)));
            format!("map[{}]", pairs.collect::<Vec<_>>().join(" "))
        }
    }
}

/// The Go type of a JSON value, as `%T` prints it.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn labels() -> BTreeMap<String, String> {
        labels_to_inject(Some(&BTreeMap::from([("shoot".to_owned(), "yes".to_owned())])), "gardener")
    }

    fn injected() -> Value {
        json!({"shoot": "yes", api::resources::MANAGED_BY: "gardener"})
    }

    #[test]
    fn the_managed_by_label_cannot_be_overridden() {
        let inject = BTreeMap::from([(api::resources::MANAGED_BY.to_owned(), "me".to_owned())]);
        let wanted = BTreeMap::from([(api::resources::MANAGED_BY.to_owned(), "gardener".to_owned())]);
        assert_eq!(labels_to_inject(Some(&inject), "gardener"), wanted);
        assert_eq!(labels_to_inject(None, "gardener"), wanted);
    }

    fn with(more: &Value) -> Value {
        let mut labels = injected();
        labels.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        labels
    }

    #[rstest]
    #[case::new(json!({}), json!({"metadata": {"labels": injected()}}))]
    #[case::over(
        json!({"metadata": {"labels": {"a": "b", "shoot": "no"}}}), json!({"metadata": {"labels": with(&json!({"a": "b"}))}})
    )]
    #[case::pod_template(
        json!({"spec": {"template": {"spec": {}}}}),
        json!({"metadata": {"labels": injected()}, "spec": {"template": {"metadata": {"labels": injected()}, "spec": {}}}})
    )]
    #[case::pod_template_labels(
        json!({"spec": {"template": {"metadata": {"name": "x", "labels": {"a": "b"}}}}}),
        json!({
            "metadata": {"labels": injected()},
            "spec": {"template": {"metadata": {"name": "x", "labels": with(&json!({"a": "b"}))}}},
        })
    )]
    #[case::claim_templates(
        json!({"spec": {"volumeClaimTemplates": [{}, {"metadata": {"labels": {"a": "b"}}, "spec": 1}]}}),
        json!({
            "metadata": {"labels": injected()},
            "spec": {"volumeClaimTemplates": [
                {"metadata": {"labels": injected()}}, {"metadata": {"labels": with(&json!({"a": "b"}))}, "spec": 1}
            ]},
        })
    )]
    #[case::neither_selector_nor_job_template(
        json!({"spec": {"selector": {"matchLabels": {}}, "jobTemplate": {"spec": {"template": {}}}}}),
        json!({
            "metadata": {"labels": injected()},
            "spec": {"selector": {"matchLabels": {}}, "jobTemplate": {"spec": {"template": {}}}},
        })
    )]
    #[case::no_spec(json!({"spec": null}), json!({"metadata": {"labels": injected()}, "spec": null}))]
    fn labels_are_put_over_those_of_object_and_templates(#[case] object: Value, #[case] wanted: Value) {
        let mut object = object;
        inject_labels(&mut object, &labels()).expect("it can take labels");
        assert_eq!(object, wanted);
    }

    #[test]
    fn without_labels_nothing_is_checked() {
        let mut object = json!({"spec": "odd"});
        assert_eq!(inject_labels(&mut object, &BTreeMap::new()), Ok(()));
        assert_eq!(object, json!({"spec": "odd"}));
    }

    #[rstest]
    #[case(json!({"spec": "odd"}), ".spec.template accessor error: odd is of the type string, expected map[string]interface{}")]
    #[case(json!({"spec": {"template": 3}}), ".spec.template accessor error: 3 is of the type float64, expected map[string]interface{}")]
    #[case(json!({"spec": {"template": null}}), ".spec.template accessor error: <nil> is of the type <nil>, expected map[string]interface{}")]
    #[case(json!({"spec": {"template": {"metadata": [1]}}}), ".spec.template.metadata.labels accessor error: [1] is of the type []interface {}, expected map[string]interface{}")]
    #[case(json!({"spec": {"template": {"metadata": {"labels": null}}}}), ".spec.template.metadata.labels accessor error: <nil> is of the type <nil>, expected map[string]interface{}")]
    #[case(json!({"spec": {"template": {"metadata": {"labels": {"a": true}}}}}), ".spec.template.metadata.labels accessor error: contains non-string key in the map: true is of the type bool, expected string")]
    #[case(json!({"spec": {"volumeClaimTemplates": {"a": [null]}}}), ".spec.volumeClaimTemplates accessor error: map[a:[<nil>]] is of the type map[string]interface {}, expected []interface{}")]
    #[case(json!({"spec": {"volumeClaimTemplates": [{}, "x"]}}), "failed to inject labels into .spec.volumeClaimTemplates[1], is not a map[string]interface{}")]
    #[case(json!({"spec": {"volumeClaimTemplates": [{"metadata": {"labels": {"a": {}}}}]}}), ".metadata.labels accessor error: contains non-string key in the map: map[] is of the type map[string]interface {}, expected string")]
    fn invalid_templates_have_gos_error_texts(#[case] object: Value, #[case] wanted: &str) {
        let mut object = object;
        let error = inject_labels(&mut object, &labels()).map_err(|error| error.to_string());
        assert_eq!(error, Err(wanted.to_owned()));
    }
}
