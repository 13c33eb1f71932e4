//! What is asked of both targets: a request, and the cluster that it meets.

use serde::Serialize;
use serde_json::{Map, Value, json};
use webhook::review::{Operation, ReviewVersion};

use crate::exchange::Subject;
use crate::run::subject::{self, SubjectError};

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// What is done.
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

/// The cluster that requests meet.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct World {
    /// Name of the namespace of the requests.
    #[serde(skip)]
    pub name: String,
    /// The namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Value>,
    /// Objects that are there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cluster: Vec<Value>,
}

/// Inputs that one cluster is set up for.
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
    /// What the targets see of it.
    ///
    /// # Errors
    /// When its kind is served by no API server.
    pub(super) fn subject(&self, world: &World) -> Result<Subject, SubjectError> {
        match &self.collection {
            Some(resource) => subject::collection(resource, &world.name),
            None => subject::of(self.operation, self.object.clone(), self.old_object.clone()),
        }
    }

    /// The object that is looked at: the one that results, or the one that goes.
    #[must_use]
    pub fn looked_at(&self) -> Option<&Value> {
        self.object.as_ref().or(self.old_object.as_ref())
    }

    /// Everything that was asked, as explanations and reports name it.
    pub(super) fn told(&self, instance: &str, config: &Value, world: &World) -> Value {
        let mut told =
            Map::from_iter([("instance".to_owned(), json!(instance)), ("config".to_owned(), config.clone())]);
        for part in [json!(world), json!(self)] {
            if let Value::Object(fields) = part {
                told.extend(fields);
            }
        }
        Value::Object(told)
    }
}
