//! Kinds that the target cluster serves: repeats discovery of a group version until it contains the kind.

use std::collections::BTreeMap;

use kube::Client;
use parking_lot::Mutex;
use webhook::field::quote;

use super::CheckError;
use crate::controllers::served::{self, ServedKind};

/// The discovered kinds of a cluster.
pub(crate) struct ServedKinds {
    client: Client,
    /// Kinds by name, by group version.
    by_group_version: Mutex<BTreeMap<String, BTreeMap<String, ServedKind>>>,
}

impl ServedKinds {
    /// Sends no request yet.
    pub(crate) fn new(client: Client) -> Self {
        Self { client, by_group_version: Mutex::default() }
    }

    /// GRM-HLT-006: finds a served kind; if it is not served, returns an error in the original's words.
    pub(crate) async fn find(
        &self,
        api_version: &str,
        kind: &str,
    ) -> Result<Result<ServedKind, String>, CheckError> {
        if let Some(served) = self.discovered(api_version, kind) {
            return Ok(Ok(served));
        }
        match served::kinds(&self.client, api_version).await {
            Ok(kinds) => drop(self.by_group_version.lock().insert(api_version.to_owned(), kinds)),
            Err(error) if is_absent(&error) => {}
            Err(source) => {
                return Err(CheckError::Discover { kind: format!("{api_version} {kind}"), source });
            }
        }
        let absent = || format!("no matches for kind {} in version {}", quote(kind), quote(api_version));
        Ok(self.discovered(api_version, kind).ok_or_else(absent))
    }

    fn discovered(&self, api_version: &str, kind: &str) -> Option<ServedKind> {
        self.by_group_version.lock().get(api_version)?.get(kind).cloned()
    }
}

/// Whether no object of the group version can exist. As in the original, also while its API server is unavailable.
fn is_absent(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if matches!(status.code, 404 | 503))
}
