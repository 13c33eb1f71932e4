//! Runs a group of cases on an API server (contracts/README.md): writes the facts, sends every request once without the target,
//! registers the target, and sends every request again. All requests are dry runs, so nothing is created or lost.

mod aggregated;
mod case;
mod endpoint;
mod group_server;
mod in_cluster;
mod probe;
mod recorder;
mod registry;
mod request;
mod send;
mod token_volume;
mod trace;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::Value;
use substrate::cluster::Cluster;
use substrate::facts;
use tokio::sync::Mutex;

use super::group::{StartedGroup, all_errored};
use super::{CaseRun, PartState, RunState, Whole, end_reason, not_run, prepare};
use crate::plan::{self, CaseRef, Group};
use crate::report::{Reason, ReasonCode, Status};
use crate::route;
use crate::target::{Running, Setup};
use group_server::GroupServer;
pub(crate) use recorder::{Recorder, ToTarget};
pub(crate) use registry::Registry;

/// Number of cases that run in parallel.
const SIDE_BY_SIDE: usize = 16;

/// A webhook of a started group on its server.
struct WebhookContext<'a> {
    started: &'a StartedGroup<'a>,
    /// Writes facts and old objects.
    cluster: Cluster,
    /// Sends requests before the target is registered.
    without_target: Cluster,
    /// Sends requests that reach the target once it is registered.
    requests: Cluster,
    recorder: &'a Arc<Recorder>,
    server: &'a GroupServer,
    /// Old objects, which other groups would see if they stayed.
    old_objects: Mutex<Vec<Value>>,
    /// Serializes cases whose requests cannot be distinguished from those of others.
    ambiguous_requests: Mutex<()>,
    /// Serializes requests to a target whose metrics show whether it was called.
    target_lock: Arc<in_cluster::TargetLock>,
}

/// Runs the cases of a group; also returns an environment error.
pub(super) async fn run_group(shared: &PartState<'_>, group: &Group) -> (Vec<CaseRun>, Option<String>) {
    let recorder = Arc::new(Recorder::default());
    let server = match GroupServer::open(shared, group, &recorder).await {
        Ok(server) => server,
        Err(error) => return all_errored(shared, &group.cases, &error),
    };
    let setup = Setup {
        component: &group.component,
        now: group.now,
        config: &group.config,
        instance: &group.instance,
        controller: None,
        facts: Some(server.facts()),
        clusters: None,
    };
    let started = tokio::select! {
        started = shared.target.start(setup) => started,
        _ = shared.interrupt.wait() => return (not_run(shared, &group.cases, Status::NotRun, &end_reason(shared)), None),
    };
    let running = match started {
        Ok(running) => running,
        Err(error) => return all_errored(shared, &group.cases, &error.to_string()),
    };
    recorder.reach(running.dialer());
    let (mut case_runs, error) = run_on(shared, group, running.as_ref(), &server, recorder).await;
    running.stop().await;
    if let Some(reason) = group_server::embedded_reason(shared, group) {
        for case_run in case_runs.iter_mut().filter(|case_run| case_run.observation.is_some()) {
            case_run.result.asked.get_or_insert_with(|| reason.to_owned());
        }
    }
    drop(server);
    (case_runs, error)
}

async fn run_on(
    shared: &PartState<'_>,
    group: &Group,
    running: &dyn Running,
    server: &GroupServer,
    recorder: Arc<Recorder>,
) -> (Vec<CaseRun>, Option<String>) {
    let facts = Some(server.cluster());
    let namespaces = &shared.state.namespaces;
    let dialer = running.dialer();
    let started = StartedGroup { shared, group, running, dialer, facts, cleans_up: false, namespaces };
    let mut by_webhook: BTreeMap<&str, Vec<CaseRef>> = BTreeMap::new();
    for at in &group.cases {
        by_webhook.entry(plan::locate(shared.contracts, *at).webhook()).or_default().push(*at);
    }
    let (mut case_runs, mut errors) = (Vec::new(), BTreeSet::new());
    for (webhook, cases) in by_webhook {
        let (of_webhook, error) = run_webhook(&started, (server, &recorder), webhook, &cases).await;
        case_runs.extend(of_webhook);
        errors.extend(error);
    }
    // If one webhook cannot be registered, the others still run.
    let error = errors.into_iter().collect::<Vec<_>>().join("; ");
    (case_runs, Some(error).filter(|error| !error.is_empty()))
}

