//! Which kinds the target cluster serves, and how they are asked for.

use std::collections::BTreeMap;

use kube::Client;
use kube::api::{ApiResource, GroupVersionKind};
use kube::discovery::{Scope, pinned_kind};
use kube::error::DiscoveryError;
use parking_lot::Mutex;
use webhook::field::quote;

use super::LookError;

/// A kind that is served.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    pub(crate) resource: ApiResource,
    pub(crate) is_namespaced: bool,
}

impl Served {
    /// The namespace of an object that is referred to with this one.
    pub(crate) fn namespace<'a>(&self, namespace: &'a str) -> &'a str {
        if self.is_namespaced { namespace } else { "" }
    }
}

/// Asks for a kind until it is served.
pub(crate) struct Serves {
    client: Client,
    known: Mutex<BTreeMap<(String, String), Served>>,
}

impl Serves {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, known: Mutex::default() }
    }

    /// GRM-HLT-006: how a kind is asked for; an error in the original's words where it is not served.
    pub(crate) async fn find(
        &self,
        api_version: &str,
        kind: &str,
    ) -> Result<Result<Served, String>, LookError> {
        let key = (api_version.to_owned(), kind.to_owned());
        if let Some(served) = self.known.lock().get(&key) {
            return Ok(Ok(served.clone()));
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        match pinned_kind(&self.client, &GroupVersionKind::gvk(group, version, kind)).await {
            Ok((resource, capabilities)) => {
                let served = Served { resource, is_namespaced: capabilities.scope == Scope::Namespaced };
                self.known.lock().insert(key, served.clone());
                Ok(Ok(served))
            }
            Err(error) if is_absent(&error) => {
                Ok(Err(format!("no matches for kind {} in version {}", quote(kind), quote(api_version))))
            }
            Err(source) => Err(LookError::Discover { kind: format!("{api_version} {kind}"), source }),
        }
    }
}

/// Whether nothing of the kind can be there: also while what serves its group is away, as the original sees it.
fn is_absent(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => matches!(status.code, 404 | 503),
        kube::Error::Discovery(DiscoveryError::MissingKind(_)) => true,
        _ => false,
    }
}
