//! Renders objects and lists in the representation that the client requested.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::call::Call;
use crate::convert;
use crate::http::negotiate::{Accept, Representation};
use crate::object::meta;
use crate::store::Object;
use crate::table;

/// The metadata of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListMeta {
    /// The revision of the list.
    pub(crate) revision: u64,
    /// The continue token of the next page.
    pub(crate) next: Option<String>,
    /// How many objects remain after this page, if known.
    pub(crate) remaining: Option<usize>,
}

/// Renders a stored object.
pub(crate) fn object(call: &Call, object: &Object) -> Bytes {
    let as_stored = call.target.resource.version == call.target.storage.version
        && call.target.resource.group == call.target.storage.group;
    match call.accept {
        Accept { representation: Representation::Full, yaml: false } if as_stored => object.json().clone(),
        _ => value(call, &object.tree()),
    }
}

/// Renders an object of any version.
pub(crate) fn value(call: &Call, object: &Value) -> Bytes {
    let converted = convert::to_version(object, &call.target.resource);
    let representation = match call.accept.representation {
        Representation::Full => return encode(&converted, call.accept.yaml),
        Representation::Metadata(version) => {
            meta::partial(&converted, version.api_version(), "PartialObjectMetadata")
        }
        Representation::Table(version) => table::of(call, std::iter::once(&*converted), version, true),
    };
    encode(&representation, call.accept.yaml)
}

/// Renders a list of objects.
pub(crate) fn list<'a>(
    call: &Call,
    objects: impl Iterator<Item = &'a Object> + Clone,
    meta: &ListMeta,
) -> Bytes {
    match call.accept {
        Accept { representation: Representation::Full, yaml: false } => full_list(call, objects, meta),
        Accept { representation, yaml } => {
            let converted: Vec<Value> = objects
                .map(|object| convert::into_version(object.tree().into_owned(), &call.target.resource))
                .collect();
            let mut list = match representation {
                Representation::Full => full_list_value(call, converted),
                Representation::Metadata(version) => {
                    let items: Vec<Value> = converted
                        .iter()
                        .map(|object| meta::partial(object, version.api_version(), "PartialObjectMetadata"))
                        .collect();
                    // Go encodes a nil slice as null.
                    let items = if items.is_empty() { Value::Null } else { items.into() };
                    json!({"apiVersion": version.api_version(), "kind": "PartialObjectMetadataList", "items": items})
                }
                Representation::Table(version) => table::of(call, converted.iter(), version, true),
            };
            list["metadata"] = Value::Object(list_metadata(call, meta));
            encode(&list, yaml)
        }
    }
}

/// Encodes a value as JSON or YAML.
pub(crate) fn encode(value: &Value, yaml: bool) -> Bytes {
    if yaml {
        return Bytes::from(formats::yaml::to_string(value).unwrap_or_else(|_| value.to_string()));
    }
    Bytes::from(formats::json::to_vec(value).unwrap_or_default())
}

fn full_list<'a>(call: &Call, objects: impl Iterator<Item = &'a Object> + Clone, meta: &ListMeta) -> Bytes {
    let resource = &call.target.resource;
    let same = resource.version == call.target.storage.version && resource.group == call.target.storage.group;
    let head = json!(resource.api_version());
    let kind = json!(resource.list_kind());
    let size: usize = objects.clone().map(|object| object.json().len() + 1).sum();
    let mut text = Vec::with_capacity(size + 1024);
    text.extend_from_slice(format!("{{\"apiVersion\":{head},\"items\":[").as_bytes());
    for (index, object) in objects.enumerate() {
        if index > 0 {
            text.push(b',');
        }
        match (same, call.target.custom) {
            (true, true) => text.extend_from_slice(object.json()),
            (true, false) => object.append_item_json(&mut text),
            (false, custom) => {
                let converted = convert::into_version(object.tree().into_owned(), resource);
                let item = if custom { converted } else { without_type_meta(converted) };
                text.extend_from_slice(&encode(&item, false));
            }
        }
    }
    let metadata = Value::Object(list_metadata(call, meta));
    text.extend_from_slice(format!("],\"kind\":{kind},\"metadata\":{metadata}}}").as_bytes());
    Bytes::from(text)
}

fn full_list_value(call: &Call, objects: Vec<Value>) -> Value {
    let items: Vec<Value> =
        if call.target.custom { objects } else { objects.into_iter().map(without_type_meta).collect() };
    json!({
        "apiVersion": call.target.resource.api_version(),
        "kind": call.target.resource.list_kind(),
        "items": items,
    })
}

/// Items of typed lists have no `apiVersion` and `kind`: the list has them.
fn without_type_meta(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    object
}

fn list_metadata(call: &Call, meta: &ListMeta) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("resourceVersion".to_owned(), meta.revision.to_string().into());
    match &meta.next {
        Some(next) => {
            metadata.insert("continue".to_owned(), next.as_str().into());
        }
        // Lists of custom resources are unstructured: Go does not omit their empty `continue`.
        None if call.target.custom && call.accept.representation == Representation::Full => {
            metadata.insert("continue".to_owned(), "".into());
        }
        None => {}
    }
    if let Some(remaining) = meta.remaining {
        metadata.insert("remainingItemCount".to_owned(), remaining.into());
    }
    metadata
}
