//! A client of a seed creates, changes and deletes only what belongs to its seed
//! (contracts/admission-controller/webhooks/seed-restriction). Each group of resources has a file.

mod backup;
mod bootstrap;
mod identity;
mod objects;
mod secret;
mod seed;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use webhook::mutation::decode;
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, Operation};

pub(crate) use self::bootstrap::renews_kubeconfig;
pub(crate) use self::identity::LEADER_ELECTION;
pub use self::objects::GardenObjects;
use super::typed;
use crate::seed_identity::SeedClient;

/// Its name.
pub const NAME: &str = "seed-restriction";
/// Its path.
pub const PATH: &str = "/webhooks/admission/seedrestriction";

const CORE: &str = "core.gardener.cloud";

/// A request of a client of a seed, and the objects that decide about it.
struct Restricted<'a> {
    client: &'a SeedClient,
    request: &'a AdmissionRequest<'a>,
    garden: &'a dyn GardenObjects,
    now: Timestamp,
}

/// Judges a request of a client of a seed; requests about other resources are allowed. ADM-SRE-001 to -004.
///
/// # Errors
/// 403 if the object does not belong to the seed, 400 for an operation that the webhook does not know or a malformed
/// object, 500 if an object that decides does not exist.
pub fn validate(
    client: &SeedClient,
    request: &AdmissionRequest<'_>,
    garden: &dyn GardenObjects,
    now: Timestamp,
) -> Result<(), Rejection> {
    let restricted = Restricted { client, request, garden, now };
    match (request.resource.group.as_str(), request.resource.resource.as_str()) {
        (CORE, "backupbuckets") => restricted.backup_bucket(),
        (CORE, "backupentries") => restricted.backup_entry(),
        ("operations.gardener.cloud", "bastions") => restricted.bastion(),
        ("certificates.k8s.io", "certificatesigningrequests") => restricted.certificate_signing_request(),
        ("rbac.authorization.k8s.io", "clusterrolebindings") => restricted.cluster_role_binding(),
        (CORE, "internalsecrets") => restricted.internal_secret(),
        ("coordination.k8s.io", "leases") => restricted.lease(),
        ("", "secrets") => restricted.secret(),
        (CORE, "seeds") => restricted.seed(),
        ("", "serviceaccounts") => restricted.service_account(),
        (CORE, "shootstates") => restricted.shoot_state(),
        _ => Ok(()),
    }
}

impl Restricted<'_> {
    /// Allows what belongs to one of these seeds, if it is the client's.
    fn check_seed<'n>(&self, seeds: impl IntoIterator<Item = Option<&'n str>>) -> Result<(), Rejection> {
        if seeds.into_iter().flatten().any(|seed| seed == self.client.seed) {
            Ok(())
        } else {
            Err(self.foreign())
        }
    }

    fn foreign(&self) -> Rejection {
        forbidden(format!("object does not belong to seed {}", webhook::field::quote(&self.client.seed)))
    }

    /// Refuses every operation but CREATE.
    fn only_create(&self) -> Result<(), Rejection> {
        if self.request.operation == Operation::Create { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> Rejection {
        Rejection::errored(400, format!("unexpected operation: {:?}", self.request.operation.to_string()))
    }

    /// Refuses extensions; `what` they may not create.
    fn no_extension(&self, what: &str) -> Result<(), Rejection> {
        if self.client.is_extension() {
            return Err(forbidden(format!("extension client may not create {what}")));
        }
        Ok(())
    }

    fn object<K: DeserializeOwned>(&self) -> Result<K, Rejection> {
        typed(decode(self.request.object)?)
    }
}

/// Name of the Shoot that owns an object; empty if none does.
pub(crate) fn owning_shoot(metadata: &ObjectMeta) -> &str {
    let mut owners = metadata.owner_references.iter().flatten();
    owners.find(|owner| owner.kind == "Shoot").map_or("", |owner| owner.name.as_str())
}

/// 403 without a reason: the original answers with a bare error.
fn forbidden(text: impl Into<String>) -> Rejection {
    Rejection::errored(403, text)
}

/// 500: an object that decides about the request cannot be read.
fn unreadable(text: impl Into<String>) -> Rejection {
    Rejection::errored(500, text)
}
