//! The laws that hold on every case without being listed (contracts/README.md).
//!
//! What is needed to judge them is asked once per case and kept as a [`Trace`]; each law is a pure function on it and
//! brings the damage that must break it.

use std::collections::BTreeMap;
use std::time::Duration;

use contract::model::Law;
use serde_json::Value;

use crate::exchange::{Exchange, Outcome};
use crate::matching::Rules;

mod ask;
mod deterministic;
mod dry_run;
mod echo;
mod idempotent;
mod keys;
mod patch_type;
mod timeout;
mod unrelated;
mod update;

pub use ask::{Asking, trace};

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

/// Everything that was asked about one case.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The request of the case.
    pub main: Exchange,
    /// The same bytes again.
    pub repeat: Option<Exchange>,
    /// The same in `admission.k8s.io/v1beta1`; absent where the registration does not name it.
    pub beta: Option<Exchange>,
    /// The same as a dry run.
    pub dry_run: Option<Exchange>,
    /// The result sent as the object.
    pub again: Option<Exchange>,
    /// What a later UPDATE with the unchanged input was answered.
    pub update: Update,
    /// An object that the webhook has nothing to do with.
    pub unrelated: Option<Exchange>,
    /// Facts before and after the dry run.
    pub facts: Option<(Vec<Value>, Vec<Value>)>,
    /// The object of the request.
    pub input: Option<Value>,
    /// Declared timeout.
    pub timeout: Duration,
    /// Whether the same bytes are demanded.
    pub ours: bool,
    /// The same of the webhooks that were asked before this one, in order.
    pub earlier: Vec<Self>,
}

/// What became of the UPDATE that follows a CREATE.
#[derive(Clone, Debug)]
pub enum Update {
    /// Not a CREATE, or nothing was changed.
    None,
    /// The registration does not send updates.
    NotCalled,
    /// Answered.
    Asked(Box<Exchange>),
}

/// Whether a law held in one case; of several webhooks the greatest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// The case gave no occasion.
    NoOccasion,
    /// It did.
    Yes,
    /// It did not: what was wanted and what came.
    No(String),
}

/// Judges every law on every webhook that was asked.
#[must_use]
pub fn judge(trace: &Trace, rules: &Rules) -> BTreeMap<Law, Held> {
    let of_all = |law: Law| {
        let each = trace.earlier.iter().chain([trace]).map(|trace| hold(law, trace, rules));
        each.max().unwrap_or(Held::NoOccasion)
    };
    ALL.into_iter().map(|law| (law, of_all(law))).collect()
}

/// Judges one law.
#[must_use]
pub fn hold(law: Law, trace: &Trace, rules: &Rules) -> Held {
    match law {
        Law::Idempotent => idempotent::hold(trace, rules),
        Law::Deterministic => deterministic::hold(trace, rules),
        Law::UpdateKeepsMutation => update::hold(trace, rules),
        Law::UnrelatedUntouched => unrelated::hold(trace, rules),
        Law::WithinTimeout => timeout::hold(trace),
        Law::DryRunHasNoEffect => dry_run::hold(trace, rules),
        Law::UidEchoed => echo::hold(trace),
        Law::PatchTypeDeclared => patch_type::hold(trace),
        Law::KeysUnique => keys::hold(trace, rules),
    }
}

/// Traces that break a law, made from one that keeps it: extra, late, broken and toggling answers. Empty: this one gives no
/// occasion to.
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

/// Whether the law is seen to be broken in each trace that breaks it.
#[must_use]
pub fn is_caught(law: Law, trace: &Trace, rules: &Rules) -> bool {
    damaged(law, trace, rules).iter().all(|damaged| matches!(hold(law, damaged, rules), Held::No(_)))
}

impl Trace {
    /// Every exchange there was.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Exchange> {
        let update = match &self.update {
            Update::Asked(exchange) => Some(exchange.as_ref()),
            Update::None | Update::NotCalled => None,
        };
        let more = [&self.repeat, &self.beta, &self.dry_run, &self.again];
        std::iter::once(&self.main).chain(more.into_iter().flatten()).chain(update)
    }
}

/// An answer that touches more than the true one: what a toggling or careless target would send.
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

/// In a word, what an exchange came to, for messages.
fn words(exchange: &Exchange) -> String {
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

/// The first few places where two results differ, for messages.
fn difference(want: Option<&Value>, got: Option<&Value>, rules: &Rules) -> String {
    let changed = crate::matching::changes(want, got, rules);
    let more = if changed.len() > 3 { format!(" and {} more", changed.len() - 3) } else { String::new() };
    let shown: Vec<String> = changed
        .iter()
        .take(3)
        .map(|path| {
            let at = |object: Option<&Value>| {
                let value = object.and_then(|object| crate::matching::get(object, path));
                crate::observation::shown(object, &path.to_string(), value.as_ref())
            };
            format!("{path}: {} → {}", at(want), at(got))
        })
        .collect();
    format!("{}{more}", shown.join(", "))
}

impl Trace {
    /// A single exchange, after which nothing more was asked.
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

/// The law in a sentence.
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
