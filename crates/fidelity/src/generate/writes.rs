//! Generates creations, replacements, deletions, and requests that servers do not support.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::RequestBuilder;
use super::odd;
use crate::request::{Body, LastSeen, Request};

/// A uid that no object has.
const OTHER_UID: &str = "00000000-0000-4000-8000-000000000001";

impl RequestBuilder<'_> {
    /// The creation of a valid object.
    pub(super) fn valid_creation(&mut self) -> Request {
        let method = "POST".to_owned();
        let mut request = Request { method, path: self.kind.collection(), ..Request::default() };
        let mut object = self.kind.object(self.name);
        if self.dice.percent(50) {
            object["metadata"]["labels"]["app"] = json!(self.dice.pick(&["a", "b"]));
        }
        if self.dice.percent(15) {
            object["metadata"]["finalizers"] = json!(["example.com/hold"]);
        }
        request.body = Some(Body::Json(object));
        request
    }

    pub(super) fn create(&mut self) -> Request {
        let mut request = self.write("POST", self.kind.collection());
        let mut object = self.object();
        if self.dice.percent(7) && object["metadata"].is_object() {
            object["metadata"]["generateName"] = format!("{}-", self.kind.object_name("gen")).into();
            let _generated = object["metadata"].as_object_mut().and_then(|metadata| metadata.remove("name"));
        }
        let has_generated_name = *self.has_generated_name;
        self.allow_one_generated_name(&mut object);
        if object["metadata"]["generateName"].is_string() && has_generated_name {
            // In other words, the object might lose its name.
            request.body = Some(Body::Json(object));
        } else {
            self.send(&mut request, object);
        }
        request
    }

    /// Gives an object without a name one, if the server may have generated a name already.
    fn allow_one_generated_name(&mut self, object: &mut Value) {
        let metadata = &object["metadata"];
        let named = metadata["name"].as_str().is_some_and(|name| !name.is_empty());
        if !metadata["generateName"].is_string() {
            return;
        }
        if *self.has_generated_name && !named {
            object["metadata"]["name"] = self.kind.object_name(self.name).into();
        }
        *self.has_generated_name = true;
    }

    pub(super) fn update(&mut self) -> Request {
        let subresource = self.subresource();
        let mut request = self.write("PUT", self.path(subresource));
        if self.dice.percent(50) && subresource != "scale" {
            let shown =
                if subresource == "status" { self.object_with_status() } else { self.kind.object(self.name) };
            let mut set = BTreeMap::new();
            for _ in 0..=self.dice.below(2) {
                let (pointer, value) = self.change(subresource, &shown);
                set.insert(pointer, value);
            }
            if self.dice.percent(30) {
                let stale = self.dice.pick(&["stale", "rv"]);
                set.insert("/metadata/resourceVersion".to_owned(), self.placeholder(stale).into());
            }
            request.body = Some(Body::Seen(LastSeen { object: self.kind.key(self.name), set }));
            return request;
        }
        let mut object = match subresource {
            "scale" => self.scale(),
            "status" => self.object_with_status(),
            _ => self.object(),
        };
        if subresource == "scale" && self.dice.percent(25) && object["metadata"].is_object() {
            let uid = [self.placeholder("uid"), OTHER_UID.to_owned(), String::new()];
            object["metadata"]["uid"] = self.dice.pick(&uid).as_str().into();
        }
        if self.dice.percent(55) && object["metadata"].is_object() {
            let revision = self.dice.weigh(&[(5, "rv"), (3, "stale")]);
            object["metadata"]["resourceVersion"] = self.placeholder(revision).into();
        }
        self.send(&mut request, object);
        request
    }

    pub(super) fn delete(&mut self) -> Request {
        let mut request = self.write("DELETE", self.path(""));
        request.query.retain(|key, _| key == "dryRun");
        self.add_delete_options(&mut request);
        request
    }

    pub(super) fn delete_collection(&mut self) -> Request {
        let mut request = self.write("DELETE", self.kind.collection());
        request.query.retain(|key, _| key == "dryRun");
        self.select(&mut request);
        self.add_delete_options(&mut request);
        request
    }

    /// A request with a method or a path that is not supported.
    pub(super) fn unsupported(&mut self) -> Request {
        let object = Body::Json(self.kind.object(self.name));
        let (method, path, body) = match self.dice.below(13) {
            0 => ("PUT", self.kind.collection(), Some(object)),
            1 => ("PATCH", self.kind.collection(), Some(object)),
            2 => ("POST", self.path(""), Some(object)),
            3 => ("GET", self.path("nothing"), None),
            4 => ("DELETE", self.path("status"), None),
            5 => ("POST", self.path("status"), Some(object)),
            6 => ("GET", self.kind.collection().replace("/v", "/v99"), None),
            7 => ("POST", self.kind.collection().replace("${ns}", "absent-${ns}"), Some(object)),
            8 => ("GET", self.kind.collection().replace(&self.kind.resource, "nothings"), None),
            9 => ("POST", self.kind.collection(), Some(Body::Filler(3_200_000))),
            10 => ("POST", self.path("eviction"), Some(self.eviction())),
            11 => {
                let query = [("resourceVersion".to_owned(), "999999999999".to_owned())].into();
                let (method, path) = ("GET".to_owned(), self.kind.collection());
                return Request { method, path, query, ..Request::default() };
            }
            _ => ("GET", self.path("scale"), None),
        };
        Request { method: method.to_owned(), path, body, ..Request::default() }
    }

    /// Sets the object as the body, or sometimes an invalid body.
    pub(super) fn send(&mut self, request: &mut Request, object: Value) {
        if !self.dice.percent(20) {
            request.body = Some(Body::Json(object));
            return;
        }
        let text = |text: &str| Some(Body::Text(text.to_owned()));
        match self.dice.below(22) {
            0 => {
                request.media = Some("application/yaml".to_owned());
                request.body = formats::yaml::to_string(&object).ok().map(Body::Text);
            }
            1 => {
                request.media =
                    Some(self.dice.pick(&["text/plain", "application/x-www-form-urlencoded"]).to_string());
                request.body = Some(Body::Json(object));
            }
            2 => request.body = None,
            3 => request.body = text("{"),
            4 => request.body = text("not JSON"),
            5 => request.body = text("[]"),
            6 => request.body = text("null"),
            7 => request.body = text("{}"),
            8 => request.body = text("\"text\""),
            9 => request.body = Some(Body::Text(format!("{object} trailing"))),
            10 => request.body = Some(Body::Text(with_duplicate_field(&object))),
            11..18 => request.body = Some(Body::Text(odd::reworded(self.dice, &object.to_string()))),
            18 => request.body = Some(Body::Text(odd::broken(self.dice, &object.to_string()))),
            19 | 20 => {
                request.media = Some("application/yaml".to_owned());
                request.body = Some(Body::Text(odd::yaml(self.dice, &object)));
            }
            _ => {
                request.media = Some("application/json; charset=utf-8".to_owned());
                request.body = Some(Body::Json(object));
            }
        }
    }

    /// Creates a running pod and a PodDisruptionBudget that forbids its eviction, and tries to evict it.
    pub(super) fn eviction_of_protected_pod(&mut self) -> [Request; 4] {
        let send = |method: &str, path: String, body: Value| {
            let (method, body) = (method.to_owned(), Some(Body::Json(body)));
            Request { method, path, body, ..Request::default() }
        };
        let mut pod = self.kind.object(self.name);
        pod["metadata"]["labels"]["app"] = "protected".into();
        let budget = json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "protector"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "protected"}}},
        });
        let merge = Some("application/merge-patch+json".to_owned());
        let budgets = "/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets".to_owned();
        [
            send("POST", self.kind.collection(), pod),
            send("POST", budgets, budget),
            Request {
                media: merge,
                ..send("PATCH", self.path("status"), json!({"status": {"phase": "Running"}}))
            },
            Request { body: Some(self.eviction()), ..send("POST", self.path("eviction"), Value::Null) },
        ]
    }

    fn eviction(&self) -> Body {
        let metadata = json!({"name": self.kind.object_name(self.name), "namespace": "${ns}"});
        Body::Json(json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}))
    }

    /// Adds random options of a deletion, in the body or in the query.
    fn add_delete_options(&mut self, request: &mut Request) {
        let policies = [(4, "Background"), (4, "Foreground"), (4, "Orphan"), (1, "Other")];
        match self.dice.weigh(&[(40, 0), (15, 1), (40, 2), (5, 3)]) {
            1 => {
                request.query.insert("propagationPolicy".to_owned(), self.dice.weigh(&policies).to_owned());
            }
            2 => {
                let mut options = json!({"apiVersion": "v1", "kind": "DeleteOptions"});
                if self.dice.percent(50) {
                    options["propagationPolicy"] = self.dice.weigh(&policies).into();
                }
                if self.dice.percent(30) {
                    options["gracePeriodSeconds"] =
                        self.dice.pick(&[json!(0), json!(5), json!(-1), json!("x")]).clone();
                }
                if self.dice.percent(25) {
                    let uid = *self.dice.pick(&["${uid nothing/at-all}", ""]);
                    let uid = if uid.is_empty() { self.placeholder("uid") } else { uid.to_owned() };
                    options["preconditions"]["uid"] = uid.into();
                }
                if self.dice.percent(25) {
                    let revision = *self.dice.pick(&["rv", "stale"]);
                    options["preconditions"]["resourceVersion"] = self.placeholder(revision).into();
                }
                if self.dice.percent(8) {
                    options["orphanDependents"] = self.dice.percent(50).into();
                }
                if self.dice.percent(5) {
                    options["unknownField"] = 1.into();
                }
                request.body = Some(Body::Json(options));
            }
            3 => {
                let spoilt =
                    ["{", "[]", "{\"kind\":\"Other\"}", "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v9\"}"];
                request.body = Some(Body::Text(self.dice.pick(&spoilt).to_string()));
            }
            _ => {}
        }
    }
}

/// The object as JSON with a duplicate field.
fn with_duplicate_field(object: &Value) -> String {
    let text = object.to_string();
    let kind = object["kind"].as_str().unwrap_or_default();
    format!("{{\"kind\":{:?},{}", kind, text.trim_start_matches('{'))
}
