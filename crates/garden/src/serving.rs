//! The webhooks by path; reads the facts that they need.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use kube::Client;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use webhook::answer::Answer;
use webhook::mutation::{self, decode};
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, Operation};
use webhook::service::{self, Limits, Route, Webhook, WebhookService};
use webhook::validation;

use crate::facts::{Facts, FactsError};
use crate::webhooks::{
    CLOUD_PROFILES, Mutate, Resource, SHOOTS, Validate, WITHOUT_FACTS, cloud_profile, shoot,
};

/// Returns the time of day.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Serves the webhooks; reads facts through the client.
#[must_use]
pub fn webhooks(client: Client, now: Clock) -> WebhookService {
    let garden = Garden { facts: Facts::new(client), now };
    let mut routes = routes_of(
        SHOOTS,
        Some(Arc::new(MutateShoot(garden.clone()))),
        Arc::new(ValidateShoot(garden.clone())),
    );
    routes.extend(routes_of(
        CLOUD_PROFILES,
        Some(Arc::new(MutateCloudProfile)),
        Arc::new(ValidateCloudProfile(garden)),
    ));
    for (resource, mutate, validate) in WITHOUT_FACTS {
        let resource = *resource;
        let mutate =
            mutate.map(|mutate| Arc::new(MutateWithoutFacts { resource, mutate }) as Arc<dyn Webhook>);
        let validate = Arc::new(ValidateWithoutFacts { resource, validate: *validate });
        routes.extend(routes_of(resource, mutate, validate));
    }
    service::service(routes, Limits::default())
}

/// The routes of a resource: that of the mutating webhook, if it has one, and that of the validating one.
fn routes_of(
    resource: Resource,
    mutating: Option<Arc<dyn Webhook>>,
    validating: Arc<dyn Webhook>,
) -> Vec<Route> {
    let route = |path: &str, webhook| Route { name: resource.name, path: path.to_owned(), webhook };
    let mutating = resource.mutating_path.zip(mutating).map(|(path, webhook)| route(path, webhook));
    mutating.into_iter().chain([route(resource.validating_path, validating)]).collect()
}

/// The inputs of the webhooks other than the request.
#[derive(Clone)]
struct Garden {
    facts: Facts,
    now: Clock,
}

struct MutateShoot(Garden);
struct ValidateShoot(Garden);
struct MutateCloudProfile;
struct ValidateCloudProfile(Garden);
struct MutateWithoutFacts {
    resource: Resource,
    mutate: Mutate,
}
struct ValidateWithoutFacts {
    resource: Resource,
    validate: Validate,
}

impl From<FactsError> for Rejection {
    /// If a fact cannot be read, the server failed (500), not the user.
    fn from(error: FactsError) -> Self {
        Self::errored(500, error.to_string())
    }
}

#[async_trait]
impl Webhook for MutateShoot {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let profile = match self.0.profile(request).await {
            Ok(profile) => profile,
            Err(rejection) => return rejection.into(),
        };
        let old = match old(request) {
            Ok(old) => old,
            Err(rejection) => return rejection.into(),
        };
        let seed = format!("{}/{}/{}", request.namespace, request.name, uid_if_unnamed(request));
        let now = (self.0.now)();
        mutation::answer(request, |object| {
            expect("Shoot", object)?;
            shoot::mutate(object, old.as_ref(), profile.as_ref(), now, |end| number_below(&seed, end))
        })
    }
}

#[async_trait]
impl Webhook for ValidateShoot {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let profile = match self.0.profile(request).await {
            Ok(profile) => profile,
            Err(rejection) => return rejection.into(),
        };
        let now = (self.0.now)();
        validation::answer(request, |old, new| {
            expect("Shoot", new)?;
            shoot::validate(old, new, profile.as_ref(), now)
        })
    }
}

#[async_trait]
impl Webhook for MutateCloudProfile {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        mutation::answer(request, |object| {
            expect("CloudProfile", object)?;
            cloud_profile::mutate(object)
        })
    }
}

#[async_trait]
impl Webhook for ValidateCloudProfile {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let shoots = match self.0.users(request).await {
            Ok(shoots) => shoots,
            Err(rejection) => return rejection.into(),
        };
        let now = (self.0.now)();
        validation::answer(request, |old, new| {
            expect("CloudProfile", new)?;
            cloud_profile::validate(old, new, &shoots, now)
        })
    }
}

