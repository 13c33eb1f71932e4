//! Keeps the number of ManagedSeeds and Shoots of ManagedSeedSets
//! (contracts/controller-manager/controllers/managed-seed-set).
//!
//! A replica is a Shoot with the ManagedSeed and the Seed of its name. One pass does at most one thing to one replica,
//! which is pending until that has come to its end.

mod create;
mod missed;
mod plan;
mod replica;
mod steps;
mod triggers;

use std::time::Duration;

use api::garden::managed_seed_set::ManagedSeedSetStatus;
use api::garden::{ManagedSeed, ManagedSeedSet, Seed, Shoot};
use controller::clock::Clock;
use controller::events::{EventType, Recorder, recorder};
use controller::{
    Controller, Outcome, Reconcile, Request, Selection, Store, Watch, describe_error, owners, predicate,
};
use formats::selector::LabelSelector;
use kube::Client;
use serde_json::json;

use self::create::TemplateError;
use self::plan::{NoDeletableReplicasError, Pass};
use self::replica::Replica;
use super::{Context, finalizer, period};

/// Name in log and metrics.
pub const NAME: &str = "managedseedset";

/// Why a ManagedSeedSet could not be processed.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// The finalizer could not be added.
    #[error("could not add finalizer")]
    Add(#[source] kube::Error),
    /// The finalizer could not be removed.
    #[error("failed to remove finalizer")]
    Remove(#[source] kube::Error),
    /// The selector is invalid.
    #[error("invalid selector: {0}")]
    Selector(String),
    /// Shoots could not be listed.
    #[error("failed to list Shoots")]
    List(#[source] kube::Error),
    /// The store lags behind the server.
    #[error("cross-checking number of shoots failed")]
    Stale,
    /// Every replica is in use or protected.
    #[error(transparent)]
    NoDeletableReplicas(#[from] NoDeletableReplicasError),
    /// The template makes no ManagedSeed.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A replica could not be written.
    #[error("failed to write replica {0:?}")]
    Replica(String, #[source] kube::Error),
    /// The status could not be written.
    #[error("failed to write the status of the ManagedSeedSet")]
    Status(#[source] kube::Error),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let config = &context.config.controllers.managed_seed_set;
    let component = format!("{NAME}-controller");
    let (recorder, writer) = recorder(garden.client(), &component, context.clock, context.entropy.clone());
    let sets = garden.store::<ManagedSeedSet>(Selection::all());
    let shoots = garden.store::<Shoot>(Selection::all());
    let managed_seeds = garden.store::<ManagedSeed>(Selection::all());
    let seeds = garden.store::<Seed>(Selection::all());
    let changed = Watch::of(&sets).filter(predicate::generation_changed);
    let of_shoots =
        Watch::of(&shoots).filter(triggers::shoot(&sets)).map_new(owners::<ManagedSeedSet, Shoot>(&(), true));
    let of_managed_seeds =
        Watch::of(&managed_seeds)
            .filter(triggers::managed_seed(&sets))
            .map_new(owners::<ManagedSeedSet, ManagedSeed>(&(), true));
    let of_seeds =
        Watch::of(&seeds).filter(triggers::seed).map_new(triggers::set_of_seed(&managed_seeds, &sets));
    let retries = config.max_shoot_retries.unwrap_or_default();
    let reconciler = Reconciler {
        sets,
        shoots,
        managed_seeds,
        seeds,
        max_retries: i32::try_from(retries).unwrap_or(i32::MAX),
        period: period(config.sync_period),
        client: garden.client(),
        recorder,
        clock: context.clock,
    };
    let timeout = super::timeout(reconciler.period);
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(timeout)
        .source(changed)
        .source(of_shoots)
        .source(of_managed_seeds)
        .source(of_seeds)
        .source(writer)
}

/// What a pass has done.
struct Work {
    /// The status to write.
    status: ManagedSeedSetStatus,
    /// The replicas as they were.
    replicas: Vec<Replica>,
    /// Whether there is nothing left to do.
    result: Result<bool, SetError>,
}

struct Reconciler {
    sets: Store<ManagedSeedSet>,
    shoots: Store<Shoot>,
    managed_seeds: Store<ManagedSeed>,
    seeds: Store<Seed>,
    max_retries: i32,
    period: Duration,
    client: Client,
    recorder: Recorder,
    clock: Clock,
}

impl Reconcile for Reconciler {
    type Error = SetError;

    /// GCM-MSS-001 to -006.
    async fn reconcile(&self, request: Request) -> Result<Outcome, SetError> {
        let Some(set) = self.sets.get(&request.namespace, &request.name) else {
            return Ok(Outcome::Done); // guard: the set is gone
        };
        let is_deleted = set.metadata.deletion_timestamp.is_some();
        let is_protected = finalizer::is_present(&*set);
        if is_deleted && !is_protected {
            return Ok(Outcome::Done); // guard: nothing more to do
        }
        if !is_protected {
            self.protect(&set).await?; // step 1
        }
        let work = Box::pin(self.work(&set)).await; // step 2
        if let Err(error) = &work.result {
            let reason = describe_error(error);
            self.recorder.event(&*set, EventType::Warning, "ReconcileError", &reason);
        }
        if is_deleted && matches!(work.result, Ok(true)) {
            self.release(&set).await?; // step 3: all replicas are gone
            return Ok(Outcome::Done);
        }
        let written = Box::pin(self.write_status(&set, &work.status)).await; // step 3
        let has_missed_end = self.has_missed_end(&set, &work);
        work.result?;
        if written? && has_missed_end {
            return Ok(Outcome::Requeue);
        }
        Ok(Outcome::RequeueAfter(self.period))
    }
}

impl Reconciler {
    /// Works on at most one replica.
    async fn work(&self, set: &ManagedSeedSet) -> Work {
        let mut status = set.status.clone();
        status.observed_generation = set.metadata.generation;
        let replicas = match self.replicas(set).await {
            Ok(replicas) => replicas,
            Err(error) => return Work { status, replicas: Vec::new(), result: Err(error) },
        };
        let plan = Pass::of(set, status, &replicas, self.max_retries, self.clock.now());
        if let Some((reason, message)) = &plan.event {
            tracing::info!("{message}");
            self.recorder.event(set, EventType::Normal, reason, message);
        }
        if let Some(operation) = &plan.operation
            && let Err(error) = Box::pin(self.execute(set, operation)).await
        {
            return Work { status: plan.before, replicas, result: Err(error) };
        }
        Work { status: plan.after, replicas, result: plan.result.map_err(SetError::from) }
    }

    /// The replicas of a set, by ascending ordinals. The store must have all Shoots that the server has.
    async fn replicas(&self, set: &ManagedSeedSet) -> Result<Vec<Replica>, SetError> {
        let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
        let selector: LabelSelector = serde_json::from_value(json!(set.spec.selector))
            .map_err(|error| SetError::Selector(error.to_string()))?;
        if let Some(violation) = selector.validate().into_iter().next() {
            return Err(SetError::Selector(format!("{}: {}", violation.field, violation.message)));
        }
        let mut replicas = replica::all(
            &selector,
            self.shoots.list_in(namespace),
            &self.managed_seeds.list_in(namespace),
            &self.seeds.list(),
        );
        if self.count_shoots(namespace, &selector).await? != replicas.len() {
            return Err(SetError::Stale);
        }
        for replica in &mut replicas {
            replica.has_scheduled_shoots = self.has_scheduled_shoots(replica.seed.as_deref()).await?;
        }
        Ok(replicas)
    }
}
