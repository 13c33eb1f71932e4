//! Strategic merge patch: merges a tree into an object, and lists by their merge key.
//!
//! Directives: `$patch` (`delete`, `replace`, `merge`), `$retainKeys`, `$setElementOrder/<list>`,
//! `$deleteFromPrimitiveList/<list>`.

use schema::{PatchStrategy, Type};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::object::go_text::go_text;

/// The error of a patch that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum StrategicError {
    /// An unknown `$patch` directive.
    #[error("unknown patch type: {directive} in map: {element}")]
    UnknownDirective {
        /// The directive.
        directive: String,
        /// The map that contains it.
        element: String,
    },
    /// `$retainKeys` is not a list, or lacks a field that the patch sets.
    #[error("invalid patch format of retainKeys")]
    RetainKeys,
    /// An element of a list has the directive `merge`.
    #[error("merging lists cannot yet be specified in the patch")]
    MergeDirective,
    /// An element lacks the merge key.
    #[error("map: {element} does not contain declared merge key: {key}")]
    MissingMergeKey {
        /// The element.
        element: String,
        /// The key of its list.
        key: String,
    },
    /// The elements of a list have different types.
    #[error("list element types are not identical: {0}")]
    MixedTypes(String),
    /// The list contains maps and has no merge key.
    #[error("cannot merge lists without merge key for {0}")]
    NoMergeKey(&'static str),
    /// A list contains a list.
    #[error("lists of lists are not supported")]
    ListOfLists,
}

/// The Go type of a list element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementType {
    Null,
    Bool,
    Integer,
    Float,
    String,
    List,
    Map,
}

pub(super) const ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// Merges `patch` into `object`; a value that is not an object stays unchanged.
pub(crate) fn merge(object: Value, patch: &Value, ty: &Type) -> Result<Value, StrategicError> {
    match (object, patch) {
        (Value::Object(fields), Value::Object(patch)) => merge_map(fields, patch, ty).map(Value::Object),
        (object, _) => Ok(object),
    }
}

fn merge_map(
    mut fields: Map<String, Value>,
    patch: &Map<String, Value>,
    ty: &Type,
) -> Result<Map<String, Value>, StrategicError> {
    match patch.get("$patch").and_then(Value::as_str) {
        Some("delete") => return Ok(Map::new()),
        // The replacement is copied unchanged, with its nulls.
        Some("replace") => return Ok(without_directive(patch)),
        None => {}
        Some(other) => return Err(unknown_directive(other, &Value::Object(patch.clone()))),
    }
    if let Some(kept) = patch.get("$retainKeys") {
        let Value::Array(kept) = kept else { return Err(StrategicError::RetainKeys) };
        let set = patch.iter().filter(|(field, value)| !value.is_null() && !is_directive(field));
        if set.into_iter().any(|(field, _)| !kept.iter().any(|kept| kept == field.as_str())) {
            return Err(StrategicError::RetainKeys);
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
        let below = field_type(ty, field);
        match (value, fields.remove(field)) {
            (Value::Null, _) => {}
            (value, None) => {
                if let Some(new) = new_value(value) {
                    fields.insert(field.clone(), new);
                }
            }
            (value, Some(old)) => {
                let order = patch.get(&format!("{ORDER}{field}")).and_then(Value::as_array);
                if let Some(new) = merge_value(old, value, &below, order)? {
                    fields.insert(field.clone(), new);
                }
            }
        }
    }
    for (field, order) in patch.iter().filter_map(|(key, value)| Some((key.strip_prefix(ORDER)?, value))) {
        let (Some(Value::Array(items)), Value::Array(order)) = (fields.get_mut(field), order) else {
            continue;
        };
        // `list` has already ordered the lists that the patch changes.
        if !patch.contains_key(field) {
            let below = field_type(ty, field);
            let server = items.clone();
            *items = sort_by_patch(std::mem::take(items), &server, order, below.patch().merge_key.as_deref());
        }
    }
    Ok(fields)
}

fn merge_value(
    old: Value,
    patch: &Value,
    ty: &Type,
    order: Option<&Vec<Value>>,
) -> Result<Option<Value>, StrategicError> {
    let options = ty.patch();
    match (old, patch) {
        (Value::Object(fields), Value::Object(patch)) if options.strategy == PatchStrategy::Merge => {
            merge_map(fields, patch, ty).map(Value::Object).map(Some)
        }
        (Value::Array(items), Value::Array(patch)) if options.strategy == PatchStrategy::Merge => {
            merge_list(items, patch, ty, options.merge_key.as_deref(), order).map(Value::Array).map(Some)
        }
        (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)) => Ok(Some(patch.clone())),
        (_, patch) => Ok(new_value(patch)),
    }
}

