//! One case: what is given, what is done, what must hold.

use serde_json::{Map, Value};

use crate::decision::{Decision, RunsOn};
use crate::emitted::Emitted;
use crate::expect::Expect;
use crate::model::Location;
use crate::process::ProcessAction;
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
#[derive(Clone, Debug, Default, PartialEq)]
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
        /// How it is sent, where the case says so.
        sending: Sending,
    },
    /// All objects of a resource (`infrastructures.extensions.gardener.cloud`) are deleted at once.
    DeleteCollection {
        /// `<plural>[.<group>]`.
        resource: String,
    },
    /// Steps are taken and watched; what must hold stands in them.
    Steps(Box<Scenario>),
    /// The webhook configuration that names the webhook is read; nothing is sent.
    Registration {
        /// `seed` or `shoot`.
        instance: String,
    },
    /// The component is started with the configuration of the case.
    Configuration,
    /// Something is done with the target's program.
    Process(Box<ProcessAction>),
    /// Something is decided about versions.
    Decision(Box<Decision>),
    /// Nothing: the object stands as Gardener emits it.
    Emitted(Box<Emitted>),
}

impl Then {
    /// What holds of an object that is emitted.
    #[must_use]
    pub fn emitted(object: Expect) -> Self {
        Self { about: About::Emitted, object: Some(object), ..Self::default() }
    }
}

impl Case {
    /// What stands before an answer is made: the object, or the document of a decision.
    #[must_use]
    pub fn input(&self) -> Option<Value> {
        match &self.when {
            When::Decision(decision) => Some(decision.input(&self.given)),
            // What is emitted is made from nothing.
            When::Emitted(_) => None,
            _ => self.given.object.clone(),
        }
    }

    /// The object as Gardener emits it; absent for what is asked otherwise, and where there is none.
    #[must_use]
    pub fn emitted(&self) -> Option<&Value> {
        match &self.when {
            When::Emitted(emitted) => emitted.object.as_deref(),
            _ => None,
        }
    }

    /// The namespace that the object is emitted in; absent for what is asked otherwise.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        match &self.when {
            When::Emitted(emitted) => Some(&emitted.namespace),
            _ => None,
        }
    }
}

impl When {
    /// The scenario; absent for what passes a webhook.
    #[must_use]
    pub fn scenario(&self) -> Option<&Scenario> {
        match self {
            Self::Steps(scenario) => Some(scenario),
            _ => None,
        }
    }

    /// What is decided about versions; absent for what is asked otherwise.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Decision(decision) => Some(decision),
            _ => None,
        }
    }

    /// Whether it is asked on a server that may have the facts of other cases too.
    #[must_use]
    pub fn shares_server(&self) -> bool {
        match self {
            Self::Admission { .. } | Self::DeleteCollection { .. } | Self::Registration { .. } => true,
            Self::Decision(decision) => decision.runs_on == RunsOn::Admission,
            Self::Steps(_) | Self::Configuration | Self::Process(_) | Self::Emitted(_) => false,
        }
    }
}

/// How a request is sent. What no server would send goes straight to the webhook, whatever its registration says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sending {
    /// Whether it goes straight to the webhook though a server might send it.
    pub direct: bool,
    /// Version of the AdmissionReview; `None`: the best that both sides know.
    pub review: Option<Review>,
    /// Fields of the AdmissionRequest that are overridden; null removes.
    pub request: Map<String, Value>,
}

impl Sending {
    /// Whether no server sends it.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.direct || self.review.is_some() || !self.request.is_empty()
    }
}

/// A version of `admission.k8s.io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// `v1`.
    V1,
    /// `v1beta1`.
    V1beta1,
}

impl Review {
    /// The version as it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V1beta1 => "v1beta1",
        }
    }
}

/// What a case asks of, and so what its [`Then`] speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// An answer; its object is the one that results.
    #[default]
    Answer,
    /// A webhook configuration, reduced to the webhook; it is the object.
    Registration,
    /// A start; its object is the configuration with all defaults.
    Configuration,
    /// A program; its object has what was observed: `exitCode` and `output`, or `response`.
    Process,
    /// A decision about versions; its object is the document that tells it.
    Decision,
    /// An object as Gardener emits it.
    Emitted,
}

impl About {
    /// How a contract names the object.
    #[must_use]
    pub fn object(self) -> &'static str {
        match self {
            Self::Answer | Self::Emitted => "object",
            Self::Registration => "registration",
            Self::Configuration => "effective",
            Self::Process => "process",
            Self::Decision => "decision",
        }
    }

    /// How a contract says that all went well.
    #[must_use]
    pub fn allowed(self) -> &'static str {
        match self {
            Self::Answer | Self::Registration | Self::Decision | Self::Emitted | Self::Process => "allowed",
            Self::Configuration => "starts",
        }
    }
}

/// What must hold of the answer. Absent parts are not asserted.
#[derive(Clone, Debug, Default)]
pub struct Then {
    /// What this speaks of.
    pub about: About,
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
    /// The whole set of field errors, order ignored. Implies `allowed: false`, and of an answer 422, `Invalid`.
    pub causes: Option<Vec<Cause>>,
    /// Whether the request is sent to the webhook at all; asks the registration.
    pub called: Option<bool>,
    /// The whole list of warnings.
    pub warnings: Option<Expect>,
    /// Version of the AdmissionReview that is answered.
    pub review: Option<Review>,
}

impl Then {
    /// Whether the answer is that of an invalid object: 422, `Invalid`.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.causes.is_some() && self.about == About::Answer
    }
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
