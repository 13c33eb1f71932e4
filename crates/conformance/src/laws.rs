//! The laws that apply to every case without being listed (contracts/README.md).
//!
//! Their requests are sent once per case and kept as a [`Trace`]; each law is a pure function on it, with the damages that
//! must break it.

use std::collections::BTreeMap;
use std::time::Duration;

use contract::model::Law;
use serde_json::Value;

use crate::exchange::{Exchange, Outcome};
use crate::matching::Rules;

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
    /// It was broken: what was expected and what happened.
    Broken(String),
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

/// The first few differences between two results, for messages.
fn difference(want: Option<&Value>, got: Option<&Value>, rules: &Rules) -> String {
    let changed = crate::matching::changes(want, got, rules);
    let more = if changed.len() > 3 { format!(" and {} more", changed.len() - 3) } else { String::new() };
    let shown: Vec<String> = changed
        .iter()
        .take(3)
        .map(|path| {
            let at = |object: Option<&Value>| {
                let value = object.and_then(|object| crate::matching::get(object, path));
                crate::observation::format_masked(object, &path.to_string(), value.as_ref())
            };
            format!("{path}: {} → {}", at(want), at(got))
        })
        .collect();
    format!("{}{more}", shown.join(", "))
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
