//! Generates configurations of webhooks, and what the webhooks answer.

use formats::json::document;
use serde_json::{Value, json};

use super::RequestBuilder;
use super::odd;
use crate::request::{Body, Request};
use crate::webhook::{BASE64, UID, URL, VERSION};

/// The label of objects that the probe of each configuration refuses.
const PROBE: &str = "fidelity.example.com/probe";

/// A ConfigMap that a server refuses as soon as it calls the webhooks of a configuration.
pub(crate) fn probe() -> Value {
    let metadata = json!({"name": "probe", "labels": {PROBE: "true"}});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
}

impl RequestBuilder<'_> {
    /// Creates a configuration of one webhook, or two mutating ones, for the objects of the kind in the namespace of the sequence.
    pub(super) fn webhook_configuration(&mut self) -> Request {
        let phase = self.dice.weigh(&[(7, "Mutating"), (3, "Validating")]);
        let mut webhooks = vec![probe_webhook()];
        // kube-apiserver calls validating webhooks at the same time: the first answer decides, and warnings come in any order.
        let most = if phase == "Validating" { 1 } else { 2 };
        for number in 0..self.dice.weigh(&[(3, 1), (2, 2)]).min(most) {
            webhooks.push(self.webhook(phase, number));
        }
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{phase}WebhookConfiguration"),
            "metadata": {"name": "${ns}"}, "webhooks": webhooks,
        });
        let resource = format!("{}webhookconfigurations", phase.to_lowercase());
        Request {
            method: "POST".to_owned(),
            path: format!("/apis/admissionregistration.k8s.io/v1/{resource}"),
            body: Some(Body::Json(configuration)),
            ..Request::default()
        }
    }

    fn webhook(&mut self, phase: &str, number: usize) -> Value {
        let (group, version) =
            self.kind.api_version.split_once('/').unwrap_or(("", self.kind.api_version.as_str()));
        let plural = self.kind.resource.as_str();
        let resources = match self.dice.below(3) {
            0 => json!([plural]),
            _ => json!([plural, format!("{plural}/*")]),
        };
        let operations = self.dice.weigh(&[
            (5, &["*"][..]),
            (2, &["CREATE", "UPDATE"][..]),
            (1, &["CREATE", "DELETE"][..]),
        ]);
        let mut webhook = json!({
            "name": format!("w{number}.example.com"),
            "clientConfig": {"url": {URL: self.reply(phase)}, "caBundle": "${bundle}"},
            "rules": [{"apiGroups": [group], "apiVersions": [version], "resources": resources, "operations": operations}],
            "sideEffects": "None", "timeoutSeconds": 20,
            "admissionReviewVersions": self.dice.weigh(&[(6, &["v1"][..]), (1, &["v1beta1"][..]), (1, &["v2", "v1"][..])]),
            "failurePolicy": self.dice.weigh(&[(7, "Fail"), (3, "Ignore")]),
        });
        // Objects without a namespace are selected by the label that all objects of the sequence have.
        let selector = if self.kind.cluster_scoped { "objectSelector" } else { "namespaceSelector" };
        let label = if self.kind.cluster_scoped { "of" } else { "kubernetes.io/metadata.name" };
        webhook[selector] = json!({"matchLabels": {label: "${ns}"}});
        if phase == "Mutating" && self.dice.percent(30) {
            webhook["reinvocationPolicy"] = "IfNeeded".into();
        }
        webhook
    }

    /// What a webhook replies: mostly a patch or an answer that servers accept, sometimes an odd one.
    fn reply(&mut self, phase: &str) -> Value {
        match self.dice.weigh(&[(45, 0), (12, 1), (10, 2), (25, 3), (8, 4)]) {
            0 if phase == "Mutating" => respond(&self.patch_response()),
            0 | 1 => {
                let warnings = self.warnings();
                respond(&json!({"uid": UID, "allowed": true, "warnings": warnings}))
            }
            2 => {
                let status = self.denial();
                respond(&json!({"uid": UID, "allowed": false, "status": status}))
            }
            3 => self.odd_response(phase),
            _ => self.odd_answer(),
        }
    }

    fn patch_response(&mut self) -> Value {
        let shown = self.kind.object(self.name);
        let mut operations: Vec<Value> = match self.dice.below(9) {
            0 | 1 => vec![json!({"op": "add", "path": "/metadata/annotations", "value": {"hooked": "yes"}})],
            2 | 3 => vec![self.harmless_operation()],
            4 => vec![self.change_of_head()],
            _ => (0..=self.dice.below(2)).map(|_| self.operation(&shown, "")).collect(),
        };
        operations.iter_mut().for_each(without_placeholders);
        json!({"uid": UID, "allowed": true, "patchType": "JSONPatch", "patch": {BASE64: operations}})
    }

    /// A value of another type for apiVersion or kind.
    fn change_of_head(&mut self) -> Value {
        let path = *self.dice.pick(&["/apiVersion", "/kind"]);
        let values = [json!(1), json!(1.5), json!(true), json!(["v1"]), json!({})];
        json!({"op": "replace", "path": path, "value": self.dice.pick(&values)})
    }

    /// A change of a field that the kind lists.
    fn harmless_operation(&mut self) -> Value {
        let (pointer, value) = self.listed_change();
        json!({"op": "add", "path": pointer, "value": value})
    }

    fn warnings(&mut self) -> Value {
        match self.dice.below(7) {
            0 => json!([]),
            1 => json!(["one", "two", "one"]),
            2 => json!(["line\nbreak", "tab\tstop", "plain"]),
            3 => json!(["x".repeat(300)]),
            4 => json!((0..20).map(|number| format!("{number}{}", "y".repeat(300))).collect::<Vec<_>>()),
            5 => json!(["ünïcödé \"quoted\" \\ back", ""]),
            _ => Value::Null,
        }
    }

    fn denial(&mut self) -> Value {
        let code = self
            .dice
            .pick(&[json!(400), json!(403), json!(418), json!(200), json!(0), json!(422), Value::Null])
            .clone();
        let mut status = json!({"code": code});
        if self.dice.percent(70) {
            status["message"] =
                self.dice.pick(&["no", "", "line\nbreak", "no \"quotes\""]).to_string().into();
        }
        if self.dice.percent(40) {
            status["reason"] = self.dice.pick(&["Forbidden", "Invalid", "Other", ""]).to_string().into();
        }
        if self.dice.percent(20) {
            let causes = json!([{"field": "spec", "message": "m", "reason": "r"}, {"field": "", "more": 1}]);
            let details = [
                json!({"causes": causes, "retryAfterSeconds": 0}),
                json!({"causes": [], "name": "a", "uid": "", "more": 1}),
                json!({"retryAfterSeconds": 0}),
                json!({}),
            ];
            status["details"] = self.dice.pick(&details).clone();
        }
        if self.dice.percent(15) {
            status["status"] = "Success".into();
        }
        status
    }

    /// A response with a field that servers refuse, or read in their own way.
    fn odd_response(&mut self, phase: &str) -> Value {
        let set = json!([{"op": "add", "path": "/metadata/labels/hooked", "value": "yes"}]);
        let good = json!({"uid": UID, "allowed": true, "patchType": "JSONPatch", "patch": {BASE64: set}});
        let plain = json!({"uid": UID, "allowed": true});
        let (response, field, value) = match self.dice.below(18) {
            0 => (&good, "patchType", Value::Null),
            1 => (&good, "patch", Value::Null),
            2 => (&good, "patchType", json!("Other")),
            3 => (&good, "patchType", json!("")),
            4 => (&good, "patch", json!("%%%")),
            5 => (&good, "patch", json!({BASE64: {}})),
            6 => (&good, "patch", json!({BASE64: Value::Null})),
            7 => (&good, "patch", json!([91, 93])),
            8 => (&good, "patch", json!({BASE64: [1]})),
            9 => (&plain, "uid", json!("other")),
            10 => (&plain, "uid", Value::Null),
            11 => (&plain, "allowed", Value::Null),
            12 => (&plain, "allowed", json!("true")),
            13 => (&plain, "allowed", json!(1)),
            14 => (&plain, "warnings", json!("text")),
            15 => (&plain, "auditAnnotations", json!({"a": 1})),
            16 => (&plain, "status", json!("text")),
            _ => (&plain, "unknown", json!({"a": [1.5]})),
        };
        let mut response =
            if phase == "Validating" && self.dice.percent(70) { plain.clone() } else { response.clone() };
        response[field] = value;
        respond(&response)
    }

    /// A Status with which the webhook refuses the call, sometimes with one odd field.
    fn refusal(&mut self) -> Value {
        let mut status = json!({
            "apiVersion": "v1", "kind": "Status", "status": "Failure", "message": "forbidden by x", "reason": "Forbidden",
            "code": 403,
        });
        if self.dice.percent(60) {
            let (field, value) = *self.dice.pick(&REFUSALS);
            match document(value.as_bytes()).unwrap_or_default() {
                Value::Null => drop(status.as_object_mut().and_then(|status| status.remove(field))),
                value => status[field] = value,
            }
        }
        let media =
            *self.dice.pick(&["application/json", "application/json", "text/plain", "application/yaml"]);
        json!({"code": self.dice.pick(&[403, 500, 400, 404, 418]), "media": media, "text": status.to_string()})
    }

    /// An answer that is no AdmissionReview as it should be.
    fn odd_answer(&mut self) -> Value {
        let good = review(&json!({"uid": UID, "allowed": true})).to_string();
        let text = |text: String| json!({"code": 200, "text": text});
        match self.dice.below(16) {
            0 => {
                let code = *self.dice.pick(&[201, 204, 400, 401, 403, 404, 409, 422, 429, 500, 503]);
                json!({"code": code, "text": if code == 204 { "" } else { "as text" }})
            }
            1 => self.refusal(),
            2 => text(String::new()),
            3 => text("not JSON".to_owned()),
            4 => text("null".to_owned()),
            5 => text("[]".to_owned()),
            6 => text(good.replace(VERSION, "admission.k8s.io/v9")),
            7 => text(good.replace("AdmissionReview", "Review")),
            8 => text(good.replace("\"kind\":\"AdmissionReview\",", "")),
            9 => text(good.replace("\"response\"", "\"Response\"")),
            10 => text(good.replace("\"allowed\":true", "\"allowed\":true,\"allowed\":false")),
            11 => text(good.replace("\"allowed\":true", "\"Allowed\":true")),
            12 => {
                let yaml = format!(
                    "apiVersion: {VERSION}\nkind: AdmissionReview\nresponse: {{uid: {UID}, allowed: true}}\n"
                );
                json!({"code": 200, "media": "application/yaml", "text": yaml})
            }
            13 => {
                let code = *self.dice.pick(&[301, 302, 303, 307, 308]);
                json!({"code": code, "location": {URL: {"code": 200, "text": good}}})
            }
            14 => text(odd::broken(self.dice, &good)),
            _ => text(odd::reworded(self.dice, &good)),
        }
    }
}

