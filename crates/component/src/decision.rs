//! Questions that a component answers without a cluster: whole objects and a time in, a document out.

use jiff::Timestamp;
use serde_json::Value;

/// A question. Which ones there are, and their parameters, is settled by contracts of the form that asks them.
#[derive(Clone, Debug, PartialEq)]
pub struct Question<'a> {
    /// What is asked: `admission`, `maintenance`, `window`, `rolling`, `support`.
    pub about: &'a str,
    /// What else the question says, an object: `{"gardener": "v1.82.0", "cluster": "seed", "version": "1.27.3"}`.
    pub parameters: Value,
    /// The time at which it is asked.
    pub now: Timestamp,
    /// The object that it is about.
    pub object: Option<&'a Value>,
    /// The object before.
    pub old: Option<&'a Value>,
    /// What else there is.
    pub cluster: &'a [Value],
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Decided {
    /// A document: `{shoot: {…}, told: […]}`.
    Document(Value),
    /// A refusal, for these causes.
    Refused(Vec<Cause>),
    /// The question cannot be answered, for this reason.
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
