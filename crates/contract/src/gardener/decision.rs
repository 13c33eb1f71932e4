//! Decisions about versions: the question, where a row of a contract runs it, and the document with the result.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use schema::{Kinds, Type};
use serde_json::{Map, Value, json};

use crate::case::Given;
use crate::expect::Rules;

/// The decision that a row of a contract of the form versions asserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Where it runs.
    pub runs_on: RunsOn,
    /// The question.
    pub asks: Question,
    /// The time of the decision.
    pub now: Timestamp,
}

/// Where a row runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunsOn {
    /// The pure decision.
    Decision,
    /// Admission of a Shoot.
    Admission,
    /// A maintenance run of the controller.
    Reconcile,
}

/// A question about a Shoot, the old Shoot and its CloudProfile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The Shoot is created or updated: which values admission fills in, and what it refuses.
    Admission {
        /// CREATE or UPDATE.
        operation: String,
    },
    /// The Shoot is maintained: which versions change, and which messages are reported.
    Maintenance {
        /// Whether the written Shoot then passes through the garden's admission.
        admitted: bool,
    },
    /// Whether the Shoot is maintained now, and when it is maintained next.
    Window,
    /// Whether the machines of its first worker pool are replaced.
    Rolling {
        /// What the provider's extension adds to the hash.
        additional: Vec<String>,
    },
    /// Whether a release of Gardener supports a version of Kubernetes.
    Support {
        /// The release of Gardener.
        gardener: String,
        /// The type of the cluster: `garden`, `seed`, `shoot`.
        cluster: String,
        /// Its version of Kubernetes.
        version: String,
    },
}

/// Lists of a Shoot and their key fields, which the schema does not declare.
pub(crate) const SHOOT_LISTS: [(&str, &str); 3] = [
    ("spec.provider.workers", "name"),
    ("spec.provider.workers[].cri.containerRuntimes", "type"),
    ("spec.kubernetes.kubeAPIServer.admissionPlugins", "name"),
];

impl RunsOn {
    /// The name in contracts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Admission => "admission",
            Self::Reconcile => "reconcile",
        }
    }

    /// Fields of the result that cannot be observed there: a controller writes its failures only to its log, and
    /// it does not report the rest of the current window.
    #[must_use]
    pub fn unobservable_fields(self) -> &'static [&'static str] {
        match self {
            Self::Decision | Self::Admission => &[],
            Self::Reconcile => &["failures", "inThis"],
        }
    }
}

impl Question {
    /// The name in contracts.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Admission { .. } => "admission",
            Self::Maintenance { .. } => "maintenance",
            Self::Window => "window",
            Self::Rolling { .. } => "rolling",
            Self::Support { .. } => "support",
        }
    }

    /// Where it can run.
    #[must_use]
    pub fn places(&self) -> &'static [RunsOn] {
        match self {
            Self::Admission { .. } => &[RunsOn::Decision, RunsOn::Admission],
            Self::Maintenance { admitted: true } => &[RunsOn::Reconcile],
            Self::Maintenance { admitted: false } | Self::Window => &[RunsOn::Decision, RunsOn::Reconcile],
            Self::Rolling { .. } | Self::Support { .. } => &[RunsOn::Decision],
        }
    }

    /// The fields of the document with the result.
    #[must_use]
    pub fn tells(&self) -> &'static [&'static str] {
        match self {
            Self::Admission { .. } => &["shoot"],
            Self::Maintenance { admitted: true } => &["shoot", "told", "reason", "state"],
            Self::Maintenance { admitted: false } => &["shoot", "told", "reason", "failures"],
            Self::Window => &["window", "maintained", "next", "inThis"],
            Self::Rolling { .. } => &["hash", "rolls"],
            Self::Support { .. } => &["supported"],
        }
    }
}

impl Decision {
    /// The document before the decision: the Shoot, if the decision may change it.
    #[must_use]
    pub fn input(&self, given: &Given) -> Value {
        let mut document = Map::new();
        if self.asks.tells().contains(&"shoot") {
            document.insert("shoot".to_owned(), given.object.clone().unwrap_or_default());
        }
        Value::Object(document)
    }
}

/// Rules that compare results of decisions: the Shoot by its kind's types, worker pools by name.
#[must_use]
pub fn rules() -> Rules {
    static RULES: LazyLock<Rules> = LazyLock::new(|| {
        let text = || Type::from_openapi(&json!({"type": "string"}));
        let of = |schema: Value| Type::from_openapi(&schema);
        let texts = || of(json!({"type": "array", "items": {"type": "string"}}));
        let flag = || of(json!({"type": "boolean"}));
        let window =
            json!({"type": "object", "properties": {"begin": {"type": "string"}, "end": {"type": "string"}}});
        let span = || {
            of(
                json!({"type": "object", "properties": {"from": {"type": "string"}, "to": {"type": "string"}}}),
            )
        };
        let shoot = Kinds::gardener().type_of("core.gardener.cloud", "v1beta1", "Shoot");
        let fields = [
            ("shoot", shoot.unwrap_or_else(Type::any)),
            ("told", texts()),
            ("reason", text()),
            ("state", text()),
            ("failures", texts()),
            ("window", of(window)),
            ("maintained", flag()),
            ("next", span()),
            ("inThis", span()),
            ("hash", text()),
            ("rolls", flag()),
            ("supported", flag()),
        ];
        let prefixed = SHOOT_LISTS.iter().map(|(path, key)| (format!("shoot.{path}"), (*key).to_owned()));
        let lists: BTreeMap<String, String> = prefixed.collect();
        Rules::new(Type::object(fields)).with(&lists, &[])
    });
    RULES.clone()
}
