//! Findings about a contract: laws, unexplained changes and gaps.

use contract::document::policy::Action;
use contract::model::Level;

use super::baseline::{Baseline, BaselineState, decide};
use super::causes::FindingCause;
use super::{Finding, GateInput, verb};
use crate::difference::{Sides, sentence_of_changes};
use crate::render::{plural, repeat_command};
use crate::report::{ContractResult, LawResult, ValueChange};

/// Findings of one contract.
pub(super) fn findings(
    findings: &mut Vec<Finding>,
    gate: &GateInput<'_>,
    contract: &ContractResult,
    baseline: Option<&Baseline>,
) {
    let before = baseline.and_then(|baseline| baseline.contract(&contract.name));
    laws(findings, gate, contract, before);
    unexplained(findings, gate, contract, before);
    gaps(findings, gate, contract, before);
    let action = gate.against.policy.findings.unasked;
    for unasked in &contract.unasked {
        findings.push(Finding::new(format!("{} in {}", unasked.path, contract.name), action, 6).with_text(
            unasked.to_string(),
            format!("policy: a change of clauses that did not run {}", verb(action)),
            "state the target's features, or drop the change",
        ));
    }
}

fn laws(
    findings: &mut Vec<Finding>,
    gate: &GateInput<'_>,
    contract: &ContractResult,
    before: Option<&ContractResult>,
) {
    let state_before = |law: &LawResult| {
        before.and_then(|before| before.laws.iter().find(|other| other.law == law.law)).map_or(
            BaselineState::New,
            |before| match (before.broken.is_empty(), before.held) {
                (false, _) => BaselineState::AlreadyFailed,
                (true, 0) => BaselineState::New,
                (true, _) => BaselineState::Worse,
            },
        )
    };
    for law in &contract.laws {
        let subject = format!("law of {}: {}", contract.name, crate::laws::sentence(law.law));
        if law.waived {
            continue;
        }
        if let Some(first) = law.broken.first() {
            let action = gate.against.policy.findings.laws;
            let reason = format!("policy: a broken law {}", verb(action));
            let (action, code, why) = decide(gate, state_before(law), (Level::Must, action, &reason), 1);
            let what = format!("broken in {}, first {}", plural(law.broken.len(), "case"), first.case);
            let mut finding = Finding::new(subject, action, code).with_text(what, why, "fix the target");
            finding.details = vec![first.text.replace('\n', " ")];
            finding.cause = Some(super::causes::of_law(contract, law));
            findings.push(finding);
        } else if law.proven == Some(false) {
            let action = gate.of_weakness(gate.against.policy.findings.unproven);
            findings.push(Finding::new(subject, action, 6).with_text(
                "not proven able to fail",
                format!("policy: a law that is not proven {}", verb(action)),
                "add a row to the contract; docs/writing-contracts.md explains how laws are proven",
            ));
        }
    }
}

fn unexplained(
    findings: &mut Vec<Finding>,
    gate: &GateInput<'_>,
    contract: &ContractResult,
    before: Option<&ContractResult>,
) {
    for found in &contract.unexplained {
        let action = gate.against.policy.findings.unexplained;
        let state = match before {
            None => BaselineState::New,
            Some(before) if before.unexplained.iter().any(|other| other.path == found.path) => {
                BaselineState::AlreadyFailed
            }
            Some(_) => BaselineState::Worse,
        };
        let reason = format!("policy: an unexplained change {}", verb(action));
        let (action, code, why) = decide(gate, state, (Level::Must, action, &reason), 1);
        let change = ValueChange::new(
            &found.path,
            found.before.as_deref(),
            Some(found.became.as_str()).filter(|became| *became != "absent"),
        );
        let text = sentence_of_changes(&[change], Sides::CHANGED);
        let objects = found.objects.join(", ");
        let whose = if objects.is_empty() { String::new() } else { format!("{objects}: ") };
        let first = found.cases.first().map(String::as_str).unwrap_or_default();
        let times = plural(found.cases.len(), "case");
        let again = repeat_command(gate.report, first);
        let mut finding = Finding::new(format!("{} in {}", found.path, contract.name), action, code)
            .with_text(
                format!("{whose}{text}, in {times}, which no clause explains"),
                why,
                format!(
                    "declare it under the target's extras ({}), or leave it as it is ({again})",
                    found.path
                ),
            );
        finding.details = vec![format!("first {first}")];
        finding.cause = Some(FindingCause::Change(format!("{} {whose}{text}", found.path)));
        findings.push(finding);
    }
}

fn gaps(
    findings: &mut Vec<Finding>,
    gate: &GateInput<'_>,
    contract: &ContractResult,
    before: Option<&ContractResult>,
) {
    for gap in &contract.gaps {
        let action = gate.of_weakness(gate.against.policy.findings.gaps);
        let known = before.is_some_and(|before| before.gaps.iter().any(|other| other.path == gap.path));
        let state = if known { BaselineState::AlreadyFailed } else { BaselineState::New };
        let reason = format!("policy: a gap {}", verb(action));
        let (action, code, why) = decide(gate, state, (Level::Must, action, &reason), 6);
        findings.push(Finding::new(format!("{} in {}", gap.path, contract.name), action, code).with_text(
            format!("changes in {}, and no case would miss it", gap.case),
            why,
            "add a row to the contract, or let gaps only warn: this is no fault of the target",
        ));
    }
}

/// Why and remedy for a MUST clause that passes and is not proven able to fail.
pub(super) fn unproven(action: Action) -> (String, &'static str) {
    (format!("policy: a clause that is not proven {}", verb(action)), "the contract is too weak: add a row")
}
