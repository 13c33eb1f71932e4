//! A scenario: what stands in the clusters, the steps that are taken, and what must be seen after each.

mod idle;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::expect::Expect;
use crate::model::Location;

/// The cluster that a step speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// `cluster`: the only one.
    Only,
    /// `sourceCluster`: where the controller's own objects are.
    Source,
    /// `targetCluster`: where it acts.
    Target,
}

/// What a scenario is run again under: same end state, nothing lost, nothing left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Watches break.
    WatchDrop,
    /// What the target writes, its watches show it later.
    WatchLag,
    /// Each object's first write is refused as a conflict.
    ConflictOnce,
    /// Requests are answered with 429 for a while.
    Throttle,
    /// Requests are answered with 500 for a while.
    ServerError,
    /// The target is killed after a write and started again, once for each of its writes.
    CrashAfterWrite,
}

/// Steps over one or two clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// Objects that stand before the target is started.
    pub given: BTreeMap<Side, Vec<Value>>,
    /// In order.
    pub steps: Vec<Step>,
    /// Faults that it is repeated under.
    pub faults: BTreeSet<Fault>,
}

/// One step: time passes, something is done, something is seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name; later steps count time from it.
    pub name: String,
    /// How far the clock is moved first.
    pub advance: Option<Advance>,
    /// What another user does then, in order.
    pub actions: Vec<Action>,
    /// The controller that must have reconciled since the step began.
    pub witness: Option<String>,
    /// States that come about.
    pub eventually: Vec<State>,
    /// States that a watcher sees since the step began, in order, other states in between.
    pub history: Vec<History>,
    /// What does not happen after the witness.
    pub never: Option<Never>,
    /// What the target sends in this step.
    pub requests: Option<Requests>,
    /// Where it stands.
    pub location: Location,
}

/// A move of the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// So long after the start of the move or, with `after`, after the end of that step.
    pub to: Duration,
    /// Name of an earlier step.
    pub after: Option<String>,
}

/// What another user does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Creates an object, its status included.
    Create(Side, Value),
    /// Sends a JSON merge patch.
    Patch(Side, ObjectRef, Value),
    /// Sends a JSON merge patch to the status subresource.
    PatchStatus(Side, ObjectRef, Value),
    /// Deletes an object.
    Delete(Side, ObjectRef),
    /// Changes a harmless annotation.
    Touch(Side, ObjectRef),
    /// Refuses requests of the target from now on; without a refusal, refuses them no longer.
    Refuse(Side, Asked, Option<Refusal>),
    /// Stops the target.
    Stop,
    /// Starts the target.
    Start,
}

/// Requests of the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// `create`, `get`, `watch`; absent for every verb.
    pub verb: Option<String>,
    /// API group and plural name of what is asked for; absent for everything.
    pub resource: Option<(String, String)>,
    /// Namespace and name of the object; absent for all of them.
    pub object: Option<(String, String)>,
}

/// How requests are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 403: no role allows it.
    Forbidden,
    /// 503: nobody is there to answer.
    Unavailable,
    /// They are not done, and never answered.
    Unanswered,
}

/// What must hold of one object.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Where.
    pub side: Side,
    /// Of what.
    pub object: ObjectRef,
    /// What; `$changed` and `$unchanged` ask the object as the step found it.
    pub expect: Expect,
}

/// States of one object, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Where.
    pub side: Side,
    /// Of what.
    pub object: ObjectRef,
    /// In order.
    pub states: Vec<Expect>,
}

/// What does not happen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Never {
    /// The target writes none of these.
    pub writes: Vec<ObjectRef>,
    /// None of these states is seen.
    pub states: Vec<State>,
    /// For so long after the witness.
    pub hold: Duration,
}

/// What the target sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// So many writes.
    pub writes: Option<usize>,
    /// Of these objects alone, since others that the target writes are not spoken of; empty: of all.
    pub of: Vec<ObjectRef>,
    /// These writes, in this order, others in between: `create`, `update`, `patch`, `delete` and the object.
    pub order: Vec<(String, ObjectRef)>,
    /// At most so many writes for each object.
    pub per_object: Option<usize>,
}

/// An object by kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectRef {
    /// `v1`, `apps/v1`.
    pub api_version: String,
    /// `ConfigMap`.
    pub kind: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Where namespaced objects live whose namespace nobody named.
pub const NAMESPACE: &str = "default";

/// How long a `never` holds where it does not say.
pub const HOLD: Duration = Duration::from_secs(10);

impl Side {
    /// As contracts write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Only => "cluster",
            Self::Source => "sourceCluster",
            Self::Target => "targetCluster",
        }
    }
}

impl Fault {
    /// As contracts write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WatchDrop => "watchDrop",
            Self::WatchLag => "watchLag",
            Self::ConflictOnce => "conflictOnce",
            Self::Throttle => "throttle",
            Self::ServerError => "serverError",
            Self::CrashAfterWrite => "crashAfterWrite",
        }
    }
}

impl Scenario {
    /// Whether it asserts anything that comes about, and not only what does not.
    #[must_use]
    pub fn asserts_effects(&self) -> bool {
        self.steps.iter().any(|step| {
            let sent = |requests: &Requests| {
                !requests.order.is_empty() || requests.writes.is_some_and(|writes| writes > 0)
            };
            !step.eventually.is_empty()
                || !step.history.is_empty()
                || step.requests.as_ref().is_some_and(sent)
        })
    }

    /// Whether source and target are one cluster.
    #[must_use]
    pub fn is_of_one_cluster(&self) -> bool {
        let acted = self.steps.iter().flat_map(|step| &step.actions).filter_map(|action| match action {
            Action::Create(side, _)
            | Action::Patch(side, ..)
            | Action::PatchStatus(side, ..)
            | Action::Delete(side, _)
            | Action::Touch(side, _)
            | Action::Refuse(side, ..) => Some(*side),
            Action::Stop | Action::Start => None,
        });
        let seen = self.steps.iter().flat_map(|step| step.eventually.iter().map(|state| state.side));
        self.given.keys().copied().chain(acted).chain(seen).any(|side| side == Side::Only)
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.kind.to_lowercase())?;
        if !self.namespace.is_empty() && self.namespace != NAMESPACE {
            write!(f, "{}/", self.namespace)?;
        }
        write!(f, "{}", self.name)
    }
}
