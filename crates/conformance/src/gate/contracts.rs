//! What no clause says: laws, changes that nobody speaks of or would miss.

use contract::document::policy::Action;
use contract::model::Level;

use super::standing::{Baseline, Standing, weigh};
use super::{Asked, Finding, verb};
use crate::render::plural;
use crate::report::{ContractResult, LawResult};

/// Findings of one contract.
pub(super) fn findings(
    findings: &mut Vec<Finding>,
    asked: &Asked<'_>,
    contract: &ContractResult,
    baseline: Option<&Baseline>,
) {
    let before = baseline.and_then(|baseline| baseline.contract(&contract.name));
    laws(findings, asked, contract, before);
    unexplained(findings, asked, contract, before);
    gaps(findings, asked, contract, before);
    let action = asked.against.policy.findings.unasked;
    for unasked in &contract.unasked {
        findings.push(Finding::new(format!("{} in {}", unasked.path, contract.name), action, 6).says(
            unasked.to_string(),
            format!("policy: what is not asked {}", verb(action)),
            "state the target's features, or drop the change",
        ));
    }
}

fn laws(
    findings: &mut Vec<Finding>,
    asked: &Asked<'_>,
    contract: &ContractResult,
    before: Option<&ContractResult>,
) {
    let stood = |law: &LawResult| {
        before.and_then(|before| before.laws.iter().find(|other| other.law == law.law)).map_or(
            Standing::New,
            |before| match (before.broken.is_empty(), before.held) {
                (false, _) => Standing::Known,
                (true, 0) => Standing::New,
                (true, _) => Standing::Worse,
            },
        )
    };
    for law in &contract.laws {
        let subject = format!("law of {}: {}", contract.name, crate::laws::sentence(law.law));
        if let Some(first) = law.broken.first() {
            let action = asked.against.policy.findings.laws;
            let said = format!("policy: a broken law {}", verb(action));
            let (action, code, why) = weigh(asked, stood(law), (Level::Must, action, &said), 1);
            let what = format!("broken in {}, first {}", plural(law.broken.len(), "case"), first.case);
            let mut finding = Finding::new(subject, action, code).says(what, why, "mend the target");
            finding.details = vec![first.text.replace('\n', " ")];
            findings.push(finding);
        } else if law.proven == Some(false) {
            let action = asked.against.policy.findings.unproven;
            findings.push(Finding::new(subject, action, 6).says(
                "not proven able to fail",
                format!("policy: what is not proven {}", verb(action)),
                "the contract lacks a row; docs/writing-contracts.md says how laws are proven",
            ));
        }
    }
}

fn unexplained(
    findings: &mut Vec<Finding>,
    asked: &Asked<'_>,
    contract: &ContractResult,
    before: Option<&ContractResult>,
) {
    for found in &contract.unexplained {
        let action = asked.against.policy.findings.unexplained;
        let standing = match before {
            None => Standing::New,
            Some(before) if before.unexplained.iter().any(|other| other.path == found.path) => {
                Standing::Known
            }
            Some(_) => Standing::Worse,
        };
        let said = format!("policy: an unexplained change {}", verb(action));
        let (action, code, why) = weigh(asked, standing, (Level::Must, action, &said), 1);
        findings.push(Finding::new(format!("{} in {}", found.path, contract.name), action, code).says(
            format!(
                "became {} in {}, and no clause speaks of it",
                found.became,
                plural(found.cases.len(), "case")
            ),
            why,
            "declare it under the target's extras, or drop it",
        ));
    }
}

fn gaps(
    findings: &mut Vec<Finding>,
    asked: &Asked<'_>,
    contract: &ContractResult,
    before: Option<&ContractResult>,
) {
    for gap in &contract.gaps {
        let action = asked.against.policy.findings.gaps;
        let known = before.is_some_and(|before| before.gaps.iter().any(|other| other.path == gap.path));
        let standing = if known { Standing::Known } else { Standing::New };
        let said = format!("policy: a gap {}", verb(action));
        let (action, code, why) = weigh(asked, standing, (Level::Must, action, &said), 6);
        findings.push(Finding::new(format!("{} in {}", gap.path, contract.name), action, code).says(
            format!("changes in {}, and no case would miss it", gap.case),
            why,
            "the contract lacks a clause, which is no fault of the target; add a row, or let gaps warn",
        ));
    }
}

/// A MUST clause that passes and was not shown able to fail.
pub(super) fn unproven(action: Action) -> (String, &'static str) {
    (format!("policy: what is not proven {}", verb(action)), "the contract is too weak: add a row")
}
