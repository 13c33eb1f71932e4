//! Cases of the form process: the target's program is started, and its end or a server's response is what is observed.

use contract::case::When;
use futures::StreamExt as _;
use serde_json::Value;
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;

use super::direct::Attempt;
use super::{CaseRun, FactsFrom, PartState, Substrate, attempt, end_reason, not_run};
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
    let located = plan::locate(shared.contracts, at);
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
        return inconclusive(Status::NotSupported, ReasonCode::Form, "the case does not act on a program");
    };
    let environment = |error: String| inconclusive(Status::Errored, ReasonCode::Environment, &error);
    let (_server, facts) = match cluster(shared, located).await {
        Ok(Some(cluster)) => cluster,
        Ok(None) => {
            let text = "the case needs objects in the cluster that the program reads, and the tool writes none there";
            return inconclusive(Status::NotSupported, ReasonCode::Facts, text);
        }
        Err(error) => return environment(error.to_string()),
    };
    let setup = Setup {
        component: &located.contract.component,
        now: None,
        config: &located.case.config,
        instance: located.instance(),
        controller: None,
        facts: Some(facts),
        clusters: None,
    };
    match shared.target.act(setup, action).await {
        Ok(Some(Observed::Document(document))) => observed(document, deviation(&shared.options.substrate)),
        Ok(Some(Observed::Unknown(text))) => {
            inconclusive(Status::NotSupported, ReasonCode::Configuration, &text)
        }
        Ok(None) => {
            let text = "the target has no program that the tool can start";
            inconclusive(Status::NotSupported, ReasonCode::Form, text)
        }
        Err(error) => environment(error.to_string()),
    }
}

/// The cluster that the program works with, and the server that must live as long. Programs that ran on one server would share
/// its Leases, so each has an embedded server of its own; `None` if it cannot have the objects of the case.
async fn cluster(
    shared: &PartState<'_>,
    located: LocatedCase<'_>,
) -> Result<Option<(Option<Embedded>, Facts)>, NeedsError> {
    let objects = &located.case.given.cluster;
    if let Substrate::Direct(FactsFrom::Given(facts)) = &shared.options.substrate {
        return Ok(objects.is_empty().then(|| (None, facts.clone())));
    }
    let server = shared.embedded_server(true, None).await?;
    let facts = Facts::in_process(&server);
    let given = Needs { objects: objects.clone(), ..Needs::default() };
    given.write(&Cluster::new(server.storing_client())).await?;
    Ok(Some((Some(server), facts)))
}

fn deviation(substrate: &Substrate) -> Option<String> {
    match substrate {
        Substrate::Direct(_) | Substrate::Embedded | Substrate::Aggregated(_) => None,
        Substrate::Envtest(_) | Substrate::Whole(_) => Some("on a separate embedded API server".to_owned()),
    }
}

fn observed(document: Value, deviation: Option<String>) -> Attempt {
    let answer = Answer { allowed: true, object: Some(document), ..Answer::default() };
    let observation = Observation { called: None, input: None, answer };
    Attempt::Answered { observation: Box::new(observation), trace: None, evidence: None, deviation }
}

fn inconclusive(status: Status, code: ReasonCode, text: &str) -> Attempt {
    Attempt::Inconclusive(status, Reason::new(code, text))
}
