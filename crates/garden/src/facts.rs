//! What webhooks must know of the garden. It is read on each request: Shoots and CloudProfiles seldom change, and the
//! webhooks must see the latest writes.

use api::garden::{CloudProfile, Shoot};
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt as _};

/// Shoots per list request.
const PAGE: u32 = 250;

/// Reads the garden.
#[derive(Clone)]
pub struct Facts {
    client: Client,
}

/// Why a fact cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FactsError {
    /// A CloudProfile could not be read, so it is unknown whether it exists.
    #[error("failed to read cloud profile {name:?}: {}", controller::describe_error(source.as_ref()))]
    CloudProfile {
        /// Its name.
        name: String,
        /// The client's error.
        source: Box<kube::Error>,
    },
    /// Shoots could not be listed.
    #[error(
        "could not list shoots to verify that Kubernetes and/or Machine image version can be removed: {}",
        controller::describe_error(.0.as_ref())
    )]
    Shoots(#[source] Box<kube::Error>),
}

impl Facts {
    /// Reads facts through a client.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// The CloudProfile of this name; `None` if there is none.
    ///
    /// # Errors
    /// When the request fails.
    pub async fn cloud_profile(&self, name: &str) -> Result<Option<CloudProfile>, FactsError> {
        if name.is_empty() {
            return Ok(None);
        }
        let profiles: Api<CloudProfile> = Api::all(self.client.clone());
        let found = profiles.get_opt(name).await;
        found.map_err(|source| FactsError::CloudProfile { name: name.to_owned(), source: Box::new(source) })
    }

    /// The Shoots that use a CloudProfile and are not being deleted, by namespace and name.
    ///
    /// # Errors
    /// When the request fails.
    pub async fn shoots_of(&self, profile: &str) -> Result<Vec<Shoot>, FactsError> {
        let shoots: Api<Shoot> = Api::all(self.client.clone());
        let mut found = Vec::new();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let list = shoots.list(&page).await.map_err(|source| FactsError::Shoots(Box::new(source)))?;
            let uses = |shoot: &Shoot| {
                shoot.spec.cloud_profile_name == profile && shoot.metadata.deletion_timestamp.is_none()
            };
            found.extend(list.items.into_iter().filter(uses));
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => break,
            }
        }
        found.sort_by_key(|shoot| (shoot.namespace(), shoot.name_any()));
        Ok(found)
    }
}
