//! Pure mutations as webhooks.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use webhook::answer::Answer;
use webhook::mutation;
use webhook::rejection::Rejection;
use webhook::review::AdmissionRequest;
use webhook::service::Webhook;

use crate::facts::Facts;

/// A mutation that looks at the object alone.
pub(super) struct Mutating<F>(F);

impl<F> Mutating<F>
where
    F: Fn(&mut Value) -> Result<(), Rejection> + Send + Sync,
{
    pub(super) fn new(mutate: F) -> Self {
        Self(mutate)
    }
}

#[async_trait]
impl<F> Webhook for Mutating<F>
where
    F: Fn(&mut Value) -> Result<(), Rejection> + Send + Sync,
{
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        mutation::answer(request, &self.0)
    }
}

/// A mutation that needs facts; until they have been read once, requests wait.
pub(super) struct Informed<F> {
    facts: Arc<Facts>,
    mutate: F,
}

impl<F> Informed<F>
where
    F: Fn(&Facts, &AdmissionRequest<'_>, &mut Value) -> Result<(), Rejection> + Send + Sync,
{
    pub(super) fn new(facts: &Arc<Facts>, mutate: F) -> Self {
        Self { facts: facts.clone(), mutate }
    }
}

#[async_trait]
impl<F> Webhook for Informed<F>
where
    F: Fn(&Facts, &AdmissionRequest<'_>, &mut Value) -> Result<(), Rejection> + Send + Sync,
{
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        self.facts.synced().await;
        mutation::answer(request, |object| (self.mutate)(&self.facts, request, object))
    }
}