fn merge_list(
    old: Vec<Value>,
    patch: &[Value],
    ty: &Type,
    key: Option<&str>,
    order: Option<&Vec<Value>>,
) -> Result<Vec<Value>, StrategicError> {
    let server = old.clone();
    let merged = match (element_type(&old, patch)?, key) {
        (None, _) => return Ok(old),
        (Some(ElementType::Map), Some(key)) => {
            merge_keyed_list(old, patch, &ty.items().unwrap_or_else(Type::any), key)?
        }
        // Only lists of strings are merged without a key.
        (Some(ElementType::Map), None) => return Err(StrategicError::NoMergeKey("string")),
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
    Ok(sort_by_patch(merged, &server, order.map_or(patch, Vec::as_slice), key))
}

/// The type of the elements of both lists; `None` if both are empty.
fn element_type(old: &[Value], patch: &[Value]) -> Result<Option<ElementType>, StrategicError> {
    let mut types = old.iter().chain(patch).map(|element| match element {
        Value::Null => ElementType::Null,
        Value::Bool(_) => ElementType::Bool,
        Value::Number(number) if number.is_f64() => ElementType::Float,
        Value::Number(_) => ElementType::Integer,
        Value::String(_) => ElementType::String,
        Value::Array(_) => ElementType::List,
        Value::Object(_) => ElementType::Map,
    });
    let Some(first) = types.next() else { return Ok(None) };
    if first == ElementType::List {
        return Err(StrategicError::ListOfLists);
    }
    if types.any(|other| other != first) {
        let both = Value::Array(vec![old.into(), patch.into()]);
        return Err(StrategicError::MixedTypes(go_text(&both)));
    }
    Ok(Some(first))
}

fn merge_keyed_list(
    mut items: Vec<Value>,
    patch: &[Value],
    ty: &Type,
    key: &str,
) -> Result<Vec<Value>, StrategicError> {
    let missing_key =
        |element: &Value| StrategicError::MissingMergeKey { element: go_text(element), key: key.to_owned() };
    let (special, plain): (Vec<&Value>, Vec<&Value>) =
        patch.iter().partition(|element| element.get("$patch").is_some());
    let mut replaces = false;
    for element in special {
        match element["$patch"].as_str().unwrap_or_default() {
            "delete" => {
                let wanted = element.get(key).ok_or_else(|| missing_key(element))?;
                items.retain(|item| item.get(key) != Some(wanted));
            }
            "replace" => replaces = true,
            "merge" => return Err(StrategicError::MergeDirective),
            other => return Err(unknown_directive(other, element)),
        }
    }
    // `replace` replaces the whole list, wherever its element is.
    if replaces {
        let with_key = |element: &&Value| {
            element.get(key).map(|_| (*element).clone()).ok_or_else(|| missing_key(element))
        };
        return plain.iter().map(with_key).collect();
    }
    for element in plain {
        let wanted = element.get(key).ok_or_else(|| missing_key(element))?;
        match items.iter().position(|item| item.get(key) == Some(wanted)) {
            Some(at) => items[at] = merge(items[at].take(), element, ty)?,
            None => items.push(element.clone()),
        }
    }
    Ok(items)
}

fn unknown_directive(directive: &str, element: &Value) -> StrategicError {
    StrategicError::UnknownDirective { directive: directive.to_owned(), element: go_text(element) }
}

/// Sorts the elements in the patch's order; elements that the patch does not name stay behind their predecessors.
fn sort_by_patch(items: Vec<Value>, server: &[Value], order: &[Value], key: Option<&str>) -> Vec<Value> {
    let identity =
        |item: &Value| key.map_or_else(|| item.clone(), |key| item.get(key).cloned().unwrap_or_default());
    let position = |item: &Value| order.iter().position(|wanted| identity(wanted) == identity(item));
    let on_server = |item: &Value| server.iter().position(|other| identity(other) == identity(item));
    let (mut patched, rest): (Vec<Value>, Vec<Value>) =
        items.into_iter().partition(|item| position(item).is_some());
    patched.sort_by_key(|item| position(item));
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

/// A value that did not exist before: without nulls and directives.
fn new_value(value: &Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key("$patch") => None,
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(_, value)| !value.is_null());
            let kept = kept.filter_map(|(field, value)| Some((field.clone(), new_value(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(Value::Array(items.iter().filter_map(new_value).collect())),
        other => Some(other.clone()),
    }
}

pub(super) fn field_type(ty: &Type, field: &str) -> Type {
    ty.field(field).map(|field| field.ty).or_else(|| ty.values()).unwrap_or_else(Type::any)
}

/// The map without its `$patch` directive.
fn without_directive(patch: &Map<String, Value>) -> Map<String, Value> {
    let rest = patch.iter().filter(|(field, _)| *field != "$patch");
    rest.map(|(field, value)| (field.clone(), value.clone())).collect()
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
    fn lists_of_strings_are_sets() {
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
    fn invalid_patches_are_rejected() {
        let object = containers(&["a"]);
        assert_eq!(
            patched(&object, &json!({"containers": [{"image": "x"}]})).unwrap_err().to_string(),
            "map: map[image:x] does not contain declared merge key: name"
        );
        let object = json!({"nodeSelector": {"a": "b"}, "containers": [{"name": "a"}]});
        let unknown = patched(&object, &json!({"nodeSelector": {"$patch": "x"}}));
        assert_eq!(unknown.unwrap_err().to_string(), "unknown patch type: x in map: map[$patch:x]");
        let table = [
            (json!({"containers": [{"name": "a", "$patch": "merge"}]}), StrategicError::MergeDirective),
            (json!({"nodeSelector": {"$retainKeys": ["a"], "c": "d"}}), StrategicError::RetainKeys),
            (json!({"containers": [[]]}), StrategicError::MixedTypes("[[map[name:a]] [[]]]".to_owned())),
            (
                json!({"containers": [{"name": "a"}, 1.5]}),
                StrategicError::MixedTypes("[[map[name:a]] [map[name:a] 1.5]]".to_owned()),
            ),
        ];
        for (patch, want) in table {
            assert_eq!(patched(&object, &patch), Err(want), "{patch}");
        }
        // New values lose their directives.
        let dropped = patched(&json!({}), &json!({"nodeSelector": {"$patch": "x"}, "hostname": "h"}));
        assert_eq!(dropped, Ok(json!({"hostname": "h"})));
    }
}
