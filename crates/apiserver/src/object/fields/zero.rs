//! What Go's types forget: a zero where absence is not told apart from it, and lists and maps without entries; and what they
//! write where there is nothing: a time.

use schema::{Encoding, Many, Message, MessageField};
use serde_json::{Map, Value};

/// Takes away of an object what Go would not write in JSON, by the message that its kind is.
pub(super) fn forget(object: &mut Value, message: &Message) {
    if let Some(fields) = object.as_object_mut().filter(|_| !message.union) {
        forget_in(fields, message);
    }
}

fn forget_in(fields: &mut Map<String, Value>, message: &Message) {
    for field in &message.fields {
        match (field.name, below(field)) {
            ("", Some(inlined)) => forget_in(fields, inlined),
            // An empty list says that nobody owns anything.
            ("" | "managedFields", _) => {}
            (_, message) => forget_field(fields, field, message),
        }
    }
}

fn forget_field(fields: &mut Map<String, Value>, field: &MessageField, message: Option<&Message>) {
    if is_time(field) {
        fields.entry(field.name).or_insert(Value::Null);
    }
    if let Some(zero) = written_zero(field) {
        fields.entry(field.name).or_insert(zero);
    }
    let Some(value) = fields.get_mut(field.name) else { return };
    if let Some(message) = message {
        match (&mut *value, field.many) {
            (Value::Array(items), Many::List) => items.iter_mut().for_each(|item| forget(item, message)),
            (Value::Object(map), Many::Map) => map.values_mut().for_each(|entry| forget(entry, message)),
            (other, _) => forget(other, message),
        }
    }
    if is_nothing(value, field) && !field.written {
        fields.remove(field.name);
    }
}

/// What is left of an object when it is stored and read again: a list or map without entries is none.
pub(super) fn store(object: &mut Value, message: &Message) {
    let Some(fields) = object.as_object_mut().filter(|_| !message.union) else { return };
    store_in(fields, message);
}

fn store_in(fields: &mut Map<String, Value>, message: &Message) {
    for field in &message.fields {
        let below = below(field);
        if let (true, Some(inlined)) = (field.name.is_empty(), below) {
            store_in(fields, inlined);
            continue;
        }
        let Some(value) = fields.get_mut(field.name).filter(|_| field.name != "managedFields") else {
            continue;
        };
        if field.written && field.many != Many::One && is_nothing(value, field) {
            *value = Value::Null;
        }
        let Some(message) = below else { continue };
        match (value, field.many) {
            (Value::Array(items), Many::List) => items.iter_mut().for_each(|item| store(item, message)),
            (Value::Object(map), Many::Map) => map.values_mut().for_each(|entry| store(entry, message)),
            (other, _) => store(other, message),
        }
    }
}

/// Whether a list or map of an object's specification is there and has no entries.
pub(super) fn has_empties(object: &Value, message: &Message) -> bool {
    let field = message.fields.iter().find(|field| field.name == "spec");
    field.and_then(below).is_some_and(|message| empties_in(&object["spec"], message))
}

fn empties_in(value: &Value, message: &Message) -> bool {
    message.fields.iter().any(|field| {
        let Some(value) = value.get(field.name) else { return false };
        let empty = field.many != Many::One && is_nothing(value, field);
        let deeper = below(field).is_some_and(|message| match value {
            Value::Array(items) => items.iter().any(|item| empties_in(item, message)),
            value => empties_in(value, message),
        });
        empty || deeper
    })
}

/// What Go writes of a message of which nothing was said.
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
            (None, _) => written_zero(field),
        };
        if let Some(zero) = zero {
            fields.insert(field.name.to_owned(), zero);
        }
    }
}

/// What Go writes of a field that holds one value and of which nothing was said.
fn written_zero(field: &MessageField) -> Option<Value> {
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

/// A time that is no pointer is a struct, which is never left out; only of when an object was made it is said to be.
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

/// Whether a value is the zero of its field, and the field cannot tell it from absence.
fn is_nothing(value: &Value, field: &MessageField) -> bool {
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
    fn zeros_go_where_absence_is_the_same() {
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
            forget(&mut object, message);
            assert_eq!(object, want, "{kind}");
        }
    }

    #[test]
    fn a_specification_names_what_has_no_entries() {
        let message = Message::of_kind("networking.k8s.io", "v1", "NetworkPolicy").unwrap();
        let table = [
            (json!({"spec": {"podSelector": {"matchLabels": {}}}}), true),
            (json!({"spec": {"ingress": [{"from": []}]}}), true),
            (json!({"spec": {"ingress": [{}], "podSelector": {}}, "metadata": {"labels": {}}}), false),
            (json!({}), false),
        ];
        for (policy, want) in table {
            assert_eq!(has_empties(&policy, message), want, "{policy}");
        }
    }

    #[test]
    fn what_is_stored_forgets_lists_without_entries() {
        let rules = |list: serde_json::Value| json!({"rules": list, "metadata": {"managedFields": []}});
        let table = [
            (json!([]), json!(null)),
            (json!([{"verbs": [], "resources": ["a"]}]), json!([{"verbs": null, "resources": ["a"]}])),
            (json!(null), json!(null)),
        ];
        let message = Message::of_kind("rbac.authorization.k8s.io", "v1", "Role").unwrap();
        for (list, want) in table {
            let mut role = rules(list);
            store(&mut role, message);
            assert_eq!(role, rules(want));
        }
    }
}
