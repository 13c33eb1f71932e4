//! Selects contracts, clauses and cases: by suite, contract, clause, case, level, feature and label.

use std::collections::BTreeSet;

use contract::case::Case;
use contract::index::{ClauseOutline, Outline};
use contract::model::{Clause, Contract};

use crate::digest::digest;

mod suite;

pub use suite::{Suite, SuiteEntry, read as read_suite};

/// From this number, criteria of one kind are only counted in texts.
const TOO_MANY: usize = 100;

/// Criteria of a selection: all kinds must match, and of each kind one criterion. Empty: everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Names of suites.
    pub suites: Vec<String>,
    /// Names of contracts.
    pub contracts: Vec<String>,
    /// Ids of clauses.
    pub clauses: Vec<String>,
    /// Ids of cases: `<clause>/<case>`.
    pub cases: Vec<String>,
    /// `MUST`, `SHOULD`, `MAY`, in any case.
    pub levels: Vec<String>,
    /// Features that clauses need.
    pub features: Vec<String>,
    /// Labels of contracts: `key=value`.
    pub labels: Vec<String>,
    /// One case of each clause, chosen by this number.
    pub sample: Option<u64>,
}

/// Why a selection is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// Unknown suite.
    #[error("there is no suite {name:?}; there are {known}")]
    UnknownSuite {
        /// The name given.
        name: String,
        /// The existing names.
        known: String,
    },
    /// Unknown contract, clause, case, feature or label.
    #[error("there is no {what} {name:?}{near}")]
    Unknown {
        /// What kind of name it is.
        what: &'static str,
        /// The name given.
        name: String,
        /// `; did you mean …?`, or nothing.
        near: String,
    },
    /// Invalid level or label.
    #[error("{given:?} is not a {what}")]
    Malformed {
        /// The given text.
        given: String,
        /// The expectation, with an example.
        what: &'static str,
    },
    /// Nothing matches.
    #[error("nothing is selected by {0}")]
    Nothing(String),
}

impl SelectError {
    /// 2 for an invalid criterion, 4 for criteria that nothing matches.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownSuite { .. } | Self::Unknown { .. } | Self::Malformed { .. } => 2,
            Self::Nothing(_) => 4,
        }
    }
}

/// The selected clauses of contracts, and, if cases were named or a sample is taken, the selected cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    parts: Vec<ChosenContract>,
    /// Ids of cases; empty: all of the clauses.
    cases: BTreeSet<(String, String)>,
    sample: Option<u64>,
}

/// The selected clauses of one contract.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChosenContract {
    /// Its position among the outlines.
    contract: usize,
    /// Ids of clauses.
    clauses: BTreeSet<String>,
}

/// Selects from contracts, in their order.
///
/// # Errors
/// If a suite or any other name is unknown, a criterion is malformed, or nothing matches.
pub fn select(outlines: &[Outline], suites: &[Suite], selection: &Selection) -> Result<Chosen, SelectError> {
    let entries = entries(suites, &selection.suites)?;
    check(selection)?;
    check_names(outlines, selection)?;
    let mut chosen = Chosen { sample: selection.sample, ..Chosen::default() };
    chosen.cases = selection
        .cases
        .iter()
        .map(|id| split_id(id))
        .map(|(id, name)| (id.to_owned(), name.to_owned()))
        .collect();
    for (contract, outline) in outlines.iter().enumerate() {
        let wanted =
            outline.clauses.iter().filter(|clause| is_wanted(outline, clause, selection, entries.as_deref()));
        let clauses: BTreeSet<String> = wanted.map(|clause| clause.id.clone()).collect();
        if !clauses.is_empty() {
            chosen.parts.push(ChosenContract { contract, clauses });
        }
    }
    if chosen.parts.is_empty() { Err(SelectError::Nothing(selection.words())) } else { Ok(chosen) }
}

impl Chosen {
    /// Positions of the contracts with selected clauses, in order.
    pub fn contracts(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().map(|part| part.contract)
    }

    /// Keeps the contracts whose position meets the condition.
    pub fn retain(&mut self, mut holds: impl FnMut(usize) -> bool) {
        self.parts.retain(|part| holds(part.contract));
    }

    /// Whether a clause of the contract at this position is selected.
    #[must_use]
    pub fn has(&self, contract: usize, clause: &str) -> bool {
        self.parts.iter().any(|part| part.contract == contract && part.clauses.contains(clause))
    }

    /// Whether all cases of the selected clauses are selected.
    #[must_use]
    pub fn has_every_case(&self) -> bool {
        self.cases.is_empty() && self.sample.is_none()
    }

    /// The same without sampling.
    #[must_use]
    pub fn without_sample(self) -> Self {
        Self { sample: None, ..self }
    }

