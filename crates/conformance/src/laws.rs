//! The laws that apply to every case without being listed (contracts/README.md).
//!
//! Their requests are sent once per case and kept as a [`Trace`]; each law is a pure function on it, with the damages that
//! must break it.

use std::collections::BTreeMap;
use std::time::Duration;

use contract::model::Law;
use serde_json::Value;

use crate::difference::{self, Sides};
use crate::exchange::{Exchange, Outcome};
use crate::matching::Rules;
use crate::report::{ExchangeFailure, ValueChange};

mod deterministic;
mod dry_run;
mod echo;
mod idempotent;
mod keys;
mod patch_type;
mod requests;
mod timeout;
mod unrelated;
mod update;

pub use requests::{LawRequests, trace};

/// All laws, in the order of reports.
pub const ALL: [Law; 9] = [
    Law::Idempotent,
    Law::Deterministic,
    Law::UpdateKeepsMutation,
    Law::UnrelatedUntouched,
    Law::WithinTimeout,
    Law::DryRunHasNoEffect,
    Law::UidEchoed,
    Law::PatchTypeDeclared,
    Law::KeysUnique,
];

/// All exchanges of one case.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The request of the case.
    pub main: Exchange,
    /// The same bytes again.
    pub repeat: Option<Exchange>,
    /// The same in `admission.k8s.io/v1beta1`; absent if the registration does not name it.
    pub beta: Option<Exchange>,
    /// The same as a dry run.
    pub dry_run: Option<Exchange>,
    /// The result sent as the object.
    pub again: Option<Exchange>,
    /// The answer to a later UPDATE with the unchanged input.
    pub update: Update,
    /// A request about an unrelated object.
    pub unrelated: Option<Exchange>,
    /// Facts before and after the dry run.
    pub facts: Option<(Vec<Value>, Vec<Value>)>,
    /// The object of the request.
    pub input: Option<Value>,
    /// Declared timeout.
    pub timeout: Duration,
    /// Whether answers must have the same bytes.
    pub ours: bool,
    /// The traces of the webhooks that were called before this one, in order.
    pub earlier: Vec<Self>,
}

/// The result of the UPDATE that follows a CREATE.
#[derive(Clone, Debug)]
pub enum Update {
    /// The request is no CREATE, or nothing was changed.
    None,
    /// The registration does not send updates.
    NotCalled,
    /// The target answered.
    Answered(Box<Exchange>),
}

/// Whether a law held in one case; of several webhooks, the greatest value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LawOutcome {
    /// The law does not apply to the case.
    NotApplicable,
    /// It held.
    Kept,
    /// It was broken.
    Broken(Breach),
}

/// How a law was broken.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breach {
    /// What was expected and what happened.
    pub text: String,
    /// The values that differ between two answers.
    pub changes: Vec<ValueChange>,
    /// What happened to an exchange without a valid answer.
    pub failure: Option<ExchangeFailure>,
}

/// Judges every law on every webhook that was called.
#[must_use]
pub fn judge(trace: &Trace, rules: &Rules) -> BTreeMap<Law, LawOutcome> {
    let of_all = |law: Law| {
        let each = trace.earlier.iter().chain([trace]).map(|trace| check(law, trace, rules));
        each.max().unwrap_or(LawOutcome::NotApplicable)
    };
    ALL.into_iter().map(|law| (law, of_all(law))).collect()
}

/// Judges one law.
#[must_use]
pub fn check(law: Law, trace: &Trace, rules: &Rules) -> LawOutcome {
    match law {
        Law::Idempotent => idempotent::check(trace, rules),
        Law::Deterministic => deterministic::check(trace, rules),
        Law::UpdateKeepsMutation => update::check(trace, rules),
        Law::UnrelatedUntouched => unrelated::check(trace, rules),
        Law::WithinTimeout => timeout::check(trace),
        Law::DryRunHasNoEffect => dry_run::check(trace, rules),
        Law::UidEchoed => echo::check(trace),
        Law::PatchTypeDeclared => patch_type::check(trace),
        Law::KeysUnique => keys::check(trace, rules),
    }
}

/// Traces that break a law, made from one that keeps it: extra, late, broken and toggling answers. Empty if the law does not
/// apply.
#[must_use]
pub fn damaged(law: Law, trace: &Trace, rules: &Rules) -> Vec<Trace> {
    match law {
        Law::Idempotent => idempotent::damage(trace),
        Law::Deterministic => deterministic::damage(trace),
        Law::UpdateKeepsMutation => update::damage(trace),
        Law::UnrelatedUntouched => unrelated::damage(trace),
        Law::WithinTimeout => timeout::damage(trace),
        Law::DryRunHasNoEffect => dry_run::damage(trace),
        Law::UidEchoed => echo::damage(trace),
        Law::PatchTypeDeclared => patch_type::damage(trace),
        Law::KeysUnique => keys::damage(trace, rules),
    }
}

/// Whether the law is broken in each damaged trace.
#[must_use]
pub fn is_caught(law: Law, trace: &Trace, rules: &Rules) -> bool {
    damaged(law, trace, rules)
        .iter()
        .all(|damaged| matches!(check(law, damaged, rules), LawOutcome::Broken(_)))
}

