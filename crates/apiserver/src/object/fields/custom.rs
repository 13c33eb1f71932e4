//! Custom resources: defaulted and pruned by their schema, with metadata checked against `ObjectMeta`.

use schema::Type;
use serde_json::Value;
use webhook::field::quote;

use super::{canonical, drop_unknown, types};
use crate::object::structural::{self, Schema};

/// Who made an object that is pruned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Author {
    /// A client: null means absent.
    Client,
    /// A webhook: null is a value, which the type of a field may not allow.
    Webhook,
}

/// Prunes and defaults a custom resource; `metadata` is the type `ObjectMeta`. Returns a message for each dropped
/// field.
///
/// # Errors
/// The message of Go's decoder if the metadata has a value of the wrong type.
pub(super) fn prune_and_default(
    object: &mut Value,
    schema: Option<&Schema>,
    metadata: &Type,
    author: Author,
) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    if let Some(own) = object.get_mut("metadata") {
        types::check(own, metadata, "ObjectMeta")?;
        drop_unknown(own, metadata, "metadata", &mut unknown);
        canonical::rewrite(own, metadata);
    }
    let Some(schema) = schema else { return Ok(unknown) };
    structural::default(object, schema);
    let pruned = structural::prune(object, schema);
    unknown.extend(pruned.iter().map(|path| format!("unknown field {}", quote(path))));
    match author {
        Author::Client => structural::drop_nulls(object, schema),
        Author::Webhook => structural::drop_untyped_nulls(object, schema),
    }
    check_embedded(object, schema, "", metadata, &mut unknown)?;
    Ok(unknown)
}

/// Checks and prunes the metadata of embedded resources.
fn check_embedded(
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
                canonical::rewrite(own, metadata);
            }
            for (name, value) in fields.iter_mut() {
                let Some(below) = schema.field(name) else { continue };
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                check_embedded(value, below, &path, metadata, unknown)?;
            }
            Ok(())
        }
        Value::Array(items) => {
            let Some(below) = &schema.items else { return Ok(()) };
            let mut indexed = items.iter_mut().enumerate();
            indexed.try_for_each(|(index, item)| {
                check_embedded(item, below, &format!("{path}[{index}]"), metadata, unknown)
            })
        }
        _ => Ok(()),
    }
}
