//! Causes of cases without the wanted result: one exchange that fails, one law, or one expectation may fail many cases of many
//! clauses. Reports and the gate show each cause once.

use std::collections::{BTreeMap, BTreeSet};

use contract::model::{Law, Level};

use crate::report::{CaseResult, Check, ClauseResult, ContractResult, ExchangeFailure, LawBreach, Status};

/// Cases with the same cause.
pub(crate) struct Cause<'a> {
    pub(crate) kind: CauseKind,
    pub(crate) contract: &'a ContractResult,
    pub(crate) clause: &'a ClauseResult,
    /// The first of the cases, in full.
    pub(crate) case: &'a CaseResult,
    /// The checks of this case that have the cause.
    pub(crate) checks: Vec<&'a Check>,
    /// What happened, if no check contains it.
    pub(crate) text: Option<&'a str>,
    /// The other cases.
    pub(crate) others: Vec<Affected<'a>>,
    /// Clauses that did not run because they presuppose a clause that has the cause.
    pub(crate) not_run: Vec<&'a str>,
}

/// A further case with a cause.
pub(crate) struct Affected<'a> {
    pub(crate) clause: &'a ClauseResult,
    pub(crate) contract: &'a str,
    pub(crate) case: &'a CaseResult,
    pub(crate) checks: Vec<&'a Check>,
}

/// What makes cases the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CauseKind {
    /// The environment, with this error.
    Environment(String),
    /// An exchange without a valid answer.
    Exchange(ExchangeFailure),
    /// A law.
    Law(Law),
    /// A clause, with this expectation and answer.
    Clause(String, String),
}

/// The causes of cases with this status, those that matter most first.
pub(crate) fn causes(contracts: &[ContractResult], status: Status) -> Vec<Cause<'_>> {
    let mut found = Causes::default();
    for contract in contracts {
        for clause in &contract.clauses {
            for case in clause.cases_with(status) {
                for (kind, checks) in kinds(clause, case) {
                    found.add(kind, contract, Affected { clause, contract: &contract.name, case, checks });
                }
            }
        }
    }
    if status == Status::Failed {
        found.add_breaches(contracts);
        found.add_not_run(contracts);
    }
    let mut causes = found.causes;
    causes.sort_by_key(Cause::rank);
    causes
}

/// The causes of one case, each with its checks.
pub(crate) fn kinds<'a>(clause: &ClauseResult, case: &'a CaseResult) -> Vec<(CauseKind, Vec<&'a Check>)> {
    if let Some(reason) = &case.reason {
        return vec![(CauseKind::Environment(format!("{:?} {}", reason.code, reason.text)), Vec::new())];
    }
    let mut shared: BTreeMap<CauseKind, Vec<&Check>> = BTreeMap::new();
    let mut own = Vec::new();
    for check in &case.checks {
        let law = (check.part == "law").then(|| crate::laws::named(&check.path)).flatten();
        match (check.failure, law) {
            (Some(failure), _) => shared.entry(CauseKind::Exchange(failure)).or_default().push(check),
            (None, Some(law)) => shared.entry(CauseKind::Law(law)).or_default().push(check),
            (None, None) => own.push(check),
        }
    }
    // What an exchange without an answer breaks besides follows from it.
    if let Some(failed) = shared.keys().find(|kind| matches!(kind, CauseKind::Exchange(_))).cloned() {
        let checks = shared.remove(&failed).unwrap_or_default();
        return vec![(failed, checks)];
    }
    let mut kinds: Vec<_> = shared.into_iter().collect();
    if !own.is_empty() || kinds.is_empty() {
        let text = |check: &&Check| format!("{} {} {} {}", check.part, check.path, check.want, check.got);
        let text = own.iter().map(text).collect::<Vec<_>>().join("\n");
        kinds.insert(0, (CauseKind::Clause(clause.id.clone(), text), own));
    }
    kinds
}

/// Whether a case failed only for causes that other clauses share.
pub(crate) fn shared_kind(clause: &ClauseResult, case: &CaseResult) -> Option<CauseKind> {
    let kinds = kinds(clause, case);
    let is_shared = |kind: &CauseKind| matches!(kind, CauseKind::Exchange(_) | CauseKind::Law(_));
    kinds
        .iter()
        .all(|(kind, _)| is_shared(kind))
        .then(|| kinds.into_iter().next())
        .flatten()
        .map(|(kind, _)| kind)
}

