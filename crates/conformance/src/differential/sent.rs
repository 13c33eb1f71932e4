//! Objects as a kube-apiserver sends them to a webhook: Go's types write some empty fields and omit others.

use schema::{Encoding, Many, Message, MessageField};
use serde_json::{Map, Value, json};

/// The type of the metadata of all objects.
const METADATA: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The object as kube-apiserver would send it. Only the metadata of a custom resource is typed.
pub(super) fn as_sent(mut object: Value) -> Value {
    let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    if let Some(message) = Message::of_kind(group, version, &kind) {
        normalize(&mut object, message);
    } else if let (Some(metadata), Some(message)) = (object.get_mut("metadata"), Message::named(METADATA)) {
        normalize(metadata, message);
    }
    object
}

fn normalize(value: &mut Value, message: &Message) {
    let Value::Object(fields) = value else { return };
    if message.union {
        return;
    }
    message.fields.iter().for_each(|field| normalize_field(fields, field));
    let known = names(message);
    fields.retain(|name, value| match name.as_str() {
        "apiVersion" | "kind" if !known.contains(&name.as_str()) => *value != json!(""),
        name => known.contains(&name),
    });
}

/// The names of all fields of an object, including those of embedded structs.
fn names(message: &Message) -> Vec<&'static str> {
    let name = |field: &MessageField| match (field.name, field.encoding) {
        ("", Encoding::Message(part)) => Message::named(part).map(names).unwrap_or_default(),
        (name, _) => vec![name],
    };
    message.fields.iter().flat_map(name).collect()
}

fn normalize_field(fields: &mut Map<String, Value>, field: &MessageField) {
    let inner = match field.encoding {
        Encoding::Message(name) => Message::named(name),
        _ => None,
    };
    // Fields of an embedded struct are in the object itself.
    if field.name.is_empty() {
        inner
            .into_iter()
            .flat_map(|message| &message.fields)
            .for_each(|field| normalize_field(fields, field));
        return;
    }
    if let Some(value) = fields.get_mut(field.name) {
        match (value, inner, field.many) {
            (value, Some(message), Many::One) => normalize(value, message),
            (Value::Array(items), Some(message), Many::List) => {
                for item in items {
                    normalize(item, message);
                }
            }
            (Value::Object(map), Some(message), Many::Map) => {
                for value in map.values_mut() {
                    normalize(value, message);
                }
            }
            _ => {}
        }
    }
    let is_empty = fields.get(field.name).is_none_or(|value| is_zero(value, field));
    match zero(field, inner) {
        Some(zero) if field.written && is_empty => drop(fields.insert(field.name.to_owned(), zero)),
        _ if is_empty && !(field.pointer && fields.get(field.name).is_some_and(|value| !value.is_null())) => {
            drop(fields.remove(field.name));
        }
        _ => {}
    }
}

/// Whether it is Go's zero value; a struct is never empty.
fn is_zero(value: &Value, field: &MessageField) -> bool {
    let is_struct = field.many == Many::One && matches!(field.encoding, Encoding::Message(_));
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty() && !is_struct,
    }
}

/// The value that Go writes for an absent field.
fn zero(field: &MessageField, inner: Option<&Message>) -> Option<Value> {
    if field.pointer || field.many != Many::One {
        return None;
    }
    Some(match field.encoding {
        Encoding::Bool => json!(false),
        Encoding::Int32 | Encoding::Int64 | Encoding::IntOrString => json!(0),
        Encoding::String => json!(""),
        Encoding::Quantity => json!("0"),
        Encoding::Message(_) => {
            let mut empty = json!({});
            if let Some(message) = inner {
                normalize(&mut empty, message);
            }
            empty
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_fields_are_written_and_omitted_as_in_go() {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "", "labels": {}, "finalizers": [], "ownerReferences": [{"name": "o", "controller": false}]},
            "spec": {
                "hostIPC": false, "unknown": 1, "hostNetwork": true, "priority": 0, "securityContext": {},
                "containers": [{"name": "a", "env": [], "tty": false, "ports": [{"hostPort": 0}]}],
                "volumes": [{"name": "v", "emptyDir": {}}],
            },
        });
        let sent = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"ownerReferences": [{"apiVersion": "", "kind": "", "name": "o", "uid": "", "controller": false}]},
            "spec": {
                "hostNetwork": true, "priority": 0, "securityContext": {},
                "containers": [{"name": "a", "resources": {}, "ports": [{"containerPort": 0}]}],
                "volumes": [{"name": "v", "emptyDir": {}}],
            },
            "status": {},
        });
        assert_eq!(as_sent(pod), sent);
        let worker = json!({
            "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Worker",
            "metadata": {"name": "w", "labels": {}}, "spec": {"pools": [], "type": ""},
        });
        let sent = json!({
            "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Worker",
            "metadata": {"name": "w"}, "spec": {"pools": [], "type": ""},
        });
        assert_eq!(as_sent(worker), sent);
    }
}
