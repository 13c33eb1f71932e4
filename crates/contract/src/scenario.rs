//! Scenarios: given objects in clusters, steps, and what must be observed in each step.

mod idle;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::expect::Expect;
use crate::model::Location;

/// The cluster of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// `cluster`: the only one.
    Only,
    /// `sourceCluster`: has the objects that the controller reads.
    Source,
    /// `targetCluster`: has the objects that the controller manages.
    Target,
}

/// A fault under which a scenario is repeated; the end state must be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// Watches break.
    WatchDrop,
    /// Watches deliver the target's own writes late.
    WatchLag,
    /// Each object's first write is refused as a conflict.
    ConflictOnce,
    /// Requests are answered with 429 for a while.
    Throttle,
    /// Requests are answered with 500 for a while.
    ServerError,
    /// The first write of each object is answered with another error, one repetition for each of them: 403, 404, 422,
    /// 504 before and after the write.
    RefusedOnce,
    /// The target is killed after a write and started again, once for each of its writes.
    CrashAfterWrite,
}

/// Steps over one or two clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// Objects that exist before the target is started.
    pub given: BTreeMap<Side, Vec<Value>>,
    /// In this order.
    pub steps: Vec<Step>,
    /// Faults under which it is repeated.
    pub faults: BTreeSet<Fault>,
}

/// One step: the clock moves, actions happen, assertions are checked.
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
    /// States that are eventually reached.
    pub eventually: Vec<State>,
    /// States that a watcher sees in this order since the step began, possibly with others in between.
    pub history: Vec<History>,
    /// What must not happen after the witness.
    pub never: Option<Never>,
    /// Requests that the target sends in this step.
    pub requests: Option<Requests>,
    /// Its position.
    pub location: Location,
}

/// A move of the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The time to move to, counted from now or, with `after`, from the end of that step.
    pub to: Duration,
    /// Name of an earlier step.
    pub after: Option<String>,
}

/// An action of another user.
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
    /// Refuses requests of the target from now on; `None` stops refusing them.
    Refuse(Side, RequestMatcher, Option<Refusal>),
    /// Stops the target.
    Stop,
    /// Starts the target.
    Start,
}

/// Matches requests of the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestMatcher {
    /// `create`, `get`, `watch`; `None`: every verb.
    pub verb: Option<String>,
    /// API group and plural name of the resource; `None`: every resource.
    pub resource: Option<(String, String)>,
    /// Namespace and name of the object; `None`: every object.
    pub object: Option<(String, String)>,
}

/// How requests are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// 403: no role allows it.
    Forbidden,
    /// 403: it exceeds a quota.
    OverQuota,
    /// 403: its namespace is being deleted.
    NamespaceTerminating,
    /// 404: the object does not exist; of a creation, its namespace does not.
    NotFound,
    /// 409: an object with the name exists.
    AlreadyExists,
    /// 409: the object has changed in the meantime.
    Conflict,
    /// 422: an admission policy denies it.
    Invalid,
    /// 429: there are too many requests.
    TooManyRequests,
    /// 500.
    InternalError,
    /// 503: the server is unavailable.
    Unavailable,
    /// 504: the request is not executed.
    Timeout,
    /// 504: the request is executed, but the client does not learn it.
    LostAnswer,
    /// The request is not executed and gets no response.
    Unanswered,
}

/// An assertion about one object.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The cluster.
    pub side: Side,
    /// The object.
    pub object: ObjectRef,
    /// The assertion; `$changed` and `$unchanged` compare with the object at the start of the step.
    pub expect: Expect,
}

/// States of one object, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The cluster.
    pub side: Side,
    /// The object.
    pub object: ObjectRef,
    /// In this order.
    pub states: Vec<Expect>,
}

/// What must not happen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Never {
    /// The target writes none of these.
    pub writes: Vec<ObjectRef>,
    /// None of these states occurs.
    pub states: Vec<State>,
    /// How long after the witness.
    pub hold: Duration,
}

/// Assertions about requests of the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Exact number of writes.
    pub writes: Option<usize>,
    /// Counts only writes to these objects; empty: to all objects.
    pub of: Vec<ObjectRef>,
    /// These writes happen in this order, possibly with others in between: `create`, `update`, `patch`, `delete` and
    /// the object.
    pub order: Vec<(String, ObjectRef)>,
    /// Maximal number of writes to each object.
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

/// Namespace of namespaced objects that name none.
pub const NAMESPACE: &str = "default";

/// Default duration of `never`.
pub const HOLD: Duration = Duration::from_secs(10);

impl Side {
    /// The name in contracts.
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
    /// The name in contracts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WatchDrop => "watchDrop",
            Self::WatchLag => "watchLag",
            Self::ConflictOnce => "conflictOnce",
            Self::Throttle => "throttle",
            Self::ServerError => "serverError",
            Self::RefusedOnce => "refusedOnce",
            Self::CrashAfterWrite => "crashAfterWrite",
        }
    }
}

impl Scenario {
    /// Whether it asserts that something happens, not only that something does not.
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

    /// Whether source and target are the same cluster.
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
