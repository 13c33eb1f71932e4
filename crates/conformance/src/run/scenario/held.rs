//! Steps that nobody judges: what the clusters hold after each, once nothing changes any more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use contract::scenario::{Action, ObjectRef, Scenario, Side};
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use serde_json::{Value, json};
use substrate::cluster::resource;
use substrate::embedded::Embedded;
use tokio::time::{Instant, sleep};

use super::apart::{Apart, apart};
use super::clusters::{Clusters, head};
use super::place::Place;
use super::requests::{self, Mark};
use super::steps::Ended;
use crate::run::Interrupt;
use crate::target::{Running, Setup, Target};

/// How often it is looked whether something changed.
const LOOK: Duration = Duration::from_millis(100);
/// How long nothing must change before a step has settled: of virtual time, and of real time.
const QUIET: Duration = Duration::from_secs(3);
const REAL_QUIET: Duration = Duration::from_millis(1_200);
/// How long is waited for what is still under way.
const PATIENCE: Duration = Duration::from_secs(30);
const REAL_PATIENCE: Duration = Duration::from_secs(12);

/// A scenario whose expectations, if it has any, are not looked at.
#[derive(Clone)]
pub(crate) struct Play {
    /// What it is known by when it does not end.
    pub(crate) id: String,
    pub(crate) component: String,
    pub(crate) instance: String,
    pub(crate) config: Value,
    pub(crate) scenario: Scenario,
    pub(crate) settled: Settled,
}

/// What decides whether a step has settled.
#[derive(Clone, Copy)]
pub(crate) struct Settled {
    /// Takes out of an object what may change for ever, such as times.
    pub(crate) plain: fn(&mut Value),
    /// Whether an object says that more is to come.
    pub(crate) is_under_way: fn(&Value) -> bool,
}

/// What clusters hold: objects by cluster, kind and `<namespace>/<name>`.
pub(crate) type States = BTreeMap<(Side, String, String), Value>;

/// Plays a scenario; gives what stood after each step, and what stood before the first after the target was started.
pub(crate) fn played(
    target: &Arc<dyn Target>,
    play: &Play,
    interrupt: &Interrupt,
) -> Result<Vec<States>, Ended> {
    let outside = target.is_outside();
    let patience = if outside { REAL_PATIENCE } else { Duration::ZERO };
    let steps = u32::try_from(play.scenario.steps.len() + 1).unwrap_or(u32::MAX);
    let place = Place {
        real: None,
        needs: target.needs().clone(),
        outside,
        waits: patience.saturating_mul(steps),
        otherwise: None,
    };
    let clock = Apart { real_time: outside, waits: place.waits, is_gone: &|| false };
    let (target, play) = (Arc::clone(target), play.clone());
    let id = play.id.clone();
    apart(interrupt, &id, &clock, |bark| async move {
        tokio::select! {
            states = staged(target.as_ref(), &play, &place) => states.map(Some),
            () = bark.notified() => Ok(None),
        }
    })
}

async fn staged(target: &dyn Target, play: &Play, place: &Place) -> Result<Vec<States>, Ended> {
    let clusters = Clusters::start(&play.scenario, place, false).await?;
    clusters.write(&play.scenario.given).await?;
    let mut watched = Watched {
        clusters: &clusters,
        begin: requests::mark(&clusters),
        kinds: kinds(&play.scenario),
        identities: BTreeMap::new(),
        settled: play.settled,
        outside: place.outside,
    };
    let for_target = clusters.for_target();
    let setup = Setup {
        component: &play.component,
        now: None,
        config: &play.config,
        instance: &play.instance,
        facts: Some(for_target.source.clone()),
        clusters: Some(for_target),
    };
    let running = target.start(setup).await.map_err(|error| Ended::Environment(error.to_string()))?;
    let states = watched.steps(&play.scenario).await;
    let last_words = if states.is_err() { running.last_words() } else { String::new() };
    Running::stop(running).await;
    states.map_err(|ended| match ended {
        Ended::Environment(reason) if !last_words.is_empty() => {
            Ended::Environment(format!("{reason}; the target's last words:\n{last_words}"))
        }
        ended => ended,
    })
}

/// Clusters that are looked at.
struct Watched<'a> {
    clusters: &'a Clusters,
    /// Where the servers' logs were when the target was started.
    begin: Mark,
    kinds: BTreeSet<(Side, String, String)>,
    /// The uids of each object, in the order in which they were seen.
    identities: BTreeMap<(Side, String, String), Vec<String>>,
    settled: Settled,
    outside: bool,
}