#[async_trait]
impl Webhook for MutateWithoutFacts {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        let old = match old(request) {
            Ok(old) => old,
            Err(rejection) => return rejection.into(),
        };
        mutation::answer(request, |object| {
            expect_of(self.resource.api_version, self.resource.kind, object)?;
            (self.mutate)(old.as_ref(), object)
        })
    }
}

#[async_trait]
impl Webhook for ValidateWithoutFacts {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        validation::answer(request, |old, new| {
            expect_of(self.resource.api_version, self.resource.kind, new)?;
            (self.validate)(old, new)
        })
    }
}

impl Garden {
    /// The profile of the Shoot, if it is needed.
    async fn profile(
        &self,
        request: &AdmissionRequest<'_>,
    ) -> Result<Option<api::garden::CloudProfile>, Rejection> {
        if !matches!(request.operation, Operation::Create | Operation::Update) {
            return Ok(None);
        }
        let new = decode(request.object)?;
        expect("Shoot", &new)?;
        if !shoot::needs_profile(&new, old(request)?.as_ref())? {
            return Ok(None);
        }
        let name = webhook::object::text(&new, &["spec", "cloudProfileName"])?;
        Ok(self.facts.cloud_profile(name).await?)
    }

    /// The Shoots that use the profile, if the update removes something.
    async fn users(&self, request: &AdmissionRequest<'_>) -> Result<Vec<api::garden::Shoot>, Rejection> {
        let Some(old) = old(request)? else { return Ok(Vec::new()) };
        let new = decode(request.object)?;
        expect("CloudProfile", &new)?;
        if cloud_profile::removed(&old, &new)?.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.facts.shoots_of(&request.name).await?)
    }
}

/// The old object of an update.
fn old(request: &AdmissionRequest<'_>) -> Result<Option<Value>, Rejection> {
    match request.operation {
        Operation::Update => decode(request.old_object).map(Some),
        _ => Ok(None),
    }
}

/// Checks apiVersion and kind of an object of the group `core.gardener.cloud`.
fn expect(kind: &str, object: &Value) -> Result<(), Rejection> {
    expect_of(api::garden::API_VERSION, kind, object)
}

/// Checks apiVersion and kind of an object: GDN-SAN-001, GDN-SAN-002, GDN-BAS-005, GDN-BBU-005, GDN-BEN-003, GDN-CDP-004,
/// GDN-CIN-005, GDN-COP-006, GDN-CRG-008, GDN-EXC-005, GDN-INS-008, GDN-MSE-010, GDN-MSS-008, GDN-OIP-012, GDN-PJT-010,
/// GDN-QTA-007, GDN-SBI-006, GDN-SEE-004, GDN-STA-006.
fn expect_of(wanted: &str, kind: &str, object: &Value) -> Result<(), Rejection> {
    let found =
        (object["apiVersion"].as_str().unwrap_or_default(), object["kind"].as_str().unwrap_or_default());
    if found == (wanted, kind) {
        return Ok(());
    }
    let (version, found) = found;
    let message = format!("unable to decode {version}, Kind={found} into {wanted}, Kind={kind}");
    Err(Rejection::undecodable(message))
}

/// Distinguishes Shoots that have no name yet.
fn uid_if_unnamed(request: &AdmissionRequest<'_>) -> String {
    if request.name.is_empty() { request.uid.clone() } else { String::new() }
}

/// A number below `end`, derived from the seed.
pub(crate) fn number_below(seed: &str, end: u64) -> u64 {
    let digest = Sha256::digest(seed);
    let number = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    number.checked_rem(end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shoots_spread_over_the_hours_of_the_day_and_each_keeps_its_own() {
        let hours = |of: u64| {
            (0..of).map(|shoot| number_below(&format!("garden-dev/{shoot}/"), 23)).collect::<Vec<_>>()
        };
        assert_eq!(hours(1000), hours(1000));
        let all: std::collections::BTreeSet<u64> = hours(1000).into_iter().collect();
        assert_eq!(all, (0..23).collect());
        assert_eq!(number_below("", 0), 0);
    }
}
