//! Cases of the form configuration: the target is started with each, and what becomes of it is what is seen.

use futures::StreamExt as _;
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;

use super::direct::Attempt;
use super::group::broken;
use super::{Asked, FactsFrom, Ground, Shared, attempt, ended, unasked};
use crate::observation::Observation;
use crate::plan::{self, CaseRef, Looked};
use crate::report::{Reason, ReasonCode, Status};
use crate::target::{Configured, Facts, NeedsError, Trial};

/// Asks the cases; the second part says what broke around the target.
pub(super) async fn ask(shared: &Shared<'_>, cases: &[CaseRef]) -> (Vec<Asked>, Option<String>) {
    if cases.is_empty() {
        return (Vec::new(), None);
    }
    let (server, facts) = match cluster(shared).await {
        Ok(cluster) => cluster,
        Err(error) => return broken(shared, cases, &error.to_string()),
    };
    let side_by_side = if shared.options.fail_fast { 1 } else { shared.state.parallel };
    let cases = cases.iter().map(|at| one(shared, *at, facts.clone()));
    let asked = futures::stream::iter(cases).buffer_unordered(side_by_side).collect().await;
    drop(server);
    (asked, None)
}

/// What the target is started with, and the server that lives as long.
async fn cluster(shared: &Shared<'_>) -> Result<(Option<Embedded>, Option<Facts>), NeedsError> {
    let needs = shared.target.needs();
    let facts = match &shared.options.ground {
        Ground::Direct(FactsFrom::Given(facts)) => return Ok((None, Some(facts.clone()))),
        Ground::Envtest(server) => Facts::of(server.shared()),
        Ground::Whole(whole) => Facts::of(&whole.cluster),
        // Whoever runs outside this process is started with a cluster.
        _ if shared.target.is_outside() => {
            let server = needs.embedded(true, None).await?;
            let facts = Facts::in_process(&server);
            return Ok((Some(server), Some(facts)));
        }
        _ => return Ok((None, None)),
    };
    needs.write(&Cluster::new(facts.client.clone())).await?;
    Ok((None, Some(facts)))
}

async fn one(shared: &Shared<'_>, at: CaseRef, facts: Option<Facts>) -> Asked {
    if shared.is_over() {
        return unasked(shared, &[at], Status::NotRun, &ended(shared)).remove(0);
    }
    let looked = plan::look(shared.contracts, at);
    let then = &looked.case.then;
    let trial = Trial {
        component: &looked.contract.component,
        config: &looked.case.config,
        effective: then.object.is_some(),
        facts,
    };
    let started = std::time::Instant::now();
    let attempt = tokio::select! {
        configured = shared.target.configure(trial) => match configured {
            Ok(Some(configured)) => seen(looked, configured),
            Ok(None) => {
                Attempt::Silent(Status::NotSupported, reason("the target's configuration cannot be set"))
            }
            Err(error) => {
                Attempt::Silent(Status::Errored, Reason::new(ReasonCode::Environment, error.to_string()))
            }
        },
        _ = shared.interrupt.wait() => Attempt::Silent(Status::NotRun, ended(shared)),
    };
    let mut asked = attempt::conclude(at, looked, attempt);
    asked.result.duration_ms = attempt::milliseconds(started.elapsed());
    shared.done(&mut asked);
    asked
}

fn seen(looked: Looked<'_>, configured: Configured) -> Attempt {
    let then = &looked.case.then;
    if let Configured::Started { warnings, effective } = &configured {
        let unseen = [
            (then.warnings.is_some() && warnings.is_none(), "what the target warns of"),
            (then.object.is_some() && effective.is_none(), "the defaults that the target fills in"),
        ];
        if let Some((_, what)) = unseen.into_iter().find(|(unseen, _)| *unseen) {
            return Attempt::Silent(
                Status::NotSupported,
                reason(&format!("{what} cannot be seen from outside")),
            );
        }
    }
    let observation = Observation { called: None, input: None, answer: configured.into_answer() };
    Attempt::Answered { observation: Box::new(observation), trace: None, evidence: None, asked: None }
}

fn reason(text: &str) -> Reason {
    Reason::new(ReasonCode::Configuration, text)
}
