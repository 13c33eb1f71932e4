//! Strategic merge patch: a tree laid over an object, where lists with a merge key are merged by it.
//!
//! Directives: `$patch` (`delete`, `replace`, `merge`), `$retainKeys`, `$setElementOrder/<list>`,
//! `$deleteFromPrimitiveList/<list>`.

use schema::{PatchStrategy, Type};
use serde_json::{Map, Value};
use thiserror::Error;

/// Why a patch cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum StrategicError {
    /// A `$patch` of another name.
    #[error("unknown patch type: {directive} in map: {element}")]
    Directive {
        /// What it says.
        directive: String,
        /// Where it says so.
        element: String,
    },
    /// A list of fields to keep that is none, or without what the patch says.
    #[error("invalid patch format of retainKeys")]
    Kept,
    /// An element that says of itself that it is merged.
    #[error("merging lists cannot yet be specified in the patch")]
    Merging,
    /// An element that does not say which one it is.
    #[error("map: {element} does not contain declared merge key: {key}")]
    MergeKey {
        /// The element.
        element: String,
        /// The key of its list.
        key: String,
    },
    /// Elements that are not all of one type.
    #[error("list element types are not identical: {0}")]
    Mixed(String),
    /// Maps in a list that nothing tells apart.
    #[error("cannot merge lists without merge key for {0}")]
    Keyless(&'static str),
    /// Lists in a list.
    #[error("lists of lists are not supported")]
    ListOfLists,
}

/// What Go takes an element of a list for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    Flag,
    Whole,
    Fraction,
    Text,
    List,
    Map,
}

pub(super) const ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// Lays `patch` over `object`; what is no object stays as it is.
pub(crate) fn merge(object: Value, patch: &Value, ty: &Type) -> Result<Value, StrategicError> {
    match (object, patch) {
        (Value::Object(fields), Value::Object(patch)) => map(fields, patch, ty).map(Value::Object),
        (object, _) => Ok(object),
    }
}

fn map(
    mut fields: Map<String, Value>,
    patch: &Map<String, Value>,
    ty: &Type,
) -> Result<Map<String, Value>, StrategicError> {
    match patch.get("$patch").and_then(Value::as_str) {
        Some("delete") => return Ok(Map::new()),
        // It is taken as it is, with nulls.
        Some("replace") => return Ok(unmarked(patch)),
        None => {}
        Some(other) => return Err(odd(other, &Value::Object(patch.clone()))),
    }
    if let Some(kept) = patch.get("$retainKeys") {
        let Value::Array(kept) = kept else { return Err(StrategicError::Kept) };
        let said = patch.iter().filter(|(field, value)| !value.is_null() && !is_directive(field));
        if said.into_iter().any(|(field, _)| !kept.iter().any(|kept| kept == field.as_str())) {
            return Err(StrategicError::Kept);
        }
        fields.retain(|field, _| kept.iter().any(|kept| kept == field.as_str()));
    }
    for (field, wanted) in
        patch.iter().filter_map(|(key, value)| Some((key.strip_prefix(DELETE_FROM)?, value)))
    {
        if let Some(Value::Array(items)) = fields.get_mut(field) {
            items.retain(|item| !wanted.as_array().is_some_and(|wanted| wanted.contains(item)));
        }
    }
    for (field, value) in patch.iter().filter(|(field, _)| !field.starts_with('$')) {
        let below = below(ty, field);
        match (value, fields.remove(field)) {
            (Value::Null, _) => {}
            (value, None) => {
                if let Some(new) = added(value) {
                    fields.insert(field.clone(), new);
                }
            }
            (value, Some(old)) => {
                let order = patch.get(&format!("{ORDER}{field}")).and_then(Value::as_array);
                if let Some(new) = one(old, value, &below, order)? {
                    fields.insert(field.clone(), new);
                }
            }
        }
    }
    for (field, order) in patch.iter().filter_map(|(key, value)| Some((key.strip_prefix(ORDER)?, value))) {
        let (Some(Value::Array(items)), Value::Array(order)) = (fields.get_mut(field), order) else {
            continue;
        };
        // A list that the patch changes was put in order when it was merged.
        if !patch.contains_key(field) {
            let below = below(ty, field);
            let server = items.clone();
            *items = ordered(std::mem::take(items), &server, order, below.patch().merge_key.as_deref());
        }
    }
    Ok(fields)
}

