//! Objects as rows of a table, as kubectl prints them: name and age, and what a CRD adds.

use serde_json::{Value, json};

use crate::call::Call;
use crate::meta;
use crate::negotiate::Version;
use crate::render;

/// The objects as a `Table`; columns are left out where an earlier answer of the same watch told them.
pub(crate) fn of<'a>(
    call: &Call,
    objects: impl Iterator<Item = &'a Value>,
    version: Version,
    columns: bool,
) -> Value {
    let rows: Vec<Value> = objects.map(|object| row(call, object, version)).collect();
    let columns = if columns { column_definitions() } else { json!([]) };
    let metadata = rows
        .first()
        .filter(|_| rows.len() == 1)
        .map_or(json!({}), |row| json!({"resourceVersion": row["object"]["metadata"]["resourceVersion"]}));
    json!({
        "apiVersion": version.api_version(),
        "kind": "Table",
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": rows,
    })
}

fn row(call: &Call, object: &Value, version: Version) -> Value {
    let shown = match call.query.text("includeObject") {
        "None" => Value::Null,
        "Object" => object.clone(),
        _ => render::metadata(object, version.api_version(), "PartialObjectMetadata"),
    };
    json!({"cells": [meta::name(object), meta::text(object, "creationTimestamp")], "object": shown})
}

fn column_definitions() -> Value {
    json!([
        {
            "name": "Name", "type": "string", "format": "name", "priority": 0,
            "description": "Name must be unique within a namespace.",
        },
        {
            "name": "Created At", "type": "date", "format": "", "priority": 0,
            "description": "When the object was made.",
        },
    ])
}
