//! What Go's encoder changes: it omits zero values with `omitempty`, and empty lists and maps, and writes fields
//! without `omitempty` even if they are unset.

use schema::{Encoding, Many, Message, MessageField};
use serde_json::{Map, Value};

/// Removes and adds fields so that the object is what Go encodes for the message.
pub(super) fn omit_zeros(object: &mut Value, message: &Message) {
    if let Some(fields) = object.as_object_mut().filter(|_| !message.union) {
        omit_zeros_in(fields, message);
    }
}

fn omit_zeros_in(fields: &mut Map<String, Value>, message: &Message) {
    for field in &message.fields {
        match (field.name, below(field)) {
            ("", Some(inlined)) => omit_zeros_in(fields, inlined),
            // An empty list resets the managed fields, and has to be kept.
            ("" | "managedFields", _) => {}
            (_, message) => omit_zero_field(fields, field, message),
        }
    }
}

fn omit_zero_field(fields: &mut Map<String, Value>, field: &MessageField, message: Option<&Message>) {
    if is_time(field) {
        fields.entry(field.name).or_insert(Value::Null);
    }
    if let Some(zero) = encoded_zero(field) {
        fields.entry(field.name).or_insert(zero);
    }
    let Some(value) = fields.get_mut(field.name) else { return };
    if let Some(message) = message {
        match (&mut *value, field.many) {
            (Value::Array(items), Many::List) => items.iter_mut().for_each(|item| omit_zeros(item, message)),
            (Value::Object(map), Many::Map) => map.values_mut().for_each(|entry| omit_zeros(entry, message)),
            (other, _) => omit_zeros(other, message),
        }
    }
    if is_omitted(value, field) && !field.written {
        fields.remove(field.name);
    }
}

/// Changes an object to what a read from storage returns: protobuf does not distinguish empty lists and maps from
/// absent ones.
pub(super) fn apply_storage_form(object: &mut Value, message: &Message) {
    let Some(fields) = object.as_object_mut().filter(|_| !message.union) else { return };
    apply_storage_form_in(fields, message);
}

fn apply_storage_form_in(fields: &mut Map<String, Value>, message: &Message) {
    for field in &message.fields {
        let below = below(field);
        if let (true, Some(inlined)) = (field.name.is_empty(), below) {
            apply_storage_form_in(fields, inlined);
            continue;
        }
        let Some(value) = fields.get_mut(field.name).filter(|_| field.name != "managedFields") else {
            continue;
        };
        if field.written && field.many != Many::One && is_omitted(value, field) {
            *value = Value::Null;
        }
        let Some(message) = below else { continue };
        match (value, field.many) {
            (Value::Array(items), Many::List) => {
                for item in items.iter_mut() {
                    apply_storage_form(item, message);
                }
            }
            (Value::Object(map), Many::Map) => {
                map.values_mut().for_each(|entry| apply_storage_form(entry, message));
            }
            (other, _) => apply_storage_form(other, message),
        }
    }
}

/// Whether the spec contains an empty list or map.
pub(super) fn has_empty_collections(object: &Value, message: &Message) -> bool {
    let field = message.fields.iter().find(|field| field.name == "spec");
    field.and_then(below).is_some_and(|message| value_has_empty_collections(&object["spec"], message))
}

fn value_has_empty_collections(value: &Value, message: &Message) -> bool {
    message.fields.iter().any(|field| {
        let Some(value) = value.get(field.name) else { return false };
        let empty = field.many != Many::One && is_omitted(value, field);
        let deeper = below(field).is_some_and(|message| match value {
            Value::Array(items) => items.iter().any(|item| value_has_empty_collections(item, message)),
            value => value_has_empty_collections(value, message),
        });
        empty || deeper
    })
}

/// What Go encodes for a message with no fields set.
pub(crate) fn blank(message: &Message) -> Value {
    let mut fields = Map::new();
    fill(message, &mut fields);
    fields.into()
}

fn fill(message: &Message, fields: &mut Map<String, Value>) {
    for field in &message.fields {
        let zero = match (below(field), field.encoding) {
            (Some(inlined), _) if field.name.is_empty() => {
                fill(inlined, fields);
                continue;
            }
            _ if field.name.is_empty() => continue,
            _ if field.many != Many::One || field.pointer => field.written.then_some(Value::Null),
            _ if is_time(field) => Some(Value::Null),
            (Some(message), _) => Some(blank(message)),
            (None, _) => encoded_zero(field),
        };
        if let Some(zero) = zero {
            fields.insert(field.name.to_owned(), zero);
        }
    }
}