fn one(
    old: Value,
    patch: &Value,
    ty: &Type,
    order: Option<&Vec<Value>>,
) -> Result<Option<Value>, StrategicError> {
    let how = ty.patch();
    match (old, patch) {
        (Value::Object(fields), Value::Object(patch)) if how.strategy == PatchStrategy::Merge => {
            map(fields, patch, ty).map(Value::Object).map(Some)
        }
        (Value::Array(items), Value::Array(patch)) if how.strategy == PatchStrategy::Merge => {
            list(items, patch, ty, how.merge_key.as_deref(), order).map(Value::Array).map(Some)
        }
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => Ok(Some(patch.clone())),
        (_, patch) => Ok(added(patch)),
    }
}

fn list(
    old: Vec<Value>,
    patch: &[Value],
    ty: &Type,
    key: Option<&str>,
    order: Option<&Vec<Value>>,
) -> Result<Vec<Value>, StrategicError> {
    let server = old.clone();
    let merged = match (kind(&old, patch)?, key) {
        (None, _) => return Ok(old),
        (Some(Kind::Map), Some(key)) => keyed(old, patch, &ty.items().unwrap_or_else(Type::any), key)?,
        // Lists of texts are the only ones that are merged and have no key.
        (Some(Kind::Map), None) => return Err(StrategicError::Keyless("string")),
        _ => {
            let mut items = old;
            for value in patch {
                if !items.contains(value) {
                    items.push(value.clone());
                }
            }
            items
        }
    };
    Ok(ordered(merged, &server, order.map_or(patch, Vec::as_slice), key))
}

/// What the elements of both lists are; absent where there are none.
fn kind(old: &[Value], patch: &[Value]) -> Result<Option<Kind>, StrategicError> {
    let mut kinds = old.iter().chain(patch).map(|element| match element {
        Value::Null => Kind::Nothing,
        Value::Bool(_) => Kind::Flag,
        Value::Number(number) if number.is_f64() => Kind::Fraction,
        Value::Number(_) => Kind::Whole,
        Value::String(_) => Kind::Text,
        Value::Array(_) => Kind::List,
        Value::Object(_) => Kind::Map,
    });
    let Some(first) = kinds.next() else { return Ok(None) };
    if first == Kind::List {
        return Err(StrategicError::ListOfLists);
    }
    if kinds.any(|other| other != first) {
        let both = Value::Array(vec![old.into(), patch.into()]);
        return Err(StrategicError::Mixed(go_text(&both)));
    }
    Ok(Some(first))
}

fn keyed(mut items: Vec<Value>, patch: &[Value], ty: &Type, key: &str) -> Result<Vec<Value>, StrategicError> {
    let nameless =
        |element: &Value| StrategicError::MergeKey { element: go_text(element), key: key.to_owned() };
    let (special, plain): (Vec<&Value>, Vec<&Value>) =
        patch.iter().partition(|element| element.get("$patch").is_some());
    let mut replaces = false;
    for element in special {
        match element["$patch"].as_str().unwrap_or_default() {
            "delete" => {
                let wanted = element.get(key).ok_or_else(|| nameless(element))?;
                items.retain(|item| item.get(key) != Some(wanted));
            }
            "replace" => replaces = true,
            "merge" => return Err(StrategicError::Merging),
            other => return Err(odd(other, element)),
        }
    }
    // One that says so replaces the whole list, wherever it stands.
    if replaces {
        let named =
            |element: &&Value| element.get(key).map(|_| (*element).clone()).ok_or_else(|| nameless(element));
        return plain.iter().map(named).collect();
    }
    for element in plain {
        let wanted = element.get(key).ok_or_else(|| nameless(element))?;
        match items.iter().position(|item| item.get(key) == Some(wanted)) {
            Some(at) => items[at] = merge(items[at].take(), element, ty)?,
            None => items.push(element.clone()),
        }
    }
    Ok(items)
}

