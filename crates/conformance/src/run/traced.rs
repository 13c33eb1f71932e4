//! What is kept of the exchanges of a case once it is concluded: whether each law held and how long they took. The exchanges
//! themselves are kept of one case for each law of a contract, to show that the law can be broken.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use contract::model::Law;

use super::Asked;
use crate::laws::{self, Held, Trace};
use crate::matching::Rules;
use crate::plan::CaseRef;

/// What is kept of the exchanges of a case.
pub(crate) struct Traced {
    pub(crate) held: BTreeMap<Law, Held>,
    /// How long all exchanges took.
    pub(crate) took: Duration,
    /// Until the case is done.
    exchanges: Option<Arc<(Trace, Rules)>>,
}

impl Traced {
    pub(crate) fn of(trace: Trace, rules: Rules) -> Self {
        let all = trace.earlier.iter().chain([&trace]).flat_map(Trace::all);
        let took = all.map(|exchange| exchange.took).sum();
        Self { held: laws::judge(&trace, &rules), took, exchanges: Some(Arc::new((trace, rules))) }
    }
}

/// For each law of a contract the first case, in order, whose exchanges can show that it can be broken.
#[derive(Default)]
pub(crate) struct Witnesses(Mutex<BTreeMap<(usize, Law), Witness>>);

struct Witness {
    at: CaseRef,
    exchanges: Arc<(Trace, Rules)>,
}

impl Witnesses {
    /// Takes the exchanges of a case, and keeps them for the laws that no earlier case shows.
    pub(super) fn take_from(&self, asked: &mut Asked) {
        let Some(traced) = &mut asked.traced else { return };
        let Some(exchanges) = traced.exchanges.take() else { return };
        let key = |law: Law| (asked.at.contract, law);
        let is_first = |witnesses: &BTreeMap<_, Witness>, law: Law| {
            witnesses.get(&key(law)).is_none_or(|witness| asked.at < witness.at)
        };
        let wanted: Vec<Law> = {
            let witnesses = self.lock();
            laws::ALL.into_iter().filter(|law| is_first(&witnesses, *law)).collect()
        };
        // Damages copy exchanges, so others are not kept waiting meanwhile.
        let (trace, rules) = exchanges.as_ref();
        let shows = |law: &Law| {
            laws::hold(*law, trace, rules) == Held::Yes && !laws::damaged(*law, trace, rules).is_empty()
        };
        let able: Vec<Law> = wanted.into_iter().filter(shows).collect();
        let mut witnesses = self.lock();
        for law in able {
            if is_first(&witnesses, law) {
                witnesses.insert(key(law), Witness { at: asked.at, exchanges: Arc::clone(&exchanges) });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(usize, Law), Witness>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether each law of each contract is shown able to break.
    pub(super) fn prove(self) -> BTreeMap<(usize, Law), bool> {
        let witnesses = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let caught = |((contract, law), witness): ((usize, Law), Witness)| {
            let (trace, rules) = witness.exchanges.as_ref();
            ((contract, law), laws::is_caught(law, trace, rules))
        };
        witnesses.into_iter().map(caught).collect()
    }
}
