//! JUnit: one suite per contract, one test per case, with real failure, error and skipped children.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report as Document, TestCase, TestCaseStatus, TestSuite};

use super::findings::ABOUT_CONTRACTS;
use super::program_message::program_message;
use super::unexplained::{REMEDY, unexplained};
use super::{plural, repeat_command};
use crate::causes::kinds;
use crate::difference::{first_of, sentences};
use crate::report::{CaseResult, Check, ClauseResult, ContractResult, Report, Status};

/// Why a report cannot be written as XML.
#[derive(Debug, thiserror::Error)]
#[error("failed to write JUnit: {0}")]
pub struct JunitError(#[from] quick_junit::SerializeError);

/// The report as JUnit XML. Laws, proofs and gaps are tests of a suite of their own per contract, so that a consumer
/// that only counts failures sees what the exit code sees.
///
/// # Errors
/// If the XML cannot be written.
pub fn junit(report: &Report) -> Result<String, JunitError> {
    let mut document = Document::new(format!("gardener-conformance {}", report.target.name));
    document.set_time(seconds(report.run.duration_ms));
    for contract in &report.contracts {
        document.add_test_suite(suite(report, contract));
        let findings = findings(report, contract);
        if !findings.test_cases.is_empty() {
            document.add_test_suite(findings);
        }
    }
    Ok(document.to_string()?)
}

fn suite(report: &Report, contract: &ContractResult) -> TestSuite {
    let mut suite = TestSuite::new(format!("{}/{}", contract.component, contract.name));
    suite.set_time(seconds(contract.duration_ms));
    suite.add_property(Property::new("digest", contract.digest.clone()));
    for clause in &contract.clauses {
        suite.add_test_cases(clause.cases.iter().map(|case| test(report, clause, case)));
    }
    suite
}

fn test(report: &Report, clause: &ClauseResult, case: &CaseResult) -> TestCase {
    let id = format!("{}/{}", clause.id, case.name);
    let why = case.reason.as_ref().map(|reason| reason.text.clone()).unwrap_or_default();
    let status = match case.status {
        Status::Passed => TestCaseStatus::success(),
        Status::Failed => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let message = message(clause, case);
            status
                .set_type("clause")
                .set_message(message)
                .set_description(describe(report, clause, case, &id));
            status
        }
        Status::Errored => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type("environment").set_message(why.clone()).set_description(why);
            status
        }
        Status::UnexpectedPass => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type("waiver").set_message("passes although it is waived");
            status
        }
        Status::Vacuous => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type("vacuous").set_message("asserts nothing");
            status
        }
        Status::Waived => skipped("waived"),
        Status::Skipped | Status::NotSupported | Status::NotRun => skipped(&why),
    };
    let mut test = TestCase::new(id, status);
    test.set_classname(clause.id.clone()).set_time(seconds(case.duration_ms));
    test
}

fn skipped(why: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(why);
    status
}

/// What failed, in one line: of what clauses share, with its sentence.
fn message(clause: &ClauseResult, case: &CaseResult) -> String {
    let of_kind = |(kind, checks): &(crate::causes::CauseKind, Vec<&Check>)| {
        let found = first_of(&sentences(checks));
        kind.sentence().map_or(found.clone(), |sentence| format!("{sentence}: {found}"))
    };
    kinds(clause, case).iter().map(of_kind).collect::<Vec<_>>().join("; ")
}

/// Sentence, given and when, every difference, the program's output, and how to repeat it.
pub(super) fn describe(report: &Report, clause: &ClauseResult, case: &CaseResult, id: &str) -> String {
    let mut lines = vec![clause.text.clone()];
    lines.extend(case.story.clone());
    for (kind, checks) in kinds(clause, case) {
        lines.extend(kind.sentence().map(str::to_owned));
        lines.extend(sentences(&checks));
    }
    if let Some(message) =
        program_message(case).filter(|_| case.checks.iter().any(|check| check.failure.is_some()))
    {
        let place = message.place.map(|place| format!(" at {place}")).unwrap_or_default();
        lines.push(format!("the webhook said: {}{place}", message.text));
    }
    lines.push(format!("again: {}", repeat_command(report, id)));
    lines.join("\n")
}

/// Findings beyond single cases: unexplained mutations, gaps, clauses that are not proven; as skipped tests, changes that only
/// clauses that did not run would miss, and what is about the contract and not about a target that is not ours.
fn findings(report: &Report, contract: &ContractResult) -> TestSuite {
    let mut suite = TestSuite::new(format!("{}/{} findings", contract.component, contract.name));
    for found in unexplained(contract) {
        let cases = found.cases();
        let text = format!(
            "no clause explains a change of {}: {}; in {}, first {}; {REMEDY}: {}; again: {}",
            found.objects(),
            found.sentence(),
            plural(cases.len(), "case"),
            cases.first().copied().unwrap_or_default(),
            found.path(),
            found.again(report)
        );
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type("unexplained").set_message(text);
        suite.add_test_case(TestCase::new(format!("unexplained {}", found.path()), status));
    }
    let mut weakness = |name: String, kind: &str, message: String| {
        let mut status = if report.target.kind.is_foreign() {
            skipped(&format!("{ABOUT_CONTRACTS}: {message}"))
        } else {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(message);
            status
        };
        status.set_type(kind);
        suite.add_test_case(TestCase::new(name, status));
    };
    for gap in &contract.gaps {
        let text = format!("changes in {}, and no case would miss it", gap.case);
        weakness(format!("gap {}", gap.path), "gap", text);
    }
    for clause in &contract.clauses {
        let unproven =
            clause.proof.as_ref().is_some_and(|proof| !proof.proven) && clause.status == Status::Passed;
        if unproven {
            weakness(format!("proof {}", clause.id), "proof", "not proven able to fail".to_owned());
        }
    }
    for unasked in &contract.unasked {
        let mut status = skipped(&unasked.to_string());
        status.set_type("unasked");
        suite.add_test_case(TestCase::new(format!("unasked {}", unasked.path), status));
    }
    suite
}

fn seconds(milliseconds: f64) -> Duration {
    Duration::from_secs_f64(milliseconds.max(0.0) / 1000.0)
}
