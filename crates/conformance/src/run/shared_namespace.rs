//! Namespaces of cases for which nothing else is written, where a whole cluster has work with each: those that say the same of
//! theirs share one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use contract::case::Case;
use serde_json::Value;
use substrate::cluster::{Cluster, ClusterError};
use substrate::facts::{self, Before};
use tokio::sync::OnceCell;

use super::Shared;
use super::prepare::CASES;
use crate::{digest, place};

/// Those that are there, by name.
#[derive(Default)]
pub(crate) struct SharedNamespaces(Mutex<BTreeMap<String, Arc<OnceCell<()>>>>);

/// The name of the one that a case shares, if it shares one.
pub(super) fn name(shared: &Shared<'_>, case: &Case) -> Option<String> {
    let said = place::writes_no_objects(case).then(|| place::place(case, "").given.namespace)?;
    let said = digest::digest(&said.unwrap_or_default().to_string());
    Some(format!("{}{}", prefix(shared), &said[..8]))
}

/// Whether cases of the run share the namespace of this name.
pub(super) fn is_one(shared: &Shared<'_>, name: &str) -> bool {
    name.starts_with(&prefix(shared))
}

fn prefix(shared: &Shared<'_>) -> String {
    format!("{CASES}{:04x}-{}-common-", shared.options.seed & 0xffff, shared.run)
}

impl SharedNamespaces {
    /// Makes one as a case says it, the first time.
    pub(super) async fn stand(
        &self,
        cluster: &Cluster,
        name: &str,
        said: Option<&Value>,
    ) -> Result<(), ClusterError> {
        let make = async || {
            facts::write_namespace(cluster, name, said).await?;
            facts::write_account(cluster, name).await
        };
        self.of(name).get_or_try_init(make).await.copied()
    }

    fn of(&self, name: &str) -> Arc<OnceCell<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(name.to_owned()).or_default())
    }

    /// Removes all, and says which it could not.
    pub(super) async fn take_back(&self, cluster: &Cluster) -> Vec<String> {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut left = Vec::new();
        for name in all.keys() {
            if let Err(error) = facts::restore_namespace(cluster, name, &Before::Nothing, false).await {
                left.push(format!("Namespace {name}: {error}"));
            }
        }
        left
    }
}
