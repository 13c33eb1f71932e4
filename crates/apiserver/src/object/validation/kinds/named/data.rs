//! Config maps, secrets, namespaces, priorities, storage classes, events.

use formats::name;
use serde_json::Value;
use webhook::field::{Error, ErrorKind, Shown};

use super::super::check::{FieldValue, NamedCheck, when};
use crate::object::fields;

pub(super) const CHECKS: &[(&str, NamedCheck)] = &[
    ("config-keys", config_keys),
    ("immutable-data", immutable_data),
    ("secret-type", secret_type),
    ("namespace-finalizer", namespace_finalizer),
    ("priority", priority),
    ("priority-change", priority_change),
    ("provisioner", provisioner),
    ("event", event),
    ("revision-data", |data| when(data.value.is_none(), || data.required("data is mandatory"))),
];

/// Largest size of a config map or secret, in bytes.
const MAX_SIZE: usize = 1024 * 1024;

fn config_keys(object: &FieldValue<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    let (data, binary) = (object.field("data"), object.field("binaryData"));
    let mut size = 0;
    let binary_keys = binary.value.and_then(Value::as_object);
    for map in [&data, &binary] {
        for (key, value) in map.value.and_then(Value::as_object).into_iter().flatten() {
            let at = map.entry(key);
            errors.extend(key_errors(key).into_iter().map(|why| at.invalid_as(key, &why)));
            if map.path == "data" && binary_keys.is_some_and(|keys| keys.contains_key(key)) {
                errors.push(at.invalid_as(key, "duplicate of key present in binaryData"));
            }
            let is_text = map.path == "data" && is_config_map(object);
            size +=
                value.as_str().map_or(0, |value| if is_text { value.len() } else { decoded_length(value) });
        }
    }
    if size > MAX_SIZE {
        let target = FieldValue {
            path: if binary.value.is_some() || is_config_map(object) { "[]" } else { "data" }.to_owned(),
            ..object.clone()
        };
        let why = format!("may not be more than {MAX_SIZE} bytes");
        errors.push(target.error(ErrorKind::TooLong, None, &why));
    }
    errors
}

/// The number of bytes that a Base64 string encodes.
fn decoded_length(text: &str) -> usize {
    (text.len() / 4 * 3).saturating_sub(text.bytes().rev().take_while(|byte| *byte == b'=').count())
}

fn is_config_map(object: &FieldValue<'_>) -> bool {
    object.field("kind").text() == "ConfigMap"
}

fn key_errors(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if key.len() > 253 {
        errors.push("must be no more than 253 characters".to_owned());
    }
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        let why = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or \
                   'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
        errors.push(why.to_owned());
    }
    match key {
        "." => errors.push("must not be '.'".to_owned()),
        ".." => errors.push("must not be '..'".to_owned()),
        _ if key.starts_with("..") => errors.push("must not start with '..'".to_owned()),
        _ => {}
    }
    errors
}

/// Immutable data must not change, and must stay immutable.
fn immutable_data(object: &FieldValue<'_>) -> Vec<Error> {
    let immutable = object.field("immutable");
    if immutable.old != Some(&Value::Bool(true)) {
        return Vec::new();
    }
    let why = "field is immutable when `immutable` is set";
    let changed = [object.field("data"), object.field("binaryData")];
    let mut errors = when(immutable.value != immutable.old, || immutable.forbidden(why));
    errors.extend(changed.into_iter().filter(|map| map.value != map.old).map(|map| map.forbidden(why)));
    errors
}

fn secret_type(secret: &FieldValue<'_>) -> Vec<Error> {
    let data = secret.field("data");
    let missing = |key: &str| {
        let at = data.entry(key);
        when(at.value.is_none(), || at.required(""))
    };
    match secret.field("type").text() {
        "kubernetes.io/tls" => [missing("tls.crt"), missing("tls.key")].concat(),
        "kubernetes.io/ssh-auth" => missing("ssh-privatekey"),
        "kubernetes.io/basic-auth" => {
            let named = ["username", "password"].iter().any(|key| data.entry(key).value.is_some());
            if named { Vec::new() } else { [missing("username"), missing("password")].concat() }
        }
        "kubernetes.io/dockercfg" => docker(&data.entry(".dockercfg")),
        "kubernetes.io/dockerconfigjson" => docker(&data.entry(".dockerconfigjson")),
        "kubernetes.io/service-account-token" => {
            let name =
                secret.field("metadata").field("annotations").entry("kubernetes.io/service-account.name");
            when(name.is_empty(), || name.required(""))
        }
        _ => Vec::new(),
    }
}

/// A Docker configuration must be a JSON object.
fn docker(at: &FieldValue<'_>) -> Vec<Error> {
    if at.value.is_none() {
        return vec![at.required("")];
    }
    let text = formats::base64::decode(at.text()).unwrap_or_default();
    let why = match formats::json::document(&text) {
        Ok(Value::Object(_) | Value::Null) => return Vec::new(),
        Ok(other) => {
            let found = fields::type_name(&other);
            format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}")
        }
        Err(why) => why,
    };
    vec![at.invalid_as("<secret contents redacted>", &why)]
}

/// kube-apiserver reports these for the whole list.
fn namespace_finalizer(field: &FieldValue<'_>) -> Vec<Error> {
    let at = FieldValue { path: "spec.finalizers".to_owned(), ..field.clone() };
    let mut errors: Vec<Error> = name::label_key(field.text()).iter().map(|why| at.invalid(why)).collect();
    let known =
        field.text().contains('/') || matches!(field.text(), "kubernetes" | "orphan" | "foregroundDeletion");
    errors.extend(when(!known, || {
        at.invalid("name is neither a standard finalizer name nor is it fully qualified")
    }));
    errors
}

fn priority(class: &FieldValue<'_>) -> Vec<Error> {
    const SYSTEM: &[(&str, i64)] =
        &[("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];
    let (name, value) = (class.field("metadata").field("name"), class.field("value"));
    if name.text().starts_with("system-") {
        let known = SYSTEM.contains(&(name.text(), value.number()));
        let why = format!(
            "priority class names with 'system-' prefix are reserved for system use only. error: {} is not a known \
             system priority class",
            name.text()
        );
        return when(!known, || name.forbidden(&why));
    }
    when(value.number() > 1_000_000_000, || {
        value.forbidden("maximum allowed value of a user defined priority is 1000000000")
    })
}

fn priority_change(value: &FieldValue<'_>) -> Vec<Error> {
    when(value.value != value.old, || value.forbidden("may not be changed in an update."))
}

fn provisioner(field: &FieldValue<'_>) -> Vec<Error> {
    let name = field.text().to_lowercase();
    if name.is_empty() {
        return Vec::new();
    }
    name::label_key(&name).iter().map(|why| field.invalid_as(&name, why)).collect()
}

fn event(event: &FieldValue<'_>) -> Vec<Error> {
    let own = event.field("metadata").field("namespace");
    let of = event.field("involvedObject").field("namespace");
    let same = own.text() == of.text() || (of.is_empty() && own.text() == "default");
    let cluster_scoped = of.is_empty() && matches!(own.text(), "default" | "kube-system");
    when(!same && !cluster_scoped, || {
        of.error(ErrorKind::Invalid, Some(Shown::from(of.text())), "does not match event.namespace")
    })
}
