//! Objects as rows of a table, as kubectl prints them: name and age, or what a CRD says.

mod age;
mod json_path;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::call::Call;
use crate::meta;
use crate::negotiate::Version;
use crate::render;

/// A column beside the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    name: String,
    kind: String,
    format: String,
    description: String,
    priority: i64,
    path: String,
}

impl Column {
    /// The columns that a definition declares for a version; only the age if it declares none.
    pub(crate) fn declared(definition: Option<&Value>, version: &str) -> Vec<Self> {
        let versions = definition.and_then(|definition| definition.pointer("/spec/versions")?.as_array());
        let version = versions.into_iter().flatten().find(|known| known["name"] == version);
        let columns = version.and_then(|version| version["additionalPrinterColumns"].as_array());
        columns.map_or_else(|| vec![Self::age()], |columns| columns.iter().map(Self::read).collect())
    }

    fn age() -> Self {
        Self {
            name: "Age".to_owned(),
            kind: "date".to_owned(),
            format: String::new(),
            description: "How long ago the object was made.".to_owned(),
            priority: 0,
            path: ".metadata.creationTimestamp".to_owned(),
        }
    }

    fn read(column: &Value) -> Self {
        let text = |field: &str| column[field].as_str().unwrap_or_default().to_owned();
        Self {
            name: text("name"),
            kind: text("type"),
            format: text("format"),
            description: text("description"),
            priority: column["priority"].as_i64().unwrap_or_default(),
            path: text("jsonPath"),
        }
    }

    fn definition(&self) -> Value {
        json!({
            "name": self.name, "type": self.kind, "format": self.format, "description": self.description,
            "priority": self.priority,
        })
    }

    fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let Some(value) = json_path::first(object, &self.path) else { return Value::Null };
        match (self.kind.as_str(), value) {
            ("date", Value::String(text)) => text
                .parse()
                .map_or_else(|_| "<unknown>".into(), |then| age::human(now.duration_since(then)).into()),
            ("string", Value::Array(_) | Value::Object(_) | Value::Number(_) | Value::Bool(_)) => {
                value.to_string().into()
            }
            (_, value) => value.clone(),
        }
    }
}

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
    let columns = if with_columns { column_definitions(call) } else { json!([]) };
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
        _ => render::metadata(object, version.api_version(), "PartialObjectMetadata"),
    };
    let name = Value::from(meta::name(object));
    let cells: Vec<Value> =
        std::iter::once(name).chain(call.columns.iter().map(|column| column.cell(object, now))).collect();
    json!({"cells": cells, "object": shown})
}

fn column_definitions(call: &Call) -> Value {
    let name = json!({
        "name": "Name", "type": "string", "format": "name", "priority": 0,
        "description": "Name must be unique within a namespace.",
    });
    std::iter::once(name).chain(call.columns.iter().map(Column::definition)).collect()
}
