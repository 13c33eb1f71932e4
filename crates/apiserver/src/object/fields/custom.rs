//! Custom resources: defaulted and pruned by their schema, their metadata typed as that of every object.

use schema::Type;
use serde_json::Value;
use webhook::field::quote;

use super::{drop_unknown, types};
use crate::object::structural::{self, Schema};

/// Makes an object one of its kind, if that is known; `metadata` is the type of every object's metadata.
///
/// # Errors
/// With the words of Go's decoder, where metadata holds values of other types.
pub(super) fn settle(
    object: &mut Value,
    schema: Option<&Schema>,
    metadata: &Type,
) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    whole_numbers(object);
    if let Some(own) = object.get_mut("metadata") {
        types::check(own, metadata, "ObjectMeta")?;
        drop_unknown(own, metadata, "metadata", &mut unknown);
    }
    let Some(schema) = schema else { return Ok(unknown) };
    structural::default(object, schema);
    let pruned = structural::prune(object, schema);
    unknown.extend(pruned.iter().map(|path| format!("unknown field {}", quote(path))));
    structural::drop_nulls(object, schema);
    embedded(object, schema, "", metadata, &mut unknown)?;
    Ok(unknown)
}

/// Writes numbers without a fraction as Go writes them: `2`, not `2.0`.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(whole_numbers),
        Value::Array(items) => items.iter_mut().for_each(whole_numbers),
        Value::Number(number) if number.is_f64() => {
            if let Some(Ok(whole)) =
                number.as_f64().filter(|n| n.fract() == 0.0).map(|n| format!("{n}").parse::<i64>())
            {
                *value = whole.into();
            }
        }
        _ => {}
    }
}

/// Types the metadata of the objects that an object holds.
fn embedded(
    value: &mut Value,
    schema: &Schema,
    path: &str,
    metadata: &Type,
    unknown: &mut Vec<String>,
) -> Result<(), String> {
    match value {
        Value::Object(fields) => {
            if let Some(own) = fields.get_mut("metadata").filter(|_| schema.embedded) {
                let path = format!("{path}.metadata");
                types::check(own, metadata, "ObjectMeta")
                    .map_err(|why| format!("{path}: Invalid value: {own}: {why}"))?;
                drop_unknown(own, metadata, &path, unknown);
            }
            for (name, value) in fields.iter_mut() {
                let Some(below) = schema.field(name) else { continue };
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                embedded(value, below, &path, metadata, unknown)?;
            }
            Ok(())
        }
        Value::Array(items) => {
            let Some(below) = &schema.items else { return Ok(()) };
            let mut places = items.iter_mut().enumerate();
            places.try_for_each(|(index, item)| {
                embedded(item, below, &format!("{path}[{index}]"), metadata, unknown)
            })
        }
        _ => Ok(()),
    }
}
