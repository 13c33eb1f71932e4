//! How healthy a Shoot is, as its label says.

use api::garden::Shoot;
use api::garden::condition::{Condition, LastOperation};
use kube::ResourceExt as _;

use super::conditions::{PROGRESSING, TRUE, UNKNOWN};

/// Label of a Shoot: its [`Health`].
pub(super) const STATUS_LABEL: &str = "shoot.gardener.cloud/status";

/// How healthy a Shoot is, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Health {
    Unhealthy,
    Unknown,
    Progressing,
    Healthy,
}

impl Health {
    /// The label's value.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Unhealthy => "unhealthy",
            Self::Unknown => "unknown",
            Self::Progressing => "progressing",
            Self::Healthy => "healthy",
        }
    }

    /// What the label of a Shoot says; a Shoot without one is progressing.
    pub(super) fn labelled(shoot: &Shoot) -> Self {
        let all = [Self::Healthy, Self::Progressing, Self::Unknown];
        let Some(value) = shoot.labels().get(STATUS_LABEL) else { return Self::Progressing };
        all.into_iter().find(|health| health.as_str() == value).unwrap_or(Self::Unhealthy)
    }

    /// What the status of a Shoot says. GCM-SSL-001 to -005.
    pub(super) fn of(shoot: &Shoot) -> Self {
        let status = &shoot.status;
        let without_errors = Self::if_good(status.last_errors.is_empty());
        let Some(LastOperation { type_, state, .. }) = &status.last_operation else { return Self::Healthy };
        if type_ == "Delete" || (type_ == "Create" && state != "Succeeded") {
            return without_errors;
        }
        let operation = match state.as_str() {
            "Processing" => without_errors,
            state => Self::if_good(state == "Succeeded"),
        };
        let worst = status.conditions.iter().map(Self::of_condition).min().unwrap_or(Self::Healthy);
        worst.min(operation)
    }

    fn of_condition(condition: &Condition) -> Self {
        match condition.status.as_str() {
            TRUE => Self::Healthy,
            PROGRESSING => Self::Progressing,
            UNKNOWN => Self::Unknown,
            _ => Self::Unhealthy,
        }
    }

    fn if_good(good: bool) -> Self {
        if good { Self::Healthy } else { Self::Unhealthy }
    }
}
