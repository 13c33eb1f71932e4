//! Namespaces that cases share in a whole cluster, where creating one is expensive: cases that write nothing but an equal
//! namespace share it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use contract::case::Case;
use serde_json::Value;
use substrate::cluster::{Cluster, ClusterError};
use substrate::facts::{self, Before};
use tokio::sync::OnceCell;

use super::PartState;
use super::prepare::CASES;
use crate::{digest, place};

/// Number of digits of a digest.
const DIGITS: usize = 16;

/// The namespaces that exist, by name.
#[derive(Default)]
pub(crate) struct SharedNamespaces(Mutex<BTreeMap<String, Arc<OnceCell<()>>>>);

/// The name of a case's shared namespace, if it shares one.
pub(super) fn name(shared: &PartState<'_>, case: &Case) -> Option<String> {
    namespace_digest(case).map(|digest| format!("{}{digest}", prefix(shared)))
}

/// The digest of a case's namespace, if it writes nothing else.
fn namespace_digest(case: &Case) -> Option<String> {
    let namespace =
        place::writes_no_objects(case).then(|| place::assign_namespace(case, "").given.namespace)?;
    let mut digest = digest::digest(&namespace.unwrap_or_default().to_string());
    digest.truncate(DIGITS);
    Some(digest)
}

/// Whether this is the name of a shared namespace of the run.
pub(super) fn is_shared(shared: &PartState<'_>, name: &str) -> bool {
    name.starts_with(&prefix(shared))
}

fn prefix(shared: &PartState<'_>) -> String {
    format!("{CASES}{:04x}-{}-common-", shared.options.seed & 0xffff, shared.state.number)
}

impl SharedNamespaces {
    /// Creates a namespace unless it exists.
    pub(super) async fn ensure(
        &self,
        cluster: &Cluster,
        name: &str,
        object: Option<&Value>,
    ) -> Result<(), ClusterError> {
        let create = async || {
            facts::write_namespace(cluster, name, object).await?;
            facts::write_account(cluster, name).await
        };
        self.of(name).get_or_try_init(create).await.copied()
    }

    fn of(&self, name: &str) -> Arc<OnceCell<()>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(name.to_owned()).or_default())
    }

    /// Removes all, and returns those that could not be removed.
    pub(super) async fn remove_all(&self, cluster: &Cluster) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_share_a_namespace_if_it_is_equal_and_they_write_nothing_else() {
        let contracts = contracts::all().unwrap();
        let cases = contracts.iter().flat_map(|contract| &contract.clauses).flat_map(|clause| &clause.cases);
        let mut by_digest: BTreeMap<String, Value> = BTreeMap::new();
        let (mut sharing, mut alone) = (0, 0);
        for case in cases {
            let Some(digest) = namespace_digest(case) else {
                alone += 1;
                continue;
            };
            sharing += 1;
            assert!(!place::has_old(case) && case.given.cluster.is_empty(), "{}", case.name);
            let namespace = place::assign_namespace(case, "").given.namespace.unwrap_or_default();
            let first = by_digest.entry(digest).or_insert_with(|| namespace.clone());
            assert_eq!(*first, namespace, "{}", case.name);
        }
        assert!(sharing > 1000 && alone > 1000, "{sharing} {alone}");
        let distinct: std::collections::BTreeSet<String> = by_digest.values().map(Value::to_string).collect();
        assert_eq!(distinct.len(), by_digest.len());
        assert!(by_digest.len() * 10 < sharing, "{} of {sharing}", by_digest.len());
    }
}
