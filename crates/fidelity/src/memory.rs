//! What a server's answers revealed about objects and collections, and placeholders filled with it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::exercise::Exercise;
use crate::request::{Body, Request, set};
use crate::webhook::{self, WebhookServer};

/// What one server's answers in one sequence revealed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    namespace: String,
    webhooks: WebhookServer,
    objects: BTreeMap<String, ObservedObject>,
    collections: BTreeMap<String, ObservedCollection>,
}

#[derive(Clone, Debug, Default)]
struct ObservedObject {
    first_revision: String,
    last_revision: String,
    uid: String,
    last_seen: Value,
}

#[derive(Clone, Debug, Default)]
struct ObservedCollection {
    revision: String,
    token: String,
}

/// A request without placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilledRequest {
    /// HTTP method.
    pub method: String,
    /// Path and query.
    pub uri: String,
    /// Media type of the body.
    pub media: Option<String>,
    /// Accepted media type of the answer.
    pub accept: String,
    /// The user to impersonate.
    pub user: Option<String>,
    /// The body; empty for none.
    pub body: Vec<u8>,
    /// Whether the request opens a watch.
    pub is_watch: bool,
}

/// A uid that no object has.
const UNUSED_UID: &str = "00000000-0000-4000-8000-000000000000";

impl Memory {
    /// An empty memory for the sequence with this namespace, whose webhooks are served there.
    pub(crate) fn new(namespace: &str, webhooks: &WebhookServer) -> Self {
        Self { namespace: namespace.to_owned(), webhooks: webhooks.clone(), ..Self::default() }
    }

    /// Stores what an answer reveals.
    pub(crate) fn learn(&mut self, exercise: &Exercise, answer: &Value) {
        let text =
            |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        let revision = text("/metadata/resourceVersion");
        if answer.get("items").is_some() {
            let collection = self.collections.entry(exercise.plural().to_owned()).or_default();
            *collection = ObservedCollection { revision, token: text("/metadata/continue") };
        } else if !revision.is_empty() && matches!(exercise.subresource.as_str(), "" | "status") {
            let key = format!("{}/{}", exercise.plural(), text("/metadata/name"));
            let object = self.objects.entry(key).or_default();
            if object.first_revision.is_empty() {
                object.first_revision.clone_from(&revision);
            }
            (object.last_revision, object.uid) = (revision, text("/metadata/uid"));
            object.last_seen = answer.clone();
        }
    }

    /// Replaces the placeholders of a request.
    pub(crate) fn fill(&self, request: &Request) -> FilledRequest {
        let query = request.query.iter().map(|(key, value)| (key.clone(), self.text(value))).collect();
        let (path, query) = (self.text(&request.path), Request::encoded(&query));
        let body = request.body.as_ref().map(|body| self.body(body)).unwrap_or_default();
        let json = || Some("application/json".to_owned()).filter(|_| !body.is_empty());
        FilledRequest {
            method: request.method.clone(),
            uri: if query.is_empty() { path } else { format!("{path}?{query}") },
            media: request.media.clone().or_else(json),
            accept: request.accept.clone().unwrap_or_else(|| "application/json".to_owned()),
            user: request.user.clone(),
            body,
            is_watch: Exercise::of(request).verb == "watch",
        }
    }

    fn body(&self, body: &Body) -> Vec<u8> {
        match body {
            Body::Json(value) => self.value(value).to_string().into_bytes(),
            Body::Text(text) => self.text(text).into_bytes(),
            Body::Seen(seen) => {
                let last_seen =
                    self.objects.get(&self.key(&seen.object)).map(|object| object.last_seen.clone());
                let mut object = last_seen.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
                for (pointer, value) in &seen.set {
                    set(&mut object, pointer, &self.value(value));
                }
                object.to_string().into_bytes()
            }
            Body::Filler(size) => format!("{{\"filler\":\"{}\"}}", "x".repeat(*size)).into_bytes(),
        }
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(map) => {
                let map = map.iter().map(|(key, value)| (self.text(key), self.value(value))).collect();
                webhook::directive(&map, &self.webhooks).unwrap_or(Value::Object(map))
            }
            other => other.clone(),
        }
    }

    fn text(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            filled.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                filled.push_str("${");
                rest = after;
                continue;
            };
            filled.push_str(&self.placeholder(name));
            rest = after;
        }
        filled.push_str(rest);
        filled
    }

    /// The revision at which the namespace of the sequence was created.
    fn initial_revision(&self) -> &str {
        let namespace = self.objects.get(&format!("namespaces/{}", self.namespace));
        namespace.map_or("1", |namespace| &namespace.first_revision)
    }

    /// The key of an object, with the namespace in place of `$ns`.
    fn key(&self, of: &str) -> String {
        of.replace("$ns", &self.namespace)
    }

    /// The value of a placeholder; if the server revealed none, a value that is the same for every server.
    fn placeholder(&self, name: &str) -> String {
        let (what, of) = name.split_once(' ').unwrap_or((name, ""));
        let of = self.key(of);
        let (object, collection) = (self.objects.get(&of), self.collections.get(&of));
        let or = |found: Option<&String>, other: &str| found.map_or(other, String::as_str).to_owned();
        match what {
            "ns" => self.namespace.clone(),
            "bundle" => self.webhooks.bundle.clone(),
            // Servers may keep different amounts of history, so no revision is older than the sequence.
            "rv" => or(object.map(|object| &object.last_revision), self.initial_revision()),
            "stale" => or(object.map(|object| &object.first_revision), self.initial_revision()),
            "uid" => or(object.map(|object| &object.uid), UNUSED_UID),
            "revision" => or(collection.map(|collection| &collection.revision), ""),
            "continue" => or(collection.map(|collection| &collection.token), ""),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::LastSeen;
    use serde_json::json;

    fn memory() -> Memory {
        let mut memory = Memory::new("n", &WebhookServer::default());
        let request =
            |path: &str| Request { method: "GET".to_owned(), path: path.to_owned(), ..Request::default() };
        let object_at =
            |revision: &str| json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": revision}});
        memory.learn(
            &Exercise::of(&request("/api/v1/namespaces")),
            &json!({"metadata": {"name": "n", "uid": "u", "resourceVersion": "3"}}),
        );
        let object = Exercise::of(&request("/api/v1/namespaces/n/pods/a"));
        memory.learn(&object, &object_at("5"));
        memory.learn(&object, &object_at("7"));
        let list = json!({"metadata": {"resourceVersion": "9", "continue": "more"}, "items": []});
        memory.learn(&Exercise::of(&request("/api/v1/namespaces/n/pods")), &list);
        memory
    }

    #[test]
    fn placeholders_are_filled_from_answers() {
        let table = [
            ("${ns}-${rv pods/a}-${stale pods/a}", "n-7-5"),
            ("${uid pods/a} ${uid pods/b}", "u 00000000-0000-4000-8000-000000000000"),
            ("${revision pods}${continue pods}", "9more"),
            ("${rv pods/b} ${unfinished", "3 ${unfinished"),
        ];
        for (text, want) in table {
            assert_eq!(memory().text(text), want, "{text}");
        }
    }

    #[test]
    fn the_last_seen_object_is_sent_with_changes() {
        let set = BTreeMap::from([("/metadata/labels/x".to_owned(), json!("${ns}"))]);
        let body = Body::Seen(LastSeen { object: "pods/a".to_owned(), set });
        let changed: Value = serde_json::from_slice(&memory().body(&body)).unwrap();
        let want =
            json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "7", "labels": {"x": "n"}}});
        assert_eq!(changed, want);
    }
}
