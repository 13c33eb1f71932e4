//! Checks whether all objects of a ManagedResource exist and are healthy
//! (contracts/resource-manager/controllers/health.yaml).

mod live;

use controller::clock::Clock;
use controller::{Cluster, Controller, Watches};
use webhook::field::quote;

use self::live::LiveKind;
use super::Context;
use super::checking::{self, Look, LookError, Origins, Serves, Verdict, Words, key};
use super::events;
use crate::condition::{RESOURCES_HEALTHY, Status};
use crate::health::Unhealthy;
use crate::managed_resource::{ManagedResource, ObjectReference};

/// Name in log and metrics.
pub const NAME: &str = "health";

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let (target, clock) = (context.target.clone(), context.clock);
    let serves = Serves::new(target.client());
    checking::controller(NAME, context, |watches, origins| Health { serves, target, watches, origins, clock })
}

struct Health {
    serves: Serves,
    target: Cluster,
    watches: Watches,
    origins: Origins,
    clock: Clock,
}

/// The state of one object.
enum Found {
    Missing,
    /// The target does not serve its kind; with discovery's error.
    Unserved(String),
    Healthy,
    Unhealthy(Unhealthy),
}

impl Look for Health {
    const CONDITION: &'static str = RESOURCES_HEALTHY;
    const WORDS: Words = Words {
        ignored: "Skipping health checks since ManagedResource is ignored",
        irresponsible: "Stopping health checks as the responsibility changed",
        deleting: "Stopping health checks for ManagedResource, as it is marked for deletion",
        unapplied: "Skipping health checks for ManagedResource, as it is has not been reconciled successfully yet",
    };

    /// GRM-HLT-001 and GRM-HLT-002: the first missing or unhealthy object decides.
    async fn look(&self, object: &ManagedResource) -> Result<Verdict, LookError> {
        tracing::info!("Starting ManagedResource health checks");
        for reference in &object.status.resources {
            let found = self.find(reference).await?;
            let Some((reason, message)) = told(reference, &found) else { continue };
            let message = self.explained(reference, &found, message).await;
            tracing::info!(
                object = key(reference),
                status = "unhealthy",
                reason,
                message,
                "Finished ManagedResource health checks"
            );
            return Ok(Verdict::new(Status::False, reason, message));
        }
        tracing::info!(status = "healthy", "Finished ManagedResource health checks");
        Ok(Verdict::new(Status::True, "ResourcesHealthy", "All resources are healthy."))
    }
}

impl Health {
    /// GRM-HLT-046: the state of an object; an error if its namespace is not watched.
    async fn find(&self, reference: &ObjectReference) -> Result<Found, LookError> {
        let served = match self.serves.find(&reference.api_version, &reference.kind).await? {
            Ok(served) => served,
            Err(words) => return Ok(Found::Unserved(words)),
        };
        let live = LiveKind::of(&self.target, &served, &self.watches, &self.origins);
        live.synced().await;
        Ok(match live.health(served.namespace(&reference.namespace), &reference.name)? {
            None => Found::Missing,
            Some(Ok(())) => Found::Healthy,
            Some(Err(unhealthy)) => Found::Unhealthy(unhealthy),
        })
    }

    /// GRM-HLT-028: adds the warnings of an unhealthy Service's events to the message.
    async fn explained(&self, reference: &ObjectReference, found: &Found, message: String) -> String {
        if !matches!(found, Found::Unhealthy(Unhealthy::IngressMissing)) {
            return message;
        }
        match events::warnings(&self.target.client(), reference, self.clock.now()).await {
            Ok(None) => message,
            Ok(Some(events)) => format!("{message}\n\n{events}"),
            Err(error) => {
                let words = "Failed to read events for more information about unhealthy object";
                tracing::error!(object = key(reference), %error, "{words}");
                message
            }
        }
    }
}

/// GRM-HLT-003, GRM-HLT-004: reason and message for an object that is not healthy.
fn told(reference: &ObjectReference, found: &Found) -> Option<(String, String)> {
    let kind = &reference.kind;
    let missing = || {
        let (name, namespace) = (quote(&reference.name), quote(&reference.namespace));
        format!("Required {kind} {name} in namespace {namespace} is missing")
    };
    match found {
        Found::Healthy => None,
        Found::Missing => Some((format!("{kind}Missing"), missing())),
        Found::Unserved(words) => Some((format!("{kind}Missing"), format!("{}: {words}", missing()))),
        Found::Unhealthy(unhealthy) => {
            let message = format!("{kind} {} is unhealthy: {unhealthy}", quote(&key(reference)));
            Some((format!("{kind}Unhealthy"), message))
        }
    }
}
