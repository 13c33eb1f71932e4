//! Fields that a kind does not have: found, told, and dropped as decoding into Go's types drops them.

use schema::{Shape, Type};
use serde_json::Value;
use webhook::field::quote;

use crate::call::Call;
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
    /// What a request asks for; warnings if it does not say.
    pub(crate) fn of(call: &Call) -> Self {
        match call.query.text("fieldValidation") {
            "Ignore" => Self::Ignore,
            "Strict" => Self::Strict,
            _ => Self::Warn,
        }
    }
}

/// Drops what the kind of a request does not have; gives `unknown field "spec.x"` for each.
///
/// Objects of custom resources are left as they are.
pub(crate) fn dropped(shared: &Shared, call: &Call, object: &mut Value) -> Vec<String> {
    let resource = &call.target.resource;
    if call.target.custom {
        return Vec::new();
    }
    let served = shared.registry.served();
    let Some(ty) = served.kinds.type_of(&resource.group, &resource.version, &resource.kind) else {
        return Vec::new();
    };
    let mut unknown = Vec::new();
    drop_unknown(object, &ty, "", &mut unknown);
    unknown
}

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
