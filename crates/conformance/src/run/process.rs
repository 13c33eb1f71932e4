//! Cases of the form process: the target's program is started, and its end or a server's response is what is observed.

use contract::case::When;
use futures::StreamExt as _;
use serde_json::Value;
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;

use super::direct::Attempt;
use super::{CaseRun, FactsFrom, Ground, PartState, attempt, end_reason, not_run};
use crate::exchange::Answer;
use crate::observation::Observation;
use crate::plan::{self, CaseRef, LocatedCase};
use crate::report::{Reason, ReasonCode, Status};
use crate::target::{Facts, Needs, NeedsError, Observed, Setup};

/// Runs the cases.
pub(super) async fn run_cases(shared: &PartState<'_>, cases: &[CaseRef]) -> Vec<CaseRun> {
    // Starts are counted in hundreds of milliseconds of CPU: one for each core is enough.
    let side_by_side = if shared.options.fail_fast { 1 } else { shared.state.parallel.min(4) };
    let cases = cases.iter().map(|at| run_case(shared, *at));
    futures::stream::iter(cases).buffer_unordered(side_by_side).collect().await
}

async fn run_case(shared: &PartState<'_>, at: CaseRef) -> CaseRun {
    if shared.is_over() {
        return not_run(shared, &[at], Status::NotRun, &end_reason(shared)).remove(0);
    }
    let located = plan::look(shared.contracts, at);
    let started = std::time::Instant::now();
    let attempt = tokio::select! {
        attempt = observe(shared, located) => attempt,
        _ = shared.interrupt.wait() => Attempt::Inconclusive(Status::NotRun, end_reason(shared)),
    };
    let mut case_run = attempt::conclude(at, located, attempt);
    case_run.result.duration_ms = attempt::milliseconds(started.elapsed());
    shared.done(&mut case_run);
    case_run
}

async fn observe(shared: &PartState<'_>, located: LocatedCase<'_>) -> Attempt {
    let When::Process(action) = &located.case.when else {
        return Attempt::Inconclusive(Status::NotSupported, reason("the case does nothing with a program"));
    };
    let environment =
        |error: String| Attempt::Inconclusive(Status::Errored, Reason::new(ReasonCode::Environment, error));
    let (_server, facts) = match cluster(shared, located).await {
        Ok(cluster) => cluster,
        Err(error) => return environment(error.to_string()),
    };
    let setup = Setup {
        component: &located.contract.component,
        now: None,
        config: &located.case.config,
        instance: located.instance(),
        facts: Some(facts),
        clusters: None,
    };
    match shared.target.act(setup, action).await {
        Ok(Some(Observed::Document(document))) => observed(document),
        Ok(Some(Observed::Unknown(text))) => Attempt::Inconclusive(Status::NotSupported, reason(&text)),
        Ok(None) => {
            let text = "the target has no program that the harness could start";
            Attempt::Inconclusive(Status::NotSupported, reason(text))
        }
        Err(error) => environment(error.to_string()),
    }
}

/// The cluster that the program works with, and the server that lives as long.
async fn cluster(
    shared: &PartState<'_>,
    located: LocatedCase<'_>,
) -> Result<(Option<Embedded>, Facts), NeedsError> {
    let needs = shared.target.needs();
    let (server, facts) = match &shared.options.ground {
        Ground::Direct(FactsFrom::Given(facts)) => return Ok((None, facts.clone())),
        Ground::Envtest(server) => (None, Facts::of(server.shared())),
        Ground::Whole(whole) => (None, Facts::of(&whole.cluster)),
        _ => {
            let server = needs.embedded(true, None).await?;
            let facts = Facts::in_process(&server);
            (Some(server), facts)
        }
    };
    let cluster = Cluster::new(facts.client.clone());
    if server.is_none() {
        needs.write(&cluster).await?;
    }
    let facts_of_case = Needs { crds: Vec::new(), objects: located.case.given.cluster.clone() };
    facts_of_case.write(&cluster).await?;
    Ok((server, facts))
}

fn observed(document: Value) -> Attempt {
    let answer = Answer { allowed: true, object: Some(document), ..Answer::default() };
    let observation = Observation { called: None, input: None, answer };
    Attempt::Answered { observation: Box::new(observation), trace: None, evidence: None, deviation: None }
}

fn reason(text: &str) -> Reason {
    Reason::new(ReasonCode::Configuration, text)
}
