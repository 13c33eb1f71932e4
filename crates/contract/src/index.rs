//! Outlines of contracts, from which commands select. A contract is expanded to cases only when they are
//! needed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

use crate::document::not_normative::NotNormative;
use crate::document::{Error, SourceFile, attestation::Attestation, ledger::Ledger, mutants::Mutants};
use crate::explanations::Explanations;
use crate::load::clause_ids::ClauseIds;
use crate::load::documents::{self, FilePart};
use crate::load::draft::{self, Draft};
use crate::load::join::{self, ClauseFilter};
use crate::load::report::Report;
use crate::load::shared::SharedFixtures;
use crate::load::tree::Span;
use crate::load::{Errors, case_count};
use crate::model::{Clause, Contract, Form, Level, Source, Subject};

/// The contracts of some files.
pub struct Index {
    sources: Arc<[SourceFile]>,
    contracts: Vec<Outline>,
    shared: SharedFixtures,
}

/// A contract without its cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Component label: `resource-manager`.
    pub component: String,
    /// Name of the behaviour: `high-availability-config`.
    pub name: String,
    /// All labels.
    pub labels: BTreeMap<String, String>,
    /// How it is written.
    pub form: Form,
    /// What it is about; `handles` of its first file.
    pub subject: Subject,
    /// Its clauses, in order.
    pub clauses: Vec<ClauseOutline>,
    /// Its files, as positions in the index's list of files.
    files: BTreeSet<usize>,
}

/// A clause without its cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClauseOutline {
    /// Never reused: `GRM-HAC-001`.
    pub id: String,
    /// The sentence.
    pub text: String,
    /// How binding it is.
    pub level: Level,
    /// The level with `--strict`, where `level` is lower because Gardener itself does not keep the clause.
    pub strict: Option<Level>,
    /// Features of the target it needs.
    pub needs: Vec<String>,
    /// Clauses without which this one means nothing.
    pub presupposes: Vec<String>,
    /// How many cases it has; `None` if that depends on the objects of namespaces (form objects).
    pub cases: Option<usize>,
}

/// A clause as it is now, which attestations, explanations and ledgers are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Component of its contract.
    pub component: String,
    /// Never reused: `GRM-HAC-001`.
    pub id: String,
    /// The sentence.
    pub text: String,
    /// Its source.
    pub source: Option<Source>,
    /// [`crate::model::Clause::hash`].
    pub hash: String,
    /// How many cases it has.
    pub cases: usize,
    /// Other implementations that differ, and why.
    pub differs: BTreeMap<String, String>,
}

/// The records beside contracts.
#[derive(Debug, Default)]
pub struct Records {
    /// The attestations.
    pub attestations: Vec<Attestation>,
    /// Why answers of targets differ.
    pub explanations: Vec<Explanations>,
    /// How many changes of a component's code its contracts noticed.
    pub mutants: Vec<Mutants>,
}

/// The sentences of the documents: those in ledgers, and those that require nothing.
#[derive(Debug, Default)]
pub struct Ledgers {
    /// The ledgers of the components, and their files.
    pub ledgers: Vec<(Ledger, SourceFile)>,
    /// The sentences that require nothing, and their files.
    pub not_normative: Vec<(NotNormative, SourceFile)>,
}

impl Index {
    /// Reads every contract of the files.
    ///
    /// # Errors
    /// The errors of the contract files; errors of cases are found when their contract is expanded.
    pub fn read(sources: Vec<SourceFile>) -> Result<Self, Errors> {
        let files =
            (0..sources.len()).filter(|file| documents::has_part(&sources[*file], FilePart::Contracts));
        let files = files.collect();
        Self::of(sources.into(), files)
    }

