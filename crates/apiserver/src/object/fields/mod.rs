//! What decoding into Go's types does to an object: fields that a kind does not have are dropped and told, values of
//! other types are refused, what is absent is set.

mod custom;
mod duplicates;
pub(crate) mod nulls;
mod types;
mod unstructured;
mod zero;

pub(crate) use types::type_name;
pub(crate) use zero::blank;

use std::sync::LazyLock;

use schema::{Kinds, Message, Resource, Shape, Type};
use serde_json::Value;
use webhook::field::{Error, Path, quote};

use crate::call::Call;
use crate::object::defaults;
use crate::object::protobuf::Refusal;
use crate::object::spoken::Spoken;
use crate::state::Shared;

/// What is done about unknown fields: `fieldValidation`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Directive {
    /// They are dropped.
    Ignore,
    /// They are dropped, and the user is told.
    Warn,
    /// The request is refused.
    Strict,
}

impl Directive {
    /// What is wrong with what a request asks for.
    pub(crate) fn errors(call: &Call) -> Option<Error> {
        const KNOWN: &[&str] = &["", "Ignore", "Strict", "Warn"];
        let asked = call.query.text("fieldValidation");
        let at = Path::new("fieldValidation");
        (!KNOWN.contains(&asked)).then(|| Error::not_supported(&at, asked, KNOWN))
    }

    /// What a request asks for; warnings if it does not say.
    pub(crate) fn of(call: &Call) -> Self {
        match call.query.text("fieldValidation") {
            "Ignore" => Self::Ignore,
            "Strict" => Self::Strict,
            _ => Self::Warn,
        }
    }
}

/// Checks what a strategic patch made against its kind, as the converter does that reads it.
///
/// # Errors
/// With the words of that converter.
pub(crate) fn convert(shared: &Shared, call: &Call, object: &Value) -> Result<(), String> {
    let spoken = Spoken::of(call);
    let ty = shared.registry.served().kinds.type_of(spoken.group, spoken.version, spoken.kind);
    let message = Message::of_kind(spoken.group, spoken.version, spoken.kind);
    ty.map_or(Ok(()), |ty| unstructured::check(object, &ty, message))
}

/// Makes an object one of its kind: drops what the kind does not have, and sets what it has by default.
///
/// Gives `unknown field "spec.x"` for each field dropped.
///
/// # Errors
/// With the words of Go's decoder, where a value is of another type than the kind says.
pub(crate) fn settle(shared: &Shared, call: &Call, object: &mut Value) -> Result<Vec<String>, String> {
    let resource = &call.target.resource;
    let (spoken, own) = (Spoken::of(call), Spoken::is_own(call));
    if let Some(schema) = call.target.schema.as_ref().filter(|_| own) {
        // Of what says to be something else, only the metadata is known.
        let group =
            object["apiVersion"].as_str().and_then(|said| said.split_once('/')).map(|(group, _)| group);
        let known = object["kind"] == resource.kind.as_str() && group == Some(resource.group.as_str());
        let schema = Some(&**schema).filter(|_| known);
        return custom::settle(object, schema, metadata());
    }
    let Some(ty) = shared.registry.served().kinds.type_of(spoken.group, spoken.version, spoken.kind) else {
        return Ok(Vec::new());
    };
    types::check(object, &ty, spoken.kind)?;
    let mut unknown = Vec::new();
    drop_unknown(object, &ty, "", &mut unknown);
    if let Some(message) = Message::of_kind(spoken.group, spoken.version, spoken.kind) {
        zero::forget(object, message);
    }
    if own {
        defaults::set(resource, object, &ty);
    }
    Ok(unknown)
}

/// Whether a key has no bytes, which are stored as none and read as no bytes.
pub(crate) fn is_rough(call: &Call, object: &Value) -> bool {
    let bytes = match call.target.table.as_str() {
        "secrets" => &object["data"],
        "configmaps" => &object["binaryData"],
        _ => return false,
    };
    bytes.as_object().is_some_and(|entries| entries.values().any(Value::is_null))
}