#[derive(Default)]
struct Causes<'a> {
    causes: Vec<Cause<'a>>,
}

impl<'a> Causes<'a> {
    fn add(&mut self, kind: CauseKind, contract: &'a ContractResult, affected: Affected<'a>) {
        if let Some(known) = self.causes.iter_mut().find(|cause| cause.kind == kind) {
            known.others.push(affected);
            return;
        }
        let Affected { clause, case, checks, .. } = affected;
        let (others, not_run) = (Vec::new(), Vec::new());
        self.causes.push(Cause { kind, contract, clause, case, checks, text: None, others, not_run });
    }

    /// Adds breaches of laws in cases without failed checks, such as waived ones. A clause that did not run because it presupposes
    /// another is listed as such, unless nothing else shows that the law is broken.
    fn add_breaches(&mut self, contracts: &'a [ContractResult]) {
        let mut known: BTreeSet<String> = self.causes.iter().flat_map(Cause::shared_ids).collect();
        let presupposed = presupposed(contracts);
        for with_not_run in [false, true] {
            let shown: Vec<CauseKind> = self.causes.iter().map(|cause| cause.kind.clone()).collect();
            for (contract, law, breach) in breaches(contracts) {
                let Some((clause, case)) = case_of(contract, &breach.case) else { continue };
                let kind = CauseKind::Law(law);
                // A clause that did not run because of an exchange that failed breaks laws for the same reason.
                let follows = || self.follows_from_an_exchange(root(&presupposed, &clause.id));
                let is_shown =
                    case.status != Status::NotRun || (with_not_run && !shown.contains(&kind) && !follows());
                if !is_shown || !known.insert(breach.case.clone()) {
                    continue;
                }
                let is_new = !self.causes.iter().any(|cause| cause.kind == kind);
                let checks = Vec::new();
                self.add(kind, contract, Affected { clause, contract: &contract.name, case, checks });
                if let (true, Some(cause)) = (is_new, self.causes.last_mut()) {
                    cause.text = Some(&breach.text);
                }
            }
        }
    }

    fn follows_from_an_exchange(&self, clause: &str) -> bool {
        let mut exchanges = self.causes.iter().filter(|cause| matches!(cause.kind, CauseKind::Exchange(_)));
        exchanges.any(|cause| cause.clauses().contains(&clause))
    }

    /// Adds clauses that did not run because one that they presuppose has a cause, directly or through others.
    fn add_not_run(&mut self, contracts: &'a [ContractResult]) {
        let presupposed = presupposed(contracts);
        for clause in presupposed.keys() {
            let root = root(&presupposed, clause);
            for cause in &mut self.causes {
                if cause.clauses().contains(&root) {
                    cause.not_run.push(clause);
                }
            }
        }
    }
}

/// The breaches of all laws that no waiver accepts.
fn breaches(contracts: &[ContractResult]) -> impl Iterator<Item = (&ContractResult, Law, &LawBreach)> {
    contracts.iter().flat_map(|contract| {
        let laws = contract.laws.iter().filter(|law| law.is_broken());
        laws.flat_map(move |law| law.broken.iter().map(move |breach| (contract, law.law, breach)))
    })
}

/// For each clause that did not run because it presupposes another: the clause at the end of the chain.
pub(crate) fn presupposed_roots(contracts: &[ContractResult]) -> BTreeMap<String, String> {
    let presupposed = presupposed(contracts);
    presupposed.keys().map(|clause| ((*clause).to_owned(), root(&presupposed, clause).to_owned())).collect()
}

fn presupposed(contracts: &[ContractResult]) -> BTreeMap<&str, &str> {
    let clauses = contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.filter_map(|clause| Some((clause.id.as_str(), presupposes(clause)?))).collect()
}

/// The clause that a clause presupposes, if it did not run for that reason.
fn presupposes(clause: &ClauseResult) -> Option<&str> {
    clause.cases_with(Status::NotRun).find_map(|case| case.reason.as_ref()?.clause.as_deref())
}

