//! Objects as rows of a table, as kubectl prints them: what kube-apiserver shows of a kind, or what a CRD says.

mod age;
mod built_in;
mod cells;
pub(crate) mod column;
mod json_path;
mod words;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::call::Call;
use crate::convert;
use crate::http::negotiate::Version;
use crate::object::meta;
use crate::table::column::Column;

/// The objects as a `Table`; columns are left out where an earlier answer of the same watch told them.
pub(crate) fn of<'a>(
    call: &Call,
    objects: impl Iterator<Item = &'a Value>,
    version: Version,
    with_columns: bool,
) -> Value {
    let now = call.clock.now();
    let rows: Vec<Value> = objects.map(|object| row(call, object, version, now)).collect();
    let metadata = rows
        .first()
        .filter(|_| rows.len() == 1)
        .map_or(json!({}), |row| json!({"resourceVersion": row["object"]["metadata"]["resourceVersion"]}));
    // Go writes a list that was never added to as null.
    let unmade = rows.is_empty() && !call.target.custom && !built_in::is_own(&call.target.resource);
    let rows = if unmade { Value::Null } else { rows.into() };
    let columns = if with_columns { column_definitions(call) } else { Value::Null };
    json!({
        "apiVersion": version.api_version(),
        "kind": "Table",
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": rows,
    })
}

fn row(call: &Call, object: &Value, version: Version, now: Timestamp) -> Value {
    let shown = match call.query.text("includeObject") {
        "None" => Value::Null,
        "Object" => object.clone(),
        _ => meta::partial(object, version.api_version(), "PartialObjectMetadata"),
    };
    if !call.target.custom {
        let object = convert::core_event(object, &call.target.resource);
        let columns = built_in::of(&call.target.resource).iter();
        let cells: Vec<Value> = columns.map(|column| column.cell(&object, now)).collect();
        return json!({"cells": cells, "object": shown});
    }
    let name = Value::from(meta::name(object));
    let cells: Vec<Value> =
        std::iter::once(name).chain(call.columns.iter().map(|column| column.cell(object, now))).collect();
    json!({"cells": cells, "object": shown})
}

fn column_definitions(call: &Call) -> Value {
    if !call.target.custom {
        return built_in::of(&call.target.resource).iter().map(built_in::Column::definition).collect();
    }
    let name = json!({
        "name": "Name", "type": "string", "format": "name", "priority": 0,
        "description": "Name must be unique within a namespace.",
    });
    std::iter::once(name).chain(call.columns.iter().map(Column::definition)).collect()
}
