//! A garden with one Shoot in it, and the controller that maintains it.

use std::sync::Arc;
use std::time::Duration;

use contract::gardener::decision::{Decision, Question};
use jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::wait::await_condition;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, resource};
use substrate::embedded::Embedded;
use substrate::facts;
use tokio::time::{Instant, sleep, timeout};

use super::MaintenanceResult;
use crate::gardener::{Versions, dates};
use crate::plan::LocatedCase;
use crate::run::scenario::{OTHER_USER, ScenarioEnd, TARGET_USER};
use crate::run::server::{Recorder, ToTarget};
use crate::target::{Chance, Clusters, Facts, Running, Setup, Target};

/// Annotation that requests a maintenance at any time.
const OPERATION: &str = "gardener.cloud/operation";
/// Annotation that every maintenance sets.
const TASKS: &str = "shoot.gardener.cloud/tasks";
/// Metric that counts reconciliations of Shoots.
const RECONCILED: &str = "controller_runtime_reconcile_total{controller=\"shoot-maintenance\"";
/// Timeout of a maintenance that is due, in virtual time.
const PATIENCE: Duration = Duration::from_mins(5);
/// The same in real time.
pub(super) const REAL_PATIENCE: Duration = Duration::from_secs(45);
/// Longest time until the next maintenance: windows open every day.
const DAYS: Duration = Duration::from_hours(49);
/// Pause between two reads of the metrics.
const PAUSE: Duration = Duration::from_millis(10);

/// A running garden.
pub(super) struct Garden {
    server: Embedded,
    now: Timestamp,
    /// Timeout of a maintenance that is due.
    patience: Duration,
    /// The Shoot as the row gives it.
    shoot: Value,
    shoots: Api<DynamicObject>,
    controller: Box<dyn Running>,
    /// Started if writes must pass admission.
    admission: Option<Box<dyn Running>>,
}

impl Garden {
    /// Writes the row's objects, starts admission if the row needs it, and the controller last.
    pub(super) async fn begin(
        target: &Arc<dyn Target>,
        located: LocatedCase<'_>,
        decision: &Decision,
        chance: Chance,
    ) -> Result<Self, ScenarioEnd> {
        let mut given = located.case.given.clone();
        if target.is_outside() {
            dates::move_to_present(&mut given, decision.now);
        }
        let mut shoot = given.object.clone().unwrap_or_default();
        if decision.asks != Question::Window {
            shoot["metadata"]["annotations"][OPERATION] = json!("maintain");
        }
        let recorder = Arc::new(Recorder::default());
        let dialers = Arc::new(ToTarget(Arc::clone(&recorder)));
        let server = if target.is_outside() {
            let started = target.needs().embedded(None, true, Some(dialers)).await;
            started.map_err(|error| environment_error(&error))?
        } else {
            Embedded::at(target.needs().kubernetes, decision.now, Some(dialers))
        };
        let others = server.client_as(OTHER_USER);
        let shoots = shoots(&others, &shoot)?;
        let cluster = Cluster::new(others);
        write(&cluster, given.cluster.iter().chain([&shoot])).await?;
        let admission = match decision.asks {
            Question::Maintenance { admitted: true } => {
                Some(start_admission(target, located, decision.now, (&server, &recorder)).await?)
            }
            _ => None,
        };
        let garden = Facts { client: server.client_as(TARGET_USER), ..Facts::in_process(&server) };
        let clusters =
            Clusters { source: garden.clone(), target: None, now: server.now(), chance, election: None };
        let own = setup(located);
        let component = target.versions().and_then(Versions::maintainer).unwrap_or(own.component);
        let setup = Setup { component, facts: Some(garden), clusters: Some(clusters), ..own };
        let controller = target.start(setup).await.map_err(|error| environment_error(&error))?;
        let patience = if target.is_outside() { REAL_PATIENCE } else { PATIENCE };
        Ok(Self { server, now: decision.now, patience, shoot, shoots, controller, admission })
    }

    /// Stops everything that was started.
    pub(super) async fn end(self) {
        self.controller.stop().await;
        if let Some(admission) = self.admission {
            admission.stop().await;
        }
    }

    /// The Shoot once it is maintained, or once its status contains the reason why it cannot be.
    pub(super) async fn maintained(&self) -> Result<MaintenanceResult, ScenarioEnd> {
        let is_over = |shoot: Option<&DynamicObject>| {
            shoot.is_some_and(|shoot| {
                let state = shoot.data["status"]["lastMaintenance"]["state"].as_str();
                state == Some("Failed") || (has_tasks(shoot) && state != Some("Processing"))
            })
        };
        let Some(shoot) = self.until(is_over, self.patience).await? else {
            return Ok(Err(format!("the Shoot was not maintained within {:?}", self.patience)));
        };
        serde_json::to_value(shoot).map(Ok).map_err(|error| environment_error(&error))
    }