fn odd(directive: &str, element: &Value) -> StrategicError {
    StrategicError::Directive { directive: directive.to_owned(), element: go_text(element) }
}

/// Puts elements in the patch's order; elements that only the server knows stay behind what was before them there.
fn ordered(items: Vec<Value>, server: &[Value], order: &[Value], key: Option<&str>) -> Vec<Value> {
    let identity =
        |item: &Value| key.map_or_else(|| item.clone(), |key| item.get(key).cloned().unwrap_or_default());
    let place = |item: &Value| order.iter().position(|wanted| identity(wanted) == identity(item));
    let on_server = |item: &Value| server.iter().position(|other| identity(other) == identity(item));
    let (mut patched, rest): (Vec<Value>, Vec<Value>) =
        items.into_iter().partition(|item| place(item).is_some());
    patched.sort_by_key(|item| place(item));
    let mut result = Vec::with_capacity(patched.len() + rest.len());
    let mut rest = rest.into_iter().peekable();
    for item in patched {
        if let Some(at) = on_server(&item) {
            while let Some(other) = rest.next_if(|other| on_server(other).is_some_and(|other| other < at)) {
                result.push(other);
            }
        }
        result.push(item);
    }
    result.extend(rest);
    result
}

/// A value that was not there before, without nulls and whatever says what is to be done with it.
fn added(value: &Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key("$patch") => None,
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            let kept = kept.filter_map(|(field, value)| Some((field.clone(), added(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(Value::Array(items.iter().filter_map(added).collect())),
        other => Some(other.clone()),
    }
}

pub(super) fn below(ty: &Type, field: &str) -> Type {
    ty.field(field).map(|field| field.ty).or_else(|| ty.values()).unwrap_or_else(Type::any)
}

/// A value as Go prints it.
pub(crate) fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_text).collect::<Vec<_>>().join(" ")),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key}:{}", go_text(value)));
            format!("map[{}]", fields.collect::<Vec<_>>().join(" "))
        }
        other => other.to_string(),
    }
}

/// A map without what says that it replaces another.
fn unmarked(patch: &Map<String, Value>) -> Map<String, Value> {
    let said = patch.iter().filter(|(field, _)| *field != "$patch");
    said.map(|(field, value)| (field.clone(), value.clone())).collect()
}

fn is_directive(field: &str) -> bool {
    matches!(field, "$patch" | "$retainKeys") || field.starts_with(ORDER) || field.starts_with(DELETE_FROM)
}

#[cfg(test)]
mod tests {
    use schema::Kinds;
    use serde_json::json;

    use super::*;

    fn patched(object: &Value, patch: &Value) -> Result<Value, StrategicError> {
        let pod = Kinds::kubernetes().type_of("", "v1", "Pod").unwrap();
        merge(json!({"spec": object}), &json!({"spec": patch}), &pod).map(|mut pod| pod["spec"].take())
    }

    fn containers(names: &[&str]) -> Value {
        json!({"containers": names.iter().map(|name| json!({"name": name, "image": "i"})).collect::<Vec<_>>()})
    }

