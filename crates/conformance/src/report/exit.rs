//! The exit code and its cause, computed from the report so that they cannot disagree.

use contract::model::{Law, Level};

use super::result::{ClauseResult, ReasonCode, Status, WaiverState, WaiverUse};
use super::{Report, Verdict, level};

/// Codes in the order in which they win.
const PRECEDENCE: [u8; 9] = [130, 143, 2, 1, 3, 7, 5, 6, 4];
/// Number of clauses that a cause names.
const NAMED: usize = 3;

/// Why a command ends with its exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitReason {
    /// The exit code.
    pub code: u8,
    /// The cause in words, without a full stop: `CP-093 (MUST) is broken`.
    pub cause: String,
}

/// The exit code of a command with several results: the code that wins over the others; 0 if there is none.
#[must_use]
pub fn worst_exit_code(codes: &[u8]) -> u8 {
    PRECEDENCE.into_iter().find(|code| codes.contains(code)).unwrap_or(0)
}

/// Names as a cause has them: `A`, `A and B`, `A, B, C and 4 more`.
#[must_use]
pub fn enumerate(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if names.len() <= NAMED => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more", names[..NAMED].join(", "), names.len() - NAMED),
    }
}

impl Report {
    /// 0 if all is well, else the first of 130, 143, 2, 1, 3, 7, 5, 6, 4 that applies; 6 only if the target is of this project.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.exit_reason().code
    }

    /// The exit code with its cause; for 0 the warnings, if there are any.
    #[must_use]
    pub fn exit_reason(&self) -> ExitReason {
        let reasons = self.reasons();
        let code = worst_exit_code(&reasons.iter().map(|reason| reason.code).collect::<Vec<_>>());
        let found = reasons.into_iter().find(|reason| reason.code == code);
        found.unwrap_or_else(|| ExitReason { code: 0, cause: self.success() })
    }

    /// Every code that applies, unordered.
    pub(crate) fn codes(&self) -> Vec<u8> {
        self.reasons().into_iter().map(|reason| reason.code).collect()
    }

    /// Everything that keeps the exit code from being 0. The first reason of a code is the one that is printed.
    fn reasons(&self) -> Vec<ExitReason> {
        let mut reasons = Vec::new();
        let mut add = |code: u8, cause: Option<String>| {
            reasons.extend(cause.map(|cause| ExitReason { code, cause }));
        };
        if let Some(signal) = self.interrupted {
            let name = if signal == 2 { "SIGINT" } else { "SIGTERM" };
            add(128 + signal, Some(format!("interrupted by {name}")));
        }
        // A clause whose waiver ended leads to 7, as it does in the gate: the waiver is what needs a decision.
        let mut broken_must = self.failed(Level::Must);
        broken_must.retain(|clause| !self.has_ended_waiver(&clause.id));
        let (of_laws, own): (Vec<_>, Vec<_>) =
            broken_must.into_iter().partition(|clause| clause.is_broken_by_laws_alone());
        add(1, broken(&own));
        add(1, self.broken_laws());
        add(1, self.unexplained());
        add(1, broken(&of_laws));
        add(3, self.errors());
        for waiver in &self.waivers {
            add(7, waiver_reason(waiver));
        }
        if !self.target.kind.is_foreign() {
            add(6, self.weakness());
        }
        add(4, self.incompleteness());
        reasons
    }

    /// What a run that ends with 0 says.
    fn success(&self) -> String {
        let kept = match self.verdict {
            Verdict::Partial => "no MUST clause is broken, but some could not run",
            _ => "every MUST clause that applies is kept",
        };
        let warned = self.failed(Level::Should);
        match broken(&warned) {
            Some(warning) => format!("{kept}; warning: {warning}"),
            None => kept.to_owned(),
        }
    }

    fn clauses(&self) -> impl Iterator<Item = &ClauseResult> {
        self.contracts.iter().flat_map(|contract| &contract.clauses)
    }

    /// The failed clauses of a level.
    fn failed(&self, of: Level) -> Vec<&ClauseResult> {
        self.clauses().filter(|clause| clause.level == of && clause.status == Status::Failed).collect()
    }

    fn has_ended_waiver(&self, clause: &str) -> bool {
        self.waivers.iter().any(|waiver| waiver.clause == clause && waiver.state == WaiverState::Expired)
    }

    /// The first broken law with the contracts in which it is broken, and how many others there are.
    fn broken_laws(&self) -> Option<String> {
        let mut laws: Vec<(Law, Vec<String>)> = Vec::new();
        for contract in &self.contracts {
            for law in contract.laws.iter().filter(|law| law.is_broken()) {
                match laws.iter_mut().find(|(known, _)| *known == law.law) {
                    Some((_, contracts)) => contracts.push(contract.name.clone()),
                    None => laws.push((law.law, vec![contract.name.clone()])),
                }
            }
        }
        let (law, contracts) = laws.first()?;
        let others = match laws.len() - 1 {
            0 => String::new(),
            1 => ", and 1 other law".to_owned(),
            others => format!(", and {others} other laws"),
        };
        let sentence = crate::laws::sentence(*law);
        Some(format!("the law \"{sentence}\" is broken in {}{others}", enumerate(contracts)))
    }

    fn unexplained(&self) -> Option<String> {
        let changes = self.contracts.iter().flat_map(|contract| &contract.unexplained);
        let paths: Vec<String> = changes.map(|change| change.path.clone()).collect();
        (!paths.is_empty()).then(|| format!("no clause explains the change of {}", enumerate(&paths)))
    }

    fn errors(&self) -> Option<String> {
        let first = self.environment_errors.first().map(|error| error.lines().next().unwrap_or_default());
        match (first, self.counts.errored) {
            (Some(first), _) => Some(format!("the environment failed: {first}")),
            (None, 0) => None,
            (None, 1) => Some("1 case could not run, which says nothing about the target".to_owned()),
            (None, cases) => {
                Some(format!("{cases} cases could not run, which says nothing about the target"))
            }
        }
    }

    /// Whether a passing MUST clause or a law is not proven, or there is a gap.
    fn weakness(&self) -> Option<String> {
        let unproven: Vec<String> = self
            .clauses()
            .filter(|clause| clause.level == Level::Must && clause.status == Status::Passed)
            .filter(|clause| clause.is_unproven())
            .map(|clause| clause.id.clone())
            .collect();
        if !unproven.is_empty() {
            let is = if unproven.len() == 1 { "is" } else { "are" };
            return Some(format!("{} {is} not proven able to fail", enumerate(&unproven)));
        }
        let gaps: Vec<String> = self
            .contracts
            .iter()
            .flat_map(|contract| contract.gaps.iter().map(|gap| format!("{} in {}", gap.path, contract.name)))
            .collect();
        if !gaps.is_empty() {
            return Some(format!("no case would miss the change of {}", enumerate(&gaps)));
        }
        let laws = self.contracts.iter().flat_map(|contract| &contract.laws);
        let law = laws.into_iter().find(|law| law.proven == Some(false))?;
        Some(format!("the law \"{}\" is not proven able to fail", crate::laws::sentence(law.law)))
    }

    /// Whether nothing was answered, or a case that should have run did not. A case that presupposes a broken clause should
    /// not have run: the broken clause decides.
    fn incompleteness(&self) -> Option<String> {
        let counts = &self.counts;
        if counts.passed + counts.failed + counts.waived + counts.unexpected_pass == 0 {
            return Some(self.unanswered());
        }
        let cases = || self.clauses().flat_map(|clause| &clause.cases);
        let missing = cases().filter(|case| case.status == Status::NotRun && !case.is_presupposed()).count();
        let vacuous = cases().filter(|case| case.status == Status::Vacuous).count();
        match (missing, vacuous) {
            (0, 0) => None,
            (0, 1) => Some("1 case asserts nothing".to_owned()),
            (0, cases) => Some(format!("{cases} cases assert nothing")),
            (1, _) => Some("1 case did not run".to_owned()),
            (cases, _) => Some(format!("{cases} cases did not run")),
        }
    }
}

