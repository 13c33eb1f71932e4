//! Sends the request of a review to a garden, and converts the garden's reply to a webhook's answer.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError, Reply};
use substrate::facts;
use tokio::sync::Mutex;
use webhook::answer::encode;
use webhook::dial::{DialError, Dialer, HttpAnswer};
use webhook::patch;
use webhook::review::{AdmissionRequest, Answer, Operation, Review};

use super::scene::CaseObjects;
use super::surroundings::NAMESPACE;
use super::{GardenState, text};
use crate::target::configured;

/// The API group of Shoots and CloudProfiles.
const GROUP: &str = "core.gardener.cloud";
/// Metadata that only the garden's API server sets, or that a writer of the object may not set.
const NOT_SENT: [&str; 8] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "managedFields",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "finalizers",
];

/// Annotations that a garden's API server sets once: the creator of a Shoot, and its first tasks.
const SET_ONCE: [&str; 2] = ["gardener.cloud/created-by", "shoot.gardener.cloud/tasks"];

/// Sends reviews to a garden, for cases whose objects are in a cluster.
pub(super) struct GardenDialer {
    /// The garden.
    pub(super) state: Arc<Mutex<GardenState>>,
    /// The cluster with the cases' objects.
    pub(super) facts: Cluster,
}

/// Why a review has no answer.
#[derive(Debug, thiserror::Error)]
enum DialFailure {
    /// No user can send such a request.
    #[error("{0}")]
    NotPut(String),
    /// A server could not be reached.
    #[error("{0}")]
    Unreached(String),
}

impl From<ClusterError> for DialFailure {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Send { .. } | ClusterError::Read { .. } => Self::Unreached(error.to_string()),
            ClusterError::Kind { .. } | ClusterError::Refused { .. } => Self::NotPut(error.to_string()),
        }
    }
}

#[async_trait]
impl Dialer for GardenDialer {
    async fn post(&self, path: &str, body: Bytes, _timeout: Duration) -> Result<HttpAnswer, DialError> {
        let not_put = |reason: String| DialError::NotPut { reason };
        let review = Review::read(&body).map_err(|error| not_put(error.to_string()))?;
        let request =
            review.request.as_ref().ok_or_else(|| not_put("the review has no request".to_owned()))?;
        let answer = self.answer(request).await.map_err(|failure| match failure {
            DialFailure::NotPut(reason) => not_put(reason),
            DialFailure::Unreached(source_text) => DialError::Connect { url: path.to_owned(), source_text },
        })?;
        Ok(HttpAnswer { media: None, status: 200, body: encode(review.envelope(), &answer).into() })
    }
}

impl GardenDialer {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Result<Answer, DialFailure> {
        if request.kind.group != GROUP {
            return Ok(Answer::allowed(""));
        }
        let mut state = self.state.lock().await;
        let GardenState { garden, scene, .. } = &mut *state;
        let garden =
            garden.as_ref().ok_or_else(|| DialFailure::Unreached("the garden was left".to_owned()))?;
        let given = object(request, request.object.map(RawValue::get))?;
        let object_sent = in_garden_namespace(&given);
        let old = match request.operation {
            Operation::Create => None,
            Operation::Update => {
                Some(in_garden_namespace(&object(request, request.old_object.map(RawValue::get))?))
            }
            operation => {
                return Err(DialFailure::NotPut(format!("{operation} requests are not sent to a garden")));
            }
        };
        let wanted = self.case_objects(&object_sent, old.as_ref()).await?;
        let home = self.home_namespace(&given).await?;
        if !scene.is(&wanted) {
            // Objects that remain would affect all following requests.
            let cleanup_error = |error: ClusterError| DialFailure::Unreached(error.to_string());
            scene.clear(garden).await.map_err(cleanup_error)?;
            if let Err(error) = scene.set(garden, wanted).await {
                scene.clear(garden).await.map_err(cleanup_error)?;
                return Err(DialFailure::from(error));
            }
        }
        let reply = send(garden, &object_sent, old.is_some()).await?;
        Ok(to_answer(&given, &home, &reply))
    }

    /// The namespace in a case's refusals: that of the object, or of the case's Shoots.
    async fn home_namespace(&self, given: &Value) -> Result<String, DialFailure> {
        let own = text(given, "/metadata/namespace");
        if !own.is_empty() {
            return Ok(own.to_owned());
        }
        let shoots = self.shoots().await?;
        Ok(shoots.first().map(|shoot| text(shoot, "/metadata/namespace")).unwrap_or_default().to_owned())
    }

