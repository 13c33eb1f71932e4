//! Which contracts, clauses and cases are wanted: by suite, contract, clause, case, level, feature and label.

use std::collections::BTreeSet;

use contract::model::{Catalog, Clause, Contract};

mod suite;

pub use suite::{Suite, SuiteEntry, embedded as embedded_suites, read as read_suite};

/// How many wishes of one kind nobody reads.
const TOO_MANY: usize = 100;

/// What is wanted; kinds of wishes must all hold, of several of one kind one. Empty: everything.
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
}

/// Why nothing can be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// There is no such suite.
    #[error("there is no suite {name:?}; there are {known}")]
    UnknownSuite {
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// There is no such contract, clause, case, feature or label.
    #[error("there is no {what} {name:?}{near}")]
    Unknown {
        /// What kind of name it is.
        what: &'static str,
        /// The name given.
        name: String,
        /// `; did you mean …?`, or nothing.
        near: String,
    },
    /// A level or label is none.
    #[error("{given:?} is no {what}")]
    Malformed {
        /// What was given.
        given: String,
        /// What was expected, with an example.
        what: &'static str,
    },
    /// Nothing is left.
    #[error("nothing is selected by {0}")]
    Nothing(String),
}

impl SelectError {
    /// 2 for a wish that is none, 4 for wishes that nothing fulfils.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownSuite { .. } | Self::Unknown { .. } | Self::Malformed { .. } => 2,
            Self::Nothing(_) => 4,
        }
    }
}

/// The wanted contracts with their wanted clauses and cases, in the catalog's order.
///
/// # Errors
/// When a suite or any other name is unknown, a wish is malformed, or nothing is left.
pub fn select(
    catalog: &Catalog,
    suites: &[Suite],
    selection: &Selection,
) -> Result<Vec<Contract>, SelectError> {
    let entries = entries(suites, &selection.suites)?;
    check(selection)?;
    known(catalog, selection)?;
    let cases: BTreeSet<(&str, &str)> = selection.cases.iter().map(|id| parts(id)).collect();
    let mut selected = Vec::new();
    for contract in &catalog.contracts {
        let mut wanted = contract.clone();
        wanted.clauses.retain(|clause| is_wanted(contract, clause, selection, entries.as_deref()));
        for clause in &mut wanted.clauses {
            let id = &clause.id;
            clause.cases.retain(|case| cases.is_empty() || cases.contains(&(id, &case.name)));
        }
        wanted.clauses.retain(|clause| !clause.cases.is_empty());
        if !wanted.clauses.is_empty() {
            selected.push(wanted);
        }
    }
    if selected.is_empty() { Err(SelectError::Nothing(selection.words())) } else { Ok(selected) }
}

impl Selection {
    /// `suite=smoke clause=GRM-HAC-001`; `everything` for no wish.
    #[must_use]
    pub fn words(&self) -> String {
        let expression = self.expression();
        if expression.is_empty() { "everything".to_owned() } else { expression.join(" ") }
    }

    /// The wishes one by one; of very many of one kind, their number.
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
        named.into_iter().flat_map(of).collect()
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

/// Whether there is something of a name.
type IsKnown<'a> = &'a dyn Fn(&str) -> bool;

/// Every name must be one of something: a mistyped one beside a right one would silently be left out.
fn known(catalog: &Catalog, selection: &Selection) -> Result<(), SelectError> {
    let contracts = || catalog.contracts.iter();
    let clauses = || contracts().flat_map(|contract| &contract.clauses);
    let cases = clauses().flat_map(|clause| clause.cases.iter().map(|case| (&*clause.id, &*case.name)));
    let cases: BTreeSet<(&str, &str)> = cases.collect();
    let of_case = |id: &str| cases.contains(&parts(id));
    let needs = |feature: &str| clauses().flat_map(|clause| &clause.needs).any(|need| need == feature);
    let wishes: [(&str, &[String], IsKnown<'_>); 5] = [
        ("contract", &selection.contracts, &|name| contracts().any(|contract| contract.name == name)),
        ("clause", &selection.clauses, &|id| clauses().any(|clause| clause.id == id)),
        ("case", &selection.cases, &of_case),
        ("clause that needs", &selection.features, &needs),
        ("contract labelled", &selection.labels, &|label| {
            contracts().any(|contract| suite::has_label(contract, label))
        }),
    ];
    for (what, names, is_known) in wishes {
        if let Some(name) = names.iter().find(|name| !is_known(name)) {
            let near = if what == "clause" { near(catalog, name) } else { String::new() };
            return Err(SelectError::Unknown { what, name: name.clone(), near });
        }
    }
    Ok(())
}

/// Clause and case of an id.
fn parts(id: &str) -> (&str, &str) {
    id.split_once('/').unwrap_or((id, ""))
}

fn near(catalog: &Catalog, id: &str) -> String {
    let near = crate::render::explain::near(catalog, id).join(", ");
    if near.is_empty() { near } else { format!("; did you mean {near}?") }
}

fn is_wanted(
    contract: &Contract,
    clause: &Clause,
    selection: &Selection,
    entries: Option<&[SuiteEntry]>,
) -> bool {
    let one_of =
        |wanted: &[String], name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    let level = crate::report::level(clause.level);
    let levels: Vec<String> = selection.levels.iter().map(|level| level.to_uppercase()).collect();
    let of_case = |case: &String| parts(case).0 == clause.id;
    let needs = |feature: &String| clause.needs.contains(feature);
    let labelled = |label: &String| suite::has_label(contract, label);
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
    fn very_many_wishes_of_one_kind_are_told_by_their_number() {
        let cases = |many: usize| (0..many).map(|number| format!("GRM-HAC-001/{number}")).collect();
        let of = |many| Selection { cases: cases(many), ..Selection::default() };
        assert_eq!(of(1).words(), "case=GRM-HAC-001/0");
        assert_eq!(of(TOO_MANY - 1).expression().len(), TOO_MANY - 1);
        assert_eq!(of(TOO_MANY).words(), "100 cases");
        let level = Selection { levels: vec!["MUST".to_owned()], ..of(3854) };
        assert_eq!(level.words(), "3854 cases level=MUST");
    }
}