impl Trace {
    /// All exchanges.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Exchange> {
        let update = match &self.update {
            Update::Answered(exchange) => Some(exchange.as_ref()),
            Update::None | Update::NotCalled => None,
        };
        let more = [&self.repeat, &self.beta, &self.dry_run, &self.again];
        std::iter::once(&self.main).chain(more.into_iter().flatten()).chain(update)
    }
}

/// An answer with an additional change, as a toggling or careless target would send it.
fn extra(exchange: &Exchange) -> Exchange {
    let mut damaged = exchange.clone();
    if let Outcome::Answered(answer) = &mut damaged.outcome {
        let untouched = serde_json::json!({});
        let object = answer.object.get_or_insert(untouched);
        object["metadata"]["labels"]["saboteur.gardener.cloud/extra"] = Value::String("true".to_owned());
        answer.patched = true;
    }
    damaged.response = damaged.response.map(|(status, body)| {
        let mut bytes = body.to_vec();
        bytes.push(b' ');
        (status, bytes.into())
    });
    damaged
}

/// A short description of an exchange's outcome, for messages.
fn describe(exchange: &Exchange) -> String {
    match &exchange.outcome {
        Outcome::Answered(answer) if answer.allowed => "allowed".to_owned(),
        Outcome::Answered(answer) => {
            format!("denied: {}", answer.message.as_deref().unwrap_or("without a message"))
        }
        Outcome::Garbled(bad) => bad.to_string(),
        Outcome::Late(timeout) => format!("no answer within {timeout:?}"),
        Outcome::NotServed => "404".to_owned(),
        Outcome::NotPut(reason) => reason.clone(),
        Outcome::Unreachable(error) => error.to_string(),
    }
}

/// A breach by the difference between two results.
fn differs(what: &str, (first, second): (Option<&Value>, Option<&Value>), rules: &Rules) -> LawOutcome {
    let paths = crate::matching::changes(first, second, rules);
    let changes: Vec<ValueChange> =
        paths.iter().map(|path| crate::observation::change(path, first, second)).collect();
    let text = format!("{what}: {}", difference::sentence_of_changes(&changes, Sides::ANSWERS));
    LawOutcome::Broken(Breach { text, changes, failure: None })
}

/// A breach by an exchange with another outcome than the first one.
fn answers_otherwise(what: &str, exchange: &Exchange) -> LawOutcome {
    let (text, failure) = (format!("{what}: {}", describe(exchange)), exchange.outcome.failure());
    LawOutcome::Broken(Breach { text, changes: Vec::new(), failure })
}

/// A breach by an exchange without a valid answer.
fn fails(text: String, failure: ExchangeFailure) -> LawOutcome {
    LawOutcome::Broken(Breach { text, changes: Vec::new(), failure: Some(failure) })
}

/// A breach without values to show.
fn breaks(text: impl Into<String>) -> LawOutcome {
    LawOutcome::Broken(Breach { text: text.into(), ..Breach::default() })
}

impl Trace {
    /// A trace of a single exchange.
    #[must_use]
    pub fn only(main: Exchange, input: Option<Value>, timeout: Duration) -> Self {
        Self {
            main,
            repeat: None,
            beta: None,
            dry_run: None,
            again: None,
            update: Update::None,
            unrelated: None,
            facts: None,
            input,
            timeout,
            ours: false,
            earlier: Vec::new(),
        }
    }
}

/// `idempotent`: the law's name in contracts and reports.
#[must_use]
pub fn name(law: Law) -> String {
    serde_json::to_value(law).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Why webhooks must keep the law.
#[must_use]
pub fn why(law: Law) -> &'static str {
    match law {
        Law::Idempotent => {
            "an API server calls a webhook again with the webhook's own result: on reinvocation, and on each update"
        }
        Law::Deterministic => "an API server may repeat a request, and every reconciliation of Gardener does",
        Law::UpdateKeepsMutation => {
            "Gardener applies its own object again at each reconciliation, and the webhook must change it again"
        }
        Law::UnrelatedUntouched => "a registration may select more objects than the webhook expects",
        Law::WithinTimeout => "an API server does not wait longer",
        Law::DryRunHasNoEffect => "a dry run must change nothing, and clients rely on its answer",
        Law::UidEchoed => "an API server refuses an answer that does not belong to its request",
        Law::PatchTypeDeclared => {
            "an API server refuses a patch without a type, and one that does not fit the object"
        }
        Law::KeysUnique => {
            "an API server refuses some lists with a key twice, and server-side apply fails on all"
        }
    }
}

/// The law with this name.
#[must_use]
pub fn named(name: &str) -> Option<Law> {
    serde_json::from_value(Value::String(name.to_owned())).ok()
}

/// The law as a sentence.
#[must_use]
pub fn sentence(law: Law) -> &'static str {
    match law {
        Law::Idempotent => "applying twice gives what applying once gave",
        Law::Deterministic => "the same input gives the same result",
        Law::UpdateKeepsMutation => "UPDATE keeps what CREATE made",
        Law::UnrelatedUntouched => "an unrelated object gets no patch",
        Law::WithinTimeout => "the answer comes within the declared timeout",
        Law::DryRunHasNoEffect => "a dry run has no side effect",
        Law::UidEchoed => "a review comes back that echoes the uid of the request",
        Law::PatchTypeDeclared => "a patch declares its type and can be applied",
        Law::KeysUnique => "no keyed list holds a key twice",
    }
}
