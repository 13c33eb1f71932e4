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

/// Digits that tell apart what is said of namespaces.
const SAID: usize = 16;

/// Those that are there, by name.
#[derive(Default)]
pub(crate) struct SharedNamespaces(Mutex<BTreeMap<String, Arc<OnceCell<()>>>>);

/// The name of the one that a case shares, if it shares one.
pub(super) fn name(shared: &Shared<'_>, case: &Case) -> Option<String> {
    said(case).map(|said| format!("{}{said}", prefix(shared)))
}

/// What a case says of its namespace, in short, if it writes nothing else.
fn said(case: &Case) -> Option<String> {
    let said = place::writes_no_objects(case).then(|| place::place(case, "").given.namespace)?;
    let mut said = digest::digest(&said.unwrap_or_default().to_string());
    said.truncate(SAID);
    Some(said)
}

/// Whether cases of the run share the namespace of this name.
pub(super) fn is_one(shared: &Shared<'_>, name: &str) -> bool {
    name.starts_with(&prefix(shared))
}

fn prefix(shared: &Shared<'_>) -> String {
    format!("{CASES}{:04x}-{}-common-", shared.options.seed & 0xffff, shared.state.number)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_share_where_they_say_the_same_of_their_namespace_and_write_nothing_else() {
        let contracts = contracts::all().unwrap();
        let cases = contracts.iter().flat_map(|contract| &contract.clauses).flat_map(|clause| &clause.cases);
        let mut by_said: BTreeMap<String, Value> = BTreeMap::new();
        let (mut sharing, mut alone) = (0, 0);
        for case in cases {
            let Some(said) = said(case) else {
                alone += 1;
                continue;
            };
            sharing += 1;
            assert!(!place::has_old(case) && case.given.cluster.is_empty(), "{}", case.name);
            let namespace = place::place(case, "").given.namespace.unwrap_or_default();
            let met = by_said.entry(said).or_insert_with(|| namespace.clone());
            assert_eq!(*met, namespace, "{}", case.name);
        }
        assert!(sharing > 1000 && alone > 1000, "{sharing} {alone}");
        let distinct: std::collections::BTreeSet<String> = by_said.values().map(Value::to_string).collect();
        assert_eq!(distinct.len(), by_said.len());
        assert!(by_said.len() * 10 < sharing, "{} of {sharing}", by_said.len());
    }
}
