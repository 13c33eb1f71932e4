//! A group of cases on an API server (contract-language §9): facts first, every request once without the target, then
//! the target registered and every request again. All are dry runs, so nothing is created, runs or is lost.

mod case;
mod recorder;
mod send;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;
use tokio::sync::Mutex;
use webhook::registration::WebhookConfiguration;

use super::group::{Started, broken};
use super::{Asked, Shared, ended, unasked};
use crate::plan::{self, CaseRef, Group};
use crate::report::{Reason, ReasonCode, Status};
use crate::route;
use crate::target::{Facts, Running, Setup};
use recorder::Recorder;

/// Cases that are asked side by side.
const SIDE_BY_SIDE: usize = 16;

/// A started group with its server.
struct Ground<'a> {
    started: Started<'a>,
    cluster: Cluster,
    recorder: Arc<Recorder>,
    /// Held by cases whose requests cannot be told apart from those of others.
    alike: Mutex<()>,
}

/// Asks the cases of a group; the second part says what broke around the target.
pub(super) async fn ask(shared: &Shared<'_>, group: &Group) -> (Vec<Asked>, Option<String>) {
    let recorder = Arc::new(Recorder::default());
    let dialers = Arc::new(recorder::ToTarget(Arc::clone(&recorder)));
    let server = match Embedded::start(shared.target.is_outside(), Some(dialers)).await {
        Ok(server) => server,
        Err(error) => return broken(shared, &group.cases, &error.to_string()),
    };
    let facts = Facts { client: server.client(), kubeconfig: server.kubeconfig().map(ToOwned::to_owned) };
    let setup =
        Setup { config: &group.config, instance: &group.instance, facts: Some(facts), clusters: None };
    let started = tokio::select! {
        started = shared.target.start(setup) => started,
        _ = shared.interrupt.wait() => return (unasked(shared, &group.cases, Status::NotRun, &ended(shared)), None),
    };
    let running = match started {
        Ok(running) => running,
        Err(error) => return broken(shared, &group.cases, &error.to_string()),
    };
    recorder.reach(running.dialer());
    let result = on(shared, group, running.as_ref(), Cluster::new(server.client()), recorder).await;
    running.stop().await;
    drop(server);
    result
}

async fn on(
    shared: &Shared<'_>,
    group: &Group,
    running: &dyn Running,
    cluster: Cluster,
    recorder: Arc<Recorder>,
) -> (Vec<Asked>, Option<String>) {
    let started = Started {
        shared,
        group,
        running,
        dialer: running.dialer(),
        facts: Some(cluster.clone()),
        tidy: false,
    };
    let ground = Ground { started, cluster, recorder, alike: Mutex::new(()) };
    let mut by_webhook: BTreeMap<&str, Vec<CaseRef>> = BTreeMap::new();
    for at in &group.cases {
        by_webhook.entry(plan::look(shared.contracts, *at).webhook()).or_default().push(*at);
    }
    let mut asked = Vec::new();
    for (webhook, cases) in by_webhook {
        match one_webhook(&ground, webhook, &cases).await {
            Ok(of_webhook) => asked.extend(of_webhook),
            Err(error) => {
                let (of_webhook, error) = broken(shared, &cases, &error);
                asked.extend(of_webhook);
                return (asked, error);
            }
        }
    }
    (asked, None)
}

/// Only the webhook in question is registered: what others of the component do is not its business.
async fn one_webhook(ground: &Ground<'_>, webhook: &str, cases: &[CaseRef]) -> Result<Vec<Asked>, String> {
    let shared = ground.started.shared;
    let Some(configurations) = route::configurations(ground.started.running, webhook) else {
        let text = "the target tells no registration, so no server can be told to ask it";
        let reason = Reason::new(ReasonCode::Registration, text);
        let asked = unasked(shared, cases, Status::NotSupported, &reason);
        for asked in &asked {
            shared.done(asked);
        }
        return Ok(asked);
    };
    let prepared: Vec<case::Prepared> = futures::stream::iter(cases)
        .map(|at| case::prepare(ground, *at))
        .buffered(SIDE_BY_SIDE)
        .collect()
        .await;
    let written = register(&ground.cluster, &configurations).await?;
    let side_by_side = if shared.options.fail_fast { 1 } else { SIDE_BY_SIDE };
    let asked: Vec<Asked> = futures::stream::iter(&prepared)
        .map(|prepared| one_case(ground, prepared))
        .buffer_unordered(side_by_side)
        .collect()
        .await;
    for configuration in &written {
        ground.cluster.delete(configuration, "").await.map_err(|error| error.to_string())?;
    }
    Ok(asked)
}

async fn one_case(ground: &Ground<'_>, prepared: &case::Prepared) -> Asked {
    let shared = ground.started.shared;
    let not_run = || unasked(shared, &[prepared.at], Status::NotRun, &ended(shared)).remove(0);
    if shared.is_over() {
        return not_run();
    }
    let asked = tokio::select! {
        asked = case::settle(ground, prepared) => asked,
        _ = shared.interrupt.wait() => not_run(),
    };
    shared.done(&asked);
    asked
}

async fn register(
    cluster: &Cluster,
    configurations: &[WebhookConfiguration],
) -> Result<Vec<serde_json::Value>, String> {
    let mut written = Vec::new();
    for configuration in configurations {
        let object = configuration.to_object();
        let reply = cluster.create(&object, "").await.map_err(|error| error.to_string())?;
        if !reply.is_success() {
            return Err(format!("the API server refused {}: {}", configuration.name, reply.message()));
        }
        written.push(object);
    }
    Ok(written)
}
