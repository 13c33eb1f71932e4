//! Admission webhooks, called as kube-apiserver calls them: mutating ones in order, then validating ones at once.

mod call;
mod configuration;
mod invocation;
mod mutating;
pub(crate) mod posting;
mod response;
mod review;
mod validating;

pub(crate) use configuration::prepare;
pub(crate) use review::{Review, options};

use crate::call::Call;
use crate::http::status::Status;
use crate::state::Shared;

/// Why a webhook did not let a request pass.
#[derive(Clone, Debug, PartialEq)]
enum Failure {
    /// It could not be asked, or what it answered is no answer; the failure policy decides.
    Calling(String),
    /// It said no, or something that must not be said.
    Refused(Status),
}

/// Lets the mutating webhooks change the object of a review.
pub(crate) async fn mutate(shared: &Shared, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    let outcome = mutating::run(shared, call, review).await;
    outcome.map_err(|status| Status { notes: Box::new(std::mem::take(&mut review.notes)), ..status })
}

/// Asks the validating webhooks about a review.
pub(crate) async fn validate(shared: &Shared, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    let outcome = validating::run(shared, call, review).await;
    outcome.map_err(|status| Status { notes: Box::new(std::mem::take(&mut review.notes)), ..status })
}

impl Failure {
    /// `failed calling webhook "x": …`.
    fn calling(webhook: &str, why: impl std::fmt::Display) -> Self {
        Self::Calling(format!("failed calling webhook {webhook:?}: {why}"))
    }
}
