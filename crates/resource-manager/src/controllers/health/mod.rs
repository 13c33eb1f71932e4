//! Checks whether all objects of a ManagedResource exist and are healthy
//! (contracts/resource-manager/controllers/health.yaml).

mod live;

use controller::clock::Clock;
use controller::reconcile::health::Unhealthy;
use controller::{Cluster, Controller, Watches};
use webhook::field::quote;

use self::live::LiveKind;
use super::Context;
use super::checking::{self, CheckError, CheckResult, ObjectCheck, Origins, ServedKinds, SkipMessages, key};
use super::events;
use crate::condition::{RESOURCES_HEALTHY, Status};
use crate::managed_resource::{ManagedResource, ObjectReference};

/// Name in log and metrics.
pub const NAME: &str = "health";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let (target, clock) = (context.target.clone(), context.clock);
    let served_kinds = ServedKinds::new(target.client());
    checking::controller(NAME, context, |watches, origins| Health {
        served_kinds,
        target,
        watches,
        origins,
        clock,
    })
}

struct Health {
    served_kinds: ServedKinds,
    target: Cluster,
    watches: Watches,
    origins: Origins,
    clock: Clock,
}

/// The state of one object.
enum ObjectState {
    Missing,
    /// The target does not serve its kind; with discovery's error.
    Unserved(String),
    Healthy,
    Unhealthy(Unhealthy),
}

impl ObjectCheck for Health {
    const CONDITION: &'static str = RESOURCES_HEALTHY;
    const SKIP_MESSAGES: SkipMessages = SkipMessages {
        ignored: "Skipping health checks since ManagedResource is ignored",
        irresponsible: "Stopping health checks as the responsibility changed",
        deleting: "Stopping health checks for ManagedResource, as it is marked for deletion",
        unapplied: "Skipping health checks for ManagedResource, as it is has not been reconciled successfully yet",
    };

    /// GRM-HLT-001 and GRM-HLT-002: the first missing or unhealthy object decides.
    async fn check(&self, object: &ManagedResource) -> Result<CheckResult, CheckError> {
        tracing::info!("Starting ManagedResource health checks");
        for reference in &object.status.resources {
            let state = self.state_of(reference).await?;
            let Some((reason, message)) = problem(reference, &state) else { continue };
            let message = self.with_warnings(reference, &state, message).await;
            tracing::info!(
                object = key(reference),
                status = "unhealthy",
                reason,
                message,
                "Finished ManagedResource health checks"
            );
            return Ok(CheckResult::new(Status::False, reason, message));
        }
        tracing::info!(status = "healthy", "Finished ManagedResource health checks");
        Ok(CheckResult::new(Status::True, "ResourcesHealthy", "All resources are healthy."))
    }
}

impl Health {
    /// GRM-HLT-046: the state of an object; an error if its namespace is not watched.
    async fn state_of(&self, reference: &ObjectReference) -> Result<ObjectState, CheckError> {
        let served = match self.served_kinds.find(&reference.api_version, &reference.kind).await? {
            Ok(served) => served,
            Err(message) => return Ok(ObjectState::Unserved(message)),
        };
        let live = LiveKind::of(&self.target, &served, &self.watches, &self.origins);
        live.wait_until_synced().await;
        Ok(match live.health(served.namespace(&reference.namespace), &reference.name)? {
            None => ObjectState::Missing,
            Some(Ok(())) => ObjectState::Healthy,
            Some(Err(unhealthy)) => ObjectState::Unhealthy(unhealthy),
        })
    }

    /// GRM-HLT-028: adds the warnings of an unhealthy Service's events to the message.
    async fn with_warnings(
        &self,
        reference: &ObjectReference,
        state: &ObjectState,
        message: String,
    ) -> String {
        if !matches!(state, ObjectState::Unhealthy(Unhealthy::IngressMissing)) {
            return message;
        }
        match events::warnings(&self.target.client(), reference, self.clock.now()).await {
            Ok(None) => message,
            Ok(Some(events)) => format!("{message}\n\n{events}"),
            Err(error) => {
                let failure = "Failed to read events for more information about unhealthy object";
                tracing::error!(object = key(reference), %error, "{failure}");
                message
            }
        }
    }
}

/// GRM-HLT-003, GRM-HLT-004: reason and message for an object that is not healthy.
fn problem(reference: &ObjectReference, state: &ObjectState) -> Option<(String, String)> {
    let kind = &reference.kind;
    let missing = || {
        let (name, namespace) = (quote(&reference.name), quote(&reference.namespace));
        format!("Required {kind} {name} in namespace {namespace} is missing")
    };
    match state {
        ObjectState::Healthy => None,
        ObjectState::Missing => Some((format!("{kind}Missing"), missing())),
        ObjectState::Unserved(message) => {
            Some((format!("{kind}Missing"), format!("{}: {message}", missing())))
        }
        ObjectState::Unhealthy(unhealthy) => {
            let message = format!("{kind} {} is unhealthy: {unhealthy}", quote(&key(reference)));
            Some((format!("{kind}Unhealthy"), message))
        }
    }
}
