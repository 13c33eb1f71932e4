//! Renders objects as tables, as kubectl prints them: with the columns of kube-apiserver or of the CRD.

mod age;
mod built_in;
mod cells;
pub(crate) mod column;
mod format;
mod json_path;

use jiff::Timestamp;
use serde_json::{Value, json};
use webhook::strategy;

use crate::call::Call;
use crate::convert;
use crate::http::negotiate::Version;
use crate::object::meta;
use crate::table::column::Column;

/// Renders objects as a `Table`; a watch sends the column definitions only once.
pub(crate) fn of<'a>(
    call: &Call,
    objects: impl Iterator<Item = &'a Value>,
    version: Version,
    with_columns: bool,
) -> Value {
    let columns = Columns::of(call);
    let rows: Vec<Value> = objects.map(|object| row(call, &columns, object, version)).collect();
    let metadata = rows
        .first()
        .filter(|_| rows.len() == 1)
        .map_or(json!({}), |row| json!({"resourceVersion": row["object"]["metadata"]["resourceVersion"]}));
    // Go encodes a nil slice as null.
    let is_typed = call.target.custom || call.target.typed.is_some();
    let is_nil = rows.is_empty() && !is_typed && !built_in::has_columns(&call.target.resource);
    let rows = if is_nil { Value::Null } else { rows.into() };
    let definitions = if with_columns { columns.definitions() } else { Value::Null };
    json!({
        "apiVersion": version.api_version(),
        "kind": "Table",
        "metadata": metadata,
        "columnDefinitions": definitions,
        "rows": rows,
    })
}

/// The columns of a table.
enum Columns {
    BuiltIn(&'static [built_in::Column]),
    /// Those of a kind of an aggregated API server.
    Typed(&'static [strategy::Column]),
    /// The columns beside the name.
    Declared(Vec<Column>),
}

impl Columns {
    fn of(call: &Call) -> Self {
        if let Some(typed) = call.target.typed.as_ref().filter(|_| call.path.subresource != "scale") {
            return Self::Typed(typed.strategy.columns);
        }
        match (call.target.custom, call.path.subresource.as_str()) {
            (true, "scale") => Self::Declared(Column::of_scale()),
            (true, _) => Self::Declared(call.columns.clone()),
            (false, "scale") => Self::BuiltIn(built_in::of_scale()),
            (false, _) => Self::BuiltIn(built_in::of(&call.target.resource)),
        }
    }

    fn definitions(&self) -> Value {
        match self {
            Self::BuiltIn(columns) => columns.iter().map(built_in::Column::definition).collect(),
            Self::Typed(columns) => columns.iter().map(typed_definition).collect(),
            Self::Declared(columns) => {
                let name = json!({
                    "name": "Name", "type": "string", "format": "name", "priority": 0,
                    "description": "Name must be unique within a namespace.",
                });
                std::iter::once(name).chain(columns.iter().map(Column::definition)).collect()
            }
        }
    }

    fn cells(&self, call: &Call, object: &Value, now: Timestamp) -> Vec<Value> {
        match self {
            Self::BuiltIn(columns) => {
                let object = convert::core_event(object, &call.target.resource);
                columns.iter().map(|column| column.cell(&object, now)).collect()
            }
            Self::Typed(columns) => columns.iter().map(|column| (column.cell)(object, now)).collect(),
            Self::Declared(columns) => {
                let name = Value::from(meta::name(object));
                std::iter::once(name).chain(columns.iter().map(|column| column.cell(object, now))).collect()
            }
        }
    }
}

fn typed_definition(column: &strategy::Column) -> Value {
    json!({
        "name": column.name, "type": column.kind, "format": column.format,
        "description": column.description, "priority": column.priority,
    })
}

fn row(call: &Call, columns: &Columns, object: &Value, version: Version) -> Value {
    let row_object = match call.query.text("includeObject") {
        "None" => Value::Null,
        "Object" => object.clone(),
        _ => meta::partial(object, version.api_version(), "PartialObjectMetadata"),
    };
    let mut row = json!({"cells": columns.cells(call, object, call.clock.now()), "object": row_object});
    if let Some(condition) = completion(object).filter(|_| call.target.table == "pods") {
        row["conditions"] = json!([condition]);
    }
    row
}

/// The condition of a row whose pod has ended.
fn completion(pod: &Value) -> Option<Value> {
    let phase = pod["status"]["phase"].as_str()?;
    let message = match phase {
        "Succeeded" => "The pod has completed successfully.",
        "Failed" => "The pod failed.",
        _ => return None,
    };
    Some(json!({"type": "Completed", "status": "True", "reason": phase, "message": message}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_ended_pods_have_a_condition() {
        let of = |phase: &str| completion(&json!({"status": {"phase": phase}}));
        let failed =
            json!({"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."});
        assert_eq!([of("Failed"), of("Running")], [Some(failed), None]);
        assert!(of("Succeeded").is_some_and(|condition| condition["reason"] == "Succeeded"));
    }
}