/// A field of a Status, and what it may be instead; null if it may be absent.
const REFUSALS: [(&str, &str); 9] = [
    ("message", "null"),
    ("message", "\"\""),
    ("message", "1"),
    ("kind", "null"),
    ("kind", "\"Other\""),
    ("apiVersion", "\"v9\""),
    ("status", "\"Success\""),
    ("code", "\"403\""),
    ("details", "{\"causes\":[1]}"),
];

/// The webhook that refuses [`probe`].
fn probe_webhook() -> Value {
    let status = json!({"message": "the webhooks are called"});
    json!({
        "name": "probe.example.com",
        "clientConfig": {"url": {URL: respond(&json!({"uid": UID, "allowed": false, "status": status}))}, "caBundle": "${bundle}"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}],
        "objectSelector": {"matchLabels": {PROBE: "true"}},
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "${ns}"}},
        "sideEffects": "None", "admissionReviewVersions": ["v1"],
    })
}

/// The reply with a response.
fn respond(response: &Value) -> Value {
    json!({"code": 200, "json": review(response)})
}

fn review(response: &Value) -> Value {
    json!({"apiVersion": VERSION, "kind": "AdmissionReview", "response": response})
}

/// Replaces placeholders that the two servers fill differently: both are to call the same URL.
fn without_placeholders(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("${") && !text.contains("${ns}") => "1".clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(without_placeholders),
        Value::Object(fields) => fields.values_mut().for_each(without_placeholders),
        _ => {}
    }
}
