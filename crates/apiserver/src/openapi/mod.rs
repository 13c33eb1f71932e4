//! The OpenAPI documents: schemas of all kinds, including those of CRDs, and their paths.

mod protobuf;

use serde_json::{Map, Value, json};

use crate::registry::ServedKinds;

pub(crate) use protobuf::encode;

const V3: &str = "#/components/schemas/";
const V2: &str = "#/definitions/";

/// `/openapi/v3`: the list of documents, with those in `others`.
pub(crate) fn index(served: &ServedKinds, others: Map<String, Value>) -> Value {
    let mut paths = others;
    for group in served.groups() {
        for version in &group.versions {
            let root = root(&group.name, &version.version);
            let url = format!("/openapi/v3/{root}");
            paths.insert(root, json!({"serverRelativeURL": url}));
        }
    }
    json!({"paths": paths})
}

/// `/openapi/v3/apis/apps/v1`: the document of a group version.
pub(crate) fn document(served: &ServedKinds, group: &str, version: &str) -> Option<Value> {
    if !served.is_published(group) {
        return None;
    }
    served.kinds.openapi(group, version)
}

/// `/openapi/v2`: all documents merged into one of OpenAPI v2.
pub(crate) fn v2_document(served: &ServedKinds) -> Value {
    let (mut paths, mut definitions) = (Map::new(), Map::new());
    let mut info = Value::Null;
    let versions =
        served.groups().flat_map(|group| group.versions.iter().map(move |version| (group, version)));
    for (group, version) in versions {
        let Some(mut document) = document(served, &group.name, &version.version) else { continue };
        info = document["info"].take();
        extend(&mut paths, document["paths"].take());
        extend(&mut definitions, document["components"]["schemas"].take());
    }
    definitions.values_mut().for_each(to_v2);
    json!({"swagger": "2.0", "info": info, "paths": paths, "definitions": definitions})
}

fn extend(map: &mut Map<String, Value>, more: Value) {
    if let Value::Object(more) = more {
        map.extend(more);
    }
}

/// Converts a schema to OpenAPI v2: rewrites references, and unwraps those that v3 wraps in `allOf`.
fn to_v2(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            if let Some(Value::Array(all)) = keywords.get("allOf")
                && let [only] = all.as_slice()
                && only.get("$ref").is_some()
            {
                let reference = only["$ref"].clone();
                keywords.remove("allOf");
                keywords.insert("$ref".to_owned(), reference);
            }
            if let Some(Value::String(reference)) = keywords.get_mut("$ref") {
                *reference = reference.replace(V3, V2);
            }
            keywords.values_mut().for_each(to_v2);
        }
        Value::Array(items) => items.iter_mut().for_each(to_v2),
        _ => {}
    }
}

fn root(group: &str, version: &str) -> String {
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v2_schemas_refer_to_definitions() {
        let mut schema = json!({"properties": {
            "a": {"allOf": [{"$ref": "#/components/schemas/x.A"}], "default": {}},
            "b": {"type": "array", "items": {"$ref": "#/components/schemas/x.B"}},
            "c": {"allOf": [{"required": ["d"]}]},
        }});
        to_v2(&mut schema);
        let want = json!({"properties": {
            "a": {"$ref": "#/definitions/x.A", "default": {}},
            "b": {"type": "array", "items": {"$ref": "#/definitions/x.B"}},
            "c": {"allOf": [{"required": ["d"]}]},
        }});
        assert_eq!(schema, want);
    }
}
