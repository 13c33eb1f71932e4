//! Checks of Seeds: each keeps one condition of a Seed, by objects that belong to the Seed.

use std::sync::Arc;
use std::time::Duration;

use api::garden::Seed;
use api::garden::condition::Condition;
use controller::bucket::TokenBucket;
use controller::clock::Clock;
use controller::cluster::WatchedKind;
use controller::queue::RateLimiter;
use controller::store::Index;
use controller::{Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use jiff::{SignedDuration, Timestamp};
use kube::api::{Api, Patch, PatchParams};
use kube::{Client, Resource, ResourceExt as _};
use serde_json::json;

use super::conditions::{self, Finding, PROGRESSING, TRUE};
use super::{Context, period};
use crate::config::CheckConfiguration;

/// A check, and the objects that it reads.
pub(super) struct SeedCheck<K> {
    /// Name in log and metrics.
    pub(super) name: &'static str,
    /// Type of the condition.
    pub(super) condition: &'static str,
    /// The Seed that an object belongs to.
    pub(super) seed: fn(&K) -> Option<&str>,
    /// Whether a change of an object is a reason to check its Seed.
    pub(super) matters: fn(&Event<K>) -> bool,
    /// What the objects of a Seed say.
    pub(super) assess: fn(&[Arc<K>]) -> Finding,
}

/// The controller of a check.
pub(super) fn controller<K>(
    context: &Context,
    check: &SeedCheck<K>,
    config: &CheckConfiguration,
) -> Controller
where
    K: WatchedKind + Resource<DynamicType = ()>,
{
    let garden = &context.garden;
    let objects = garden.store::<K>(Selection::all());
    let SeedCheck { name, condition, seed, matters, assess } = *check;
    let changed = Watch::of(&objects)
        .filter(matters)
        .map_new(move |object| seed(object).map(|name| Request::new("", name)));
    let of_seed = objects.index(move |object| seed(object).map(str::to_owned).into_iter().collect());
    let period = period(config.sync_period);
    let reconciler = Reconciler {
        seeds: garden.store::<Seed>(Selection::all()),
        of_seed,
        condition,
        assess,
        threshold: threshold(config, condition),
        period,
        client: garden.client(),
        clock: context.clock,
    };
    Controller::new(name, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(super::timeout(period))
        .rate_limiter(limiter(period))
        .source(changed)
}

/// A failed check is tried again within the period.
fn limiter(period: Duration) -> RateLimiter<Request> {
    let limiter = RateLimiter::exponential(Duration::from_millis(5), period.min(Duration::from_secs(1000)));
    limiter.with_bucket(TokenBucket::new(10.0, 100))
}

/// How long a condition is Progressing; zero for not at all.
fn threshold(config: &CheckConfiguration, condition: &str) -> SignedDuration {
    let threshold = config.condition_thresholds.iter().find(|threshold| threshold.type_ == condition);
    threshold.map_or(SignedDuration::ZERO, |threshold| SignedDuration::from_nanos(threshold.duration.nanos()))
}

struct Reconciler<K> {
    seeds: Store<Seed>,
    of_seed: Index<K>,
    condition: &'static str,
    assess: fn(&[Arc<K>]) -> Finding,
    threshold: SignedDuration,
    period: Duration,
    client: Client,
    clock: Clock,
}

/// A Seed, and what its objects say.
struct State {
    seed: Arc<Seed>,
    finding: Finding,
}

/// What to do with a Seed.
enum Action {
    /// Write all conditions.
    Write(Vec<Condition>),
}

impl<K: WatchedKind + Resource<DynamicType = ()>> Reconcile for Reconciler<K> {
    type Error = kube::Error;

    async fn reconcile(&self, request: Request) -> Result<Outcome, kube::Error> {
        let Some(state) = self.observe(&request) else { return Ok(Outcome::Done) };
        for action in self.plan(&state, self.clock.now()) {
            self.execute(&state, action).await?;
        }
        Ok(Outcome::RequeueAfter(self.period))
    }
}

impl<K: WatchedKind + Resource<DynamicType = ()>> Reconciler<K> {
    fn observe(&self, request: &Request) -> Option<State> {
        let seed = self.seeds.get("", &request.name)?;
        let finding = (self.assess)(&self.of_seed.get(&request.name));
        Some(State { seed, finding })
    }

    /// GCM-SBB-007, GCM-SEX-007.
    fn plan(&self, state: &State, now: Timestamp) -> Vec<Action> {
        let known = &state.seed.status.conditions;
        let old = conditions::find_or_init(known, self.condition, now);
        let finding = patient(&old, &state.finding, self.threshold, now);
        let all = conditions::merged(known, [conditions::updated(&old, &finding, now)]);
        if all == *known { Vec::new() } else { vec![Action::Write(all)] }
    }

    async fn execute(&self, state: &State, action: Action) -> Result<(), kube::Error> {
        let Action::Write(conditions) = action;
        write_conditions(&self.client, &state.seed, &conditions).await
    }
}

/// A condition that is no longer true is Progressing until the threshold has passed. GCM-SBB-004, GCM-SEX-005.
fn patient(old: &Condition, finding: &Finding, threshold: SignedDuration, now: Timestamp) -> Finding {
    let since = old.last_transition_time.as_ref().map_or(now, |time| time.0);
    let waits = match &*old.status {
        _ if finding.status == TRUE || threshold.is_zero() => false,
        TRUE => true,
        PROGRESSING => now.duration_since(since) <= threshold,
        _ => false,
    };
    let status = if waits { PROGRESSING } else { finding.status };
    Finding { status, ..finding.clone() }
}

/// Writes all conditions of a Seed; fails if it has changed in the meantime.
pub(super) async fn write_conditions(
    client: &Client,
    seed: &Seed,
    conditions: &[Condition],
) -> Result<(), kube::Error> {
    let patch = json!({
        "metadata": {"resourceVersion": seed.metadata.resource_version},
        "status": {"conditions": conditions},
    });
    let seeds: Api<Seed> = Api::all(client.clone());
    seeds.patch_status(&seed.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
}
