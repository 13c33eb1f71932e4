//! Runs a scenario without judging it: returns the objects in the clusters after each step, once they no longer change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use contract::scenario::{Action, ObjectRef, Scenario, Side};
use serde_json::{Value, json};
use substrate::embedded::Embedded;
use tokio::time::{Instant, sleep};

use super::clusters::{Clusters, TARGET_USER, head};
use super::environment::ScenarioEnvironment;
use super::listing;
use super::requests::{self, LogPosition};
use super::steps::ScenarioEnd;
use super::thread::{ThreadOptions, run_in_thread};
use crate::run::Interrupt;
use crate::target::{Running, Setup, Target};

/// Pause between two checks for changes.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How long nothing must change before a step is done: of virtual time, and of real time.
const QUIET: Duration = Duration::from_secs(3);
const REAL_QUIET: Duration = Duration::from_millis(1_200);
/// How long to wait for objects that report work in progress.
const PATIENCE: Duration = Duration::from_secs(30);
const REAL_PATIENCE: Duration = Duration::from_secs(12);

/// A scenario whose expectations are ignored.
#[derive(Clone)]
pub(crate) struct UnjudgedScenario {
    /// Its id in error messages.
    pub(crate) id: String,
    pub(crate) component: String,
    pub(crate) instance: String,
    pub(crate) config: Value,
    pub(crate) scenario: Scenario,
    pub(crate) stability: StabilityRules,
}

/// Decides whether the clusters are stable after a step.
#[derive(Clone, Copy)]
pub(crate) struct StabilityRules {
    /// Removes fields that may change for ever, such as times.
    pub(crate) normalize: fn(&mut Value),
    /// Whether an object reports work in progress.
    pub(crate) is_in_progress: fn(&Value) -> bool,
}

/// The objects in clusters, by cluster, kind and `<namespace>/<name>`.
pub(crate) type ObjectStates = BTreeMap<(Side, String, String), Value>;

/// Runs a scenario; returns the objects after the start of the target and after each step.
pub(crate) fn run_unjudged(
    target: &Arc<dyn Target>,
    unjudged: &UnjudgedScenario,
    interrupt: &Interrupt,
) -> Result<Vec<ObjectStates>, ScenarioEnd> {
    let outside = target.is_outside();
    let patience = if outside { REAL_PATIENCE } else { Duration::ZERO };
    let steps = u32::try_from(unjudged.scenario.steps.len() + 1).unwrap_or(u32::MAX);
    let environment = ScenarioEnvironment {
        real: None,
        aggregated: None,
        needs: target.needs().clone(),
        outside,
        waits: patience.saturating_mul(steps),
        deviation: None,
    };
    let clock = ThreadOptions { real_time: outside, waits: environment.waits, is_failed: &|| false };
    let (target, unjudged) = (Arc::clone(target), unjudged.clone());
    let id = unjudged.id.clone();
    run_in_thread(interrupt, &id, &clock, |abort| async move {
        tokio::select! {
            states = run_steps(target.as_ref(), &unjudged, &environment) => states.map(Some),
            () = abort.notified() => Ok(None),
        }
    })
}

async fn run_steps(
    target: &dyn Target,
    unjudged: &UnjudgedScenario,
    environment: &ScenarioEnvironment,
) -> Result<Vec<ObjectStates>, ScenarioEnd> {
    let clusters = Clusters::start(&unjudged.scenario, environment, false).await?;
    clusters.write(&unjudged.scenario.given).await?;
    let mut watched = ClusterWatch {
        clusters: &clusters,
        begin: requests::current_position(&clusters),
        kinds: listing::named_kinds(&unjudged.scenario),
        identities: BTreeMap::new(),
        stability: unjudged.stability,
        outside: environment.outside,
    };
    let for_target = clusters.for_target(TARGET_USER, None);
    let setup = Setup {
        component: &unjudged.component,
        now: None,
        config: &unjudged.config,
        instance: &unjudged.instance,
        controller: None,
        facts: Some(for_target.source.clone()),
        clusters: Some(for_target),
    };
    let running = target.start(setup).await.map_err(|error| ScenarioEnd::Environment(error.to_string()))?;
    let states = watched.steps(&unjudged.scenario).await;
    let last_output = if states.is_err() { running.last_output() } else { String::new() };
    Running::stop(running).await;
    states.map_err(|ended| match ended {
        ScenarioEnd::Environment(reason) if !last_output.is_empty() => {
            ScenarioEnd::Environment(format!("{reason}; the target's last output:\n{last_output}"))
        }
        ended => ended,
    })
}