    /// Reads the contracts that have one of these clauses; `None` if no contract has one of the ids.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_about(sources: &[SourceFile], ids: &[&str]) -> Result<Option<Self>, Errors> {
        let naming = |words: &[&str]| -> BTreeSet<usize> {
            let names = |source: &SourceFile| words.iter().any(|word| source.text.contains(word));
            let is_wanted = |file: &usize| {
                documents::has_part(&sources[*file], FilePart::Contracts) && names(&sources[*file])
            };
            (0..sources.len()).filter(is_wanted).collect()
        };
        let first = Self::of(Arc::from(sources), naming(ids))?;
        let has = |outline: &&Outline| outline.clauses.iter().any(|clause| ids.contains(&clause.id.as_str()));
        let wanted: Vec<(String, String)> = first.contracts.iter().filter(has).map(Outline::key).collect();
        // Other files may have clauses of the same contracts.
        let names: Vec<&str> = wanted.iter().map(|(_, name)| name.as_str()).collect();
        let mut index = Self::of(first.sources, naming(&names))?;
        index.contracts.retain(|outline| wanted.contains(&outline.key()));
        Ok(ids.iter().all(|id| index.clause(id).is_some()).then_some(index))
    }

    fn of(sources: Arc<[SourceFile]>, files: BTreeSet<usize>) -> Result<Self, Errors> {
        let report = Report::new(&sources);
        let files: Vec<usize> = files.into_iter().collect();
        let read: Vec<_> = files.par_iter().map(|file| outlines(*file, &sources)).collect();
        let mut contracts: BTreeMap<(String, String), Outline> = BTreeMap::new();
        let mut ids = ClauseIds::default();
        for (outlines, places, wrong) in read {
            for error in wrong {
                report.push(error);
            }
            for (id, span) in places {
                ids.add(&id, span);
            }
            for outline in outlines {
                match contracts.get_mut(&outline.key()) {
                    Some(first) => first.join(outline),
                    None => drop(contracts.insert(outline.key(), outline)),
                }
            }
        }
        ids.report_duplicates(&report);
        let errors = report.into_errors();
        if !errors.is_empty() {
            return Err(Errors(errors));
        }
        let shared = SharedFixtures::of(&sources);
        Ok(Self { sources, contracts: contracts.into_values().collect(), shared })
    }

    /// The contracts, ordered by component, then name.
    #[must_use]
    pub fn contracts(&self) -> &[Outline] {
        &self.contracts
    }

    /// Every clause with its contract, in order.
    pub fn clauses(&self) -> impl Iterator<Item = (&Outline, &ClauseOutline)> {
        self.contracts
            .iter()
            .flat_map(|contract| contract.clauses.iter().map(move |clause| (contract, clause)))
    }

    /// The clause of this id.
    #[must_use]
    pub fn clause(&self, id: &str) -> Option<(&Outline, &ClauseOutline)> {
        self.clauses().find(|(_, clause)| clause.id == id)
    }

    /// Replaces the level of each clause by its `strict` level, if it has one.
    pub fn take_to_the_letter(&mut self) {
        for clause in self.contracts.iter_mut().flat_map(|contract| &mut contract.clauses) {
            clause.level = clause.strict.unwrap_or(clause.level);
        }
    }

    /// A contract of this index with all its cases.
    ///
    /// # Errors
    /// All errors of the contract and of the shared fixtures.
    pub fn expand(&self, outline: &Outline) -> Result<Contract, Errors> {
        self.expand_clauses(outline, None)
    }

    /// A contract of this index with only these clauses.
    ///
    /// # Errors
    /// All errors of these clauses and of the shared fixtures.
    pub fn expand_some(&self, outline: &Outline, wanted: ClauseFilter<'_>) -> Result<Contract, Errors> {
        self.expand_clauses(outline, Some(wanted))
    }

    fn expand_clauses(
        &self,
        outline: &Outline,
        wanted: Option<ClauseFilter<'_>>,
    ) -> Result<Contract, Errors> {
        let (report, lint) = (Report::new(&self.sources), Report::new(&self.sources));
        let mut drafts = Vec::new();
        for file in &outline.files {
            let (read, wrong) = documents::drafts(*file, &self.sources);
            report.join(wrong);
            drafts.extend(read.into_iter().filter(|draft| draft.key() == outline.key()));
        }
        let contract = join::contract(&drafts, &self.shared, &report, &lint, wanted);
        for error in self.shared.errors() {
            report.push(error);
        }
        let errors = report.into_errors();
        let Some(mut contract) = contract.filter(|_| errors.is_empty()) else { return Err(Errors(errors)) };
        for clause in &mut contract.clauses {
            let outline = outline.clauses.iter().find(|outline| outline.id == clause.id);
            clause.level = outline.map_or(clause.level, |outline| outline.level);
        }
        contract.is_partial = contract.clauses.len() < outline.clauses.len();
        Ok(contract)
    }

    /// The attestations and explanations of the files.
    ///
    /// # Errors
    /// All errors of these files.
    pub fn records(&self) -> Result<Records, Errors> {
        Ok(self.read_part(FilePart::Records)?.0)
    }

    /// The ledgers of the files.
    ///
    /// # Errors
    /// All errors of these files.
    pub fn ledgers(&self) -> Result<Ledgers, Errors> {
        Ok(self.read_part(FilePart::Ledgers)?.1)
    }

    fn read_part(&self, part: FilePart) -> Result<(Records, Ledgers), Errors> {
        let report = Report::new(&self.sources);
        let documents = documents::read(&[part], &report);
        let errors = report.into_errors();
        if errors.is_empty() { Ok(documents.into_records_and_ledgers()) } else { Err(Errors(errors)) }
    }

    /// A summary of every clause. Contracts are expanded one after the other and dropped.
    ///
    /// # Errors
    /// All errors of all contracts.
    pub fn summaries(&self) -> Result<Vec<Summary>, Errors> {
        let summaries = self.each(&self.contracts, |contract| Summary::of(&contract))?;
        Ok(summaries.into_iter().flatten().collect())
    }

    /// Expands contracts of this index one after the other and collects the results of `keep`; each contract is
    /// dropped before the next is expanded.
    ///
    /// # Errors
    /// All errors of all contracts.
    pub fn each<'a, T>(
        &self,
        outlines: impl IntoIterator<Item = &'a Outline>,
        keep: impl Fn(Contract) -> T,
    ) -> Result<Vec<T>, Errors> {
        let (mut kept, mut wrong) = (Vec::new(), Vec::new());
        for outline in outlines {
            match self.expand(outline) {
                Ok(contract) => kept.push(keep(contract)),
                Err(Errors(errors)) => wrong.extend(errors),
            }
        }
        if wrong.is_empty() { Ok(kept) } else { Err(Errors(wrong)) }
    }
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("contracts", &self.contracts).finish_non_exhaustive()
    }
}

