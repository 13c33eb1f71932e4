//! Rows about versions that run on the controller: each has a garden of its own that starts at the row's time, in which the
//! controller maintains the Shoot in virtual time. A controller outside of this process has the real time, to which the row's
//! dates are moved.
//!
//! The observation has the form of a decision's document, so that one clause judges both.

mod document;
mod garden;

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::case::Case;
use contract::expect::Expect;
use contract::gardener::decision::{Decision, Question};
use contract::model::Contract;
use serde_json::Value;

use self::garden::Garden;
use crate::exchange::Answer;
use crate::observation::Observation;
use crate::plan::{self, CaseRef, LocatedCase};
use crate::report::{Reason, ReasonCode, Status};
use crate::run::attempt::{self, milliseconds};
use crate::run::direct::Attempt;
use crate::run::scenario::{self, ScenarioEnd, ThreadOptions};
use crate::run::{CaseRun, FactsFrom, PartState, Substrate, end_reason, not_run};
use crate::target::{Chance, Target};

/// Why the row does not run on a real API server.
const ELSEWHERE: &str = "on embedded API servers in virtual time: a row about maintenance has its own time";
/// Why the row does not run with kinds of an aggregated API server.
const OF_CUSTOM_RESOURCES: &str =
    "on embedded API servers with custom resources: the row determines whether their admission runs";
/// Fields of a window's document that are known only after the next maintenance.
const NEXT: [&str; 2] = ["next", "window"];

/// Runs the cases in parallel; also returns environment errors.
pub(crate) fn run_all(shared: &PartState<'_>, cases: &[CaseRef]) -> (Vec<CaseRun>, Vec<String>) {
    let lanes = shared.state.parallel;
    scenario::in_lanes(shared, cases, lanes, |at, _| run_case(shared, at))
}

fn run_case(shared: &PartState<'_>, at: CaseRef) -> (CaseRun, Option<String>) {
    if shared.is_over() {
        return (not_run(shared, &[at], Status::NotRun, &end_reason(shared)).remove(0), None);
    }
    if let Substrate::Direct(FactsFrom::Given(_) | FactsFrom::Nowhere) = shared.options.substrate {
        let reason =
            Reason::new(ReasonCode::Substrate, "its controller must be started with a separate garden");
        return (not_run(shared, &[at], Status::NotSupported, &reason).remove(0), None);
    }
    let located = plan::locate(shared.contracts, at);
    let started = Instant::now();
    let case =
        MaintenanceCase { target: Arc::clone(shared.target), contracts: Arc::clone(shared.contracts), at };
    let outside = shared.target.is_outside();
    let waits = if outside { garden::REAL_PATIENCE } else { Duration::ZERO };
    let options = ThreadOptions { real_time: outside, waits, is_failed: &|| false };
    let observed = scenario::run_in_thread(shared.interrupt, &located.id(), &options, |abort| async move {
        tokio::select! {
            answer = case.answer() => answer.map(Some),
            () = abort.notified() => Ok(None),
        }
    });
    let (attempt, broken) = match observed {
        Ok(answer) => (attempt_of(located, answer, &shared.options.substrate), None),
        Err(ScenarioEnd::Interrupted) => (Attempt::Inconclusive(Status::NotRun, end_reason(shared)), None),
        Err(ScenarioEnd::NotSupported(text)) => {
            (Attempt::Inconclusive(Status::NotSupported, Reason::new(ReasonCode::Substrate, text)), None)
        }
        Err(ScenarioEnd::Environment(text)) => {
            let reason = Reason::new(ReasonCode::Environment, &text);
            (Attempt::Inconclusive(Status::Errored, reason), Some(text))
        }
    };
    let mut case_run = attempt::conclude(at, located, attempt);
    case_run.result.duration_ms = milliseconds(started.elapsed());
    (case_run, broken)
}

fn attempt_of(located: LocatedCase<'_>, answer: Answer, substrate: &Substrate) -> Attempt {
    let deviation = match substrate {
        Substrate::Envtest(_) | Substrate::Whole(_) => Some(ELSEWHERE),
        Substrate::Aggregated(_) => Some(OF_CUSTOM_RESOURCES),
        Substrate::Direct(_) | Substrate::Embedded => None,
    };
    let deviation = deviation.map(str::to_owned);
    let observation = Box::new(Observation { called: None, input: located.case.input(), answer });
    Attempt::Answered { observation, trace: None, evidence: None, deviation }
}

/// Everything that a row needs of the run. Its thread owns it, since the thread may outlive the run.
struct MaintenanceCase {
    target: Arc<dyn Target>,
    contracts: Arc<[Contract]>,
    at: CaseRef,
}

impl MaintenanceCase {
    /// The document of the row, or the reason why it is missing.
    async fn answer(&self) -> Result<Answer, ScenarioEnd> {
        let located = plan::locate(&self.contracts, self.at);
        let decision = located.case.when.decision().expect("the plan has decisions only");
        if self.target.is_outside()
            && let Some(reason) = unobservable_outside(&decision.asks)
        {
            return Err(ScenarioEnd::NotSupported(reason.to_owned()));
        }
        let document = match decision.asks {
            Question::Window => self.window(located, decision).await?,
            _ => self.maintenance(located, decision).await?,
        };
        Ok(match document {
            Ok(document) => Answer { allowed: true, object: Some(document), ..Answer::default() },
            Err(message) => Answer { message: Some(message), ..Answer::default() },
        })
    }

    /// The Shoot after a maintenance that an annotation requests.
    async fn maintenance(
        &self,
        located: LocatedCase<'_>,
        decision: &Decision,
    ) -> Result<MaintenanceResult, ScenarioEnd> {
        let garden = Garden::begin(&self.target, located, decision, Chance::Seeded).await?;
        let maintained = garden.maintained().await;
        garden.end().await;
        let given = located.case.given.object.clone().unwrap_or_default();
        let tells = decision.asks.tells();
        Ok(maintained?.map(|live| document::maintenance(given, &live, tells)))
    }

    /// Whether a Shoot is maintained at once, and, if the row asserts it, between which times it is maintained next.
    async fn window(
        &self,
        located: LocatedCase<'_>,
        decision: &Decision,
    ) -> Result<MaintenanceResult, ScenarioEnd> {
        let needs_next = asserts_next(located.case);
        let (mut at_once, mut spans) = (false, Vec::new());
        for chance in [Chance::Least, Chance::Greatest] {
            let garden = Garden::begin(&self.target, located, decision, chance).await?;
            let observed = garden.windows(needs_next).await;
            garden.end().await;
            match observed? {
                Ok((maintained, next)) => {
                    at_once = maintained;
                    spans.extend(next);
                }
                Err(reason) => return Ok(Err(reason)),
            }
            if !needs_next {
                break;
            }
        }
        Ok(Ok(document::window(at_once, decision.now, &spans)))
    }
}

/// Why a row cannot be observed on a controller outside of this process, which has the real time.
fn unobservable_outside(asks: &Question) -> Option<&'static str> {
    match asks {
        Question::Window => Some("it takes hours to observe a maintenance in the Shoot's time window"),
        Question::Maintenance { admitted: true } => Some("its garden has no admission"),
        _ => None,
    }
}

/// The document, or the reason why it is missing.
type MaintenanceResult = Result<Value, String>;

/// Whether a row asserts when the next maintenance is, which takes a day to observe.
fn asserts_next(case: &Case) -> bool {
    match &case.then.object {
        Some(Expect::Map(fields)) => NEXT.iter().any(|field| fields.contains_key(*field)),
        _ => true,
    }
}
