//! What the harness keeps of the exchanges of a finished case: whether each law held and how long they took. For each law of a
//! contract, it keeps the exchanges of one case to prove that the law can be broken.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use contract::model::Law;

use super::CaseRun;
use crate::laws::{self, LawOutcome, Trace};
use crate::matching::Rules;
use crate::plan::CaseRef;

/// Laws and duration of the exchanges of a case.
pub(crate) struct Traced {
    pub(crate) laws: BTreeMap<Law, LawOutcome>,
    /// How long all exchanges took.
    pub(crate) took: Duration,
    /// Kept until the case is done.
    exchanges: Option<Arc<(Trace, Rules)>>,
}

impl Traced {
    pub(crate) fn of(trace: Trace, rules: Rules) -> Self {
        let all = trace.earlier.iter().chain([&trace]).flat_map(Trace::all);
        let took = all.map(|exchange| exchange.took).sum();
        Self { laws: laws::judge(&trace, &rules), took, exchanges: Some(Arc::new((trace, rules))) }
    }
}

/// For each law of a contract the first case, in order, whose exchanges can prove that it can be broken.
#[derive(Default)]
pub(crate) struct Witnesses(Mutex<BTreeMap<(usize, Law), Witness>>);

struct Witness {
    at: CaseRef,
    exchanges: Arc<(Trace, Rules)>,
}

impl Witnesses {
    /// Takes the exchanges of a case, and keeps them for the laws that no earlier case can prove.
    pub(super) fn take_from(&self, case_run: &mut CaseRun) {
        let Some(traced) = &mut case_run.traced else { return };
        let Some(exchanges) = traced.exchanges.take() else { return };
        let key = |law: Law| (case_run.at.contract, law);
        let is_first = |witnesses: &BTreeMap<_, Witness>, law: Law| {
            witnesses.get(&key(law)).is_none_or(|witness| case_run.at < witness.at)
        };
        let wanted: Vec<Law> = {
            let witnesses = self.lock();
            laws::ALL.into_iter().filter(|law| is_first(&witnesses, *law)).collect()
        };
        // Damages copy exchanges, so this runs without the lock.
        let (trace, rules) = exchanges.as_ref();
        let can_prove = |law: &Law| {
            laws::check(*law, trace, rules) == LawOutcome::Kept
                && !laws::damaged(*law, trace, rules).is_empty()
        };
        let able: Vec<Law> = wanted.into_iter().filter(can_prove).collect();
        let mut witnesses = self.lock();
        for law in able {
            if is_first(&witnesses, law) {
                witnesses.insert(key(law), Witness { at: case_run.at, exchanges: Arc::clone(&exchanges) });
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(usize, Law), Witness>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the proof of each law of each contract succeeds.
    pub(super) fn prove(self) -> BTreeMap<(usize, Law), bool> {
        let witnesses = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let caught = |((contract, law), witness): ((usize, Law), Witness)| {
            let (trace, rules) = witness.exchanges.as_ref();
            ((contract, law), laws::is_caught(law, trace, rules))
        };
        witnesses.into_iter().map(caught).collect()
    }
}