    /// The contract at this position with the selected clauses and cases. A sample prefers cases that `fits`.
    ///
    /// # Errors
    /// If it does not have a selected case.
    pub fn trimmed(
        &self,
        at: usize,
        mut contract: Contract,
        fits: impl Fn(&str, &Case) -> bool,
    ) -> Result<Contract, SelectError> {
        let clauses = contract.clauses.len();
        contract.clauses.retain(|clause| self.has(at, &clause.id));
        contract.is_partial |= contract.clauses.len() < clauses;
        for clause in &mut contract.clauses {
            self.check_cases(clause)?;
            let cases = clause.cases.len();
            let id = &clause.id;
            let is_chosen =
                |case: &Case| self.cases.is_empty() || self.cases.contains(&(id.clone(), case.name.clone()));
            clause.cases.retain(is_chosen);
            if let Some(seed) = self.sample {
                if clause.cases.iter().any(|case| fits(&contract.component, case)) {
                    clause.cases.retain(|case| fits(&contract.component, case));
                }
                keep_sampled(clause, seed);
            }
            clause.is_partial |= clause.cases.len() < cases;
            contract.is_partial |= clause.is_partial;
        }
        contract.clauses.retain(|clause| !clause.cases.is_empty());
        Ok(contract)
    }

    fn check_cases(&self, clause: &Clause) -> Result<(), SelectError> {
        let chosen = self.cases.iter().filter(|(id, _)| *id == clause.id);
        let mut unknown = chosen.filter(|(_, name)| clause.cases.iter().all(|case| case.name != *name));
        unknown.next().map_or(Ok(()), |(id, name)| {
            let name = if name.is_empty() { id.clone() } else { format!("{id}/{name}") };
            Err(SelectError::Unknown { what: "case", name, near: String::new() })
        })
    }
}

/// Keeps one case of each clause; the same seed chooses the same case everywhere.
pub(crate) fn sample(contract: &mut Contract, seed: u64) {
    for clause in &mut contract.clauses {
        let cases = clause.cases.len();
        keep_sampled(clause, seed);
        clause.is_partial |= clause.cases.len() < cases;
        contract.is_partial |= clause.is_partial;
    }
}

fn keep_sampled(clause: &mut Clause, seed: u64) {
    if clause.cases.len() > 1 {
        let at = sampled(seed, &clause.id, clause.cases.len());
        clause.cases = vec![clause.cases.swap_remove(at)];
    }
}

/// The index of the sampled case of a clause.
fn sampled(seed: u64, clause: &str, cases: usize) -> usize {
    let digits = digest(&format!("{seed} {clause}"));
    let number = u64::from_str_radix(&digits[..15], 16).unwrap_or_default();
    usize::try_from(number % cases as u64).unwrap_or_default()
}

impl Selection {
    /// `suite=smoke clause=GRM-HAC-001`; `everything` without criteria.
    #[must_use]
    pub fn words(&self) -> String {
        let expression = self.expression();
        if expression.is_empty() { "everything".to_owned() } else { expression.join(" ") }
    }

    /// The criteria one by one; of very many of one kind, their number.
    #[must_use]
    pub fn expression(&self) -> Vec<String> {
        let named = [
            ("suite", &self.suites),
            ("contract", &self.contracts),
            ("clause", &self.clauses),
            ("case", &self.cases),
            ("level", &self.levels),
            ("feature", &self.features),
            ("label", &self.labels),
        ];
        let of = |(name, values): (&str, &Vec<String>)| match values.len() {
            many @ TOO_MANY.. => vec![format!("{many} {name}s")],
            _ => values.iter().map(|value| format!("{name}={value}")).collect(),
        };
        let sample = self.sample.map(|seed| format!("sample={seed}"));
        named.into_iter().flat_map(of).chain(sample).collect()
    }

    /// Ids of all clauses that can match, if known without reading the contracts.
    #[must_use]
    pub fn clause_ids(&self) -> Option<Vec<&str>> {
        let others = [&self.suites, &self.contracts, &self.features, &self.labels];
        let named =
            self.clauses.iter().map(String::as_str).chain(self.cases.iter().map(|case| split_id(case).0));
        let named: Vec<&str> = named.collect();
        (!named.is_empty() && others.iter().all(|names_by_kind| names_by_kind.is_empty())).then_some(named)
    }
}

fn entries(suites: &[Suite], names: &[String]) -> Result<Option<Vec<SuiteEntry>>, SelectError> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut entries = Vec::new();
    for name in names {
        let suite = suites.iter().find(|suite| suite.metadata.name == *name).ok_or_else(|| {
            let known: Vec<&str> = suites.iter().map(|suite| suite.metadata.name.as_str()).collect();
            SelectError::UnknownSuite { name: name.clone(), known: known.join(", ") }
        })?;
        entries.extend(suite.spec.include.iter().cloned());
    }
    Ok(Some(entries))
}

