//! Questions that a component answers without a cluster: the input is objects and a time, the output a document.

use jiff::Timestamp;
use serde_json::Value;

/// A question. The contracts define which questions exist, and their parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Question<'a> {
    /// Which question: `admission`, `maintenance`, `window`, `rolling`, `support`.
    pub about: &'a str,
    /// Parameters, an object: `{"gardener": "v1.82.0", "cluster": "seed", "version": "1.27.3"}`.
    pub parameters: Value,
    /// The current time.
    pub now: Timestamp,
    /// The object in question.
    pub object: Option<&'a Value>,
    /// The object before the update.
    pub old: Option<&'a Value>,
    /// Other objects of the cluster.
    pub cluster: &'a [Value],
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// A document: `{shoot: {…}, told: […]}`.
    Document(Value),
    /// The component refuses the object for these causes.
    Refused(Vec<Cause>),
    /// The component cannot answer the question, for this reason.
    Undecided(String),
}

/// What is wrong with a field, as Kubernetes reports it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// Path of the field.
    pub field: String,
    /// `FieldValueInvalid` and the like.
    pub reason: String,
    /// What is wrong.
    pub message: String,
}