    /// Whether the Shoot is maintained at once, and, if the row asserts it, the time until its next maintenance.
    pub(super) async fn windows(
        &self,
        asserts_next: bool,
    ) -> Result<Result<(bool, Option<Duration>), String>, ScenarioEnd> {
        if !self.is_reconciled().await {
            return Ok(Err(format!("nothing was reconciled within {PATIENCE:?}")));
        }
        let shoot = self.shoots.get(&self.name()).await.map_err(|error| environment_error(&error))?;
        let at_once = has_tasks(&shoot);
        if !asserts_next {
            return Ok(Ok((at_once, None)));
        }
        // Removes the tasks, as a controller that has done them does, so that the next maintenance can be observed.
        let done = json!({"metadata": {"annotations": {TASKS: null}}});
        let cluster = Cluster::new(self.server.client_as(OTHER_USER));
        let reply =
            cluster.merge_patch(&self.shoot, "", &done).await.map_err(|error| environment_error(&error))?;
        if !reply.is_success() {
            return Err(environment_error(&reply.message()));
        }
        if self.until(|shoot| shoot.is_some_and(has_tasks), DAYS).await?.is_none() {
            return Ok(Err(format!("no maintenance came within {DAYS:?}")));
        }
        let passed = self.server.now().duration_since(self.now);
        Ok(Ok((at_once, Some(Duration::try_from(passed).unwrap_or_default()))))
    }

    /// Whether the controller has reconciled the Shoot once, by its metrics.
    async fn is_reconciled(&self) -> bool {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            let metrics = self.controller.metrics().await.unwrap_or_default();
            let counts = metrics.lines().filter(|line| line.starts_with(RECONCILED));
            if counts.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum::<f64>() > 0.0 {
                return true;
            }
            sleep(PAUSE).await;
        }
        false
    }

    /// Waits until the Shoot meets the condition; `None` after the timeout.
    async fn until(
        &self,
        condition: impl Fn(Option<&DynamicObject>) -> bool,
        patience: Duration,
    ) -> Result<Option<DynamicObject>, ScenarioEnd> {
        match timeout(patience, await_condition(self.shoots.clone(), &self.name(), condition)).await {
            Ok(shoot) => shoot.map_err(|error| environment_error(&error)),
            Err(_) => Ok(None),
        }
    }

    fn name(&self) -> String {
        self.shoot["metadata"]["name"].as_str().unwrap_or_default().to_owned()
    }
}

fn setup(located: LocatedCase<'_>) -> Setup<'_> {
    Setup {
        component: &located.contract.component,
        now: None,
        config: &located.case.config,
        instance: located.instance(),
        controller: None,
        facts: None,
        clusters: None,
    }
}

/// Starts admission at a time and registers it.
async fn start_admission(
    target: &Arc<dyn Target>,
    located: LocatedCase<'_>,
    now: Timestamp,
    (server, recorder): (&Embedded, &Recorder),
) -> Result<Box<dyn Running>, ScenarioEnd> {
    let setup = Setup { now: Some(now), facts: Some(Facts::in_process(server)), ..setup(located) };
    let admission = target.start(setup).await.map_err(|error| environment_error(&error))?;
    recorder.reach(admission.dialer());
    let cluster = Cluster::new(server.client_as(OTHER_USER));
    for registration in admission.registrations().unwrap_or_default() {
        let reply =
            cluster.create(&registration.to_object(), "").await.map_err(|error| environment_error(&error))?;
        if !reply.is_success() {
            return Err(environment_error(&reply.message()));
        }
    }
    Ok(admission)
}

/// Writes objects in order, each in its namespace.
async fn write(cluster: &Cluster, objects: impl Iterator<Item = &Value>) -> Result<(), ScenarioEnd> {
    for object in objects {
        if let Some(namespace) = object["metadata"]["namespace"].as_str() {
            facts::write_namespace(cluster, namespace, None)
                .await
                .map_err(|error| environment_error(&error))?;
        }
        facts::write(cluster, object).await.map_err(|error| environment_error(&error))?;
    }
    Ok(())
}

fn shoots(client: &kube::Client, shoot: &Value) -> Result<Api<DynamicObject>, ScenarioEnd> {
    let served = resource(shoot).map_err(|error| environment_error(&error))?;
    let kind = ApiResource {
        group: served.group.clone(),
        version: served.version.clone(),
        api_version: served.api_version(),
        kind: served.kind.clone(),
        plural: served.plural.clone(),
    };
    let namespace = shoot["metadata"]["namespace"].as_str().unwrap_or_default();
    Ok(Api::namespaced_with(client.clone(), namespace, &kind))
}

fn has_tasks(shoot: &DynamicObject) -> bool {
    shoot.metadata.annotations.as_ref().is_some_and(|annotations| annotations.contains_key(TASKS))
}

fn environment_error(error: &dyn std::fmt::Display) -> ScenarioEnd {
    ScenarioEnd::Environment(error.to_string())
}
