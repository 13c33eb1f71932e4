//! The OpenAPI documents: what kinds look like, those of CRDs too, and what their paths take.

mod protobuf;

use serde_json::{Map, Value, json};

use crate::registry::ServedKinds;

pub(crate) use protobuf::encoded;

const V3: &str = "#/components/schemas/";
const V2: &str = "#/definitions/";

/// `/openapi/v3`: where the documents are; those of `others` too.
pub(crate) fn index(served: &ServedKinds, others: Map<String, Value>) -> Value {
    let mut paths = others;
    for group in served.kinds.groups() {
        for version in &group.versions {
            let root = root(&group.name, &version.version);
            let url = format!("/openapi/v3/{root}");
            paths.insert(root, json!({"serverRelativeURL": url}));
        }
    }
    json!({"paths": paths})
}

/// `/openapi/v3/apis/apps/v1`: the document of a group and version.
pub(crate) fn document(served: &ServedKinds, group: &str, version: &str) -> Option<Value> {
    served.kinds.openapi(group, version)
}

/// `/openapi/v2`: all documents as one, in the older form.
pub(crate) fn whole(served: &ServedKinds) -> Value {
    let (mut paths, mut definitions) = (Map::new(), Map::new());
    let mut info = Value::Null;
    let groups = served.kinds.groups().iter();
    let versions = groups.flat_map(|group| group.versions.iter().map(move |version| (group, version)));
    for (group, version) in versions {
        let Some(mut document) = document(served, &group.name, &version.version) else { continue };
        info = document["info"].take();
        extend(&mut paths, document["paths"].take());
        extend(&mut definitions, document["components"]["schemas"].take());
    }
    definitions.values_mut().for_each(older);
    json!({"swagger": "2.0", "info": info, "paths": paths, "definitions": definitions})
}

fn extend(map: &mut Map<String, Value>, more: Value) {
    if let Value::Object(more) = more {
        map.extend(more);
    }
}

/// A schema in the older form: references elsewhere, and alone where the newer form wraps them.
fn older(schema: &mut Value) {
    match schema {
        Value::Object(words) => {
            if let Some(Value::Array(all)) = words.get("allOf")
                && let [only] = all.as_slice()
                && only.get("$ref").is_some()
            {
                let reference = only["$ref"].clone();
                words.remove("allOf");
                words.insert("$ref".to_owned(), reference);
            }
            if let Some(Value::String(reference)) = words.get_mut("$ref") {
                *reference = reference.replace(V3, V2);
            }
            words.values_mut().for_each(older);
        }
        Value::Array(items) => items.iter_mut().for_each(older),
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
    fn the_older_form_refers_to_definitions() {
        let mut schema = json!({"properties": {
            "a": {"allOf": [{"$ref": "#/components/schemas/x.A"}], "default": {}},
            "b": {"type": "array", "items": {"$ref": "#/components/schemas/x.B"}},
            "c": {"allOf": [{"required": ["d"]}]},
        }});
        older(&mut schema);
        let want = json!({"properties": {
            "a": {"$ref": "#/definitions/x.A", "default": {}},
            "b": {"type": "array", "items": {"$ref": "#/definitions/x.B"}},
            "c": {"allOf": [{"required": ["d"]}]},
        }});
        assert_eq!(schema, want);
    }
}
