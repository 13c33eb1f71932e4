//! Validating webhooks: all at once; the first refusal, in the order of registration, is the answer.

use futures::future::join_all;
use webhook::registration::{FailurePolicy, Phase};

use super::call::ask;
use super::hooks::{Invocation, Scene};
use super::response::denial;
use super::{Failure, Review};
use crate::call::Call;
use crate::http::status::Status;
use crate::state::Shared;

/// Asks the validating webhooks about a review.
pub(super) async fn run(shared: &Shared, call: &Call, review: &mut Review<'_>) -> Result<(), Status> {
    let configurations = shared.hooks.of(&shared.store, Phase::Validating);
    if configurations.is_empty() {
        return Ok(());
    }
    let scene = Scene::of(shared, call, review);
    let all = configurations
        .iter()
        .flat_map(|configuration| (0..configuration.webhooks.len()).map(move |index| (configuration, index)));
    let asked: Vec<Invocation> = all
        .filter_map(|(configuration, index)| scene.invocation(call, review, configuration, index))
        .collect();
    let calls = asked.iter().map(|invocation| ask(shared, call, review, invocation, Phase::Validating));
    let answers = join_all(calls).await;
    let mut refusal = None;
    for (invocation, answer) in asked.iter().zip(answers) {
        let webhook = invocation.webhook();
        let outcome = match answer {
            Ok(verdict) => {
                review.take_notes(&webhook.name, &verdict);
                if verdict.allowed { None } else { Some(denial(&webhook.name, &verdict.status)) }
            }
            Err(Failure::Refused(status)) => Some(status),
            Err(Failure::Calling(why)) if webhook.failure_policy == Some(FailurePolicy::Ignore) => {
                tracing::warn!(webhook = webhook.name, "{why}: failing open");
                None
            }
            Err(Failure::Calling(why)) => Some(Status::internal(&why)),
        };
        refusal = refusal.or(outcome);
    }
    refusal.map_or(Ok(()), Err)
}
