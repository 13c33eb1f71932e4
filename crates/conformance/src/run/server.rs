//! A group of cases on an API server (contract-language §9): facts first, every request once without the target, then
//! the target registered and every request again. All are dry runs, so nothing is created, runs or is lost.

mod alive;
mod case;
mod door;
mod inside;
mod probe;
mod recorder;
mod send;
mod stage;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::Value;
use substrate::cluster::Cluster;
use substrate::facts;
use tokio::sync::Mutex;

use super::group::{Started, broken};
use super::{Asked, Shared, ended, prepare, unasked};
use crate::plan::{self, CaseRef, Group};
use crate::report::{Reason, ReasonCode, Status};
use crate::route;
use crate::target::{Running, Setup};
pub(super) use recorder::{Recorder, ToTarget};
use stage::Stage;

/// Cases that are asked side by side.
const SIDE_BY_SIDE: usize = 16;

/// A started group with its server.
struct Ground<'a> {
    started: Started<'a>,
    cluster: Cluster,
    recorder: Arc<Recorder>,
    stage: &'a Stage,
    /// Old objects, which another group may meet if they stay.
    left: Mutex<Vec<Value>>,
    /// Held by cases whose requests cannot be told apart from those of others.
    alike: Mutex<()>,
    /// Who may ask the target, where its own count tells what it was asked.
    turns: inside::Turns,
}

/// Asks the cases of a group; the second part says what broke around the target.
pub(super) async fn ask(shared: &Shared<'_>, group: &Group) -> (Vec<Asked>, Option<String>) {
    let recorder = Arc::new(Recorder::default());
    let stage = match Stage::open(shared, group, &recorder).await {
        Ok(stage) => stage,
        Err(error) => return broken(shared, &group.cases, &error),
    };
    let setup = Setup {
        component: &group.component,
        now: group.now,
        config: &group.config,
        instance: &group.instance,
        facts: Some(stage.facts()),
        clusters: None,
    };
    let started = tokio::select! {
        started = shared.target.start(setup) => started,
        _ = shared.interrupt.wait() => return (unasked(shared, &group.cases, Status::NotRun, &ended(shared)), None),
    };
    let running = match started {
        Ok(running) => running,
        Err(error) => return broken(shared, &group.cases, &error.to_string()),
    };
    recorder.reach(running.dialer());
    let (mut asked, error) = on(shared, group, running.as_ref(), &stage, recorder).await;
    running.stop().await;
    if let Some(reason) = stage::elsewhere(shared, group) {
        for asked in asked.iter_mut().filter(|asked| asked.observation.is_some()) {
            asked.result.asked.get_or_insert_with(|| reason.to_owned());
        }
    }
    drop(stage);
    (asked, error)
}

async fn on(
    shared: &Shared<'_>,
    group: &Group,
    running: &dyn Running,
    stage: &Stage,
    recorder: Arc<Recorder>,
) -> (Vec<Asked>, Option<String>) {
    let cluster = stage.cluster();
    let started = Started {
        shared,
        group,
        running,
        dialer: running.dialer(),
        facts: Some(cluster.clone()),
        tidy: false,
    };
    let (left, alike, turns) = (Mutex::default(), Mutex::default(), inside::Turns::default());
    let ground = Ground { started, cluster, recorder, stage, left, alike, turns };
    let mut by_webhook: BTreeMap<&str, Vec<CaseRef>> = BTreeMap::new();
    for at in &group.cases {
        by_webhook.entry(plan::look(shared.contracts, *at).webhook()).or_default().push(*at);
    }
    let (mut asked, mut errors) = (Vec::new(), BTreeSet::new());
    for (webhook, cases) in by_webhook {
        let (of_webhook, error) = one_webhook(&ground, webhook, &cases).await;
        asked.extend(of_webhook);
        errors.extend(error);
    }
    // One that cannot be registered says nothing about the others.
    let error = errors.into_iter().collect::<Vec<_>>().join("; ");
    (asked, Some(error).filter(|error| !error.is_empty()))
}

/// Only the webhook in question is registered: what others of the component do is not its business. The second part says
/// what broke around the target.
async fn one_webhook(ground: &Ground<'_>, webhook: &str, cases: &[CaseRef]) -> (Vec<Asked>, Option<String>) {
    let shared = ground.started.shared;
    let Some(configurations) = route::configurations(ground.started.running, webhook) else {
        let text = "the target tells no registration, so no server can be told to ask it";
        let reason = Reason::new(ReasonCode::Registration, text);
        let asked = unasked(shared, cases, Status::NotSupported, &reason);
        for asked in &asked {
            shared.done(asked);
        }
        return (asked, None);
    };
    let prepared: Vec<case::Prepared> = futures::stream::iter(cases)
        .map(|at| case::prepare(ground, *at))
        .buffered(SIDE_BY_SIDE)
        .collect()
        .await;
    let mut written = Vec::new();
    let led = (ground.started.running, configurations.as_slice());
    let registered = ground.stage.register(&ground.cluster, led, &mut written).await;
    let (asked, mut error) = match registered {
        Ok(()) => (all_cases(ground, &prepared).await, None),
        Err(error) => broken(shared, cases, &error),
    };
    // What was registered is taken back on every way out: other groups would be asked about it.
    if let Err(failed) = ground.stage.deregister(&ground.cluster, &written).await {
        shared.left_behind(written.iter().map(prepare::describe));
        error.get_or_insert(failed);
    }
    if ground.started.group.alone && ground.stage.is_shared() {
        take_back(ground, &prepared).await;
    }
    (asked, error)
}

async fn all_cases(ground: &Ground<'_>, prepared: &[case::Prepared]) -> Vec<Asked> {
    let side_by_side = if ground.started.shared.options.fail_fast { 1 } else { SIDE_BY_SIDE };
    futures::stream::iter(prepared)
        .map(|prepared| one_case(ground, prepared))
        .buffer_unordered(side_by_side)
        .collect()
        .await
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

/// Removes what the next group would meet.
async fn take_back(ground: &Ground<'_>, prepared: &[case::Prepared]) {
    for old in ground.left.lock().await.drain(..).rev() {
        if let Err(error) = facts::remove(&ground.cluster, &old).await {
            let left = format!("{}: {error}", prepare::describe(&old));
            ground.started.shared.left_behind([left]);
        }
    }
    for facts in prepared.iter().filter_map(case::Prepared::facts) {
        prepare::take_back(&ground.started, &ground.cluster, facts).await;
    }
}
