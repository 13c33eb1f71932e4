//! The selected contracts, clauses and cases.

use std::path::Path;

use conformance::plan;
use conformance::select::{self, Chosen, SelectError, Selection};
use conformance::shard::{SelectionDigest, Shard, ShardInfo, Weighed};
use contract::case::Case;
use contract::index::{Index, Outline};
use contract::model::Contract;

use crate::catalog;
use crate::terminal::Failure;

/// The selected part of an index.
pub(crate) struct Selected {
    index: Index,
    chosen: Chosen,
    /// Whether there are contracts of `--contracts`.
    has_added: bool,
    /// The cases that a sample prefers.
    is_preferred: CaseFilter,
}

/// A predicate over the component and a case of it.
type CaseFilter = Box<dyn Fn(&str, &Case) -> bool + Send + Sync>;

/// Which contracts are expanded and run together: those of a batch share started targets, and are in memory at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batching {
    /// One contract per batch.
    PerContract,
    /// The contracts of one component per batch.
    PerComponent,
    /// All contracts in one batch.
    WholeRun,
}

impl Selected {
    /// Applies a selection to the built-in contracts and those of `added`. `strict` gives lenient clauses the level that the
    /// documentation demands. `needs_all` keeps contracts in the index that the selection does not name.
    pub(crate) fn of(
        added: Option<&Path>,
        selection: &Selection,
        strict: bool,
        needs_all: bool,
    ) -> Result<Self, Failure> {
        let mut index = catalog::index_for(added, selection, needs_all)?;
        if strict {
            index.take_to_the_letter();
        }
        let chosen = select::select(index.contracts(), &catalog::suites(added)?, selection);
        let chosen = chosen.map_err(|error| selection_failure(&error))?;
        Ok(Self { index, chosen, has_added: added.is_some(), is_preferred: Box::new(|_, _| true) })
    }

    /// The index from which the selection was made.
    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    /// The selected contracts, in order.
    pub(crate) fn outlines(&self) -> impl Iterator<Item = &Outline> {
        self.chosen.contracts().map(|at| &self.index.contracts()[at])
    }

    /// The components of the selected contracts.
    pub(crate) fn components(&self) -> impl Iterator<Item = &str> {
        self.outlines().map(|contract| contract.component.as_str())
    }

    /// Whether a clause of a contract is selected.
    pub(crate) fn has_clause(&self, outline: &Outline, clause: &str) -> bool {
        let at = self.index.contracts().iter().position(|other| std::ptr::eq(other, outline));
        at.is_some_and(|at| self.chosen.has(at, clause))
    }

    /// Whether all cases of the selected clauses are selected.
    pub(crate) fn has_every_case(&self) -> bool {
        self.chosen.has_every_case()
    }

    /// Keeps the contracts for which the predicate is true.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Outline) -> bool) {
        let contracts = self.index.contracts();
        self.chosen.retain(|at| keep(&contracts[at]));
    }

    /// Makes a sample prefer the cases for which the predicate is true.
    pub(crate) fn prefer_in_sample(
        &mut self,
        is_preferred: impl Fn(&str, &Case) -> bool + Send + Sync + 'static,
    ) {
        self.is_preferred = Box::new(is_preferred);
    }

    /// Expands the selected clauses with all their cases, also if there is a sample.
    pub(crate) fn expand_without_sample(&self) -> Result<Vec<Contract>, Failure> {
        let chosen = self.chosen.clone().without_sample();
        chosen.contracts().map(|at| self.expand_chosen(&chosen, at)).collect()
    }

    /// Whether no contract is selected.
    pub(crate) fn is_empty(&self) -> bool {
        self.chosen.contracts().next().is_none()
    }

    /// Expands the selected contracts, one after the other.
    pub(crate) fn expand_all(&self) -> impl Iterator<Item = Result<Contract, Failure>> + '_ {
        self.chosen.contracts().map(|at| self.expand(at))
    }

    /// The batches in which the selected contracts run, each with its position; shuffled by the seed.
    pub(crate) fn batches(
        &self,
        batching: Batching,
        seed: u64,
    ) -> impl Iterator<Item = (usize, Result<Vec<Contract>, String>)> + '_ {
        let mut batches: Vec<Vec<usize>> = Vec::new();
        let contracts = self.index.contracts();
        for at in self.chosen.contracts() {
            let last = batches.last_mut().filter(|batch| match batching {
                Batching::PerContract => false,
                Batching::PerComponent => {
                    batch.iter().all(|other| contracts[*other].component == contracts[at].component)
                }
                Batching::WholeRun => true,
            });
            match last {
                Some(batch) => batch.push(at),
                None => batches.push(vec![at]),
            }
        }
        let mut batches: Vec<(usize, Vec<usize>)> = batches.into_iter().enumerate().collect();
        plan::shuffle(&mut batches, seed);
        batches.into_iter().map(|(position, batch)| {
            let expanded: Result<Vec<Contract>, Failure> =
                batch.into_iter().map(|at| self.expand(at)).collect();
            (position, expanded.map_err(|failure| failure.text))
        })
    }

    /// Keeps the contracts of a shard, and returns what its report says about all shards.
    pub(crate) fn keep_shard(&mut self, shard: Option<Shard>) -> Result<Option<ShardInfo>, Failure> {
        let Some(shard) = shard else { return Ok(None) };
        let (mut weighed, mut digest, mut clauses) = (Vec::new(), SelectionDigest::default(), 0);
        for contract in self.expand_all() {
            let contract = contract?;
            weighed.push(Weighed::of(&contract));
            digest.add_all(&contract);
            clauses += contract.clauses.len();
        }
        let own = shard.of(&weighed);
        if own.is_empty() {
            let filled =
                (1..=shard.of).filter(|index| !(Shard { index: *index, ..shard }).of(&weighed).is_empty());
            let text = format!(
                "--shard {shard}: the selected contracts can be divided into {} shards at most",
                filled.count()
            );
            return Err(Failure::usage(text));
        }
        let mut position = 0;
        self.chosen.retain(|_| {
            position += 1;
            own.contains(&(position - 1))
        });
        Ok(Some(shard.info(clauses, &digest)))
    }

    /// Finds names of cases that do not exist, and errors in contracts of `--contracts`, before anything runs.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.has_added {
            self.index.each(self.outlines(), drop).map_err(Failure::diagnostic)?;
        }
        if self.has_every_case() {
            return Ok(());
        }
        self.expand_all().try_for_each(|contract| contract.map(drop))
    }

    fn expand(&self, at: usize) -> Result<Contract, Failure> {
        self.expand_chosen(&self.chosen, at)
    }

    fn expand_chosen(&self, chosen: &Chosen, at: usize) -> Result<Contract, Failure> {
        let outline = &self.index.contracts()[at];
        let is_selected = |clause: &str| chosen.has(at, clause);
        let is_complete = outline.clauses.iter().all(|clause| is_selected(&clause.id));
        let expanded = if is_complete {
            self.index.expand(outline)
        } else {
            self.index.expand_some(outline, &is_selected)
        };
        let contract = expanded.map_err(Failure::diagnostic)?;
        chosen.trimmed(at, contract, &self.is_preferred).map_err(|error| selection_failure(&error))
    }
}

fn selection_failure(error: &SelectError) -> Failure {
    Failure { code: error.exit_code(), text: error.to_string() }
}
