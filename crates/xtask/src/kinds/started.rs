//! What a kube-apiserver writes by itself when it starts: everything that is there before anybody asked for anything, but for
//! roles, their bindings, namespaces, and what it makes up when it is asked.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

use super::answers::Answers;
use super::server::{ADDRESS, Server};

/// How long it may take to write all.
const PATIENCE: Duration = Duration::from_mins(1);

/// Kinds that are made otherwise or not kept.
const ELSEWHERE: [&str; 7] = [
    "clusterrolebindings",
    "clusterroles",
    "componentstatuses",
    "events",
    "namespaces",
    "rolebindings",
    "roles",
];

/// The objects, one a line, with placeholders for what is another server's own affair.
pub(super) fn objects(server: &Server, answers: &Answers) -> Result<Vec<u8>> {
    let begun = Instant::now();
    let found = loop {
        let found = read(server, answers)?;
        if is_whole(&found) {
            break found;
        }
        if begun.elapsed() > PATIENCE {
            bail!("kube-apiserver has not written all it writes after {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(500));
    };
    let names = Names::of(server, &found)?;
    let mut lines: Vec<String> = Vec::new();
    for mut object in found {
        strip(&mut object);
        names.mask(&mut object);
        lines.push(object.to_string());
    }
    lines.sort();
    Ok(format!("[\n{}\n]\n", lines.join(",\n")).into_bytes())
}

/// Every object that is listed in the first version of its group.
fn read(server: &Server, answers: &Answers) -> Result<Vec<Value>> {
    let mut found = Vec::new();
    for group in &answers.groups {
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
                    || ELSEWHERE.contains(&plural)
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

/// Whether the last of all is there, and everything has the condition that it gets.
fn is_whole(found: &[Value]) -> bool {
    let has = |kind: &str| found.iter().any(|object| object["kind"] == kind);
    let judged = ["APIService", "FlowSchema", "ServiceCIDR"];
    let conditions = |object: &Value| object.pointer("/status/conditions/0").is_some();
    let waits = |object: &&Value| judged.iter().any(|kind| object["kind"] == *kind) && !conditions(object);
    ["Endpoints", "EndpointSlice", "Lease", "IPAddress", "PriorityClass"].into_iter().all(has)
        && !found.iter().any(|object| waits(&object))
}

fn strip(object: &mut Value) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        metadata.remove(field);
    }
}

/// What is a server's own affair, and the placeholder for it.
struct Names {
    texts: Vec<(String, &'static str)>,
    port: u64,
}

impl Names {
    fn of(server: &Server, found: &[Value]) -> Result<Self> {
        let lease = found.iter().find(|object| object["kind"] == "Lease").context("no lease")?;
        let text =
            |pointer: &str| lease.pointer(pointer).and_then(Value::as_str).context("a lease without a name");
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

    fn mask(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.masked(text),
            Value::Number(number) if number.as_u64() == Some(self.port) => *value = "${port}".into(),
            Value::Array(list) => list.iter_mut().for_each(|value| self.mask(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.mask(value)),
            _ => {}
        }
    }

    fn masked(&self, text: &str) -> String {
        if let Some(placeholder) = time(text) {
            return placeholder.to_owned();
        }
        let mut masked = text.to_owned();
        for (known, placeholder) in &self.texts {
            // A name of one letter would be found everywhere: such a one is replaced as a whole.
            if masked == *known || known.len() > 8 || known.starts_with(':') {
                masked = masked.replace(known.as_str(), placeholder);
            }
        }
        masked
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
