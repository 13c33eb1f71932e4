//! A group of cases on an API server (contracts/README.md): facts first, every request once without the target, then
//! the target registered and every request again. All are dry runs, so nothing is created, runs or is lost.

mod alive;
mod case;
mod door;
mod inside;
mod probe;
mod recorder;
mod registry;
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
use super::{Asked, RunState, Shared, Whole, ended, prepare, unasked};
use crate::plan::{self, CaseRef, Group};
use crate::report::{Reason, ReasonCode, Status};
use crate::route;
use crate::target::{Running, Setup};
pub(super) use recorder::{Recorder, ToTarget};
pub(crate) use registry::Registry;
use stage::Stage;

/// Cases that are asked side by side.
const SIDE_BY_SIDE: usize = 16;

/// A webhook of a started group with its server.
struct Ground<'a> {
    started: &'a Started<'a>,
    /// Where facts and old objects are written, and requests go without the target.
    cluster: Cluster,
    /// Where requests go that reach the target once it is registered.
    asking: Cluster,
    recorder: &'a Arc<Recorder>,
    stage: &'a Stage,
    /// Old objects, which another group may meet if they stay.
    left: Mutex<Vec<Value>>,
    /// Held by cases whose requests cannot be told apart from those of others.
    alike: Mutex<()>,
    /// Who may ask the target, where its own count tells what it was asked.
    turns: Arc<inside::Turns>,
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
    let facts = Some(stage.cluster());
    let started = Started { shared, group, running, dialer: running.dialer(), facts, tidy: false };
    let mut by_webhook: BTreeMap<&str, Vec<CaseRef>> = BTreeMap::new();
    for at in &group.cases {
        by_webhook.entry(plan::look(shared.contracts, *at).webhook()).or_default().push(*at);
    }
    let (mut asked, mut errors) = (Vec::new(), BTreeSet::new());
    for (webhook, cases) in by_webhook {
        let (of_webhook, error) = one_webhook(&started, (stage, &recorder), webhook, &cases).await;
        asked.extend(of_webhook);
        errors.extend(error);
    }
    // One that cannot be registered says nothing about the others.
    let error = errors.into_iter().collect::<Vec<_>>().join("; ");
    (asked, Some(error).filter(|error| !error.is_empty()))
}

/// Only the webhook in question is registered: what others of the component do is not its business. The second part says
/// what broke around the target.
async fn one_webhook(
    started: &Started<'_>,
    (stage, recorder): (&Stage, &Arc<Recorder>),
    webhook: &str,
    cases: &[CaseRef],
) -> (Vec<Asked>, Option<String>) {
    let (shared, running) = (started.shared, started.running);
    let Some(configurations) = route::configurations(running, webhook) else {
        let text = "the target tells no registration, so no server can be told to ask it";
        let reason = Reason::new(ReasonCode::Registration, text);
        let mut asked = unasked(shared, cases, Status::NotSupported, &reason);
        for asked in &mut asked {
            shared.done(asked);
        }
        return (asked, None);
    };
    let leading = match stage.leading(running, &configurations) {
        Ok(leading) => leading,
        Err(error) => return broken(shared, cases, &error),
    };
    let kept = stage.tells_askers_apart().then(|| shared.state.registry.of(&leading));
    let cluster = stage.cluster();
    let asking = kept.as_ref().map_or_else(|| cluster.clone(), |kept| cluster.speaking_for(kept.asker()));
    let service = running.service().map(|service| service.name);
    let turns = service.map_or_else(Arc::default, |service| shared.state.registry.turns(&service));
    let (left, alike) = (Mutex::default(), Mutex::default());
    let ground = &Ground { started, cluster, asking, recorder, stage, left, alike, turns };
    let prepared: Vec<case::Prepared> = futures::stream::iter(cases)
        .map(|at| case::prepare(ground, *at))
        .buffered(SIDE_BY_SIDE)
        .collect()
        .await;
    let (asked, error) = match kept {
        Some(kept) => match kept.stand(&ground.cluster).await {
            Ok(()) => (all_cases(ground, &prepared).await, None),
            Err(error) => broken(shared, cases, &error),
        },
        None => registered_for_them(ground, &leading, cases, &prepared).await,
    };
    if stage.takes_back(started.group) {
        take_back(ground, &prepared).await;
    }
    (asked, error)
}

/// Registers the target while its cases are asked.
async fn registered_for_them(
    ground: &Ground<'_>,
    leading: &[Value],
    cases: &[CaseRef],
    prepared: &[case::Prepared],
) -> (Vec<Asked>, Option<String>) {
    let shared = ground.started.shared;
    let mut written = Vec::new();
    let (asked, mut error) = match ground.stage.register(&ground.cluster, leading, &mut written).await {
        Ok(()) => (all_cases(ground, prepared).await, None),
        Err(error) => broken(shared, cases, &error),
    };
    // What was registered is taken back on every way out: other groups would be asked about it.
    if let Err(failed) = ground.stage.deregister(&ground.cluster, &written).await {
        shared.left_behind(written.iter().map(prepare::describe));
        error.get_or_insert(failed);
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
    let mut asked = tokio::select! {
        asked = case::settle(ground, prepared) => asked,
        _ = shared.interrupt.wait() => not_run(),
    };
    shared.done(&mut asked);
    asked
}

/// Takes back what stood as long as cases were asked in a whole cluster that stays, and lets it go on.
pub(super) async fn leave(state: &RunState<'_>, whole: &Whole) {
    if !whole.stays {
        return;
    }
    let cluster = whole.cluster();
    state.left_behind(state.registry.take_back(&cluster).await);
    state.left_behind(state.namespaces.take_back(&cluster).await);
    if let Err(error) = whole.guard.resume().await {
        state.left_behind([error]);
    }
}

/// Removes what the next group, or the next run, would meet.
async fn take_back(ground: &Ground<'_>, prepared: &[case::Prepared]) {
    let left = std::mem::take(&mut *ground.left.lock().await);
    let remove = async |old: Value| {
        if let Err(error) = facts::remove(&ground.cluster, &old).await {
            let left = format!("{}: {error}", prepare::describe(&old));
            ground.started.shared.left_behind([left]);
        }
    };
    futures::stream::iter(left.into_iter().rev()).for_each_concurrent(SIDE_BY_SIDE, remove).await;
    let facts = prepared.iter().filter_map(case::Prepared::facts);
    let take_back = |facts| prepare::take_back(ground.started, &ground.cluster, facts);
    futures::stream::iter(facts).for_each_concurrent(SIDE_BY_SIDE, take_back).await;
}
