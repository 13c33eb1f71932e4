//! One finding per cause: a broken law, or an exchange without an answer, fails clauses of many contracts, and a broken clause
//! keeps those from running that presuppose it.

use std::collections::BTreeMap;

use super::Finding;
use crate::causes::{Cause, CauseKind, causes, presupposed_roots, shared_kind};
use crate::difference::{first_of, sentences};
use crate::render::{plural, repeat_command};
use crate::report::{ContractResult, LawResult, Report, Status, worst_exit_code};

/// Number of ids that are listed.
const NAMED: usize = 12;
/// Number of ways in which a cause shows that are listed.
const WAYS: usize = 3;

/// What a finding follows from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FindingCause {
    /// A cause that clauses share.
    Shared(CauseKind),
    /// A clause.
    Clause(String),
    /// A change that no clause explains: its place, objects and values, whatever contract shows it.
    Change(String),
}

/// The cause of a law's finding: the exchange that failed, if every breach follows from one.
pub(super) fn of_law(contract: &ContractResult, law: &LawResult) -> FindingCause {
    let cases =
        contract.clauses.iter().flat_map(|clause| clause.cases.iter().map(move |case| (clause, case)));
    let mut failures = cases.filter_map(|(clause, case)| {
        let id = format!("{}/{}", clause.id, case.name);
        law.broken.iter().any(|breach| breach.case == id).then(|| shared_kind(clause, case))
    });
    let is_exchange = |kind: &CauseKind| matches!(kind, CauseKind::Exchange(_));
    match failures.next().flatten().filter(is_exchange) {
        Some(failure) if failures.all(|kind| kind.as_ref().is_some_and(is_exchange)) => {
            FindingCause::Shared(failure)
        }
        _ => FindingCause::Shared(CauseKind::Law(law.law)),
    }
}

/// The findings, those of one cause as one.
pub(super) fn merged(findings: Vec<Finding>, report: &Report, contracts: &[ContractResult]) -> Vec<Finding> {
    let shared = causes(contracts, Status::Failed);
    let roots = roots(&findings, contracts);
    let mut kept: Vec<Finding> = Vec::new();
    let mut groups: BTreeMap<FindingCause, Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        let Some(of_finding) = finding.cause.clone() else {
            kept.push(finding);
            continue;
        };
        let root = match &of_finding {
            FindingCause::Clause(clause) => roots.get(clause).cloned().unwrap_or(of_finding),
            FindingCause::Shared(_) | FindingCause::Change(_) => of_finding,
        };
        groups.entry(root).or_default().push(finding);
    }
    for (cause, group) in groups {
        let known = match &cause {
            FindingCause::Shared(kind) => shared.iter().find(|cause| cause.kind == *kind),
            FindingCause::Clause(_) | FindingCause::Change(_) => None,
        };
        kept.push(match (known, &cause) {
            (Some(known), _) => of_cause(known, &group, report),
            (None, FindingCause::Change(_)) => of_change(&group),
            (None, _) => of_clause(group),
        });
    }
    kept
}

/// What the findings of a clause follow from in the end: through clauses that it presupposes, to a cause that clauses share.
fn roots(findings: &[Finding], contracts: &[ContractResult]) -> BTreeMap<String, FindingCause> {
    let presupposed = presupposed_roots(contracts);
    let of_clause = |clause: &String| {
        let root = presupposed.get(clause).unwrap_or(clause);
        let of_root = findings.iter().find(|finding| finding.subject == *root);
        match of_root.and_then(|finding| finding.cause.clone()) {
            Some(FindingCause::Shared(kind)) => FindingCause::Shared(kind),
            _ => FindingCause::Clause(root.clone()),
        }
    };
    let clauses = contracts.iter().flat_map(|contract| &contract.clauses);
    clauses.map(|clause| (clause.id.clone(), of_clause(&clause.id))).collect()
}

/// The finding that decides: the greatest action, then the exit code that wins.
fn worst(group: &[Finding]) -> Option<&Finding> {
    let action = group.iter().map(|finding| finding.action).max()?;
    let of_action = || group.iter().filter(|finding| finding.action == action);
    let code = worst_exit_code(&of_action().map(|finding| finding.exit_code).collect::<Vec<_>>());
    of_action().find(|finding| finding.exit_code == code)
}

/// One finding about a cause that clauses share.
fn of_cause(cause: &Cause<'_>, group: &[Finding], report: &Report) -> Finding {
    let Some(worst) = worst(group) else { unreachable!("a group has a finding") };
    let clauses = cause.clauses();
    let what = format!(
        "{}: {} of {} in {}",
        cause.sentence(),
        plural(cause.others.len() + 1, "case"),
        plural(clauses.len(), "clause"),
        plural(cause.contracts().len(), "contract")
    );
    let fix = repeat_command(report, &cause.id());
    let remedy = match &cause.kind {
        CauseKind::Law(law) => format!(
            "fix it ({fix}), or waive `clause: {}` with owner, reason and expiry date",
            crate::laws::name(*law)
        ),
        _ => format!("fix it ({fix})"),
    };
    let mut finding =
        Finding::new(cause.subject(), worst.action, 0).with_text(what, worst.why.clone(), remedy);
    finding.exit_code = worst.exit_code;
    finding.location = Some(cause.case.location.clone());
    finding.details.push(cause.id());
    finding.details.extend(sentences(&cause.checks).into_iter().take(WAYS));
    finding.details.extend(cause.text.map(str::to_owned));
    if let (CauseKind::Exchange(_), Some(message)) = (&cause.kind, crate::render::program_message(cause.case))
    {
        let place = message.place.map(|place| format!(" at {place}")).unwrap_or_default();
        finding.details.push(format!("the webhook said: {}{place}", message.text));
    }
    for (other, sentences) in cause.variants().into_iter().take(WAYS) {
        finding.details.push(format!(
            "also {}/{}: {}",
            other.clause.id,
            other.case.name,
            first_of(&sentences)
        ));
    }
    finding.details.push(format!("clauses: {}", ids(&clauses)));
    if !cause.not_run.is_empty() {
        finding.details.push(format!("not run for this reason: {}", ids(&cause.not_run)));
    }
    finding
}

/// The finding about a clause, with the clauses that did not run because they presuppose it.
fn of_clause(mut group: Vec<Finding>) -> Finding {
    let is_own = |finding: &Finding| finding.cause == Some(FindingCause::Clause(finding.subject.clone()));
    let lead = group.iter().position(is_own).unwrap_or_default();
    let Some(worst) = worst(&group).cloned() else { unreachable!("a group has a finding") };
    let mut finding = group.remove(lead);
    if group.is_empty() {
        return finding;
    }
    if worst.action > finding.action {
        (finding.action, finding.exit_code, finding.why) = (worst.action, worst.exit_code, worst.why);
    }
    let not_run: Vec<&str> = group.iter().map(|finding| finding.subject.as_str()).collect();
    finding.details.push(format!("not run for this reason: {}", ids(&not_run)));
    finding
}

/// One finding about a change that the cases of several contracts show.
fn of_change(group: &[Finding]) -> Finding {
    let Some(worst) = worst(group) else { unreachable!("a group has a finding") };
    let mut finding = worst.clone();
    for other in group.iter().filter(|other| other.subject != worst.subject) {
        finding.details.push(format!("also {}: {}", other.subject, other.details.join(", ")));
    }
    finding
}

fn ids(ids: &[&str]) -> String {
    let more = ids.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", ids[..ids.len().min(NAMED)].join(", "))
}
