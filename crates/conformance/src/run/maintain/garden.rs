//! A garden with one Shoot in it, and the controller that maintains it.

use std::sync::Arc;
use std::time::Duration;

use contract::decision::{Decision, Question};
use jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::runtime::wait::await_condition;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, resource};
use substrate::embedded::Embedded;
use substrate::facts;
use tokio::time::{Instant, sleep, timeout};

use super::Told;
use crate::dates;
use crate::plan::Looked;
use crate::run::scenario::{Ended, OTHER_USER, TARGET_USER};
use crate::run::server::{Recorder, ToTarget};
use crate::target::{Chance, Clusters, Facts, Running, Setup, Target};

/// What asks for a maintenance whatever the time is.
const OPERATION: &str = "gardener.cloud/operation";
/// What every maintenance leaves behind.
const TASKS: &str = "shoot.gardener.cloud/tasks";
/// What counts that the controller has looked at the Shoot.
const RECONCILED: &str = "controller_runtime_reconcile_total{controller=\"shoot-maintenance\"";
/// How long a Shoot may wait, in virtual time, when nothing is to be waited for.
const PATIENCE: Duration = Duration::from_mins(5);
/// The same in real time.
pub(super) const REAL_PATIENCE: Duration = Duration::from_secs(45);
/// How long until the next maintenance at most: windows open every day.
const DAYS: Duration = Duration::from_hours(49);
/// Between two looks whether the controller has looked at the Shoot.
const PAUSE: Duration = Duration::from_millis(10);

/// A garden that runs.
pub(super) struct Garden {
    server: Embedded,
    now: Timestamp,
    /// How long a Shoot may wait when nothing is to be waited for.
    patience: Duration,
    /// The Shoot as the row gives it.
    shoot: Value,
    shoots: Api<DynamicObject>,
    controller: Box<dyn Running>,
    /// Where what is written passes it.
    admission: Option<Box<dyn Running>>,
}

