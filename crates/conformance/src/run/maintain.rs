//! Rows about versions that run on the controller: each has a garden of its own that begins at the row's time, in which the
//! controller maintains the Shoot, in virtual time. A controller outside of this process has the real time, and the row's dates
//! are moved there.
//!
//! What is seen there is told as the decision would be, so that one clause judges both.

mod garden;
mod told;

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::case::Case;
use contract::decision::{Decision, Question};
use contract::expect::Expect;
use contract::model::Contract;
use serde_json::Value;

use self::garden::Garden;
use super::attempt::{self, milliseconds};
use super::direct::Attempt;
use super::scenario::{self, Apart, Ended};
use super::{Asked, FactsFrom, Ground, Shared, ended, unasked};
use crate::exchange::Answer;
use crate::observation::Observation;
use crate::plan::{self, CaseRef, Looked};
use crate::report::{Reason, ReasonCode, Status};
use crate::target::{Chance, Target};

/// Why no real API server is asked.
const ELSEWHERE: &str =
    "on embedded API servers in virtual time: a row about maintenance has a time of its own";
/// What is told of a window and takes the next maintenance to be seen.
const NEXT: [&str; 2] = ["next", "window"];

/// Asks the cases side by side; the second part says what broke around the target.
pub(super) fn ask_all(shared: &Shared<'_>, cases: &[CaseRef]) -> (Vec<Asked>, Vec<String>) {
    let lanes = shared.state.parallel;
    scenario::in_lanes(shared, cases, lanes, |at, _| ask(shared, at))
}

fn ask(shared: &Shared<'_>, at: CaseRef) -> (Asked, Option<String>) {
    if shared.is_over() {
        return (unasked(shared, &[at], Status::NotRun, &ended(shared)).remove(0), None);
    }
    if let Ground::Direct(FactsFrom::Given(_) | FactsFrom::Nowhere) = shared.options.ground {
        let reason =
            Reason::new(ReasonCode::Substrate, "its controller must be started with a garden of its own");
        return (unasked(shared, &[at], Status::NotSupported, &reason).remove(0), None);
    }
    let looked = plan::look(shared.contracts, at);
    let started = Instant::now();
    let scene = Scene { target: Arc::clone(shared.target), contracts: Arc::clone(shared.contracts), at };
    let outside = shared.target.is_outside();
    let waits = if outside { garden::REAL_PATIENCE } else { Duration::ZERO };
    let apart = Apart { real_time: outside, waits, is_gone: &|| false };
    let seen = scenario::apart(shared.interrupt, &looked.id(), &apart, |bark| async move {
        tokio::select! {
            answer = scene.answer() => answer.map(Some),
            () = bark.notified() => Ok(None),
        }
    });
    let (attempt, broken) = match seen {
        Ok(answer) => (answered(looked, answer, &shared.options.ground), None),
        Err(Ended::Interrupted) => (Attempt::Silent(Status::NotRun, ended(shared)), None),
        Err(Ended::NotSupported(text)) => {
            (Attempt::Silent(Status::NotSupported, Reason::new(ReasonCode::Substrate, text)), None)
        }
        Err(Ended::Environment(text)) => {
            let reason = Reason::new(ReasonCode::Environment, &text);
            (Attempt::Silent(Status::Errored, reason), Some(text))
        }
    };
    let mut asked = attempt::conclude(at, looked, attempt);
    asked.result.duration_ms = milliseconds(started.elapsed());
    (asked, broken)
}

fn answered(looked: Looked<'_>, answer: Answer, ground: &Ground) -> Attempt {
    let otherwise = matches!(ground, Ground::Envtest(_) | Ground::Whole(_)).then(|| ELSEWHERE.to_owned());
    let observation = Box::new(Observation { called: None, input: looked.case.input(), answer });
    Attempt::Answered { observation, trace: None, evidence: None, asked: otherwise }
}

/// What a row needs of the whole run. Its thread owns it, as nobody may wait for the thread.
struct Scene {
    target: Arc<dyn Target>,
    contracts: Arc<[Contract]>,
    at: CaseRef,
}

impl Scene {
    /// What comes of the row, as the document that tells it, or why nothing did.
    async fn answer(&self) -> Result<Answer, Ended> {
        let looked = plan::look(&self.contracts, self.at);
        let decision = looked.case.when.decision().expect("the plan has decisions only");
        if self.target.is_outside()
            && let Some(reason) = unseen_outside(&decision.asks)
        {
            return Err(Ended::NotSupported(reason.to_owned()));
        }
        let document = match decision.asks {
            Question::Window => self.window(looked, decision).await?,
            _ => self.maintenance(looked, decision).await?,
        };
        Ok(match document {
            Ok(document) => Answer { allowed: true, object: Some(document), ..Answer::default() },
            Err(message) => Answer { message: Some(message), ..Answer::default() },
        })
    }

    /// A Shoot that is told to be maintained, afterwards.
    async fn maintenance(&self, looked: Looked<'_>, decision: &Decision) -> Result<Told, Ended> {
        let garden = Garden::begin(&self.target, looked, decision, Chance::Seeded).await?;
        let maintained = garden.maintained().await;
        garden.end().await;
        let given = looked.case.given.object.clone().unwrap_or_default();
        let tells = decision.asks.tells();
        Ok(maintained?.map(|live| told::maintenance(given, &live, tells)))
    }

    /// Whether a Shoot is maintained at once, and between which times it is next, of which the row may ask nothing.
    async fn window(&self, looked: Looked<'_>, decision: &Decision) -> Result<Told, Ended> {
        let asks_next = asks_next(looked.case);
        let (mut at_once, mut spans) = (false, Vec::new());
        for chance in [Chance::Least, Chance::Greatest] {
            let garden = Garden::begin(&self.target, looked, decision, chance).await?;
            let seen = garden.windows(asks_next).await;
            garden.end().await;
            match seen? {
                Ok((maintained, next)) => {
                    at_once = maintained;
                    spans.extend(next);
                }
                Err(reason) => return Ok(Err(reason)),
            }
            if !asks_next {
                break;
            }
        }
        Ok(Ok(told::window(at_once, decision.now, &spans)))
    }
}

/// Why what is asked is not seen of a controller outside of this process, whose time is the real one.
fn unseen_outside(asks: &Question) -> Option<&'static str> {
    match asks {
        Question::Window => Some("when a Shoot is maintained by itself takes hours to be seen"),
        Question::Maintenance { admitted: true } => Some("its garden has no admission"),
        _ => None,
    }
}

/// What is told, or why nothing came about.
type Told = Result<Value, String>;

/// Whether a row asserts when the next maintenance is, which takes a day to be seen.
fn asks_next(case: &Case) -> bool {
    match &case.then.object {
        Some(Expect::Map(fields)) => NEXT.iter().any(|field| fields.contains_key(*field)),
        _ => true,
    }
}
