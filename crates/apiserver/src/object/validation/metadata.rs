//! Validates the metadata of all objects: labels, annotations, owners, finalizers.

use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

/// Largest total size of the annotations, in bytes.
const MAX_ANNOTATIONS_SIZE: usize = 256 * 1024;

/// The errors of labels and annotations in the metadata at a path.
pub(crate) fn label_and_annotation_errors(path: &str, metadata: &Value) -> Vec<Error> {
    let mut errors = labels(&format!("{path}.labels"), metadata.get("labels"));
    errors.extend(annotation_errors(&format!("{path}.annotations"), metadata.get("annotations")));
    errors
}

/// The errors of labels.
pub(crate) fn labels(path: &str, labels: Option<&Value>) -> Vec<Error> {
    let entries = labels.and_then(Value::as_object).into_iter().flatten();
    entries
        .flat_map(|(key, value)| {
            let value = value.as_str().unwrap_or_default();
            let keys = formats::name::label_key(key).into_iter().map(move |why| (key.as_str(), why));
            keys.chain(formats::name::label_value(value).into_iter().map(move |why| (value, why)))
        })
        .map(|(value, why)| invalid(path, value, &why))
        .collect()
}

/// The errors of owner references and finalizers in a metadata.
pub(crate) fn owner_and_finalizer_errors(path: &str, metadata: &Value) -> Vec<Error> {
    let mut errors = owner_errors_of(path, metadata);
    let finalizers = metadata.get("finalizers").and_then(Value::as_array).into_iter().flatten();
    for finalizer in finalizers.filter_map(Value::as_str) {
        let problems = formats::name::label_key(finalizer);
        errors.extend(problems.iter().map(|why| invalid(&format!("{path}.finalizers"), finalizer, why)));
    }
    errors
}

/// The errors of owner references in a metadata.
pub(crate) fn owner_errors_of(path: &str, metadata: &Value) -> Vec<Error> {
    let at = format!("{path}.ownerReferences");
    let owners: Vec<&Value> =
        metadata.get("ownerReferences").and_then(Value::as_array).into_iter().flatten().collect();
    let mut errors = Vec::new();
    let mut first = None;
    for owner in &owners {
        errors.extend(owner_errors(&at, owner));
        if owner.get("controller") != Some(&Value::Bool(true)) {
            continue;
        }
        let name = format!("{}/{}", text(owner, "kind"), text(owner, "name"));
        if let Some(first) = &first {
            let why = format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {name}"
            );
            errors.push(Error { value: Some(format_owners(&owners).0), ..invalid(&at, "", &why) });
        } else {
            first = Some(name);
        }
    }
    errors
}

/// The errors of finalizers of a core object: they must be standard or have a domain.
pub(crate) fn core_finalizers(metadata: &Value) -> Vec<Error> {
    let finalizers = metadata.get("finalizers").and_then(Value::as_array).into_iter().flatten();
    let named = finalizers.filter_map(Value::as_str).enumerate();
    named
        .filter_map(|(index, name)| unqualified_finalizer(&format!("metadata.finalizers[{index}]"), name))
        .collect()
}

/// The errors of `spec.finalizers` of a namespace.
pub(crate) fn namespace_finalizers(namespace: &Value) -> Vec<Error> {
    let finalizers = namespace.pointer("/spec/finalizers").and_then(Value::as_array).into_iter().flatten();
    let named = finalizers.filter_map(Value::as_str).enumerate();
    let wrong = |(index, name): (usize, &str)| {
        let at = format!("spec.finalizers[{index}]");
        let name_errors = formats::name::label_key(name).into_iter().map(|why| invalid(&at, name, &why));
        name_errors.chain(unqualified_finalizer(&at, name)).collect::<Vec<_>>()
    };
    named.flat_map(wrong).collect()
}

/// The error if a finalizer is neither standard nor has a domain.
fn unqualified_finalizer(at: &str, finalizer: &str) -> Option<Error> {
    const STANDARD: &[&str] = &["kubernetes", "orphan", "foregroundDeletion"];
    let why = "name is neither a standard finalizer name nor is it fully qualified";
    let is_known = finalizer.contains('/') || STANDARD.contains(&finalizer);
    (!is_known).then(|| invalid(at, finalizer, why))
}

