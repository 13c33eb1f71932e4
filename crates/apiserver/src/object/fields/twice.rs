//! A field that is there twice: Go decodes both into the same variable, so structs are merged, and null changes nothing but
//! pointers, lists and maps.

use schema::{Many, Message, Shape, Type};
use serde_json::Value;

/// Reads a body with duplicate fields as the decoder of a Go type does; `None` if it cannot be read.
pub(super) fn read(body: &[u8], ty: &Type) -> Option<Value> {
    formats::json::merged(body, &|path: &[String], old: Value, new: Value| {
        let (names, last) = (&path[..path.len() - 1], &path[path.len() - 1]);
        let owner = names.iter().try_fold(ty.clone(), |at, name| below(&at, name));
        match owner {
            Some(owner) => merge(&owner, last, old, new),
            None => new,
        }
    })
}

/// The type of a field of a struct, or of an entry of a map, below any lists.
fn below(ty: &Type, name: &str) -> Option<Type> {
    let ty = element(ty);
    match ty.shape() {
        Shape::Object => ty.field(name).map(|field| element(&field.ty)),
        Shape::Map => ty.values().map(|values| element(&values)),
        _ => None,
    }
}

fn element(ty: &Type) -> Type {
    let mut ty = ty.clone();
    while let (Shape::List, Some(items)) = (ty.shape(), ty.items()) {
        ty = items;
    }
    ty
}

/// What a struct or a map has of a field after both values.
fn merge(owner: &Type, name: &str, old: Value, new: Value) -> Value {
    if owner.shape() != Shape::Object {
        return new;
    }
    let Some(field) = owner.field(name) else { return new };
    match (old, new) {
        (old, Value::Null) if keeps_value(owner, name) => old,
        (Value::Object(mut old), Value::Object(new))
            if matches!(field.ty.shape(), Shape::Object | Shape::Map) =>
        {
            for (name, new) in new {
                let merged = match old.remove(&name) {
                    Some(old) => merge(&field.ty, &name, old, new),
                    None => new,
                };
                old.insert(name, merged);
            }
            Value::Object(old)
        }
        (_, new) => new,
    }
}

/// Whether null leaves the field of a struct as it is.
fn keeps_value(owner: &Type, name: &str) -> bool {
    let fields = owner.definition().and_then(Message::named).map(|message| &message.fields);
    let field = fields.and_then(|fields| fields.iter().find(|field| field.name == name));
    field.is_some_and(|field| !field.pointer && field.many == Many::One)
}

#[cfg(test)]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    #[test]
    fn case_59_a_field_that_is_there_twice_is_merged() {
        let deployment = Kinds::kubernetes().type_of("apps", "v1", "Deployment").unwrap();
        let table = [
            (r#"{"metadata": {"name": "a", "name": null}}"#, json!({"metadata": {"name": "a"}})),
            (
                r#"{"metadata": {"name": "a"}, "metadata": {"uid": "u"}}"#,
                json!({"metadata": {"name": "a", "uid": "u"}}),
            ),
            (r#"{"spec": {"replicas": 1, "replicas": null}}"#, json!({"spec": {"replicas": null}})),
            (
                r#"{"metadata": {"labels": {"a": "b", "a": "c"}, "labels": null}}"#,
                json!({"metadata": {"labels": null}}),
            ),
            (
                r#"{"metadata": {"labels": {"a": "b"}, "labels": {"c": "d"}}}"#,
                json!({"metadata": {"labels": {"a": "b", "c": "d"}}}),
            ),
            (r#"{"unknown": {"a": 1}, "unknown": {"b": 2}}"#, json!({"unknown": {"b": 2}})),
            (
                r#"{"metadata": {"finalizers": ["a"], "finalizers": ["b"]}}"#,
                json!({"metadata": {"finalizers": ["b"]}}),
            ),
        ];
        for (text, want) in table {
            assert_eq!(read(text.as_bytes(), &deployment), Some(want), "{text}");
        }
    }
}