    #[test]
    fn lists_are_merged_by_their_key() {
        let two = containers(&["a", "b"]);
        let table = [
            (
                json!({"containers": [{"name": "b", "image": "j"}]}),
                json!({"containers": [
                    {"name": "a", "image": "i"}, {"name": "b", "image": "j"},
                ]}),
            ),
            (json!({"containers": [{"name": "c", "image": "i"}]}), containers(&["c", "a", "b"])),
            // The order of the patch is the order of its elements.
            (json!({"containers": [{"name": "b"}, {"name": "a"}]}), containers(&["b", "a"])),
            (json!({"containers": [{"name": "a", "$patch": "delete"}]}), containers(&["b"])),
            (json!({"containers": [{"$patch": "replace"}, {"name": "c", "image": "i"}]}), containers(&["c"])),
            (
                json!({"containers": [{"name": "a", "image": null, "$patch": "replace", "tty": true}]}),
                json!({"containers": []}),
            ),
            (json!({"containers": null}), json!({})),
            (json!({"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}), containers(&["b", "a"])),
            (
                json!({
                    "$setElementOrder/containers": [{"name": "c"}, {"name": "a"}],
                    "containers": [{"name": "c", "image": "i"}],
                }),
                containers(&["c", "a", "b"]),
            ),
        ];
        for (patch, want) in table {
            assert_eq!(patched(&two, &patch), Ok(want), "{patch}");
        }
    }

    #[test]
    fn maps_and_scalars_follow_their_directives() {
        let table = [
            (
                json!({"nodeSelector": {"a": "1"}}),
                json!({"nodeSelector": {"b": "2"}}),
                json!({"nodeSelector": {"a": "1", "b": "2"}}),
            ),
            (
                json!({"nodeSelector": {"a": "1"}}),
                json!({"nodeSelector": {"a": null}}),
                json!({"nodeSelector": {}}),
            ),
            (
                json!({"nodeSelector": {"a": "1"}}),
                json!({"nodeSelector": {"$patch": "replace", "b": "2", "c": null}}),
                json!({"nodeSelector": {"b": "2", "c": null}}),
            ),
            (
                json!({"nodeSelector": {"a": "1"}}),
                json!({"nodeSelector": {"$patch": "delete"}}),
                json!({"nodeSelector": {}}),
            ),
            // A list without a merge strategy is replaced.
            (
                json!({"tolerations": [{"key": "a"}]}),
                json!({"tolerations": [{"key": "b"}]}),
                json!({"tolerations": [{"key": "b"}]}),
            ),
            (
                json!({"volumes": [{"name": "v", "emptyDir": {}}]}),
                json!({"volumes": [{"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/"}}]}),
                json!({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}),
            ),
        ];
        for (object, patch, want) in table {
            assert_eq!(patched(&object, &patch), Ok(want), "{patch}");
        }
    }

    #[test]
    fn lists_of_texts_are_sets() {
        let pod = Kinds::kubernetes().type_of("", "v1", "Pod").unwrap();
        let object = json!({"metadata": {"finalizers": ["a", "b"]}});
        let table = [
            (json!({"finalizers": ["c"]}), json!(["c", "a", "b"])),
            (json!({"finalizers": ["b"]}), json!(["a", "b"])),
            (json!({"$deleteFromPrimitiveList/finalizers": ["a"]}), json!(["b"])),
            (
                json!({"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"], "$setElementOrder/finalizers": ["c", "b"]}),
                json!(["c", "b"]),
            ),
        ];
        for (patch, want) in table {
            let merged = merge(object.clone(), &json!({"metadata": patch}), &pod).unwrap();
            assert_eq!(merged["metadata"]["finalizers"], want, "{patch}");
        }
    }

    #[test]
    fn faulty_patches_are_refused() {
        let object = containers(&["a"]);
        assert_eq!(
            patched(&object, &json!({"containers": [{"image": "x"}]})).unwrap_err().to_string(),
            "map: map[image:x] does not contain declared merge key: name"
        );
        let object = json!({"nodeSelector": {"a": "b"}, "containers": [{"name": "a"}]});
        let unknown = patched(&object, &json!({"nodeSelector": {"$patch": "x"}}));
        assert_eq!(unknown.unwrap_err().to_string(), "unknown patch type: x in map: map[$patch:x]");
        let table = [
            (json!({"containers": [{"name": "a", "$patch": "merge"}]}), StrategicError::Merging),
            (json!({"nodeSelector": {"$retainKeys": ["a"], "c": "d"}}), StrategicError::Kept),
            (json!({"containers": [[]]}), StrategicError::Mixed("[[map[name:a]] [[]]]".to_owned())),
            (
                json!({"containers": [{"name": "a"}, 1.5]}),
                StrategicError::Mixed("[[map[name:a]] [map[name:a] 1.5]]".to_owned()),
            ),
        ];
        for (patch, want) in table {
            assert_eq!(patched(&object, &patch), Err(want), "{patch}");
        }
        // Where there was nothing, what says what is to be done with it goes.
        let dropped = patched(&json!({}), &json!({"nodeSelector": {"$patch": "x"}, "hostname": "h"}));
        assert_eq!(dropped, Ok(json!({"hostname": "h"})));
    }
}
