//! What holds for the metadata of every object: labels, annotations, owners, finalizers.

use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

/// The most bytes that all annotations have together.
const ANNOTATIONS: usize = 256 * 1024;

/// What is wrong with the labels and annotations of a metadata at a path.
pub(crate) fn marks(path: &str, metadata: &Value) -> Vec<Error> {
    let mut errors = labels(&format!("{path}.labels"), metadata.get("labels"));
    errors.extend(annotations(&format!("{path}.annotations"), metadata.get("annotations")));
    errors
}

/// What is wrong with labels.
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

/// What is wrong with the owners and finalizers of a metadata.
pub(crate) fn ties(path: &str, metadata: &Value) -> Vec<Error> {
    let list = |field: &str| metadata.get(field).and_then(Value::as_array).into_iter().flatten();
    let mut errors = Vec::new();
    let mut controllers = Vec::new();
    for owner in list("ownerReferences") {
        errors.extend(owner_errors(&format!("{path}.ownerReferences"), owner));
        if owner.get("controller") == Some(&Value::Bool(true)) {
            controllers.push(owner.clone());
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let name = |owner: &Value| format!("{}/{}", text(owner, "kind"), text(owner, "name"));
        let why = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {} and {}",
            name(first),
            name(second)
        );
        let at = format!("{path}.ownerReferences");
        let owners: Vec<&Value> = list("ownerReferences").collect();
        errors.push(Error { value: Some(shown_owners(&owners).0), ..invalid(&at, "", &why) });
    }
    for finalizer in list("finalizers").filter_map(Value::as_str) {
        let wrong = formats::name::label_key(finalizer);
        errors.extend(wrong.iter().map(|why| invalid(&format!("{path}.finalizers"), finalizer, why)));
    }
    errors
}

/// What is wrong with the finalizers of a core object: they are standard, or have a domain.
pub(crate) fn core_finalizers(metadata: &Value) -> Vec<Error> {
    let finalizers = metadata.get("finalizers").and_then(Value::as_array).into_iter().flatten();
    let named = finalizers.filter_map(Value::as_str).enumerate();
    named.filter_map(|(index, name)| unknown(&format!("metadata.finalizers[{index}]"), name)).collect()
}

/// What is wrong with the finalizers of a namespace itself.
pub(crate) fn namespace_finalizers(namespace: &Value) -> Vec<Error> {
    let finalizers = namespace.pointer("/spec/finalizers").and_then(Value::as_array).into_iter().flatten();
    let named = finalizers.filter_map(Value::as_str).enumerate();
    let wrong = |(index, name): (usize, &str)| {
        let at = format!("spec.finalizers[{index}]");
        let written = formats::name::label_key(name).into_iter().map(|why| invalid(&at, name, &why));
        written.chain(unknown(&at, name)).collect::<Vec<_>>()
    };
    named.flat_map(wrong).collect()
}

/// Refuses a finalizer that is neither standard nor has a domain.
fn unknown(at: &str, finalizer: &str) -> Option<Error> {
    const STANDARD: &[&str] = &["kubernetes", "orphan", "foregroundDeletion"];
    let why = "name is neither a standard finalizer name nor is it fully qualified";
    let known = finalizer.contains('/') || STANDARD.contains(&finalizer);
    (!known).then(|| invalid(at, finalizer, why))
}

/// Dependents are either left or waited for.
pub(crate) fn both_policies(metadata: &Value) -> Option<Error> {
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

fn annotations(path: &str, annotations: Option<&Value>) -> Vec<Error> {
    let entries = annotations.and_then(Value::as_object).into_iter().flatten();
    let mut errors: Vec<Error> = entries
        .clone()
        .flat_map(|(key, _)| {
            let wrong = formats::name::label_key(&key.to_lowercase());
            wrong.into_iter().map(move |why| invalid(path, key, &why))
        })
        .collect();
    let size: usize = entries.map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > ANNOTATIONS {
        let detail = format!("may not be more than {ANNOTATIONS} bytes");
        errors.push(Error { kind: ErrorKind::TooLong, field: path.to_owned(), value: None, detail });
    }
    errors
}

fn owner_errors(at: &str, owner: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    let mut refuse = |field: &str, value: &str, why: &str| {
        errors.push(invalid(&format!("{at}.{field}"), value, why));
    };
    let api_version = text(owner, "apiVersion");
    if api_version.rsplit('/').next().unwrap_or_default().is_empty() {
        refuse("apiVersion", api_version, "version must not be empty");
    }
    for field in ["kind", "name", "uid"] {
        if text(owner, field).is_empty() {
            refuse(field, "", "must not be empty");
        }
    }
    if (api_version, text(owner, "kind")) == ("v1", "Event") {
        let why = "/v1, Kind=Event is disallowed from being an owner";
        errors.push(Error { value: Some(shown_owners(&[owner]).1), ..invalid(at, "", why) });
    }
    errors
}

/// Owners as Go's types print them: all, and the first alone.
fn shown_owners(owners: &[&Value]) -> (Shown, Shown) {
    const FIELDS: &[&str] = &["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
    let print = |owner: &&Value| {
        let fields = FIELDS.iter().filter_map(|field| Some(format!("\"{field}\":{}", owner.get(*field)?)));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
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