/// Runs the cases of one webhook with only this webhook registered; also returns an environment error.
async fn run_webhook(
    started: &StartedGroup<'_>,
    (server, recorder): (&GroupServer, &Arc<Recorder>),
    webhook: &str,
    cases: &[CaseRef],
) -> (Vec<CaseRun>, Option<String>) {
    let (shared, running) = (started.shared, started.running);
    let component = &started.group.component;
    // A server that has the rules itself calls no webhook.
    let registered = match server.answering(component) {
        Some(_) => Some(Vec::new()),
        None => route::configurations(running, webhook),
    };
    let Some(configurations) = registered else {
        return (unregistered(shared, cases), None);
    };
    let configurations = match server.configurations_for(running, &configurations) {
        Ok(configurations) => configurations,
        Err(error) => return all_errored(shared, cases, &error),
    };
    let kept = server.supports_match_conditions().then(|| shared.state.registry.of(&configurations));
    let cluster = server.cluster();
    let group_server::Senders { without_target, with_target } = server.senders(component);
    let requests = kept.as_ref().map_or(with_target, |kept| cluster.speaking_for(kept.user()));
    let service = running.service().map(|service| service.name);
    let target_lock =
        service.map_or_else(Arc::default, |service| shared.state.registry.target_lock(&service));
    let (old_objects, ambiguous_requests) = (Mutex::default(), Mutex::default());
    let context = &WebhookContext {
        started,
        cluster,
        without_target,
        requests,
        recorder,
        server,
        old_objects,
        ambiguous_requests,
        target_lock,
    };
    let prepared: Vec<case::ServerCase> = futures::stream::iter(cases)
        .map(|at| case::prepare(context, *at))
        .buffered(SIDE_BY_SIDE)
        .collect()
        .await;
    let (case_runs, error) = match kept {
        Some(kept) => match kept.ensure_registered(&context.cluster).await {
            Ok(()) => (run_cases(context, &prepared).await, None),
            Err(error) => all_errored(shared, cases, &error),
        },
        None => run_registered(context, &configurations, cases, &prepared).await,
    };
    if server.needs_cleanup(started.group) {
        clean_up(context, &prepared).await;
    }
    (case_runs, error)
}

/// Cases of a webhook that cannot be registered.
fn unregistered(shared: &PartState<'_>, cases: &[CaseRef]) -> Vec<CaseRun> {
    let text = "the target has no known registration, so it cannot be registered at an API server";
    let reason = Reason::new(ReasonCode::Registration, text);
    let mut case_runs = not_run(shared, cases, Status::NotSupported, &reason);
    for case_run in &mut case_runs {
        shared.done(case_run);
    }
    case_runs
}

/// Registers the target, runs its cases, and removes the registration.
async fn run_registered(
    context: &WebhookContext<'_>,
    configurations: &[Value],
    cases: &[CaseRef],
    prepared: &[case::ServerCase],
) -> (Vec<CaseRun>, Option<String>) {
    let shared = context.started.shared;
    let mut written = Vec::new();
    let (case_runs, mut error) =
        match context.server.register(&context.cluster, configurations, &mut written).await {
            Ok(()) => (run_cases(context, prepared).await, None),
            Err(error) => all_errored(shared, cases, &error),
        };
    // The registration is removed in any case: otherwise other groups' requests would reach the target.
    if let Err(failed) = context.server.deregister(&context.cluster, &written).await {
        shared.left_behind(written.iter().map(prepare::describe));
        error.get_or_insert(failed);
    }
    (case_runs, error)
}

async fn run_cases(context: &WebhookContext<'_>, prepared: &[case::ServerCase]) -> Vec<CaseRun> {
    let side_by_side = if context.started.shared.options.fail_fast { 1 } else { SIDE_BY_SIDE };
    futures::stream::iter(prepared)
        .map(|prepared| run_case(context, prepared))
        .buffer_unordered(side_by_side)
        .collect()
        .await
}

async fn run_case(context: &WebhookContext<'_>, prepared: &case::ServerCase) -> CaseRun {
    let shared = context.started.shared;
    let interrupted = || not_run(shared, &[prepared.at], Status::NotRun, &end_reason(shared)).remove(0);
    if shared.is_over() {
        return interrupted();
    }
    let mut case_run = tokio::select! {
        case_run = case::run(context, prepared) => case_run,
        _ = shared.interrupt.wait() => interrupted(),
    };
    shared.done(&mut case_run);
    case_run
}

/// Cleans up a whole cluster that outlives the run, and resumes its controllers.
pub(super) async fn clean_up_cluster(state: &RunState<'_>, whole: &Whole) {
    if !whole.stays {
        return;
    }
    let cluster = whole.cluster();
    state.left_behind(state.registry.remove_all(&cluster).await);
    state.left_behind(state.namespaces.remove_all(&cluster).await);
    if let Err(error) = whole.guard.resume().await {
        state.left_behind([error]);
    }
}

/// Removes objects that the next group, or the next run, would see.
async fn clean_up(context: &WebhookContext<'_>, prepared: &[case::ServerCase]) {
    let old_objects = std::mem::take(&mut *context.old_objects.lock().await);
    let remove = async |old: Value| {
        if let Err(error) = facts::remove(&context.cluster, &old).await {
            let left = format!("{}: {error}", prepare::describe(&old));
            context.started.shared.left_behind([left]);
        }
    };
    futures::stream::iter(old_objects.into_iter().rev()).for_each_concurrent(SIDE_BY_SIDE, remove).await;
    let facts = prepared.iter().filter_map(case::ServerCase::facts);
    let remove_facts = |facts| prepare::remove_facts(context.started, &context.cluster, facts);
    futures::stream::iter(facts).for_each_concurrent(SIDE_BY_SIDE, remove_facts).await;
}
