//! Generates patches in the four forms.

use serde_json::{Map, Value, json};

use super::RequestBuilder;
use super::odd;
use crate::request::{Body, Request, set};

impl RequestBuilder<'_> {
    pub(super) fn json_patch(&mut self) -> Request {
        let (mut request, shown, subresource) = self.patch("application/json-patch+json");
        if self.sends_valid_patch() {
            return self.with_labels_set(request);
        }
        let operations: Vec<Value> =
            (0..=self.dice.below(3)).map(|_| self.operation(&shown, subresource)).collect();
        self.send_patch(
            &mut request,
            operations.into(),
            &["{}", "[{}]", "[{\"op\":\"add\"}]", "[1]", "{", ""],
        );
        request
    }

    pub(super) fn merge_patch(&mut self) -> Request {
        let (mut request, shown, subresource) = self.patch("application/merge-patch+json");
        if self.sends_valid_patch() {
            return self.with_label_patch(request);
        }
        let patch = self.partial(&shown, subresource);
        self.send_patch(&mut request, patch, &["[]", "null", "{", "1", "", "{}"]);
        request
    }

    pub(super) fn strategic_patch(&mut self) -> Request {
        let (mut request, shown, subresource) = self.patch("application/strategic-merge-patch+json");
        if self.sends_valid_patch() {
            return self.with_label_patch(request);
        }
        let mut patch = self.partial(&shown, subresource);
        if self.dice.percent(35) {
            let (pointer, value) = self.directive(&shown);
            set(&mut patch, pointer, &value);
        }
        self.send_patch(&mut request, patch, &["[]", "null", "{", "1", "", "{}", "{\"$patch\":\"odd\"}"]);
        request
    }

    pub(super) fn apply(&mut self) -> Request {
        let (mut request, _, subresource) = self.patch("application/apply-patch+yaml");
        let manager = self.dice.weigh(&[(45, "first"), (45, "second"), (4, ""), (6, "absent")]);
        request.query.remove("fieldManager");
        if manager != "absent" {
            request.query.insert("fieldManager".to_owned(), manager.to_owned());
        }
        if self.dice.percent(40) {
            let force = self.dice.weigh(&[(8, "true"), (2, "false"), (1, "odd")]);
            request.query.insert("force".to_owned(), force.to_owned());
        }
        let whole = match subresource {
            "scale" => self.scale(),
            "status" => self.object_with_status(),
            _ => self.object(),
        };
        let mut configuration = whole.clone();
        for field in ["spec", "data", "rules", "status"] {
            if whole[field].is_object() && self.dice.percent(50) {
                configuration[field] = self.subset(&whole[field]);
            }
        }
        if self.dice.percent(10) && configuration["metadata"].is_object() {
            let revision = *self.dice.pick(&["rv", "stale"]);
            configuration["metadata"]["resourceVersion"] = self.placeholder(revision).into();
        }
        self.send_patch(&mut request, configuration, &["[]", "null", "{", "a: b: c", "", "{}", "1"]);
        request
    }

    /// Whether a required patch is one that every object accepts, so that some patches of each form succeed.
    fn sends_valid_patch(&mut self) -> bool {
        self.is_plain && self.dice.percent(40)
    }

    /// A patch that every object accepts.
    fn with_label_patch(&mut self, mut request: Request) -> Request {
        let label = json!(self.dice.pick(&["a", "b"]));
        request.body = Some(Body::Json(json!({"metadata": {"labels": {"app": label}}})));
        request
    }

    fn with_labels_set(&mut self, mut request: Request) -> Request {
        let label = json!(self.dice.pick(&["a", "b"]));
        let set = json!({"op": "add", "path": "/metadata/labels", "value": {"of": "${ns}", "app": label}});
        request.body = Some(Body::Json(json!([set])));
        request
    }

    /// A patch of this form that succeeds on a valid object; `None` for an unknown form.
    pub(super) fn valid_patch(&mut self, form: &str) -> Option<Request> {
        let media = |media: &str| Some(format!("application/{media}"));
        let request = Request { method: "PATCH".to_owned(), path: self.path(""), ..Request::default() };
        Some(match form {
            "json" => self.with_labels_set(Request { media: media("json-patch+json"), ..request }),
            "merge" => self.with_label_patch(Request { media: media("merge-patch+json"), ..request }),
            "strategic" => {
                self.with_label_patch(Request { media: media("strategic-merge-patch+json"), ..request })
            }
            "apply" => Request {
                media: media("apply-patch+yaml"),
                query: [("fieldManager", "first"), ("force", "true")]
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .into(),
                body: Some(Body::Json(self.kind.object(self.name))),
                ..request
            },
            _ => return None,
        })
    }

    /// A patch request without a body, a possible state of the object, and the subresource.
    fn patch(&mut self, media: &str) -> (Request, Value, &'static str) {
        let subresource = self.subresource();
        let mut request = self.write("PATCH", self.path(subresource));
        request.media = Some(if !self.is_plain && self.dice.percent(2) {
            "application/json".to_owned()
        } else {
            media.to_owned()
        });
        let shown = match subresource {
            "scale" => self.scale(),
            "status" => self.object_with_status(),
            _ => self.kind.object(self.name),
        };
        (request, shown, subresource)
    }

    /// Sets the patch as the body, or sometimes an invalid one.
    fn send_patch(&mut self, request: &mut Request, patch: Value, invalid: &[&str]) {
        request.body = Some(match self.dice.below(100) {
            0..6 => Body::Text((*self.dice.pick(invalid)).to_owned()),
            6..12 => Body::Text(odd::reworded(self.dice, &patch.to_string())),
            12..14 => Body::Text(odd::broken(self.dice, &patch.to_string())),
            14 if request.media.as_deref() == Some("application/apply-patch+yaml") => {
                Body::Text(odd::yaml(self.dice, &patch))
            }
            _ => Body::Json(patch),
        });
    }

    /// An object with one or two changed fields only.
    fn partial(&mut self, shown: &Value, subresource: &str) -> Value {
        let mut patch = json!({});
        for _ in 0..=self.dice.below(2) {
            let (pointer, value) = self.change(subresource, shown);
            self.add_change(&mut patch, shown, &pointer, value);
        }
        if self.dice.percent(12) {
            let revision = *self.dice.pick(&["rv", "stale"]);
            self.add_change(
                &mut patch,
                shown,
                "/metadata/resourceVersion",
                self.placeholder(revision).into(),
            );
        }
        patch
    }

    /// Adds a change to a patch. A change below a list sends the changed element only, or the whole list.
    fn add_change(&mut self, patch: &mut Value, shown: &Value, pointer: &str, value: Value) {
        let steps: Vec<&str> = pointer.split('/').skip(1).collect();
        let list = (1..steps.len())
            .find(|at| shown.pointer(&format!("/{}", steps[..*at].join("/"))).is_some_and(Value::is_array));
        let Some(at) = list else {
            insert(patch, pointer, value);
            return;
        };
        let place = format!("/{}", steps[..at].join("/"));
        let mut items = shown.pointer(&place).cloned().unwrap_or_default();
        let below = format!("/{}", steps[at..].join("/"));
        set(&mut items, &below, &value);
        let index: usize = steps[at].parse().unwrap_or_default();
        let keep_one = self.dice.percent(60);
        if let Some(items) = items.as_array_mut().filter(|items| keep_one && index < items.len()) {
            *items = vec![items[index].clone()];
        }
        insert(patch, &place, items);
    }

    /// A random subset of the fields of each map in a value.
    fn subset(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut kept = Map::new();
                for (key, value) in map {
                    if self.dice.percent(75) || key == "name" {
                        kept.insert(key.clone(), self.subset(value));
                    }
                }
                Value::Object(kept)
            }
            Value::Array(items) => items.iter().map(|item| self.subset(item)).collect(),
            other => other.clone(),
        }
    }

    pub(super) fn operation(&mut self, shown: &Value, subresource: &str) -> Value {
        let (pointer, value) = self.change(subresource, shown);
        let (other, _) = self.change(subresource, shown);
        // Normalization would not find the server's own values elsewhere.
        let own = ["/metadata/resourceVersion", "/metadata/uid"].contains(&pointer.as_str());
        match self.dice.weigh(&[(30, 0), (30, 1), (15, 2), (10, 3), (5, 4), (5, 5), (2, 6), (3, 7)]) {
            0 => json!({"op": "add", "path": pointer, "value": value}),
            1 => json!({"op": "replace", "path": pointer, "value": value}),
            2 => json!({"op": "remove", "path": pointer}),
            3 => {
                let found = shown.pointer(&pointer).cloned();
                let value = if self.dice.percent(60) { found.unwrap_or(value) } else { value };
                json!({"op": "test", "path": pointer, "value": value})
            }
            4 if !own => json!({"op": "copy", "from": pointer, "path": other}),
            5 if !own => json!({"op": "move", "from": pointer, "path": other}),
            6 => json!({"op": "odd", "path": pointer}),
            _ => json!({"op": "add", "path": "/metadata/annotations/made", "value": "x"}),
        }
    }

    /// A directive of strategic merge patches.
    fn directive(&mut self, shown: &Value) -> (&'static str, Value) {
        let containers = if shown.pointer("/spec/template").is_some() {
            "/spec/template/spec/containers"
        } else {
            "/spec/containers"
        };
        let other = json!([{"name": "main", "image": "patched"}, {"name": "added", "image": "new"}]);
        match self.dice.below(9) {
            0 => ("/metadata/finalizers", json!(["example.com/added"])),
            1 => ("/metadata/$deleteFromPrimitiveList~1finalizers", json!(["example.com/hold"])),
            2 => ("/metadata/labels/$patch", json!(self.dice.pick(&["replace", "delete", "merge"]))),
            3 => ("/spec/$patch", json!(self.dice.pick(&["replace", "delete", "odd"]))),
            4 => (containers, json!([{"name": "main", "$patch": "delete"}])),
            5 => (containers, other),
            6 => (containers, json!([{"$patch": "replace"}, {"name": "only", "image": "o"}])),
            7 => ("/spec/$retainKeys", json!(["selector", "template"])),
            _ => (containers, json!([{"image": "nameless"}])),
        }
    }
}

/// Sets a value at a pointer, also null, and creates missing objects on the way.
fn insert(target: &mut Value, pointer: &str, value: Value) {
    let mut at = target;
    for step in pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")) {
        if !at.is_object() {
            *at = json!({});
        }
        at = &mut at[step.as_str()];
    }
    *at = value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insert_creates_objects_and_keeps_null() {
        let mut patch = json!({});
        insert(&mut patch, "/a/b", json!(1));
        insert(&mut patch, "/a/c~1d", Value::Null);
        assert_eq!(patch, json!({"a": {"b": 1, "c/d": null}}));
    }
}
