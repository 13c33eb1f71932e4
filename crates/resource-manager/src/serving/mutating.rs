//! Serves pure mutations as webhooks.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use webhook::answer::Answer;
use webhook::mutation;
use webhook::rejection::Rejection;
use webhook::review::AdmissionRequest;
use webhook::service::Webhook;

use crate::decoding::expect;
use crate::facts::Facts;

/// apiVersion and kind of the objects that a webhook changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReviewedKind {
    pub(super) api_version: &'static str,
    pub(super) kind: &'static str,
}

impl ReviewedKind {
    pub(super) const POD: Self = Self { api_version: "v1", kind: "Pod" };
    pub(super) const SECRET: Self = Self { api_version: "v1", kind: "Secret" };
    pub(super) const ENDPOINT_SLICE: Self =
        Self { api_version: "discovery.k8s.io/v1", kind: "EndpointSlice" };

    /// Refuses an object of another kind; one without kind is accepted.
    fn expect(self, object: &Value) -> Result<(), Rejection> {
        expect(self.api_version, self.kind, object)
    }
}

/// A mutation that only reads the object.
///
/// GRM-SEC-010, GRM-SEC-011, GRM-SEC-016, GRM-PSN-005, GRM-PSN-006, GRM-ESH-007, GRM-ESH-008, GRM-KSH-007,
/// GRM-KSH-008, GRM-TIV-008, GRM-TIV-009, GRM-TSC-009, GRM-TSC-010.
pub(super) struct Mutating<F> {
    kind: ReviewedKind,
    mutate: F,
}

impl<F> Mutating<F>
where
    F: Fn(&mut Value) -> Result<(), Rejection> + Send + Sync,
{
    pub(super) fn new(kind: ReviewedKind, mutate: F) -> Self {
        Self { kind, mutate }
    }
}

#[async_trait]
impl<F> Webhook for Mutating<F>
where
    F: Fn(&mut Value) -> Result<(), Rejection> + Send + Sync,
{
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        mutation::answer(request, |object| {
            self.kind.expect(object)?;
            (self.mutate)(object)
        })
    }
}

/// A mutation that needs facts; requests wait until they have been read once.
///
/// GRM-PTM-016, GRM-PTM-024, GRM-PTM-025, GRM-SCC-022, GRM-SCC-023.
pub(super) struct MutatingWithFacts<F> {
    kind: ReviewedKind,
    facts: Arc<Facts>,
    mutate: F,
}

impl<F> MutatingWithFacts<F>
where
    F: Fn(&Facts, &AdmissionRequest<'_>, &mut Value) -> Result<(), Rejection> + Send + Sync,
{
    pub(super) fn new(kind: ReviewedKind, facts: &Arc<Facts>, mutate: F) -> Self {
        Self { kind, facts: facts.clone(), mutate }
    }
}

#[async_trait]
impl<F> Webhook for MutatingWithFacts<F>
where
    F: Fn(&Facts, &AdmissionRequest<'_>, &mut Value) -> Result<(), Rejection> + Send + Sync,
{
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        self.facts.wait_until_synced().await;
        mutation::answer(request, |object| {
            self.kind.expect(object)?;
            (self.mutate)(&self.facts, request, object)
        })
    }
}
