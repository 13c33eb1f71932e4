//! Compares two reports: which cases have another result on another substrate or target.
//!
//! Only cases in both reports are compared, so that a sample can be compared with a complete run.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::report::{CaseResult, Report, Status, Verdict};

/// The comparison of two reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Number of cases in both reports.
    pub compared: usize,
    /// Cases with different results.
    pub differences: Vec<Difference>,
    /// Number of cases that only the first report has.
    pub only_in_first: usize,
    /// Number of cases that only the second report has.
    pub only_in_second: usize,
    /// The verdicts of the first and the second report, if both have the same cases and the verdicts differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<[String; 2]>,
    /// Release and strictness of the first and the second report, if they differ; they may cause all other differences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_for: Option<[String; 2]>,
    /// Cases with the same result whose request was sent directly in only one of the runs.
    pub asked_otherwise: Vec<DifferentDelivery>,
}

/// A case with different results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Its contract.
    pub contract: String,
    /// `<clause>/<case>`.
    pub case: String,
    /// In the first report.
    pub first: Status,
    /// In the second report.
    pub second: Status,
    /// Details of both reports, the second first.
    pub why: Vec<String>,
}

/// A case that ran in another way, with the same result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DifferentDelivery {
    /// `<clause>/<case>`.
    pub case: String,
    /// How it ran in the first report; absent: as the substrate says.
    pub first: Option<String>,
    /// How it ran in the second report.
    pub second: Option<String>,
}

/// Compares two reports case by case.
#[must_use]
pub fn compare(first: &Report, second: &Report) -> Comparison {
    let (ours, theirs) = (cases(first), cases(second));
    let common: Vec<_> =
        ours.iter().filter_map(|(key, one)| theirs.get(key).map(|other| (key, *one, *other))).collect();
    let asked_for = [first, second].map(|report| report.run.describe_requirements());
    let mut comparison = Comparison {
        compared: common.len(),
        differences: Vec::new(),
        only_in_first: ours.len() - common.len(),
        only_in_second: theirs.len() - common.len(),
        verdicts: None,
        asked_for: (asked_for[0] != asked_for[1]).then_some(asked_for),
        asked_otherwise: Vec::new(),
    };
    for ((contract, case), one, other) in common {
        if one.status != other.status {
            comparison.differences.push(Difference {
                contract: (*contract).to_owned(),
                case: case.clone(),
                first: one.status,
                second: other.status,
                why: [other, one].into_iter().flat_map(details).collect(),
            });
        } else if one.asked.is_some() != other.asked.is_some() {
            let (first, second) = (one.asked.clone(), other.asked.clone());
            comparison.asked_otherwise.push(DifferentDelivery { case: case.clone(), first, second });
        }
    }
    // Different verdicts of different cases are no difference.
    let has_same_cases = comparison.only_in_first + comparison.only_in_second == 0;
    if has_same_cases && first.verdict != second.verdict {
        comparison.verdicts = Some([first.verdict, second.verdict].map(Verdict::label).map(str::to_owned));
    }
    comparison
}

impl Comparison {
    /// Whether both reports agree on their common cases.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.differences.is_empty() && self.verdicts.is_none()
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        format!("{:#}", serde_json::json!(self))
    }

    /// Human-readable text: a line per difference, followed by details.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if let Some([first, second]) = &self.asked_for {
            line(&mut text, &format!("! the first report is for {first}, the second for {second}"));
            line(
                &mut text,
                "    this alone may cause differences: create both with the same --gardener and --strict",
            );
        }
        for difference in &self.differences {
            let [first, second] = [difference.first, difference.second].map(status_name);
            line(&mut text, &format!("≠ {}: {first}, then {second}", difference.case));
            difference.why.iter().for_each(|why| line(&mut text, &format!("    {why}")));
        }
        if let Some([first, second]) = &self.verdicts {
            line(&mut text, &format!("≠ verdict: {first}, then {second}"));
        }
        for case in &self.asked_otherwise {
            let how = case.first.as_ref().or(case.second.as_ref()).map_or("", String::as_str);
            let which = if case.first.is_some() { "first" } else { "second" };
            line(&mut text, &format!("~ {} in the {which} report: {how}", case.case));
        }
        if self.compared == 0 {
            line(&mut text, "! the reports have no case in common: nothing was compared");
        }
        line(&mut text, &self.counts());
        text
    }

    fn counts(&self) -> String {
        format!(
            "{} cases compared, {} differ, {} ran in another way with the same result; {} only in the first report, {} only in \
             the second",
            self.compared,
            self.differences.len(),
            self.asked_otherwise.len(),
            self.only_in_first,
            self.only_in_second
        )
    }
}

