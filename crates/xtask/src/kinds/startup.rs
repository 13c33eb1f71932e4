//! Reads the objects that a kube-apiserver writes when it starts, except roles, their bindings, namespaces, and objects that it
//! computes for each request.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use super::server::{ADDRESS, Server};
use super::server_api::ServerApi;

/// How long the server may take to write all.
const PATIENCE: Duration = Duration::from_mins(1);

/// Resources that the embedded server creates in another way, or does not store.
const EXCLUDED: [&str; 7] = [
    "clusterrolebindings",
    "clusterroles",
    "componentstatuses",
    "events",
    "namespaces",
    "rolebindings",
    "roles",
];

/// The objects, one per line, with placeholders for values that differ between servers.
pub(super) fn objects(server: &Server, api: &ServerApi) -> Result<Vec<u8>> {
    let begun = Instant::now();
    let found = loop {
        let found = read(server, api)?;
        if is_complete(&found) {
            break found;
        }
        if begun.elapsed() > PATIENCE {
            bail!("kube-apiserver has not written all its objects after {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(500));
    };
    let placeholders = Placeholders::of(server, &found)?;
    let mut lines: Vec<String> = Vec::new();
    for mut object in found {
        strip(&mut object);
        placeholders.insert(&mut object);
        lines.push(object.to_string());
    }
    lines.sort();
    Ok(format!("[\n{}\n]\n", lines.join(",\n")).into_bytes())
}

/// Lists the objects of all resources.
fn read(server: &Server, api: &ServerApi) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for group in &api.groups {
        for (version, resources) in &group.versions {
            let root =
                if group.name.is_empty() { "/api".to_owned() } else { format!("/apis/{}", group.name) };
            let api_version =
                if group.name.is_empty() { version.clone() } else { format!("{}/{version}", group.name) };
            for resource in resources {
                let plural = resource["plural"].as_str().unwrap_or_default();
                let lists =
                    resource["verbs"].as_array().is_some_and(|verbs| verbs.iter().any(|verb| verb == "list"));
                if !lists
                    || EXCLUDED.contains(&plural)
                    || (group.name.as_str(), version.as_str()) == ("autoscaling", "v1")
                {
                    continue;
                }
                let list = server.get(&format!("{root}/{version}/{plural}"))?;
                for item in list["items"].as_array().into_iter().flatten() {
                    let mut object = Map::new();
                    object.insert("apiVersion".to_owned(), api_version.as_str().into());
                    object.insert("kind".to_owned(), resource["kind"].clone());
                    object.extend(item.as_object().cloned().unwrap_or_default());
                    found.push(Value::Object(object));
                }
            }
        }
    }
    Ok(found)
}

/// Whether the objects that the server writes last exist, and objects with conditions have them.
fn is_complete(found: &[Value]) -> bool {
    let has = |kind: &str| found.iter().any(|object| object["kind"] == kind);
    let with_conditions = ["APIService", "FlowSchema", "ServiceCIDR"];
    let has_condition = |object: &Value| object.pointer("/status/conditions/0").is_some();
    let is_pending = |object: &&Value| {
        with_conditions.iter().any(|kind| object["kind"] == *kind) && !has_condition(object)
    };
    ["Endpoints", "EndpointSlice", "Lease", "IPAddress", "PriorityClass"].into_iter().all(has)
        && !found.iter().any(|object| is_pending(&object))
}

fn strip(object: &mut Value) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        metadata.remove(field);
    }
}

/// Values that differ between servers, and the placeholders for them.
struct Placeholders {
    texts: Vec<(String, &'static str)>,
    port: u64,
}

impl Placeholders {
    fn of(server: &Server, found: &[Value]) -> Result<Self> {
        let lease =
            found.iter().find(|object| object["kind"] == "Lease").context("the server has no Lease")?;
        let text = |pointer: &str| {
            lease.pointer(pointer).and_then(Value::as_str).context("a field of the Lease is missing")
        };
        let name = text("/metadata/name")?;
        let holder = text("/spec/holderIdentity")?;
        let hostname = text("/metadata/labels/kubernetes.io~1hostname")?;
        let texts = vec![
            (server.text("ca.crt")?, "${client-ca}"),
            (server.text("front-proxy-ca.crt")?, "${requestheader-client-ca}"),
            (holder.to_owned(), "${holder}"),
            (name.to_owned(), "${lease}"),
            (hostname.to_owned(), "${hostname}"),
            (ADDRESS.to_owned(), "${address}"),
            (format!(":{}", server.port()), ":${port}"),
        ];
        Ok(Self { texts, port: u64::from(server.port()) })
    }

    fn insert(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.replace(text),
            Value::Number(number) if number.as_u64() == Some(self.port) => *value = "${port}".into(),
            Value::Array(list) => list.iter_mut().for_each(|value| self.insert(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.insert(value)),
            _ => {}
        }
    }

    fn replace(&self, text: &str) -> String {
        if let Some(placeholder) = time(text) {
            return placeholder.to_owned();
        }
        let mut replaced = text.to_owned();
        for (value, placeholder) in &self.texts {
            // A short value may occur in other texts by chance, so it must be the whole text.
            if replaced == *value || value.len() > 8 || value.starts_with(':') {
                replaced = replaced.replace(value.as_str(), placeholder);
            }
        }
        replaced
    }
}

/// The placeholder of a date, a time, or a time with microseconds.
fn time(text: &str) -> Option<&'static str> {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    match shape.as_str() {
        "0000-00-00" => Some("${date}"),
        "0000-00-00T00:00:00Z" => Some("${time}"),
        "0000-00-00T00:00:00.000000Z" => Some("${micro-time}"),
        _ => None,
    }
}