impl Garden {
    /// Writes what the row gives, starts admission where it is asked for, and the controller last.
    pub(super) async fn begin(
        target: &Arc<dyn Target>,
        looked: Looked<'_>,
        decision: &Decision,
        chance: Chance,
    ) -> Result<Self, Ended> {
        let mut given = looked.case.given.clone();
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
            let started = target.needs().embedded(true, Some(dialers)).await;
            started.map_err(|error| broken(&error))?
        } else {
            Embedded::at(decision.now, Some(dialers))
        };
        let others = server.client_as(OTHER_USER);
        let shoots = shoots(&others, &shoot)?;
        let cluster = Cluster::new(others);
        write(&cluster, given.cluster.iter().chain([&shoot])).await?;
        let admission = match decision.asks {
            Question::Maintenance { admitted: true } => {
                Some(admit(target, looked, decision.now, (&server, &recorder)).await?)
            }
            _ => None,
        };
        let garden = Facts { client: server.client_as(TARGET_USER), ..Facts::in_process(&server) };
        let clusters = Clusters { source: garden.clone(), target: None, now: server.now(), chance };
        let own = setup(looked);
        let component = target.maintainer().unwrap_or(own.component);
        let setup = Setup { component, facts: Some(garden), clusters: Some(clusters), ..own };
        let controller = target.start(setup).await.map_err(|error| broken(&error))?;
        let patience = if target.is_outside() { REAL_PATIENCE } else { PATIENCE };
        Ok(Self { server, now: decision.now, patience, shoot, shoots, controller, admission })
    }

    /// Stops whoever was started.
    pub(super) async fn end(self) {
        self.controller.stop().await;
        if let Some(admission) = self.admission {
            admission.stop().await;
        }
    }

    /// The Shoot once it is maintained, or once it is told why it cannot be.
    pub(super) async fn maintained(&self) -> Result<Told, Ended> {
        let is_over = |shoot: Option<&DynamicObject>| {
            shoot.is_some_and(|shoot| {
                let state = shoot.data["status"]["lastMaintenance"]["state"].as_str();
                state == Some("Failed") || (has_tasks(shoot) && state != Some("Processing"))
            })
        };
        let Some(shoot) = self.until(is_over, self.patience).await? else {
            return Ok(Err(format!("the Shoot was not maintained within {:?}", self.patience)));
        };
        serde_json::to_value(shoot).map(Ok).map_err(|error| broken(&error))
    }

    /// Whether the Shoot is maintained at once, and, where that is asked, how long it takes until it is maintained next.
    pub(super) async fn windows(
        &self,
        asks_next: bool,
    ) -> Result<Result<(bool, Option<Duration>), String>, Ended> {
        if !self.is_looked_at().await {
            return Ok(Err(format!("nothing was reconciled within {PATIENCE:?}")));
        }
        let shoot = self.shoots.get(&self.name()).await.map_err(|error| broken(&error))?;
        let at_once = has_tasks(&shoot);
        if !asks_next {
            return Ok(Ok((at_once, None)));
        }
        // Tasks are taken away by whoever has done them, so that the next maintenance is seen to leave some.
        let done = json!({"metadata": {"annotations": {TASKS: null}}});
        let cluster = Cluster::new(self.server.client_as(OTHER_USER));
        let reply = cluster.merge_patch(&self.shoot, "", &done).await.map_err(|error| broken(&error))?;
        if !reply.is_success() {
            return Err(broken(&reply.message()));
        }
        if self.until(|shoot| shoot.is_some_and(has_tasks), DAYS).await?.is_none() {
            return Ok(Err(format!("no maintenance came within {DAYS:?}")));
        }
        let passed = self.server.now().duration_since(self.now);
        Ok(Ok((at_once, Some(Duration::try_from(passed).unwrap_or_default()))))
    }

    /// Whether the controller has looked at the Shoot once, by its own count.
    async fn is_looked_at(&self) -> bool {
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

    /// The Shoot once it is so; nothing where that takes longer.
    async fn until(
        &self,
        is_so: impl Fn(Option<&DynamicObject>) -> bool,
        patience: Duration,
    ) -> Result<Option<DynamicObject>, Ended> {
        match timeout(patience, await_condition(self.shoots.clone(), &self.name(), is_so)).await {
            Ok(shoot) => shoot.map_err(|error| broken(&error)),
            Err(_) => Ok(None),
        }
    }

    fn name(&self) -> String {
        self.shoot["metadata"]["name"].as_str().unwrap_or_default().to_owned()
    }
}

fn setup(looked: Looked<'_>) -> Setup<'_> {
    Setup {
        component: &looked.contract.component,
        now: None,
        config: &looked.case.config,
        instance: looked.instance(),
        facts: None,
        clusters: None,
    }
}

/// Starts admission at a time, and registers it.
async fn admit(
    target: &Arc<dyn Target>,
    looked: Looked<'_>,
    now: Timestamp,
    (server, recorder): (&Embedded, &Recorder),
) -> Result<Box<dyn Running>, Ended> {
    let setup = Setup { now: Some(now), facts: Some(Facts::in_process(server)), ..setup(looked) };
    let admission = target.start(setup).await.map_err(|error| broken(&error))?;
    recorder.reach(admission.dialer());
    let cluster = Cluster::new(server.client_as(OTHER_USER));
    for registration in admission.registrations().unwrap_or_default() {
        let reply = cluster.create(&registration.to_object(), "").await.map_err(|error| broken(&error))?;
        if !reply.is_success() {
            return Err(broken(&reply.message()));
        }
    }
    Ok(admission)
}

/// Writes objects in order, each in its namespace.
async fn write(cluster: &Cluster, objects: impl Iterator<Item = &Value>) -> Result<(), Ended> {
    for object in objects {
        if let Some(namespace) = object["metadata"]["namespace"].as_str() {
            facts::write_namespace(cluster, namespace, None).await.map_err(|error| broken(&error))?;
        }
        facts::write(cluster, object).await.map_err(|error| broken(&error))?;
    }
    Ok(())
}

fn shoots(client: &kube::Client, shoot: &Value) -> Result<Api<DynamicObject>, Ended> {
    let served = resource(shoot).map_err(|error| broken(&error))?;
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

fn broken(error: &dyn std::fmt::Display) -> Ended {
    Ended::Environment(error.to_string())
}
