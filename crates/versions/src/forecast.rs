//! Predicts the updates of a shoot that only maintenance changes.

use std::collections::BTreeSet;

use api::garden::CloudProfile;
use api::garden::shoot::ShootSpec;
use api::garden::shoot::worker::Worker;
use jiff::{SignedDuration, Timestamp};

use crate::maintenance::{self, Failure};
use crate::offer::Offered as _;
use crate::rule::{self, Rule};
use crate::window::Window;
use crate::{image, kubernetes};

mod cause;

/// A part of a shoot that has a version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// Kubernetes of the control plane, and of pools without a version.
    ControlPlane,
    /// Kubernetes of a pool with its own version.
    Pool(String),
    /// The machine image of a pool.
    Image {
        /// The pool.
        pool: String,
        /// Name of the image.
        image: String,
    },
}

/// An update from one version to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The time.
    pub at: Timestamp,
    /// What is updated.
    pub subject: Subject,
    /// The old version.
    pub from: String,
    /// The new version.
    pub to: String,
    /// The rule.
    pub rule: Rule,
}

/// A version that must be left but has no successor, or a shoot that cannot be maintained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The time since when.
    pub at: Timestamp,
    /// Which version it is and when it ends, the same for all shoots with that version: `kubernetes 1.24.10 ends 2024-02-20`.
    pub cause: String,
    /// The error of maintenance.
    pub why: String,
    /// The clause that requires that the version stays.
    pub clause: &'static str,
}

/// The predicted updates of a shoot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forecast {
    /// The updates, in order of time.
    pub steps: Vec<Step>,
    /// Errors of maintenance, without duplicates.
    pub stuck: Vec<Stuck>,
    /// The shoot after the last update.
    pub last: ShootSpec,
}

/// Maintains a shoot in each of its windows that begins before `until`, the one of `from` included.
///
/// Windows in which nothing can change are skipped: after a maintenance without a change, the next change comes only when
/// one of the shoot's versions expires.
#[must_use]
pub fn forecast(shoot: &ShootSpec, profile: &CloudProfile, from: Timestamp, until: Timestamp) -> Forecast {
    let window = Window::of(shoot.maintenance.as_ref());
    let mut forecast = Forecast { last: shoot.clone(), ..Forecast::default() };
    let mut next = begin(window, from);
    while let Some(at) = next.filter(|at| *at < until) {
        let before = forecast.last.clone();
        let done = match maintenance::maintain(&mut forecast.last, profile, at) {
            Ok(done) => done,
            Err(error) => {
                let (why, clause) = (error.to_string(), rule::NOT_MAINTAINED);
                forecast.stuck.push(Stuck { at, cause: why.clone(), why, clause });
                return forecast;
            }
        };
        forecast.steps.extend(steps(&before, &forecast.last, profile, at));
        for failure in &done.failures {
            record_stuck(&mut forecast.stuck, at, failure, profile);
        }
        next = if forecast.last == before {
            expiries(&forecast.last, profile).range(after(at)..).next().and_then(|at| begin(window, *at))
        } else {
            tomorrow(window, at)
        };
    }
    forecast
}

/// The time when work may begin: in the window that contains `at`, or else in the next one.
fn begin(window: Window, at: Timestamp) -> Option<Timestamp> {
    later(at, window.until_next(at, true, |_| 0))
}

/// The beginning of the window after the one that contains `at`.
fn tomorrow(window: Window, at: Timestamp) -> Option<Timestamp> {
    let at = after(at);
    later(at, window.until_next(at, false, |_| 0))
}

fn later(at: Timestamp, span: std::time::Duration) -> Option<Timestamp> {
    at.checked_add(SignedDuration::try_from(span).ok()?).ok()
}

fn after(at: Timestamp) -> Timestamp {
    at.checked_add(SignedDuration::from_secs(1)).unwrap_or(Timestamp::MAX)
}

fn record_stuck(stuck: &mut Vec<Stuck>, at: Timestamp, failure: &Failure, profile: &CloudProfile) {
    let why = failure.to_string();
    if stuck.iter().all(|known| known.why != why) {
        stuck.push(Stuck { at, cause: cause::of(failure, profile), why, clause: rule::of_failure(failure) });
    }
}

/// The differences between the versions of two states of a shoot.
fn steps(before: &ShootSpec, now: &ShootSpec, profile: &CloudProfile, at: Timestamp) -> Vec<Step> {
    let mut steps = Vec::new();
    let offered = &profile.spec.kubernetes.versions;
    let mut kubernetes = |subject, from: Option<&String>, to: Option<&String>| {
        if let (Some(from), Some(to)) = (from, to)
            && from != to
        {
            let rule = rule::of_kubernetes(from, to, offered, at);
            steps.push(Step { at, subject, from: from.clone(), to: to.clone(), rule });
        }
    };
    kubernetes(Subject::ControlPlane, before.kubernetes.version.as_ref(), now.kubernetes.version.as_ref());
    let pools = || before.provider.workers.iter().zip(&now.provider.workers);
    for (old, new) in pools() {
        kubernetes(Subject::Pool(new.name.clone()), own(old), own(new));
    }
    let auto_update = maintenance::auto_update_of_images(before);
    for (old, new) in pools() {
        steps.extend(image_step(old, new, profile, auto_update, at));
    }
    steps
}

fn image_step(
    old: &Worker,
    new: &Worker,
    profile: &CloudProfile,
    auto_update: bool,
    at: Timestamp,
) -> Option<Step> {
    let (old, image) = (old.machine.image.as_ref()?, new.machine.image.as_ref()?);
    let (from, to) = (old.version.clone()?, image.version.clone()?);
    let rule = rule::of_image(old, profile, auto_update);
    let subject = Subject::Image { pool: new.name.clone(), image: image.name.clone() };
    (from != to).then_some(Step { at, subject, from, to, rule })
}

fn own(pool: &Worker) -> Option<&String> {
    pool.kubernetes.as_ref().and_then(|own| own.version.as_ref())
}

/// The expiration times of the shoot's versions.
fn expiries(shoot: &ShootSpec, profile: &CloudProfile) -> BTreeSet<Timestamp> {
    let versions = shoot.kubernetes.version.iter().chain(shoot.provider.workers.iter().filter_map(own));
    let offered = &profile.spec.kubernetes.versions;
    let kubernetes = versions.filter_map(|version| kubernetes::known(version, offered).ok()??.expires());
    let images = shoot.provider.workers.iter().filter_map(|pool| pool.machine.image.as_ref());
    let images = images.filter_map(|image| image::known(image, profile)?.expires());
    kubernetes.chain(images).collect()
}

#[cfg(test)]
mod tests;
