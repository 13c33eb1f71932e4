//! Cases of the form configuration: starts the target with each and observes whether it accepts the configuration.

use futures::StreamExt as _;
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;

use super::direct::Attempt;
use super::group::all_errored;
use super::{CaseRun, FactsFrom, PartState, Substrate, attempt, end_reason, not_run};
use crate::observation::Observation;
use crate::plan::{self, CaseRef, LocatedCase};
use crate::report::{Reason, ReasonCode, Status};
use crate::target::{Configured, Facts, NeedsError, Trial};

/// Runs the cases; also returns an environment error.
pub(super) async fn run_cases(shared: &PartState<'_>, cases: &[CaseRef]) -> (Vec<CaseRun>, Option<String>) {
    if cases.is_empty() {
        return (Vec::new(), None);
    }
    let (server, facts) = match cluster(shared).await {
        Ok(cluster) => cluster,
        Err(error) => return all_errored(shared, cases, &error.to_string()),
    };
    let side_by_side = if shared.options.fail_fast { 1 } else { shared.state.parallel };
    let cases = cases.iter().map(|at| run_case(shared, *at, facts.clone()));
    let case_runs = futures::stream::iter(cases).buffer_unordered(side_by_side).collect().await;
    drop(server);
    (case_runs, None)
}

/// The cluster that the target starts with, and the server that must live as long.
async fn cluster(shared: &PartState<'_>) -> Result<(Option<Embedded>, Option<Facts>), NeedsError> {
    let needs = shared.target.needs();
    let facts = match &shared.options.substrate {
        Substrate::Direct(FactsFrom::Given(facts)) => return Ok((None, Some(facts.clone()))),
        Substrate::Envtest(server) => Facts::of(server.shared()),
        Substrate::Whole(whole) => Facts::of(&whole.cluster),
        // A target outside this process needs a cluster to start.
        _ if shared.target.is_outside() => {
            let server = shared.embedded_server(true, None).await?;
            let facts = Facts::in_process(&server);
            return Ok((Some(server), Some(facts)));
        }
        _ => return Ok((None, None)),
    };
    needs.write(&Cluster::new(facts.client.clone())).await?;
    Ok((None, Some(facts)))
}

async fn run_case(shared: &PartState<'_>, at: CaseRef, facts: Option<Facts>) -> CaseRun {
    if shared.is_over() {
        return not_run(shared, &[at], Status::NotRun, &end_reason(shared)).remove(0);
    }
    let located = plan::locate(shared.contracts, at);
    let then = &located.case.then;
    let trial = Trial {
        component: &located.contract.component,
        config: &located.case.config,
        effective: then.object.is_some(),
        facts,
    };
    let started = std::time::Instant::now();
    let attempt = tokio::select! {
        configured = shared.target.configure(trial) => match configured {
            Ok(Some(configured)) => observed(located, configured),
            Ok(None) => {
                Attempt::Inconclusive(Status::NotSupported, reason("the target's configuration cannot be set"))
            }
            Err(error) => {
                Attempt::Inconclusive(Status::Errored, Reason::new(ReasonCode::Environment, error.to_string()))
            }
        },
        _ = shared.interrupt.wait() => Attempt::Inconclusive(Status::NotRun, end_reason(shared)),
    };
    let mut case_run = attempt::conclude(at, located, attempt);
    case_run.result.duration_ms = attempt::milliseconds(started.elapsed());
    shared.done(&mut case_run);
    case_run
}

fn observed(located: LocatedCase<'_>, configured: Configured) -> Attempt {
    let then = &located.case.then;
    if let Configured::Started { warnings, effective } = &configured {
        let unobservable = [
            (then.warnings.is_some() && warnings.is_none(), "warnings of the target"),
            (then.object.is_some() && effective.is_none(), "defaults that the target sets"),
        ];
        if let Some((_, what)) = unobservable.into_iter().find(|(is_unobservable, _)| *is_unobservable) {
            return Attempt::Inconclusive(
                Status::NotSupported,
                reason(&format!("{what} cannot be observed from outside")),
            );
        }
    }
    let observation = Observation { called: None, input: None, answer: configured.into_answer() };
    Attempt::Answered { observation: Box::new(observation), trace: None, evidence: None, deviation: None }
}

fn reason(text: &str) -> Reason {
    Reason::new(ReasonCode::Configuration, text)
}
