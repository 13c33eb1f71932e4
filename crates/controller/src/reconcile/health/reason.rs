//! Why an object is unhealthy or not rolled out, in the original's words.

use webhook::field::quote;

/// The controller of an object has not observed its current generation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("observed generation outdated ({observed}/{generation})")]
pub struct Outdated {
    /// The observed generation.
    pub observed: i64,
    /// The current generation.
    pub generation: i64,
}

/// A condition that an object must have is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("condition {} is missing", quote(.0))]
pub struct ConditionMissing(pub &'static str);

/// Why an object is unhealthy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unhealthy {
    /// Its controller has not observed its current generation.
    #[error(transparent)]
    Outdated(#[from] Outdated),
    /// A required condition is missing.
    #[error(transparent)]
    ConditionMissing(#[from] ConditionMissing),
    /// A condition has the wrong status.
    #[error(
        "condition {} has invalid status {status} (expected {expected}) due to {reason}: {message}",
        quote(kind)
    )]
    ConditionStatus {
        /// Its type.
        kind: &'static str,
        /// Its status.
        status: String,
        /// The expected status.
        expected: &'static str,
        /// Its reason.
        reason: String,
        /// Its message.
        message: String,
    },
    /// Too few replicas of a `StatefulSet` are ready.
    #[error("not enough ready replicas ({ready}/{wanted})")]
    ReadyReplicas {
        /// How many are ready.
        ready: i64,
        /// How many should be.
        wanted: i64,
    },
    /// Too few replicas of a set of this kind are ready.
    #[error("{0} does not have minimum availability")]
    MinimumAvailability(&'static str),
    /// Too few pods of a `DaemonSet` are scheduled.
    #[error("not enough scheduled pods ({current}/{wanted})")]
    ScheduledPods {
        /// How many are scheduled.
        current: i64,
        /// How many should be.
        wanted: i64,
    },
    /// Pods of a `DaemonSet` run on wrong nodes.
    #[error("misscheduled pods found ({0})")]
    MisscheduledPods(i64),
    /// Pods of a `DaemonSet` that is not being rolled out are unavailable.
    #[error("too many unavailable pods found ({unavailable}/{current})")]
    UnavailablePods {
        /// How many are unavailable.
        unavailable: i64,
        /// How many there are.
        current: i64,
    },
    /// More pods of a `DaemonSet` are unavailable than may be while it is rolled out.
    #[error(
        "too many unavailable pods found ({unavailable}/{current}, only max. {most} unavailable pods allowed)"
    )]
    TooManyUnavailablePods {
        /// How many are unavailable.
        unavailable: i64,
        /// How many there are.
        current: i64,
        /// How many may be.
        most: i64,
    },
    /// A `Pod` is neither running nor succeeded.
    #[error("pod is in invalid phase {} (expected one of [\"Running\" \"Succeeded\"])", quote(.0))]
    PodPhase(String),
    /// A `Service` of type `LoadBalancer` has no load balancer.
    #[error("service is missing ingress status")]
    IngressMissing,
}

/// Why an object is not rolled out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// Its controller has not observed its current generation.
    #[error(transparent)]
    Outdated(#[from] Outdated),
    /// A required condition is missing.
    #[error(transparent)]
    ConditionMissing(#[from] ConditionMissing),
    /// A condition has the reason.
    #[error("{0}")]
    Condition(String),
    /// Pods of an older revision still exist, or new ones are missing.
    #[error("there are still non-terminated old pods")]
    OldPods,
    /// Some replicas are of an older revision.
    #[error("{updated} of {wanted} replica(s) have been updated")]
    Replicas {
        /// How many are of the new revision.
        updated: i64,
        /// How many should be.
        wanted: i64,
    },
}
