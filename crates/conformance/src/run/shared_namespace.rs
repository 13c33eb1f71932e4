//! Namespaces that cases share: those in a whole cluster, where creating one is expensive and cases write nothing but an equal
//! namespace; and those of control planes on `direct`, where cases only read equal objects.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::case::Case;
use serde_json::Value;
use substrate::cluster::{Cluster, ClusterError};
use substrate::facts::{self, Before};
use tokio::sync::OnceCell;

use super::PartState;
use super::group::StartedGroup;
use super::prepare::{CASES, describe, write_patiently};
use crate::digest;
use crate::place::{self, Isolation, PlacedCase};
use crate::plan::LocatedCase;

/// Number of digits of a digest.
const DIGITS: usize = 16;

/// The namespaces that exist, by name, each with the objects that were written into it.
#[derive(Default)]
pub(crate) struct SharedNamespaces(Mutex<BTreeMap<String, Arc<SharedNamespace>>>);

/// A namespace that cases share.
#[derive(Default)]
struct SharedNamespace {
    /// Whether everything is written.
    ready: OnceCell<()>,
    /// What was written so far.
    written: Mutex<Vec<Value>>,
}

/// The name of the namespace that a case on `direct` shares: one with all objects that the case reads.
pub(super) fn name_on_direct(context: &StartedGroup<'_>, located: LocatedCase<'_>) -> Option<String> {
    let case = located.case;
    let shares = context.facts.is_some()
        && !context.group.alone
        && case.given.surroundings.is_some()
        && place::isolation(case, false) == Isolation::Shared;
    shares.then(|| {
        let placed = place::assign_namespace(case, "");
        let facts = placed.given.cluster.iter().map(Value::to_string);
        let texts: Vec<String> = std::iter::once(namespace_text(&placed)).chain(facts).collect();
        format!("{}{}", prefix(context.shared), short_digest(&texts.join("\n")))
    })
}

/// The name of the namespace that a case in a whole cluster shares, if it shares one.
pub(super) fn name(shared: &PartState<'_>, case: &Case) -> Option<String> {
    namespace_digest(case).map(|digest| format!("{}{digest}", prefix(shared)))
}

/// The digest of a case's namespace, if it writes nothing else.
fn namespace_digest(case: &Case) -> Option<String> {
    let placed = place::writes_no_objects(case).then(|| place::assign_namespace(case, ""))?;
    Some(short_digest(&namespace_text(&placed)))
}

/// The namespace with its surroundings.
fn namespace_text(placed: &PlacedCase) -> String {
    let namespace = placed.given.namespace.clone().unwrap_or_default().to_string();
    let surroundings = placed.surroundings().map(|object| object.to_string());
    std::iter::once(namespace).chain(surroundings).collect::<Vec<_>>().join("\n")
}

fn short_digest(text: &str) -> String {
    let mut digest = digest::digest(text);
    digest.truncate(DIGITS);
    digest
}

/// Whether this is the name of a shared namespace of the run.
pub(super) fn is_shared(shared: &PartState<'_>, name: &str) -> bool {
    name.starts_with(&prefix(shared))
}

fn prefix(shared: &PartState<'_>) -> String {
    format!("{CASES}{:04x}-{}-common-", shared.options.seed & 0xffff, shared.state.number)
}

impl SharedNamespaces {
    /// Creates the namespace of a case with its surroundings and the case's facts, unless it exists; `with_account`: and the
    /// account that a controller would create. A fact that a webhook refuses is written again for `settle`.
    pub(super) async fn ensure(
        &self,
        cluster: &Cluster,
        placed: &PlacedCase,
        (with_account, settle): (bool, Duration),
    ) -> Result<(), ClusterError> {
        let name = &placed.namespace;
        let shared = self.of(name);
        let create = async || {
            facts::write_namespace(cluster, name, placed.given.namespace.as_ref()).await?;
            if with_account {
                facts::write_account(cluster, name).await?;
            }
            for object in placed.facts() {
                shared.written.lock().unwrap_or_else(PoisonError::into_inner).push(object.clone());
                // An earlier attempt may have failed after some objects.
                write_patiently(cluster, &object, settle, async || facts::write_anew(cluster, &object).await)
                    .await?;
            }
            Ok(())
        };
        shared.ready.get_or_try_init(create).await.copied()
    }

    fn of(&self, name: &str) -> Arc<SharedNamespace> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(name.to_owned()).or_default())
    }

    /// Removes all, and returns those that could not be removed.
    pub(super) async fn remove_all(&self, cluster: &Cluster) -> Vec<String> {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let mut left = Vec::new();
        for (name, shared) in &all {
            let written = std::mem::take(&mut *shared.written.lock().unwrap_or_else(PoisonError::into_inner));
            for object in written.iter().rev() {
                if let Err(error) = facts::remove(cluster, object).await {
                    left.push(format!("{}: {error}", describe(object)));
                }
            }
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