    /// The objects that a request needs in the garden: the old object, and objects of the case's cluster.
    async fn case_objects(
        &self,
        object_sent: &Value,
        old: Option<&Value>,
    ) -> Result<CaseObjects, DialFailure> {
        if object_sent["kind"] == "CloudProfile" {
            let shoots = match old {
                Some(_) => self.shoots().await?.iter().map(in_garden_namespace).collect(),
                None => Vec::new(),
            };
            return Ok(CaseObjects { shoots, profiles: old.cloned().into_iter().collect() });
        }
        let mut profiles: Vec<Value> = Vec::new();
        for shoot in old.into_iter().chain([object_sent]) {
            let name = text(shoot, "/spec/cloudProfileName");
            if name.is_empty() || profiles.iter().any(|found| text(found, "/metadata/name") == name) {
                continue;
            }
            let named = json!({
                "apiVersion": object_sent["apiVersion"], "kind": "CloudProfile", "metadata": {"name": name},
            });
            let found = self.facts.get(&named).await?;
            if found.is_success() {
                profiles.push(facts::stripped(&found.body));
            }
        }
        Ok(CaseObjects { shoots: old.cloned().into_iter().collect(), profiles })
    }

    /// The Shoots of the case's cluster.
    async fn shoots(&self) -> Result<Vec<Value>, DialFailure> {
        let found = self.facts.list("shoots.core.gardener.cloud").await?;
        let items = found.body["items"].as_array().cloned().unwrap_or_default();
        Ok(items)
    }
}

/// Sends the request as a dry run.
async fn send(garden: &Cluster, object_sent: &Value, updates: bool) -> Result<Reply, DialFailure> {
    let mut sent = object_sent.clone();
    if let Some(metadata) = sent["metadata"].as_object_mut() {
        metadata.retain(|field, _| !NOT_SENT.contains(&field.as_str()));
    }
    if !updates {
        return Ok(garden.create(&sent, "dryRun=All").await?);
    }
    let live = garden.get(&sent).await?;
    for field in ["resourceVersion", "finalizers"] {
        sent["metadata"][field] = live.body["metadata"][field].clone();
    }
    Ok(garden.replace(&sent, "", "dryRun=All").await?)
}

/// The object of a request, which must be a Shoot or a CloudProfile.
fn object(request: &AdmissionRequest<'_>, raw: Option<&str>) -> Result<Value, DialFailure> {
    let object: Value = raw.and_then(|raw| formats::json::document(raw.as_bytes()).ok()).unwrap_or_default();
    let kind = text(&object, "/kind");
    if kind != request.kind.kind || !matches!(kind, "Shoot" | "CloudProfile") {
        let reason = format!("the object of a {} request is {object}", request.kind.kind);
        return Err(DialFailure::NotPut(reason.chars().take(200).collect()));
    }
    Ok(object)
}

/// The object in the garden's namespace.
fn in_garden_namespace(object: &Value) -> Value {
    let mut object = object.clone();
    if object["kind"] == "Shoot" {
        object["metadata"]["namespace"] = json!(NAMESPACE);
    }
    object
}

/// Converts the garden's reply to a webhook's answer about the given object.
fn to_answer(given: &Value, home: &str, reply: &Reply) -> Answer {
    let warnings = reply.warnings.clone();
    if reply.is_success() {
        let patch = patch::between(given, &restored(given, &reply.body));
        return Answer::patched(patch).with_warnings(warnings);
    }
    let message = reply.message().replace(NAMESPACE, home);
    let message = without_prefix(&message);
    let mut answer = Answer::errored(reply.code, message).with_warnings(warnings);
    if let Some(reason) = reply.body.get("reason") {
        answer.status.insert("reason".to_owned(), reason.clone());
    }
    let mut details = reply.body["details"].clone();
    if details["causes"].as_array().is_none_or(Vec::is_empty) {
        // Admission plugins of an API server write field errors only into the message.
        details["causes"] = json!(configured::causes(message));
    }
    answer.status.insert("details".to_owned(), details);
    answer
}

/// The returned object, with the given values of fields that its writer cannot set.
fn restored(given: &Value, returned: &Value) -> Value {
    let mut restored = returned.clone();
    for field in NOT_SENT.into_iter().chain(["namespace"]) {
        take_over(&mut restored["metadata"], &given["metadata"], field);
    }
    take_over(&mut restored, given, "status");
    let none = Value::Null;
    for annotation in SET_ONCE {
        let annotations = &mut restored["metadata"]["annotations"];
        take_over(annotations, given.pointer("/metadata/annotations").unwrap_or(&none), annotation);
    }
    // An empty map stays empty.
    let is_bare = restored["metadata"]["annotations"].as_object().is_none_or(serde_json::Map::is_empty);
    if is_bare {
        take_over(&mut restored["metadata"], &given["metadata"], "annotations");
    }
    restored
}