/// The error if both `orphan` and `foregroundDeletion` are set.
pub(crate) fn conflicting_finalizers(metadata: &Value) -> Option<Error> {
    let finalizers = metadata.get("finalizers").and_then(Value::as_array)?;
    let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
    let why = "finalizer orphan and foregroundDeletion cannot be both set";
    (has("orphan") && has("foregroundDeletion")).then(|| Error {
        kind: ErrorKind::Invalid,
        field: "metadata.finalizers".to_owned(),
        value: Some(Shown::verbatim(Value::from(finalizers.clone()))),
        detail: why.to_owned(),
    })
}

fn annotation_errors(path: &str, annotations: Option<&Value>) -> Vec<Error> {
    let entries = annotations.and_then(Value::as_object).into_iter().flatten();
    let mut errors: Vec<Error> = entries
        .clone()
        .flat_map(|(key, _)| {
            let errors = formats::name::label_key(&key.to_lowercase());
            errors.into_iter().map(move |why| invalid(path, key, &why))
        })
        .collect();
    let size: usize = entries.map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_ANNOTATIONS_SIZE {
        let detail = format!("may not be more than {MAX_ANNOTATIONS_SIZE} bytes");
        errors.push(Error { kind: ErrorKind::TooLong, field: path.to_owned(), value: None, detail });
    }
    errors
}

fn owner_errors(at: &str, owner: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut report = |field: &str, value: &str, why: &str| {
        errors.push(invalid(&format!("{at}.{field}"), value, why));
    };
    let api_version = text(owner, "apiVersion");
    if api_version.rsplit('/').next().unwrap_or_default().is_empty() {
        report("apiVersion", api_version, "version must not be empty");
    }
    for field in ["kind", "name", "uid"] {
        if text(owner, field).is_empty() {
            report(field, "", "must not be empty");
        }
    }
    if (api_version, text(owner, "kind")) == ("v1", "Event") {
        let why = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(Error { value: Some(format_owners(&[owner]).1), ..invalid(at, "", why) });
    }
    errors
}

/// Owner references as Go prints them: all, and the first alone.
fn format_owners(owners: &[&Value]) -> (Shown, Shown) {
    let print = |owner: &&Value| {
        let texts = ["apiVersion", "kind", "name", "uid"]
            .map(|field| format!("\"{field}\":{}", formats::json::quoted(text(owner, field))));
        let flags = ["controller", "blockOwnerDeletion"]
            .into_iter()
            .filter_map(|field| Some(format!("\"{field}\":{}", owner.get(field)?.as_bool()?)));
        format!("{{{}}}", texts.into_iter().chain(flags).collect::<Vec<_>>().join(","))
    };
    let all: Vec<String> = owners.iter().map(print).collect();
    (
        Shown::verbatim(format!("[{}]", all.join(","))),
        Shown::verbatim(all.first().cloned().unwrap_or_default()),
    )
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn invalid(field: &str, value: &str, why: &str) -> Error {
    Error {
        kind: ErrorKind::Invalid,
        field: field.to_owned(),
        value: Some(Shown::from(value)),
        detail: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_further_controller_is_an_error() {
        let owner = |kind: &str| json!({"apiVersion": "v1", "kind": kind, "name": "o", "uid": "u", "controller": true});
        let third = json!({"kind": "C", "name": "o", "uid": "u", "controller": true});
        let errors =
            owner_errors_of("metadata", &json!({"ownerReferences": [owner("A"), owner("<B>"), third]}));
        let shown = concat!(
            r#"[{"apiVersion":"v1","kind":"A","name":"o","uid":"u","controller":true},"#,
            r#"{"apiVersion":"v1","kind":"\u003cB\u003e","name":"o","uid":"u","controller":true},"#,
            r#"{"apiVersion":"","kind":"C","name":"o","uid":"u","controller":true}]"#
        );
        let both = |other: &str| {
            let why = "Only one reference can have Controller set to true. Found \"true\" in references for";
            format!("metadata.ownerReferences: Invalid value: {shown}: {why} A/o and {other}/o")
        };
        let missing = "metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be empty";
        let want = [both("<B>"), missing.to_owned(), both("C")];
        assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), want);
    }
}
