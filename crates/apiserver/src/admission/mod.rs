//! Admission webhooks, called as kube-apiserver calls them: mutating ones in order, then validating ones at once.

mod call;
mod configuration;
mod decoding;
mod invocation;
mod mutating;
pub(crate) mod policies;
pub(crate) mod posting;
mod response;
mod review;
pub(crate) mod review_type;
mod validating;

pub(crate) use configuration::prepare;
pub(crate) use review::{Review, options};

use webhook::registration::Phase;

use crate::call::Call;
use crate::http::status::Status;
use crate::state::ServerState;

/// Reason why a webhook call does not admit a request.
#[derive(Clone, Debug, PartialEq)]
enum Failure {
    /// The call failed or its response is invalid; the failure policy decides.
    Calling(String),
    /// The webhook denied the request, or the result cannot be applied.
    Refused(Status),
}

/// Whether any mutating webhook is registered.
pub(crate) fn has_mutating_webhooks(shared: &ServerState) -> bool {
    !shared.webhooks.of(&shared.store, Phase::Mutating).is_empty()
}

/// Calls the mutating webhooks, which may change the object of the review.
pub(crate) async fn mutate(shared: &ServerState, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    let outcome = mutating::run(shared, call, review).await;
    outcome.map_err(|status| Status { notes: Box::new(std::mem::take(&mut review.notes)), ..status })
}

/// Calls the validating webhooks.
pub(crate) async fn validate(
    shared: &ServerState,
    call: &Call,
    review: &mut Review<'_>,
) -> Result<(), Status> {
    let outcome = validating::run(shared, call, review).await;
    outcome.map_err(|status| Status { notes: Box::new(std::mem::take(&mut review.notes)), ..status })
}

impl Failure {
    /// `failed calling webhook "x": …`.
    fn calling(webhook: &str, why: impl std::fmt::Display) -> Self {
        Self::Calling(format!("failed calling webhook {webhook:?}: {why}"))
    }
}