/// Clusters that are being observed.
struct ClusterWatch<'a> {
    clusters: &'a Clusters,
    /// Position in the servers' logs when the target was started.
    begin: LogPosition,
    kinds: BTreeSet<(Side, String, String)>,
    /// The uids of each object, in the order in which they were seen.
    identities: BTreeMap<(Side, String, String), Vec<String>>,
    stability: StabilityRules,
    outside: bool,
}

impl ClusterWatch<'_> {
    async fn steps(&mut self, scenario: &Scenario) -> Result<Vec<ObjectStates>, ScenarioEnd> {
        let mut states = vec![self.wait_until_stable().await?];
        for step in &scenario.steps {
            for action in &step.actions {
                perform(self.clusters, action).await?;
            }
            states.push(self.wait_until_stable().await?);
        }
        Ok(states)
    }

    /// Waits until no object has changed for a while and none is in progress, or until the timeout; returns the objects.
    async fn wait_until_stable(&mut self) -> Result<ObjectStates, ScenarioEnd> {
        let (quiet, patience) = if self.outside { (REAL_QUIET, REAL_PATIENCE) } else { (QUIET, PATIENCE) };
        let deadline = Instant::now() + patience;
        let mut since = Instant::now();
        let mut revisions = self.revisions();
        let mut states = self.list_objects().await?;
        loop {
            sleep(POLL_INTERVAL).await;
            let now = self.revisions();
            if now != revisions {
                revisions = now;
                let new = self.list_objects().await?;
                if new != states {
                    (states, since) = (new, Instant::now());
                }
            }
            let is_in_progress = states.values().any(self.stability.is_in_progress);
            if Instant::now() >= since + quiet && (!is_in_progress || Instant::now() >= deadline) {
                return Ok(states);
            }
            if Instant::now() >= deadline + patience {
                let text = "the objects in the clusters do not stop changing".to_owned();
                return Err(ScenarioEnd::Environment(text));
            }
        }
    }

    fn revisions(&self) -> Vec<Option<u64>> {
        self.clusters.servers().map(Embedded::revision).collect()
    }

    /// All objects of the kinds that the scenario names or the target wrote.
    async fn list_objects(&mut self) -> Result<ObjectStates, ScenarioEnd> {
        for write in requests::writes_since(self.clusters, &self.begin) {
            let side = if write.server == 0 { Side::Source } else { Side::Target };
            self.kinds.insert((side, write.object.api_version, write.object.kind));
        }
        let mut states = ObjectStates::new();
        for (side, api_version, kind) in self.kinds.clone() {
            for mut object in listing::list(self.clusters, side, &api_version, &kind).await? {
                // The items of a list have no apiVersion and kind.
                (object["apiVersion"], object["kind"]) = (json!(api_version), json!(kind));
                let metadata =
                    |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
                let name = format!("{}/{}", metadata("namespace"), metadata("name"));
                let key = (side, kind.clone(), name.trim_start_matches('/').to_owned());
                let uid = metadata("uid");
                let seen = self.identities.entry(key.clone()).or_default();
                if !seen.contains(&uid) {
                    seen.push(uid.clone());
                }
                rename(&mut object, &uid, &format!("uid {}", seen.len()));
                (self.stability.normalize)(&mut object);
                states.insert(key, object);
            }
        }
        Ok(states)
    }
}

/// Replaces every string that equals `text`.
fn rename(value: &mut Value, text: &str, name: &str) {
    match value {
        Value::String(own) if own == text => name.clone_into(own),
        Value::Object(fields) => fields.values_mut().for_each(|value| rename(value, text, name)),
        Value::Array(items) => items.iter_mut().for_each(|value| rename(value, text, name)),
        _ => {}
    }
}

/// Performs an action. Ignores refusals of the server: they are the same for both targets that are compared.
async fn perform(clusters: &Clusters, action: &Action) -> Result<(), ScenarioEnd> {
    let failed = |object: &ObjectRef, reason: String| {
        ScenarioEnd::Environment(format!("failed to act on {object}: {reason}"))
    };
    match action {
        Action::Create(side, object) => clusters.create(*side, object).await,
        Action::Patch(side, object, patch) => {
            let reply = clusters.cluster(*side).merge_patch(&head(object), "", patch).await;
            reply.map(drop).map_err(|error| failed(object, error.to_string()))
        }
        Action::PatchStatus(side, object, patch) => {
            let reply = clusters.cluster(*side).merge_patch(&head(object), "status", patch).await;
            reply.map(drop).map_err(|error| failed(object, error.to_string()))
        }
        Action::Delete(side, object) => {
            let reply = clusters.cluster(*side).delete(&head(object), "").await;
            reply.map(drop).map_err(|error| failed(object, error.to_string()))
        }
        Action::Touch(..) | Action::Refuse(..) | Action::Stop | Action::Start => Ok(()),
    }
}
