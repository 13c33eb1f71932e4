//! A generated world as a document, which can be shrunk, and as a scenario.
//!
//! `{config, sourceCluster: [object], targetCluster: [object], steps: [[action]]}`. An object or a patch may have
//! `manifests: {<key>: [object or text]}`, which become the texts of its `stringData`. An action is
//! `{create | patch | delete: <head>, in: <cluster>, with: <object or merge patch>}`.

use std::collections::BTreeMap;

use contract::model::Location;
use contract::scenario::{Action, NAMESPACE, ObjectRef, Scenario, Side, Step};
use serde_json::{Map, Value, json};

/// The scenario of a world.
///
/// # Errors
/// If the world is invalid, as a shrunk one may be.
pub(super) fn scenario(world: &Value) -> Result<Scenario, String> {
    let mut given = BTreeMap::new();
    for side in [Side::Source, Side::Target] {
        let objects = items(&world[side.name()]).iter().map(object).collect::<Result<Vec<_>, _>>()?;
        given.insert(side, objects);
    }
    let steps = items(&world["steps"]).iter().enumerate().map(|(at, actions)| {
        let actions = items(actions).iter().map(action).collect::<Result<Vec<_>, _>>()?;
        Ok(step(format!("step {}", at + 1), actions))
    });
    Ok(Scenario { given, steps: steps.collect::<Result<Vec<_>, String>>()?, ..Scenario::default() })
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn step(name: String, actions: Vec<Action>) -> Step {
    Step {
        name,
        advance: None,
        actions,
        witness: None,
        eventually: Vec::new(),
        history: Vec::new(),
        never: None,
        requests: None,
        location: Location { file: String::new(), line: 0, column: 0 },
    }
}

/// An object with its manifests as texts.
fn object(value: &Value) -> Result<Value, String> {
    head(value)?;
    written(value)
}

/// The object or patch to write, with its manifests as texts.
fn written(value: &Value) -> Result<Value, String> {
    let mut object = value.as_object().cloned().ok_or("not an object")?;
    let Some(manifests) = object.remove("manifests") else { return Ok(Value::Object(object)) };
    let mut data = Map::new();
    for (key, documents) in manifests.as_object().ok_or("manifests are not a map")? {
        if documents.is_null() {
            object.insert("data".to_owned(), json!({key: null}));
        } else {
            data.insert(key.clone(), json!(text(key, items(documents))?));
        }
    }
    object.insert("stringData".to_owned(), Value::Object(data));
    Ok(Value::Object(object))
}

/// A key ending in `.json` holds JSON, every other one YAML.
fn text(key: &str, documents: &[Value]) -> Result<String, String> {
    let is_json = key.rsplit_once('.').is_some_and(|(_, notation)| notation == "json");
    let texts = documents.iter().map(|document| match document {
        Value::String(text) => Ok(text.clone()),
        Value::Object(_) if is_json => Ok(document.to_string()),
        Value::Object(_) => formats::yaml::to_string(document).map_err(|error| error.to_string()),
        _ => Err("a manifest must be an object or a string".to_owned()),
    });
    let texts = texts.collect::<Result<Vec<_>, _>>()?;
    let text = texts.join(if is_json { "\n" } else { "---\n" });
    let is_of_objects = documents.iter().all(Value::is_object) && (is_json || documents.len() == 1);
    if text.trim_start().starts_with('{') && !is_of_objects {
        return Err(
            "the original loops for ever on JSON with other text between documents (GRM-MR-133)".to_owned()
        );
    }
    Ok(text)
}

fn action(value: &Value) -> Result<Action, String> {
    let side = match value["in"].as_str() {
        Some("sourceCluster") => Side::Source,
        Some("targetCluster") => Side::Target,
        _ => return Err("the action's `in` must be sourceCluster or targetCluster".to_owned()),
    };
    let with = || written(&value["with"]);
    match value.as_object().and_then(|fields| fields.keys().find(|key| *key != "in" && *key != "with")) {
        Some(verb) if verb == "create" => {
            let created = with()?;
            head(&created)?;
            Ok(Action::Create(side, created))
        }
        Some(verb) if verb == "patch" => Ok(Action::Patch(side, head(&value["patch"])?, with()?)),
        Some(verb) if verb == "delete" => Ok(Action::Delete(side, head(&value["delete"])?)),
        _ => Err("the action must have create, patch or delete".to_owned()),
    }
}

fn head(value: &Value) -> Result<ObjectRef, String> {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let metadata = &value["metadata"];
    let served = substrate::cluster::resource(value).map_err(|error| error.to_string())?;
    let namespace = text(&metadata["namespace"]).unwrap_or_else(|| NAMESPACE.to_owned());
    Ok(ObjectRef {
        api_version: text(&value["apiVersion"]).ok_or("the object has no apiVersion")?,
        kind: text(&value["kind"]).ok_or("the object has no kind")?,
        namespace: if served.namespaced { namespace } else { String::new() },
        name: text(&metadata["name"]).ok_or("the object has no name")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_becomes_a_scenario() {
        let of = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mr"}});
        let mut full = secret.clone();
        full["manifests"] = json!({"a.yaml": [of("a"), "text\n"], "b.json": [of("b"), of("c")]});
        let world = json!({
            "sourceCluster": [full],
            "steps": [
                [{"patch": secret, "in": "sourceCluster", "with": {"manifests": {"a.yaml": null}}}],
                [{"delete": of("a"), "in": "targetCluster"}, {"create": of("d"), "in": "targetCluster", "with": of("d")}],
            ],
        });
        let scenario = scenario(&world).unwrap();
        let data = &scenario.given[&Side::Source][0]["stringData"];
        assert!(data["a.yaml"].as_str().unwrap().ends_with("---\ntext\n"), "{data}");
        assert_eq!(data["b.json"], json!(format!("{}\n{}", of("b"), of("c"))));
        let actions: Vec<&Action> = scenario.steps.iter().flat_map(|step| &step.actions).collect();
        let reference = |kind: &str, name: &str| ObjectRef {
            api_version: "v1".to_owned(),
            kind: kind.to_owned(),
            namespace: "default".to_owned(),
            name: name.to_owned(),
        };
        let patch = json!({"data": {"a.yaml": null}, "stringData": {}});
        assert_eq!(*actions[0], Action::Patch(Side::Source, reference("Secret", "mr"), patch));
        assert_eq!(*actions[1], Action::Delete(Side::Target, reference("ConfigMap", "a")));
        assert_eq!(*actions[2], Action::Create(Side::Target, of("d")));
    }

    #[test]
    fn an_invalid_world_is_refused() {
        let nameless = json!({"apiVersion": "v1", "kind": "ConfigMap"});
        let table = [
            json!({"sourceCluster": [nameless]}),
            json!({"steps": [[{"in": "sourceCluster"}]]}),
            json!({"steps": [[{"delete": nameless, "in": "targetCluster"}]]}),
            json!({"steps": [[{"delete": {"apiVersion": "v1", "kind": "Widget", "metadata": {"name": "a"}}, "in": "targetCluster"}]]}),
        ];
        for world in table {
            assert!(scenario(&world).is_err(), "{world}");
        }
    }
}
