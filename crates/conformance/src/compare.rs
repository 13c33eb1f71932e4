//! Two reports of the same cases held against each other: what one substrate or target says otherwise than the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::report::{CaseResult, Report, Status, Verdict};

/// What two reports say otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Cases that both name.
    pub compared: usize,
    /// Cases that became something else, or that only one names.
    pub differences: Vec<Difference>,
    /// The verdicts, where they differ: of the first, of the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<[String; 2]>,
    /// What the reports were asked for, where that differs: of the first, of the second. What differs may lie with that alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_for: Option<[String; 2]>,
    /// Cases that one server could bring about and the other could not, so that its webhook was asked directly.
    pub asked_otherwise: Vec<AskedOtherwise>,
}

/// A case that became something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Its contract.
    pub contract: String,
    /// `<clause>/<case>`.
    pub case: String,
    /// In the first report; absent: it is not named there.
    pub first: Option<Status>,
    /// In the second report.
    pub second: Option<Status>,
    /// What the reports say of it, the second first.
    pub why: Vec<String>,
}

/// A case that was asked in another way, with the same outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedOtherwise {
    /// `<clause>/<case>`.
    pub case: String,
    /// How it was asked in the first report; absent: as the substrate says.
    pub first: Option<String>,
    /// How in the second.
    pub second: Option<String>,
}

/// Holds two reports against each other, case by case.
#[must_use]
pub fn compare(first: &Report, second: &Report) -> Comparison {
    let (ours, theirs) = (cases(first), cases(second));
    let mut keys: Vec<_> = ours.keys().chain(theirs.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let asked_for = [first, second].map(|report| report.run.asked_in_words());
    let mut comparison = Comparison {
        compared: 0,
        differences: Vec::new(),
        verdicts: None,
        asked_for: (asked_for[0] != asked_for[1]).then_some(asked_for),
        asked_otherwise: Vec::new(),
    };
    for key @ (contract, case) in keys {
        let (one, other) = (ours.get(key).copied(), theirs.get(key).copied());
        comparison.compared += usize::from(one.is_some() && other.is_some());
        if one.map(|one| one.status) != other.map(|other| other.status) {
            comparison.differences.push(Difference {
                contract: (*contract).to_owned(),
                case: case.clone(),
                first: one.map(|one| one.status),
                second: other.map(|other| other.status),
                why: [other, one].into_iter().flatten().flat_map(said).collect(),
            });
        } else if let (Some(one), Some(other)) = (one, other)
            && one.asked.is_some() != other.asked.is_some()
        {
            let (first, second) = (one.asked.clone(), other.asked.clone());
            comparison.asked_otherwise.push(AskedOtherwise { case: case.clone(), first, second });
        }
    }
    if first.verdict != second.verdict {
        comparison.verdicts = Some([first.verdict, second.verdict].map(Verdict::words).map(str::to_owned));
    }
    comparison
}

impl Comparison {
    /// Whether both say the same of the same cases.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.differences.is_empty() && self.verdicts.is_none()
    }

    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        format!("{:#}", serde_json::json!(self))
    }

    /// For people: a line per difference, what the reports say of it below.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        if let Some([first, second]) = &self.asked_for {
            line(&mut text, &format!("! the first report was asked for {first}, the second for {second}"));
            line(
                &mut text,
                "    what differs may lie with that alone: ask both with the same --gardener and --strict",
            );
        }
        for difference in &self.differences {
            let [first, second] = [difference.first, difference.second].map(word);
            line(&mut text, &format!("≠ {}: {first}, then {second}", difference.case));
            difference.why.iter().for_each(|why| line(&mut text, &format!("    {why}")));
        }
        if let Some([first, second]) = &self.verdicts {
            line(&mut text, &format!("≠ verdict: {first}, then {second}"));
        }
        for asked in &self.asked_otherwise {
            let how = asked.first.as_ref().or(asked.second.as_ref()).map_or("", String::as_str);
            let which = if asked.first.is_some() { "first" } else { "second" };
            line(&mut text, &format!("~ {} in the {which} report: {how}", asked.case));
        }
        line(
            &mut text,
            &format!(
                "{} cases compared, {} differ, {} asked in another way with the same outcome",
                self.compared,
                self.differences.len(),
                self.asked_otherwise.len()
            ),
        );
        text
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