fn cases(report: &Report) -> BTreeMap<(&str, String), &CaseResult> {
    let contracts = report.contracts.iter();
    let clauses = contracts
        .flat_map(|contract| contract.clauses.iter().map(move |clause| (contract.name.as_str(), clause)));
    let cases = clauses.flat_map(|(contract, clause)| {
        clause.cases.iter().map(move |case| ((contract, format!("{}/{}", clause.id, case.name)), case))
    });
    cases.collect()
}

/// Why a case did not pass, and how it ran.
fn details(case: &CaseResult) -> Vec<String> {
    let checks = case.checks.iter().map(|check| {
        format!("{} {}: wanted {}, got {}", check.part, check.path, check.want, check.got).replace('\n', " ")
    });
    let reason = case.reason.iter().map(|reason| reason.text.replace('\n', " "));
    checks.chain(reason).chain(case.asked.clone()).collect()
}

fn status_name(status: Status) -> String {
    let status_name = serde_json::to_value(status).unwrap_or_default();
    status_name.as_str().unwrap_or_default().to_owned()
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{ClauseResult, ContractResult, Counts, Reason, ReasonCode};
    use contract::model::{Level, Location};

    fn case(name: &str, status: Status, asked: Option<&str>) -> CaseResult {
        let reason = Reason::new(ReasonCode::Environment, "the server is gone");
        let asked = asked.map(str::to_owned);
        CaseResult { asked, ..CaseResult::without_checks(name, &Location::default(), status, reason) }
    }

    fn report(verdict: Verdict, cases: Vec<CaseResult>) -> Report {
        let clause = ClauseResult {
            id: "A-1".to_owned(),
            text: String::new(),
            level: Level::Must,
            status: Status::Passed,
            partial: false,
            hash: String::new(),
            source: None,
            location: Location::default(),
            proof: None,
            cases,
        };
        let contract = ContractResult {
            name: "a".to_owned(),
            component: String::new(),
            digest: String::new(),
            verdict,
            counts: Counts::default(),
            duration_ms: 0.0,
            clauses: vec![clause],
            laws: Vec::new(),
            gaps: Vec::new(),
            unasked: Vec::new(),
            unexplained: Vec::new(),
        };
        let mut report: Report = serde_json::from_value(serde_json::json!({
            "apiVersion": "", "kind": "", "verdict": verdict, "counts": Counts::default(), "levels": {},
            "contracts": [], "exitCode": 0, "run": crate::report::RunInfo::default(),
            "substrate": crate::report::SubstrateInfo::default(),
            "selection": crate::report::SelectionInfo::default(),
            "target": {"name": "a", "kind": "builtIn", "endpoint": ""},
        }))
        .unwrap();
        report.contracts.push(contract);
        report
    }

    #[test]
    fn the_same_statuses_are_no_difference_even_if_cases_ran_in_another_way() {
        let first = report(Verdict::Conformant, vec![case("x", Status::Passed, None)]);
        let second = report(Verdict::Conformant, vec![case("x", Status::Passed, Some("sent directly: so"))]);
        let comparison = compare(&first, &second);
        assert!(comparison.is_same());
        let want = "~ A-1/x in the second report: sent directly: so\n\
                    1 cases compared, 0 differ, 1 ran in another way with the same result; 0 only in the first report, 0 \
                    only in the second\n";
        assert_eq!(comparison.to_text(), want);
    }

    #[test]
    fn another_status_and_another_verdict_of_the_same_cases_are_differences() {
        let cases = |status| vec![case("x", status, None), case("y", Status::Passed, None)];
        let first = report(Verdict::Conformant, cases(Status::Passed));
        let second = report(Verdict::Inconclusive, cases(Status::Errored));
        let comparison = compare(&first, &second);
        let want = Difference {
            contract: "a".to_owned(),
            case: "A-1/x".to_owned(),
            first: Status::Passed,
            second: Status::Errored,
            why: ["the server is gone"; 2].map(str::to_owned).to_vec(),
        };
        assert_eq!((comparison.differences.as_slice(), comparison.compared), (&[want][..], 2));
        assert_eq!(comparison.verdicts, Some(["conformant", "inconclusive"].map(str::to_owned)));
        assert!(!comparison.is_same());
        let text = comparison.to_text();
        assert!(text.contains("≠ A-1/x: passed, then errored\n    the server is gone\n"), "{text}");
        assert!(text.contains("≠ verdict: conformant, then inconclusive\n"), "{text}");
    }

    #[test]
    fn cases_of_one_report_alone_are_counted_and_neither_they_nor_the_verdict_are_judged() {
        let x = || case("x", Status::Passed, None);
        let first = report(
            Verdict::NonConformant,
            vec![case("gone", Status::Failed, None), case("too", Status::Passed, None), x()],
        );
        let second = report(Verdict::Conformant, vec![case("new", Status::Passed, None), x()]);
        let comparison = compare(&first, &second);
        assert_eq!((comparison.compared, comparison.only_in_first, comparison.only_in_second), (1, 2, 1));
        assert!(comparison.is_same(), "{comparison:?}");
        let want = "1 cases compared, 0 differ, 0 ran in another way with the same result; 2 only in the first report, 1 only in \
                    the second\n";
        assert_eq!(comparison.to_text(), want);
        // A difference in a common case is still found.
        let second = report(Verdict::Conformant, vec![case("x", Status::Failed, None)]);
        assert!(!compare(&first, &second).is_same());
    }

    #[test]
    fn reports_with_no_case_in_common_say_so() {
        let first = report(Verdict::Conformant, vec![case("x", Status::Passed, None)]);
        let second = report(Verdict::NonConformant, vec![case("y", Status::Failed, None)]);
        let comparison = compare(&first, &second);
        assert_eq!((comparison.compared, comparison.is_same()), (0, true));
        let text = comparison.to_text();
        assert!(text.starts_with("! the reports have no case in common: nothing was compared\n"), "{text}");
    }

    #[test]
    fn reports_of_different_releases_or_strictness_are_distinguished() {
        let mut first = report(Verdict::Conformant, vec![case("x", Status::Passed, None)]);
        let mut second = first.clone();
        assert_eq!(compare(&first, &second).asked_for, None);
        first.run.gardener = Some("v1.82.0".to_owned());
        second.run = crate::report::RunInfo { strict: true, ..first.run.clone() };
        let comparison = compare(&first, &second);
        let want = ["Gardener v1.82.0", "Gardener v1.82.0, strict"].map(str::to_owned);
        assert_eq!(comparison.asked_for, Some(want));
        assert!(comparison.is_same(), "the same answers are no difference");
        let first_line =
            "! the first report is for Gardener v1.82.0, the second for Gardener v1.82.0, strict\n";
        assert!(comparison.to_text().starts_with(first_line), "{}", comparison.to_text());
        second.run = crate::report::RunInfo::default();
        let comparison = compare(&first, &second);
        let want = ["Gardener v1.82.0", "no release of Gardener"].map(str::to_owned);
        assert_eq!(comparison.asked_for, Some(want));
    }
}
