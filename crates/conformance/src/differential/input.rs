//! The input of both targets: a request, and the cluster in which it happens.

use serde::Serialize;
use serde_json::{Map, Value, json};
use webhook::review::{Operation, ReviewVersion};

use crate::exchange::Subject;
use crate::run::subject::{self, SubjectError};

/// A request to both targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// The operation.
    pub operation: Operation,
    /// Version of the AdmissionReview.
    pub review: ReviewVersion,
    /// Whether the request has no effect.
    pub dry_run: bool,
    /// The object after the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Value>,
    /// The object before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_object: Option<Value>,
    /// `<plural>[.<group>]` of a collection that is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
}

/// The cluster in which requests happen.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct World {
    /// Name of the namespace of the requests.
    #[serde(skip)]
    pub name: String,
    /// The namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Value>,
    /// Objects in the cluster.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cluster: Vec<Value>,
}

/// Inputs for one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// `seed` or `shoot`.
    pub instance: String,
    /// Component configuration.
    pub config: Value,
    /// The cluster.
    pub world: World,
    /// The requests.
    pub inputs: Vec<Input>,
}

impl Input {
    /// The subject of the request.
    ///
    /// # Errors
    /// When its kind is served by no API server.
    pub(super) fn subject(&self, world: &World) -> Result<Subject, SubjectError> {
        match &self.collection {
            Some(resource) => subject::collection(resource, &world.name),
            None => subject::of(self.operation, self.object.clone(), self.old_object.clone()),
        }
    }

    /// The object after the operation, or the deleted one.
    #[must_use]
    pub fn object_under_test(&self) -> Option<&Value> {
        self.object.as_ref().or(self.old_object.as_ref())
    }

    /// The complete input as JSON, for explanations and reports.
    pub(super) fn to_json(&self, instance: &str, config: &Value, world: &World) -> Value {
        let mut whole =
            Map::from_iter([("instance".to_owned(), json!(instance)), ("config".to_owned(), config.clone())]);
        for part in [json!(world), json!(self)] {
            if let Value::Object(fields) = part {
                whole.extend(fields);
            }
        }
        Value::Object(whole)
    }
}