/// What Go encodes for an unset field with a single value.
fn encoded_zero(field: &MessageField) -> Option<Value> {
    if !field.written || field.many != Many::One || field.pointer {
        return None;
    }
    match field.encoding {
        Encoding::Bool => Some(false.into()),
        Encoding::Int32 | Encoding::Int64 | Encoding::Double => Some(0.into()),
        Encoding::String => Some("".into()),
        _ => None,
    }
}

/// A time that is not a pointer is a struct, which `omitempty` does not omit; `creationTimestamp` is handled
/// elsewhere.
fn is_time(field: &MessageField) -> bool {
    let time = matches!(field.encoding, Encoding::Time | Encoding::MicroTime);
    time && field.many == Many::One && !field.pointer && field.name != "creationTimestamp"
}

fn below(field: &MessageField) -> Option<&'static Message> {
    match field.encoding {
        Encoding::Message(name) => Message::named(name),
        _ => None,
    }
}

/// Whether `omitempty` omits the value.
fn is_omitted(value: &Value, field: &MessageField) -> bool {
    match (field.many, value) {
        (Many::List, Value::Array(items)) => items.is_empty(),
        (Many::Map, Value::Object(entries)) => entries.is_empty(),
        (Many::One, value) if !field.pointer => match (field.encoding, value) {
            (Encoding::Bool, Value::Bool(value)) => !value,
            (Encoding::Int32 | Encoding::Int64 | Encoding::Double, Value::Number(number)) => {
                number.as_f64() == Some(0.0)
            }
            (Encoding::String | Encoding::Bytes, Value::String(text)) => text.is_empty(),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn zeros_are_omitted_if_absence_means_the_same() {
        let table = [
            (
                "apps",
                "Deployment",
                json!({"spec": {"replicas": 0, "paused": false, "minReadySeconds": 0}}),
                json!({"spec": {"replicas": 0}}),
            ),
            (
                "apps",
                "Deployment",
                json!({"spec": {"selector": {"matchLabels": {}, "matchExpressions": []}}}),
                json!({"spec": {"selector": {}}}),
            ),
            ("rbac.authorization.k8s.io", "Role", json!({"rules": []}), json!({"rules": []})),
            (
                "",
                "Pod",
                json!({"spec": {"containers": [{"name": "", "image": "", "env": [], "ports": [{"hostPort": 0}]}]}}),
                json!({"spec": {"containers": [{"name": "", "ports": [{"containerPort": 0}]}]}}),
            ),
            (
                "",
                "ConfigMap",
                json!({"data": {"a": ""}, "immutable": false}),
                json!({"data": {"a": ""}, "immutable": false}),
            ),
            (
                "",
                "Node",
                json!({"status": {"conditions": [{"type": "Ready"}]}}),
                json!({"status": {"conditions": [
                    {"type": "Ready", "status": "", "lastHeartbeatTime": null, "lastTransitionTime": null},
                ]}}),
            ),
            (
                "",
                "Service",
                json!({"metadata": {"managedFields": []}}),
                json!({"metadata": {"managedFields": []}}),
            ),
        ];
        for (group, kind, mut object, want) in table {
            let message = Message::of_kind(group, "v1", kind).expect("a kind of Kubernetes");
            omit_zeros(&mut object, message);
            assert_eq!(object, want, "{kind}");
        }
    }

    #[test]
    fn empty_collections_of_a_spec_are_found() {
        let message = Message::of_kind("networking.k8s.io", "v1", "NetworkPolicy").unwrap();
        let table = [
            (json!({"spec": {"podSelector": {"matchLabels": {}}}}), true),
            (json!({"spec": {"ingress": [{"from": []}]}}), true),
            (json!({"spec": {"ingress": [{}], "podSelector": {}}, "metadata": {"labels": {}}}), false),
            (json!({}), false),
        ];
        for (policy, want) in table {
            assert_eq!(has_empty_collections(&policy, message), want, "{policy}");
        }
    }

    #[test]
    fn empty_lists_become_null_in_storage() {
        let rules = |list: serde_json::Value| json!({"rules": list, "metadata": {"managedFields": []}});
        let table = [
            (json!([]), json!(null)),
            (json!([{"verbs": [], "resources": ["a"]}]), json!([{"verbs": null, "resources": ["a"]}])),
            (json!(null), json!(null)),
        ];
        let message = Message::of_kind("rbac.authorization.k8s.io", "v1", "Role").unwrap();
        for (list, want) in table {
            let mut role = rules(list);
            apply_storage_form(&mut role, message);
            assert_eq!(role, rules(want));
        }
    }
}
