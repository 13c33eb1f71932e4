//! Why an object is unhealthy or not rolled out, in the original's words.

use webhook::field::quote;

/// The controller of an object has not seen it as it is now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("observed generation outdated ({observed}/{generation})")]
pub struct Outdated {
    /// The generation that was seen last.
    pub observed: i64,
    /// The generation that it has.
    pub generation: i64,
}

/// A condition that an object must have is missing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("condition {} is missing", quote(.0))]
pub struct ConditionMissing(pub &'static str);

/// Why an object is unhealthy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unhealthy {
    /// Its controller has not seen it as it is now.
    #[error(transparent)]
    Outdated(#[from] Outdated),
    /// A condition that it must have is missing.
    #[error(transparent)]
    ConditionMissing(#[from] ConditionMissing),
    /// A condition does not say what it should.
    #[error(
        "condition {} has invalid status {status} (expected {expected}) due to {reason}: {message}",
        quote(kind)
    )]
    ConditionStatus {
        /// Its type.
        kind: &'static str,
        /// What it says.
        status: String,
        /// What it should say.
        expected: &'static str,
        /// Its reason.
        reason: String,
        /// Its message.
        message: String,
    },
    /// Too few replicas of a `StatefulSet` are ready.
    #[error("not enough ready replicas ({ready}/{wanted})")]
    ReadyReplicas {
        /// How many are.
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
        /// How many are.
        current: i64,
        /// How many should be.
        wanted: i64,
    },
    /// Pods of a `DaemonSet` run where they should not.
    #[error("misscheduled pods found ({0})")]
    MisscheduledPods(i64),
    /// Pods of a `DaemonSet` that is not being rolled out are unavailable.
    #[error("too many unavailable pods found ({unavailable}/{current})")]
    UnavailablePods {
        /// How many are.
        unavailable: i64,
        /// Of how many.
        current: i64,
    },
    /// More pods of a `DaemonSet` are unavailable than may be while it is rolled out.
    #[error(
        "too many unavailable pods found ({unavailable}/{current}, only max. {most} unavailable pods allowed)"
    )]
    TooManyUnavailablePods {
        /// How many are.
        unavailable: i64,
        /// Of how many.
        current: i64,
        /// How many may be.
        most: i64,
    },
    /// A `Pod` neither runs nor has ended well.
    #[error("pod is in invalid phase {} (expected one of [\"Running\" \"Succeeded\"])", quote(.0))]
    PodPhase(String),
    /// A `Service` of type `LoadBalancer` has none.
    #[error("service is missing ingress status")]
    IngressMissing,
}

/// Why an object is not rolled out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// Its controller has not seen it as it is now.
    #[error(transparent)]
    Outdated(#[from] Outdated),
    /// A condition that it must have is missing.
    #[error(transparent)]
    ConditionMissing(#[from] ConditionMissing),
    /// Its condition says why.
    #[error("{0}")]
    Condition(String),
    /// Pods of an older revision are still there, or new ones are missing.
    #[error("there are still non-terminated old pods")]
    OldPods,
    /// Some replicas are of an older revision.
    #[error("{updated} of {wanted} replica(s) have been updated")]
    Replicas {
        /// How many are of the new one.
        updated: i64,
        /// How many should be.
        wanted: i64,
    },
}
