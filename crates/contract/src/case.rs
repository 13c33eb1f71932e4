//! One case: what is given, what is done, what must hold.

use serde_json::{Map, Value};

use crate::expect::Expect;
use crate::model::Location;
use crate::scenario::Scenario;

/// One row (times its operations) of a clause.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name inside the clause: the input cells in column order and, where several, the operation: `server,node,1/UPDATE`.
    /// The id of a case is `<clause>/<name>`.
    pub name: String,
    /// Input cells by column, in column order, as written in the table; plus the multiplied values
    /// (`operation`, `like`) as last entries.
    pub inputs: Vec<(String, String)>,
    /// Effective component configuration (contract's, clause's and row's, merged).
    pub config: Value,
    /// What stands before the request.
    pub given: Given,
    /// What is done.
    pub when: When,
    /// What must hold.
    pub then: Then,
    /// Where the row (or the clause without a table) stands.
    pub location: Location,
}

/// What stands before the request; whole objects, fixtures merged and cells filled in.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// Facts: objects that exist already.
    pub cluster: Vec<Value>,
    /// The namespace of the object, where the case says something of it.
    pub namespace: Option<Value>,
    /// The object before an UPDATE (default: the object itself) or before a DELETE.
    pub old: Option<Value>,
    /// The object of the request.
    pub object: Option<Value>,
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// A request passes admission.
    Admission {
        /// CREATE, UPDATE, DELETE or CONNECT.
        operation: String,
        /// Fields of the AdmissionRequest that are overridden (null removes); needs `direct`.
        request: Map<String, Value>,
    },
    /// All objects of a resource (`infrastructures.extensions.gardener.cloud`) are deleted at once.
    DeleteCollection {
        /// `<plural>[.<group>]`.
        resource: String,
    },
    /// Steps are taken and watched; what must hold stands in them.
    Steps(Box<Scenario>),
}

/// What must hold of the answer. Absent parts are not asserted.
#[derive(Clone, Debug, Default)]
pub struct Then {
    /// The resulting object, against the input. `Expect::Operator(Unchanged)` at the root: no patch at all.
    pub object: Option<Expect>,
    /// Whether the request may proceed.
    pub allowed: Option<bool>,
    /// The status code.
    pub code: Option<u16>,
    /// The status reason.
    pub reason: Option<Expect>,
    /// The status message.
    pub message: Option<Expect>,
    /// The whole set of field errors, order ignored. Implies `allowed: false`, 422, `Invalid`.
    pub causes: Option<Vec<Cause>>,
    /// Whether the request is sent to the webhook at all; asks the registration.
    pub called: Option<bool>,
    /// The whole list of warnings.
    pub warnings: Option<Expect>,
}

/// One expected field error; absent parts are not asserted.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Field path as Kubernetes writes it: `spec.pools[0].name`.
    pub field: String,
    /// `FieldValueRequired`, `FieldValueInvalid` and so on.
    pub reason: Option<Expect>,
    /// The message.
    pub message: Option<Expect>,
}