fn check(selection: &Selection) -> Result<(), SelectError> {
    for level in &selection.levels {
        if !["MUST", "SHOULD", "MAY"].contains(&level.to_uppercase().as_str()) {
            return Err(SelectError::Malformed { given: level.clone(), what: "level (MUST, SHOULD or MAY)" });
        }
    }
    let malformed = selection.labels.iter().find(|label| !label.contains('='));
    malformed.map_or(Ok(()), |label| {
        Err(SelectError::Malformed { given: label.clone(), what: "label (key=value)" })
    })
}

/// Whether a name exists.
type NameCheck<'a> = &'a dyn Fn(&str) -> bool;

/// Checks that all names exist: otherwise, a mistyped name next to a correct one would be ignored.
fn check_names(outlines: &[Outline], selection: &Selection) -> Result<(), SelectError> {
    let clauses = || outlines.iter().flat_map(|contract| &contract.clauses);
    let is_clause = |id: &str| clauses().any(|clause| clause.id == id);
    let needs = |feature: &str| clauses().flat_map(|clause| &clause.needs).any(|need| need == feature);
    let names_by_kind: [(&str, &[String], NameCheck<'_>); 5] = [
        ("contract", &selection.contracts, &|name| outlines.iter().any(|contract| contract.name == name)),
        ("clause", &selection.clauses, &is_clause),
        // The case's name is checked once its clause is expanded.
        ("case", &selection.cases, &|id| is_clause(split_id(id).0)),
        ("clause that needs", &selection.features, &needs),
        ("contract labelled", &selection.labels, &|label| {
            outlines.iter().any(|contract| suite::has_label(&contract.labels, label))
        }),
    ];
    for (what, names, is_known) in names_by_kind {
        if let Some(name) = names.iter().find(|name| !is_known(name)) {
            let near = if what == "clause" { near(outlines, name) } else { String::new() };
            return Err(SelectError::Unknown { what, name: name.clone(), near });
        }
    }
    Ok(())
}

/// Clause and case of an id.
fn split_id(id: &str) -> (&str, &str) {
    id.split_once('/').unwrap_or((id, ""))
}

fn near(outlines: &[Outline], id: &str) -> String {
    let near = crate::render::explain::near(outlines, id).join(", ");
    if near.is_empty() { near } else { format!("; did you mean {near}?") }
}

fn is_wanted(
    contract: &Outline,
    clause: &ClauseOutline,
    selection: &Selection,
    entries: Option<&[SuiteEntry]>,
) -> bool {
    let one_of =
        |wanted: &[String], name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let level = crate::report::level(clause.level);
    let levels: Vec<String> = selection.levels.iter().map(|level| level.to_uppercase()).collect();
    let of_case = |case: &String| split_id(case).0 == clause.id;
    let needs = |feature: &String| clause.needs.contains(feature);
    let labelled = |label: &String| suite::has_label(&contract.labels, label);
    entries.is_none_or(|entries| entries.iter().any(|entry| entry.covers(contract, clause)))
        && one_of(&selection.contracts, &contract.name)
        && one_of(&selection.clauses, &clause.id)
        && one_of(&levels, level)
        && (selection.cases.is_empty() || selection.cases.iter().any(of_case))
        && (selection.features.is_empty() || selection.features.iter().any(needs))
        && selection.labels.iter().all(labelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_one_case_of_each_clause_and_another_number_others() {
        let chosen = |seed: u64| -> Vec<usize> {
            (0..50).map(|clause| sampled(seed, &format!("GRM-HAC-{clause:03}"), 7)).collect()
        };
        assert_eq!(chosen(1), chosen(1));
        assert_ne!(chosen(1), chosen(2));
        let all: BTreeSet<usize> = chosen(1).into_iter().collect();
        assert_eq!(all, (0..7).collect());
    }

    #[test]
    fn very_many_criteria_of_one_kind_are_only_counted() {
        let cases = |many: usize| (0..many).map(|number| format!("GRM-HAC-001/{number}")).collect();
        let of = |many| Selection { cases: cases(many), ..Selection::default() };
        assert_eq!(of(1).words(), "case=GRM-HAC-001/0");
        assert_eq!(of(TOO_MANY - 1).expression().len(), TOO_MANY - 1);
        assert_eq!(of(TOO_MANY).words(), "100 cases");
        let level = Selection { levels: vec!["MUST".to_owned()], ..of(3854) };
        assert_eq!(level.words(), "3854 cases level=MUST");
    }
}
