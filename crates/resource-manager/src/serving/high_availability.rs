//! Serves high-availability-config, whose facts depend on the request and not on the object.

use std::sync::Arc;

use async_trait::async_trait;
use webhook::answer::Answer;
use webhook::mutation;
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, GroupVersionKind};
use webhook::service::Webhook;

use crate::config::HighAvailabilityConfig;
use crate::facts::{self, Facts, ScaleTarget};
use crate::webhooks::high_availability_config::{self, Namespace};

pub(super) struct HighAvailability {
    config: HighAvailabilityConfig,
    facts: Arc<Facts>,
}

impl HighAvailability {
    pub(super) fn new(config: &HighAvailabilityConfig, facts: &Arc<Facts>) -> Self {
        Self { config: config.clone(), facts: facts.clone() }
    }
}

#[async_trait]
impl Webhook for HighAvailability {
    /// A fact that cannot be read is answered with 500, an object that cannot be decoded with 403.
    ///
    /// GRM-HAC-076, GRM-HAC-077, GRM-HAC-078, GRM-HAC-082.
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        self.facts.wait_until_synced().await;
        let (namespace, scaled_up_to) = match self.gather(request) {
            Ok(facts) => facts,
            Err(error) => return Rejection::errored(500, error.to_string()).into(),
        };
        let kind = &request.kind;
        if !high_availability_config::handles(kind) {
            return Answer::allowed(&format!("unexpected resource: {}", group_kind(kind)));
        }
        let facts = high_availability_config::ObjectFacts { namespace: &namespace, scaled_up_to };
        let answer = mutation::answer(request, |object| {
            high_availability_config::mutate(&self.config, facts, kind, object)
        });
        if answer.code() == 400 { Rejection::forbidden(answer.message()).into() } else { answer }
    }
}

impl HighAvailability {
    fn gather(&self, request: &AdmissionRequest<'_>) -> Result<(Arc<Namespace>, Option<i64>), facts::Error> {
        let namespace = self.facts.namespace(&request.namespace)?;
        let scaled_up_to = self.facts.scaled_up_to(&ScaleTarget {
            namespace: &request.namespace,
            group: &request.kind.group,
            version: &request.kind.version,
            kind: &request.kind.kind,
            name: &request.name,
        })?;
        Ok((namespace, scaled_up_to))
    }
}

/// `Kind.group`, or `Kind` for the core group.
fn group_kind(kind: &GroupVersionKind) -> String {
    if kind.group.is_empty() { kind.kind.clone() } else { format!("{}.{}", kind.kind, kind.group) }
}