/// Why a case did not pass, and how it was asked.
fn said(case: &CaseResult) -> Vec<String> {
    let checks = case.checks.iter().map(|check| {
        format!("{} {}: wanted {}, got {}", check.part, check.path, check.want, check.got).replace('\n', " ")
    });
    let reason = case.reason.iter().map(|reason| reason.text.replace('\n', " "));
    checks.chain(reason).chain(case.asked.clone()).collect()
}

fn word(status: Option<Status>) -> String {
    let word = status.map(|status| serde_json::to_value(status).unwrap_or_default());
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_else(|| "not there".to_owned())
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
        CaseResult { asked, ..CaseResult::silent(name, &Location::default(), status, reason) }
    }

    fn report(verdict: Verdict, cases: Vec<CaseResult>) -> Report {
        let clause = ClauseResult {
            id: "A-1".to_owned(),
            text: String::new(),
            level: Level::Must,
            status: Status::Passed,
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
    fn the_same_statuses_are_no_difference_however_they_were_asked() {
        let first = report(Verdict::Conformant, vec![case("x", Status::Passed, None)]);
        let second = report(Verdict::Conformant, vec![case("x", Status::Passed, Some("asked directly: so"))]);
        let comparison = compare(&first, &second);
        assert!(comparison.is_same());
        let want = "~ A-1/x in the second report: asked directly: so\n\
                    1 cases compared, 0 differ, 1 asked in another way with the same outcome\n";
        assert_eq!(comparison.to_text(), want);
    }

    #[test]
    fn another_status_a_missing_case_and_another_verdict_are_differences() {
        let first = report(
            Verdict::Conformant,
            vec![case("gone", Status::Passed, None), case("x", Status::Passed, None)],
        );
        let second = report(
            Verdict::Inconclusive,
            vec![case("new", Status::Passed, None), case("x", Status::Errored, None)],
        );
        let comparison = compare(&first, &second);
        let found: Vec<_> = comparison
            .differences
            .iter()
            .map(|found| (found.case.as_str(), found.first, found.second))
            .collect();
        let want = [
            ("A-1/gone", Some(Status::Passed), None),
            ("A-1/new", None, Some(Status::Passed)),
            ("A-1/x", Some(Status::Passed), Some(Status::Errored)),
        ];
        assert_eq!((found.as_slice(), comparison.compared), (&want[..], 1));
        assert_eq!(comparison.verdicts, Some(["conformant", "inconclusive"].map(str::to_owned)));
        assert!(!comparison.is_same());
        let text = comparison.to_text();
        assert!(text.contains("≠ A-1/x: passed, then errored\n    the server is gone\n"), "{text}");
        assert!(text.contains("≠ A-1/gone: passed, then not there\n"), "{text}");
    }

    #[test]
    fn reports_of_different_releases_or_strictness_are_told_apart() {
        let mut first = report(Verdict::Conformant, vec![case("x", Status::Passed, None)]);
        let mut second = first.clone();
        assert_eq!(compare(&first, &second).asked_for, None);
        first.run.gardener = Some("v1.82.0".to_owned());
        second.run = crate::report::RunInfo { strict: true, ..first.run.clone() };
        let comparison = compare(&first, &second);
        let want = ["Gardener v1.82.0", "Gardener v1.82.0, to the letter"].map(str::to_owned);
        assert_eq!(comparison.asked_for, Some(want));
        assert!(comparison.is_same(), "the same answers are no difference");
        let told = "! the first report was asked for Gardener v1.82.0, the second for Gardener v1.82.0, to the letter\n";
        assert!(comparison.to_text().starts_with(told), "{}", comparison.to_text());
        second.run = crate::report::RunInfo::default();
        let comparison = compare(&first, &second);
        let want = ["Gardener v1.82.0", "no release of Gardener"].map(str::to_owned);
        assert_eq!(comparison.asked_for, Some(want));
    }
}