/// The clause at the end of a chain of presupposed clauses.
fn root<'a>(presupposed: &BTreeMap<&'a str, &'a str>, clause: &'a str) -> &'a str {
    let mut at = clause;
    for _ in 0..presupposed.len() {
        match presupposed.get(at) {
            Some(next) => at = next,
            None => break,
        }
    }
    at
}

fn case_of<'a>(contract: &'a ContractResult, id: &str) -> Option<(&'a ClauseResult, &'a CaseResult)> {
    contract.clauses.iter().find_map(|clause| {
        let name = id.strip_prefix(&clause.id)?.strip_prefix('/')?;
        Some((clause, clause.cases.iter().find(|case| case.name == name)?))
    })
}

impl<'a> Cause<'a> {
    /// `CP-093/CREATE`.
    pub(crate) fn id(&self) -> String {
        format!("{}/{}", self.clause.id, self.case.name)
    }

    /// The ids of the other cases.
    pub(crate) fn other_ids(&self) -> Vec<String> {
        self.others.iter().map(|other| format!("{}/{}", other.clause.id, other.case.name)).collect()
    }

    /// The ids of all cases, if clauses share the cause.
    fn shared_ids(&self) -> Vec<String> {
        match self.kind {
            CauseKind::Exchange(_) | CauseKind::Law(_) => {
                self.other_ids().into_iter().chain([self.id()]).collect()
            }
            CauseKind::Environment(_) | CauseKind::Clause(..) => Vec::new(),
        }
    }

    /// The clauses, each once, that of the first case first.
    pub(crate) fn clauses(&self) -> Vec<&'a str> {
        let mut clauses = vec![self.clause.id.as_str()];
        for other in &self.others {
            if !clauses.contains(&other.clause.id.as_str()) {
                clauses.push(&other.clause.id);
            }
        }
        clauses
    }

    /// The contracts, each once.
    pub(crate) fn contracts(&self) -> Vec<&'a str> {
        let mut contracts = vec![self.contract.name.as_str()];
        for other in &self.others {
            if !contracts.contains(&other.contract) {
                contracts.push(other.contract);
            }
        }
        contracts
    }

    /// The level: laws and exchanges bind as MUST does.
    pub(crate) fn level(&self) -> Level {
        match self.kind {
            CauseKind::Clause(..) => self.clause.level,
            CauseKind::Environment(_) | CauseKind::Exchange(_) | CauseKind::Law(_) => Level::Must,
        }
    }

    /// The subject: the id of the clause, `law idempotent`, `exchange`.
    pub(crate) fn subject(&self) -> String {
        self.kind.subject(&self.clause.id)
    }

    /// The sentence that does not hold, or what happened.
    pub(crate) fn sentence(&self) -> &'a str {
        self.kind.sentence().unwrap_or(&self.clause.text)
    }

    /// Further cases in which the cause shows in another way, each with the way.
    pub(crate) fn variants(&self) -> Vec<(&Affected<'a>, Vec<String>)> {
        let mut known = BTreeSet::from([crate::difference::sentences(&self.checks)]);
        let mut variants = Vec::new();
        for other in self.others.iter().filter(|other| !other.checks.is_empty()) {
            let sentences = crate::difference::sentences(&other.checks);
            if known.insert(sentences.clone()) {
                variants.push((other, sentences));
            }
        }
        variants
    }

    fn rank(&self) -> (u8, u8) {
        let kind = match self.kind {
            CauseKind::Exchange(_) | CauseKind::Environment(_) => 0,
            CauseKind::Law(_) => 1,
            CauseKind::Clause(..) => 2,
        };
        let level = match self.level() {
            Level::Must => 0,
            Level::Should => 1,
            Level::May => 2,
        };
        (level, kind)
    }
}

impl CauseKind {
    /// The subject in messages.
    pub(crate) fn subject(&self, clause: &str) -> String {
        match self {
            Self::Exchange(_) => "exchange".to_owned(),
            Self::Law(law) => format!("law {}", crate::laws::name(*law)),
            Self::Environment(_) | Self::Clause(..) => clause.to_owned(),
        }
    }

    /// What does not hold, if clauses share the cause.
    pub(crate) fn sentence(&self) -> Option<&'static str> {
        match self {
            Self::Exchange(failure) => Some(failure.sentence()),
            Self::Law(law) => Some(crate::laws::sentence(*law)),
            Self::Environment(_) | Self::Clause(..) => None,
        }
    }
}
