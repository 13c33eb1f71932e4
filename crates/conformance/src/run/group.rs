//! One group of cases: starts the target once, runs the cases in parallel, and stops it.

use std::sync::Arc;

use futures::StreamExt as _;
use substrate::cluster::Cluster;
use webhook::dial::Dialer;

use super::shared_namespace::SharedNamespaces;
use super::{CaseRun, FactsFrom, PartState, Substrate, end_reason, not_run};
use crate::plan::{CaseRef, Group};
use crate::report::{Reason, ReasonCode, Status};
use crate::target::{Facts, Running, Setup};

/// Number of cases of one group that run in parallel.
const SIDE_BY_SIDE: usize = 16;

/// A started group.
pub(super) struct StartedGroup<'a> {
    pub(super) shared: &'a PartState<'a>,
    pub(super) group: &'a Group,
    pub(super) running: &'a dyn Running,
    pub(super) dialer: Arc<dyn Dialer>,
    /// Where facts are written.
    pub(super) facts: Option<Cluster>,
    /// Whether written objects must be removed after each case.
    pub(super) cleans_up: bool,
    /// The namespaces in that cluster that cases share.
    pub(super) namespaces: &'a SharedNamespaces,
}

/// Runs the cases of a group; also returns an environment error.
pub(super) async fn run(shared: &PartState<'_>, group: &Group) -> (Vec<CaseRun>, Option<String>) {
    match &shared.options.substrate {
        Substrate::Direct(FactsFrom::Given(facts)) => start(shared, group, Some(facts.clone()), true).await,
        Substrate::Direct(FactsFrom::Nowhere) => start(shared, group, None, false).await,
        Substrate::Direct(FactsFrom::Embedded) => embedded(shared, group).await,
        Substrate::Embedded | Substrate::Aggregated(_) | Substrate::Envtest(_) | Substrate::Whole(_) => {
            super::server::run_group(shared, group).await
        }
    }
}

async fn embedded(shared: &PartState<'_>, group: &Group) -> (Vec<CaseRun>, Option<String>) {
    match shared.embedded_server(shared.target.is_outside(), None).await {
        Ok(server) => {
            let result = start(shared, group, Some(Facts::in_process(&server)), false).await;
            drop(server);
            result
        }
        Err(error) => all_errored(shared, &group.cases, &error.to_string()),
    }
}

async fn start(
    shared: &PartState<'_>,
    group: &Group,
    facts: Option<Facts>,
    cleans_up: bool,
) -> (Vec<CaseRun>, Option<String>) {
    let setup = Setup {
        component: &group.component,
        now: group.now,
        config: &group.config,
        instance: &group.instance,
        controller: None,
        facts: facts.clone(),
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
    // The cluster of the user is the same for all groups, that of this process is new for each.
    let own_namespaces = SharedNamespaces::default();
    let context = StartedGroup {
        shared,
        group,
        namespaces: if cleans_up { &shared.state.namespaces } else { &own_namespaces },
        running: running.as_ref(),
        dialer: running.dialer(),
        facts: facts.map(|facts| Cluster::new(facts.client)),
        cleans_up,
    };
    // Cases that see each other's facts have a cluster of their own, unless the user gave the cluster.
    let one_by_one = (cleans_up && group.alone) || shared.options.fail_fast || shared.target.asks_in_turn();
    let side_by_side = if one_by_one { 1 } else { SIDE_BY_SIDE };
    let case_runs = run_cases(&context, side_by_side).await;
    running.stop().await;
    (case_runs, None)
}

async fn run_cases(context: &StartedGroup<'_>, side_by_side: usize) -> Vec<CaseRun> {
    let shared = context.shared;
    let cases = context.group.cases.iter().map(|at| async move {
        if shared.is_over() {
            return not_run(shared, &[*at], Status::NotRun, &end_reason(shared)).remove(0);
        }
        let mut case_run = super::attempt::run_case(context, *at).await;
        shared.done(&mut case_run);
        case_run
    });
    futures::stream::iter(cases).buffer_unordered(side_by_side).collect().await
}

/// The results of a group whose cases could not run because of an environment error.
pub(super) fn all_errored(
    shared: &PartState<'_>,
    cases: &[CaseRef],
    error: &str,
) -> (Vec<CaseRun>, Option<String>) {
    let mut case_runs = not_run(shared, cases, Status::Errored, &Reason::new(ReasonCode::Environment, error));
    for case_run in &mut case_runs {
        shared.done(case_run);
    }
    (case_runs, Some(error.to_owned()))
}