impl Report {
    /// Why no case was answered, as far as it is the target's or the command line's: how many cases lack what.
    fn unanswered(&self) -> String {
        let count = |code: ReasonCode| {
            let cases = self.clauses().flat_map(|clause| &clause.cases);
            let reasons = cases.filter(|case| case.status == Status::NotSupported);
            reasons.filter(|case| case.reason.as_ref().is_some_and(|reason| reason.code == code)).count()
        };
        let why = [
            (ReasonCode::NotServed, "about webhooks that the target does not serve"),
            (ReasonCode::Facts, "with objects for a cluster that the target reads, which --kubeconfig names"),
            (ReasonCode::Configuration, "about another configuration of the target"),
            (ReasonCode::Registration, "about a registration, which a target file names"),
        ];
        let why = why.map(|(code, what)| (count(code), what));
        let why: Vec<String> = why
            .iter()
            .filter(|(cases, _)| *cases > 0)
            .map(|(cases, what)| format!("{cases} {what}"))
            .collect();
        let answered = "no case was answered";
        if why.is_empty() { answered.to_owned() } else { format!("{answered} ({})", why.join(", ")) }
    }
}

impl ClauseResult {
    /// Whether its cases failed only because a law is broken, whatever the clause asserts.
    fn is_broken_by_laws_alone(&self) -> bool {
        let mut checks = self.cases_with(Status::Failed).flat_map(|case| &case.checks).peekable();
        checks.peek().is_some() && checks.all(|check| check.part == "law")
    }
}

/// `CP-093 (MUST) is broken`; `None` without clauses.
fn broken(clauses: &[&ClauseResult]) -> Option<String> {
    let level = level(clauses.first()?.level);
    let ids: Vec<String> = clauses.iter().map(|clause| clause.id.clone()).collect();
    let is = if ids.len() == 1 { "is" } else { "are" };
    Some(format!("{} ({level}) {is} broken", enumerate(&ids)))
}

/// Why a waiver leads to 7: `the waiver of CP-017 ended 2026-10-01`; `None` if it does not.
pub(crate) fn waiver_reason(waiver: &WaiverUse) -> Option<String> {
    let WaiverUse { clause, owner, expires, .. } = waiver;
    match waiver.state {
        WaiverState::Expired => Some(format!("the waiver of {clause} ended {expires}")),
        WaiverState::UnexpectedPass => {
            Some(format!("{clause} is kept, although {owner} waived it: remove the waiver"))
        }
        WaiverState::Used | WaiverState::Unused => None,
    }
}