fn take_over(to: &mut Value, from: &Value, field: &str) {
    let Some(fields) = to.as_object_mut() else { return };
    match from.get(field) {
        Some(value) => fields.insert(field.to_owned(), value.clone()),
        None => fields.remove(field),
    };
}

/// Removes the API server's prefix, `shoots.core.gardener.cloud "app" is forbidden: ` or `Shoot.core.gardener.cloud "app" is
/// invalid: `, like `admission webhook "…" denied the request: `.
fn without_prefix(message: &str) -> &str {
    let head = [" is forbidden: ", " is invalid: "].into_iter().filter_map(|end| {
        let (head, rest) = message.split_once(end)?;
        let (kind, name) = head.split_once(' ')?;
        (kind.ends_with(GROUP) && name.starts_with('"') && !name.contains(' ')).then_some(rest)
    });
    head.into_iter().next().unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shoot() -> Value {
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
            "metadata": {"name": "app", "namespace": "garden-dev", "uid": "1", "finalizers": ["gardener"]},
            "spec": {"region": "local"}, "status": {"technicalID": "a"},
        })
    }

    #[test]
    fn an_answer_has_the_changes_of_admission_and_not_those_of_the_server() {
        let mut came = in_garden_namespace(&shoot());
        came["metadata"]["uid"] = json!("2");
        came["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
        came["metadata"].as_object_mut().unwrap().remove("finalizers");
        came["status"] = json!({"technicalID": ""});
        came["metadata"]["annotations"] = json!({"gardener.cloud/created-by": "admin"});
        let reply = |body: &Value| Reply { code: 201, body: body.clone(), warnings: vec!["w".to_owned()] };
        assert_eq!(
            to_answer(&shoot(), "garden-dev", &reply(&came)),
            Answer::allowed("").with_warnings(["w".to_owned()])
        );
        came["spec"]["purpose"] = json!("evaluation");
        let answer = to_answer(&shoot(), "garden-dev", &reply(&came));
        let wanted = json!([{"op": "add", "path": "/spec/purpose", "value": "evaluation"}]);
        assert_eq!(json!(answer.patch), wanted);
    }

    #[test]
    fn a_refusal_has_the_plugins_message_and_its_field_errors() {
        let message = "shoots.core.gardener.cloud \"app\" is forbidden: [spec.region: Required value, spec.x: Forbidden: not in \
                       garden-conformance/app]";
        let body =
            json!({"message": message, "reason": "Forbidden", "code": 403, "details": {"name": "app"}});
        let answer = to_answer(&shoot(), "garden-dev", &Reply { code: 403, body, warnings: Vec::new() });
        assert!(!answer.allowed);
        assert_eq!((answer.code(), answer.status["reason"].as_str()), (403, Some("Forbidden")));
        let words = "[spec.region: Required value, spec.x: Forbidden: not in garden-dev/app]";
        assert_eq!(answer.message(), words);
        let causes = json!([
            {"field": "spec.region", "reason": "FieldValueRequired", "message": "Required value"},
            {"field": "spec.x", "reason": "FieldValueForbidden", "message": "Forbidden: not in garden-dev/app"},
        ]);
        assert_eq!(answer.status["details"]["causes"], causes);
    }

    #[test]
    fn field_errors_that_the_server_lists_are_kept() {
        let causes =
            json!([{"field": "spec.a", "reason": "FieldValueInvalid", "message": "Invalid value: \"b\": c"}]);
        let body = json!({
            "message": "Shoot.core.gardener.cloud \"app\" is invalid: spec.a: Invalid value: \"b\": c", "reason": "Invalid",
            "details": {"causes": causes},
        });
        let answer = to_answer(&shoot(), "garden-dev", &Reply { code: 422, body, warnings: Vec::new() });
        assert_eq!(answer.status["details"]["causes"], causes);
        assert_eq!(answer.message(), "spec.a: Invalid value: \"b\": c");
    }

    #[test]
    fn only_the_servers_own_prefix_is_removed() {
        for (message, wanted) in [
            ("Internal error occurred: a is forbidden: b", "Internal error occurred: a is forbidden: b"),
            ("pods \"a\" is forbidden: b", "pods \"a\" is forbidden: b"),
            ("cloudprofiles.core.gardener.cloud \"a\" is forbidden: b is invalid: c", "b is invalid: c"),
        ] {
            assert_eq!(without_prefix(message), wanted);
        }
    }
}