impl Watched<'_> {
    async fn steps(&mut self, scenario: &Scenario) -> Result<Vec<States>, Ended> {
        let mut states = vec![self.settle().await?];
        for step in &scenario.steps {
            for action in &step.actions {
                attempt(self.clusters, action).await?;
            }
            states.push(self.settle().await?);
        }
        Ok(states)
    }

    /// What stands once nothing changes any more, and nothing says that it will, or patience is over.
    async fn settle(&mut self) -> Result<States, Ended> {
        let (quiet, patience) = if self.outside { (REAL_QUIET, REAL_PATIENCE) } else { (QUIET, PATIENCE) };
        let deadline = Instant::now() + patience;
        let mut since = Instant::now();
        let mut revisions = self.revisions();
        let mut states = self.look().await?;
        loop {
            sleep(LOOK).await;
            let now = self.revisions();
            if now != revisions {
                revisions = now;
                let new = self.look().await?;
                if new != states {
                    (states, since) = (new, Instant::now());
                }
            }
            let is_under_way = states.values().any(self.settled.is_under_way);
            if Instant::now() >= since + quiet && (!is_under_way || Instant::now() >= deadline) {
                return Ok(states);
            }
            if Instant::now() >= deadline + patience {
                let text = "what the clusters hold changes without end".to_owned();
                return Err(Ended::Environment(text));
            }
        }
    }

    fn revisions(&self) -> Vec<Option<u64>> {
        self.clusters.servers().map(Embedded::revision).collect()
    }

    /// Everything of the kinds that the scenario speaks of, or that the target wrote.
    async fn look(&mut self) -> Result<States, Ended> {
        for write in requests::writes_since(self.clusters, &self.begin) {
            let side = if write.server == 0 { Side::Source } else { Side::Target };
            self.kinds.insert((side, write.object.api_version, write.object.kind));
        }
        let mut states = States::new();
        for (side, api_version, kind) in self.kinds.clone() {
            for mut object in self.list(side, &api_version, &kind).await? {
                // An element of a list does not say what it is.
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
                (self.settled.plain)(&mut object);
                states.insert(key, object);
            }
        }
        Ok(states)
    }

    async fn list(&self, side: Side, api_version: &str, kind: &str) -> Result<Vec<Value>, Ended> {
        let failed = |reason: String| {
            Ended::Environment(format!("failed to list {api_version} {kind} in {}: {reason}", side.name()))
        };
        let Ok(served) = resource(&json!({"apiVersion": api_version, "kind": kind})) else {
            return Ok(Vec::new());
        };
        let kind = ApiResource {
            group: served.group.clone(),
            version: served.version.clone(),
            api_version: served.api_version(),
            kind: served.kind.clone(),
            plural: served.plural.clone(),
        };
        let api: Api<DynamicObject> = Api::all_with(self.clusters.client(side), &kind);
        match api.list(&ListParams::default()).await {
            Ok(list) => {
                let objects = list.items.into_iter().map(serde_json::to_value);
                objects.map(|object| object.map_err(|error| failed(error.to_string()))).collect()
            }
            // A kind whose definition is not there has no objects.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

/// Puts a name in the place of a text, wherever it stands.
fn rename(value: &mut Value, text: &str, name: &str) {
    match value {
        Value::String(own) if own == text => name.clone_into(own),
        Value::Object(fields) => fields.values_mut().for_each(|value| rename(value, text, name)),
        Value::Array(items) => items.iter_mut().for_each(|value| rename(value, text, name)),
        _ => {}
    }
}

/// The kinds that a scenario speaks of.
fn kinds(scenario: &Scenario) -> BTreeSet<(Side, String, String)> {
    let of_value = |side: &Side, object: &Value| {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        (*side, text("apiVersion"), text("kind"))
    };
    let given = scenario
        .given
        .iter()
        .flat_map(|(side, objects)| objects.iter().map(move |object| of_value(side, object)));
    let done = scenario.steps.iter().flat_map(|step| &step.actions).filter_map(|action| match action {
        Action::Create(side, object) => Some(of_value(side, object)),
        Action::Patch(side, object, _)
        | Action::PatchStatus(side, object, _)
        | Action::Delete(side, object)
        | Action::Touch(side, object) => Some((*side, object.api_version.clone(), object.kind.clone())),
        Action::Refuse(..) | Action::Stop | Action::Start => None,
    });
    given.chain(done).collect()
}

/// Does what another user does; what the server refuses is not done, in either cluster of two that are compared.
async fn attempt(clusters: &Clusters, action: &Action) -> Result<(), Ended> {
    let failed = |object: &ObjectRef, reason: String| {
        Ended::Environment(format!("failed to act on {object}: {reason}"))
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
