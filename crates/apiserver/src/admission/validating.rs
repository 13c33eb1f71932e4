//! Validating webhooks: called concurrently; the first denial in configuration order is the answer.

use futures::future::join_all;
use webhook::registration::{FailurePolicy, Phase};

use super::call::call_webhook;
use super::invocation::{Invocation, MatchContext};
use super::response::denial;
use super::{Failure, Review};
use crate::call::Call;
use crate::http::status::Status;
use crate::state::ServerState;

/// Calls the validating webhooks.
pub(super) async fn run(shared: &ServerState, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    let configurations = shared.webhooks.of(&shared.store, Phase::Validating);
    if configurations.is_empty() {
        return Ok(());
    }
    let context = MatchContext::of(shared, call, review);
    let all = configurations
        .iter()
        .flat_map(|configuration| (0..configuration.webhooks.len()).map(move |index| (configuration, index)));
    let invocations: Vec<Invocation> = all
        .filter_map(|(configuration, index)| context.invocation(call, review, configuration, index))
        .collect();
    let calls = invocations
        .iter()
        .map(|invocation| call_webhook(shared, call, review, invocation, Phase::Validating));
    let results = join_all(calls).await;
    let mut first_refusal = None;
    for (invocation, result) in invocations.iter().zip(results) {
        let webhook = invocation.webhook();
        let outcome = match result {
            Ok(result) => {
                review.take_notes(&webhook.name, &result);
                if result.allowed { None } else { Some(denial(&webhook.name, &result.status)) }
            }
            Err(Failure::Refused(status)) => Some(status),
            Err(Failure::Calling(why)) if webhook.failure_policy == Some(FailurePolicy::Ignore) => {
                tracing::warn!(webhook = webhook.name, "{why}: failing open");
                None
            }
            Err(Failure::Calling(why)) => Some(Status::internal(&why)),
        };
        first_refusal = first_refusal.or(outcome);
    }
    first_refusal.map_or(Ok(()), Err)
}
