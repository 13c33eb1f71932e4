//! A case: the given objects, the action, and the expected result.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::emitted::Emitted;
use crate::expect::Expect;
use crate::gardener::decision::{Decision, RunsOn};
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
    /// The objects before the request.
    pub given: Given,
    /// The action.
    pub when: When,
    /// What must hold.
    pub then: Then,
    /// Position of the row, or of a clause without a table.
    pub location: Location,
}

/// The objects before the request: complete, with fixtures merged and cells filled in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Facts: objects that exist already.
    pub cluster: Vec<Value>,
    /// The namespace of the object, if the case gives one.
    pub namespace: Option<Value>,
    /// The object before an UPDATE (default: the object itself) or before a DELETE.
    pub old: Option<Value>,
    /// The object of the request.
    pub object: Option<Value>,
    /// Objects that the namespace has beside those of the case: Gardener's, the provider's and the target's, see
    /// [`crate::model::Contract::surrounded`]. They belong to the target, not to the clause.
    pub surroundings: Option<Arc<[Value]>>,
}

/// The action.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// A request passes admission.
    Admission {
        /// CREATE, UPDATE, DELETE or CONNECT.
        operation: String,
        /// How it is sent.
        sending: Sending,
    },
    /// All objects of a resource (`infrastructures.extensions.gardener.cloud`) are deleted at once.
    DeleteCollection {
        /// `<plural>[.<group>]`.
        resource: String,
    },
    /// Steps of a scenario run; they contain the assertions.
    Steps(Box<Scenario>),
    /// The webhook configuration is read; no request is sent.
    Registration {
        /// `seed` or `shoot`.
        instance: String,
    },
    /// The component is started with the configuration of the case.
    Configuration,
    /// An action on the target's program.
    Process(Box<ProcessAction>),
    /// A decision about versions.
    Decision(Box<Decision>),
    /// None: the object is checked as Gardener emits it.
    Emitted(Box<Emitted>),
}

impl Then {
    /// An assertion about an emitted object.
    #[must_use]
    pub fn emitted(object: Expect) -> Self {
        Self { about: About::Emitted, object: Some(object), ..Self::default() }
    }
}

impl Case {
    /// The input that the answer is compared with: the object, or the document of a decision.
    #[must_use]
    pub fn input(&self) -> Option<Value> {
        match &self.when {
            When::Decision(decision) => Some(decision.input(&self.given)),
            // An emitted object has no input.
            When::Emitted(_) => None,
            _ => self.given.object.clone(),
        }
    }

    /// The object as Gardener emits it; `None` for other forms, and where the clause asserts that there is no object.
    #[must_use]
    pub fn emitted(&self) -> Option<&Value> {
        match &self.when {
            When::Emitted(emitted) => emitted.object.as_deref(),
            _ => None,
        }
    }

    /// The namespace that the object is emitted in; `None` for other forms.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        match &self.when {
            When::Emitted(emitted) => Some(&emitted.namespace),
            _ => None,
        }
    }
}

impl When {
    /// What the assertions of the case are about.
    #[must_use]
    pub fn subject(&self) -> About {
        match self {
            Self::Admission { .. } | Self::DeleteCollection { .. } | Self::Steps(_) => About::Answer,
            Self::Registration { .. } => About::Registration,
            Self::Configuration => About::Configuration,
            Self::Process(_) => About::Process,
            Self::Decision(_) => About::Decision,
            Self::Emitted(_) => About::Emitted,
        }
    }

    /// The scenario; `None` for other actions.
    #[must_use]
    pub fn scenario(&self) -> Option<&Scenario> {
        match self {
            Self::Steps(scenario) => Some(scenario),
            _ => None,
        }
    }

    /// The decision about versions; `None` for other actions.
    #[must_use]
    pub fn decision(&self) -> Option<&Decision> {
        match self {
            Self::Decision(decision) => Some(decision),
            _ => None,
        }
    }

    /// Whether the case may run on a server that also holds the facts of other cases.
    #[must_use]
    pub fn shares_server(&self) -> bool {
        match self {
            Self::Admission { .. } | Self::DeleteCollection { .. } | Self::Registration { .. } => true,
            Self::Decision(decision) => decision.runs_on == RunsOn::Admission,
            Self::Steps(_) | Self::Configuration | Self::Process(_) | Self::Emitted(_) => false,
        }
    }
}

/// How a request is sent. A request that no API server would send goes directly to the webhook, whatever its
/// registration says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sending {
    /// Whether it goes directly to the webhook although a server could send it.
    pub direct: bool,
    /// Version of the AdmissionReview; `None`: the newest that both sides support.
    pub review: Option<Review>,
    /// Fields of the AdmissionRequest that are overridden; null removes.
    pub request: Map<String, Value>,
}

impl Sending {
    /// Whether it goes directly to the webhook.
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

/// What the assertions of a [`Then`] are about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum About {
    /// The answer to a request; its object is the resulting object.
    #[default]
    Answer,
    /// A webhook configuration, reduced to one webhook; it is the object.
    Registration,
    /// The start of a component; its object is the configuration with all defaults.
    Configuration,
    /// A program; its object has what was observed: `exitCode` and `output`, or `response`.
    Process,
    /// A decision about versions; its object is the document with the result.
    Decision,
    /// An object as Gardener emits it.
    Emitted,
}

impl About {
    /// The key of `then` that asserts the object.
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

    /// The key of `then` that asserts success.
    #[must_use]
    pub fn allowed(self) -> &'static str {
        match self {
            Self::Answer | Self::Registration | Self::Decision | Self::Emitted | Self::Process => "allowed",
            Self::Configuration => "starts",
        }
    }
}

/// What the answer must satisfy. `None` asserts nothing.
#[derive(Clone, Debug, Default)]
pub struct Then {
    /// What the assertions are about.
    pub about: About,
    /// The resulting object, compared with the input. `Expect::Operator(Unchanged)` at the root: no patch at all.
    pub object: Option<Expect>,
    /// Whether the request may proceed.
    pub allowed: Option<bool>,
    /// The status code.
    pub code: Option<u16>,
    /// The status reason.
    pub reason: Option<Expect>,
    /// The status message.
    pub message: Option<Expect>,
    /// All field errors, in any order. Implies `allowed: false`, and for an answer status 422, `Invalid`.
    pub causes: Option<Vec<Cause>>,
    /// Whether the registration sends the request to the webhook at all.
    pub called: Option<bool>,
    /// The whole list of warnings.
    pub warnings: Option<Expect>,
    /// Version of the AdmissionReview in the answer.
    pub review: Option<Review>,
}

impl Then {
    /// Whether the answer is that of an invalid object: 422, `Invalid`.
    #[must_use]
    pub fn is_invalid(&self) -> bool {
        self.causes.is_some() && self.about == About::Answer
    }
}

/// One expected field error; `None` asserts nothing.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Field path as Kubernetes writes it: `spec.pools[0].name`.
    pub field: String,
    /// `FieldValueRequired`, `FieldValueInvalid` and so on.
    pub reason: Option<Expect>,
    /// The message.
    pub message: Option<Expect>,
}