impl Outline {
    /// The outline of an expanded contract.
    #[must_use]
    pub fn of(contract: &Contract) -> Self {
        let clauses = contract.clauses.iter().map(|clause| ClauseOutline {
            id: clause.id.clone(),
            text: clause.text.clone(),
            level: clause.level,
            strict: clause.strict,
            needs: clause.needs.clone(),
            presupposes: clause.presupposes.clone(),
            cases: Some(clause.cases.len()),
        });
        Self {
            component: contract.component.clone(),
            name: contract.name.clone(),
            labels: contract.labels.clone(),
            form: contract.form,
            subject: contract.subject.clone(),
            clauses: clauses.collect(),
            files: BTreeSet::new(),
        }
    }

    fn key(&self) -> (String, String) {
        (self.component.clone(), self.name.clone())
    }

    /// Adds the outline of another file of the same contract.
    fn join(&mut self, other: Self) {
        self.labels.extend(other.labels);
        self.clauses.extend(other.clauses);
        self.files.extend(other.files);
    }
}

impl Summary {
    /// A summary of each clause of a contract.
    #[must_use]
    pub fn of(contract: &Contract) -> Vec<Self> {
        let summary = |clause: &Clause| Self {
            component: contract.component.clone(),
            id: clause.id.clone(),
            text: clause.text.clone(),
            source: clause.source.clone(),
            hash: clause.hash.clone(),
            cases: clause.cases.len(),
            differs: clause.differs.clone(),
        };
        contract.clauses.iter().map(summary).collect()
    }
}

/// Ids of clauses and their positions.
type ClausePositions = Vec<(String, Span)>;

/// Outlines of the contracts in one file, positions of their clauses, and errors. The parsed file is dropped.
fn outlines(file: usize, sources: &[SourceFile]) -> (Vec<Outline>, ClausePositions, Vec<Error>) {
    let (drafts, report) = documents::drafts(file, sources);
    let clauses = drafts.iter().flat_map(clauses_with_cases);
    let places = clauses.map(|clause| (clause.id.clone(), clause.span)).collect();
    (drafts.iter().map(outline).collect(), places, report.into_errors())
}

/// The clauses with cases. Rows `may add` and `may change` of a table of flags have none: they belong to a clause of
/// another contract.
fn clauses_with_cases(draft: &Draft) -> impl Iterator<Item = &draft::Clause> {
    draft.clauses.iter().filter(|clause| draft.form != Form::Flags || clause.has_cases())
}

fn outline(draft: &Draft) -> Outline {
    let (component, name) = draft.key();
    let clauses = clauses_with_cases(draft).map(|clause| ClauseOutline {
        id: clause.id.clone(),
        text: clause.text.clone(),
        level: clause.level,
        strict: clause.strict,
        needs: clause.needs.clone(),
        presupposes: clause.presupposes.clone(),
        cases: case_count::of(draft, clause),
    });
    Outline {
        component,
        name,
        labels: draft.labels.clone(),
        form: draft.form,
        subject: draft.subject(),
        clauses: clauses.collect(),
        files: BTreeSet::from([draft.file]),
    }
}