/// Whether the specification of an object names a list or map without entries. Of one kind, kube-apiserver compares the
/// old specification, which never does, and the new one to the letter.
pub(crate) fn has_empties(call: &Call, object: &Value) -> bool {
    let resource = &call.target.resource;
    let compared = call.target.table == "networkpolicies.networking.k8s.io";
    let message = Message::of_kind(&resource.group, &resource.version, &resource.kind).filter(|_| compared);
    message.is_some_and(|message| zero::has_empties(object, message))
}

/// Checks the metadata of an object of any kind.
///
/// # Errors
/// With the words of Go's decoder.
pub(crate) fn check_metadata(object: &Value) -> Result<(), String> {
    let found = object.get("metadata").filter(|found| !found.is_null());
    found.map_or(Ok(()), |found| types::check(found, metadata(), "ObjectMeta"))
}

/// Drops labels and annotations that are no maps of texts, which nobody finds in an object without a type.
pub(crate) fn forget_unfit_metadata(object: &mut serde_json::Map<String, Value>) {
    let Some(found) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    for field in ["labels", "annotations"] {
        let is_texts = |value: &Value| {
            value.is_null() || value.as_object().is_some_and(|texts| texts.values().all(Value::is_string))
        };
        if found.get(field).is_some_and(|value| !is_texts(value)) {
            found.remove(field);
        }
    }
}

/// What every object's metadata looks like.
pub(crate) fn metadata() -> &'static Type {
    static METADATA: LazyLock<Type> = LazyLock::new(|| {
        let namespace = Kinds::kubernetes().type_of("", "v1", "Namespace");
        namespace.and_then(|ty| ty.at("metadata")).unwrap_or_else(Type::any)
    });
    &METADATA
}

/// Makes an object of a built-in kind what it is when it is stored and read again.
pub(crate) fn store(resource: &Resource, object: &mut Value) {
    if let Some(message) = Message::of_kind(&resource.group, &resource.version, &resource.kind) {
        zero::store(object, message);
    }
}

/// The options of a deletion, after their types were looked at.
pub(crate) fn delete_options(options: Value) -> Result<Value, Refusal> {
    let spoken = Spoken::DELETE_OPTIONS;
    let Some(ty) = Kinds::kubernetes().type_of(spoken.group, spoken.version, spoken.kind) else {
        return Ok(options);
    };
    let text = |field: &str| options[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if api_version.matches('/').count() > 1 {
        return Err(Refusal::Unrecognized(format!("unexpected GroupVersion string: {api_version}")));
    }
    // Options are read in the name of every group, also of one that nobody serves: clients say that of their object.
    if !kind.is_empty() && kind != spoken.kind {
        let api_version = if api_version.is_empty() { "meta.k8s.io/v1" } else { api_version };
        return Err(Refusal::unregistered(kind, api_version));
    }
    types::check(&options, &ty, spoken.kind).map(|()| options).map_err(Refusal::Unrecognized)
}

/// Fields that stand twice in a JSON body: `duplicate field "spec.x"`.
pub(crate) fn duplicates(body: &[u8]) -> Vec<String> {
    duplicates::of(body).iter().map(|path| format!("duplicate field {}", quote(path))).collect()
}

/// Drops what a type does not have.
fn drop_unknown(value: &mut Value, ty: &Type, path: &str, unknown: &mut Vec<String>) {
    match (value, ty.shape()) {
        (Value::Object(fields), Shape::Object) => fields.retain(|name, value| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            match ty.field(name) {
                Some(field) => drop_unknown(value, &field.ty, &path, unknown),
                None if ty.is_open() => {}
                None => {
                    unknown.push(format!("unknown field {}", quote(&path)));
                    return false;
                }
            }
            true
        }),
        (Value::Object(fields), Shape::Map) => {
            let Some(values) = ty.values() else { return };
            fields
                .iter_mut()
                .for_each(|(name, value)| drop_unknown(value, &values, &format!("{path}.{name}"), unknown));
        }
        (Value::Array(items), Shape::List) => {
            let Some(ty) = ty.items() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                drop_unknown(item, &ty, &format!("{path}[{index}]"), unknown);
            }
        }
        _ => {}
    }
}
