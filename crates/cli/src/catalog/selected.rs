//! What is selected: contracts read to clauses, and what is wanted of them; expanded part by part.

use std::path::Path;

use conformance::plan;
use conformance::select::{self, Chosen, SelectError, Selection};
use conformance::shard::{SelectionDigest, Shard, ShardInfo, Weighed};
use contract::case::Case;
use contract::index::{Index, Outline};
use contract::model::Contract;

use crate::catalog;
use crate::terminal::Failure;

/// What is selected of an index.
pub(crate) struct Selected {
    index: Index,
    chosen: Chosen,
    /// Whether contracts come from elsewhere than the project.
    is_added: bool,
    /// Which cases of a component a sample should have, if not all can be asked.
    fits: Fits,
}

/// Whether a case of a component can be asked.
type Fits = Box<dyn Fn(&str, &Case) -> bool + Send + Sync>;

/// Which contracts are expanded together: they share targets that are started, and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Together {
    /// Each for itself.
    Contract,
    /// Those of one component.
    Component,
    /// All.
    Run,
}

impl Selected {
    /// What a selection wants of the contracts built in and of those in `added`; taken to the letter where `strict`. `whole`: the
    /// ids of all clauses are needed too.
    pub(crate) fn of(
        added: Option<&Path>,
        selection: &Selection,
        strict: bool,
        whole: bool,
    ) -> Result<Self, Failure> {
        let mut index = catalog::index_for(added, selection, whole)?;
        if strict {
            index.take_to_the_letter();
        }
        let chosen = select::select(index.contracts(), &catalog::suites(added)?, selection);
        let chosen = chosen.map_err(|error| refused(&error))?;
        Ok(Self { index, chosen, is_added: added.is_some(), fits: Box::new(|_, _| true) })
    }

    /// All contracts that there are.
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

    /// Whether a clause of a selected contract is wanted.
    pub(crate) fn has(&self, outline: &Outline, clause: &str) -> bool {
        let at = self.index.contracts().iter().position(|other| std::ptr::eq(other, outline));
        at.is_some_and(|at| self.chosen.has(at, clause))
    }

    /// Whether all cases of the selected clauses are wanted.
    pub(crate) fn has_every_case(&self) -> bool {
        self.chosen.has_every_case()
    }

    /// Keeps the contracts of which this holds.
    pub(crate) fn retain(&mut self, holds: impl Fn(&Outline) -> bool) {
        let contracts = self.index.contracts();
        self.chosen.retain(|at| holds(&contracts[at]));
    }

    /// Lets a sample have cases of which this holds, where a clause has one.
    pub(crate) fn sample_from(&mut self, fits: impl Fn(&str, &Case) -> bool + Send + Sync + 'static) {
        self.fits = Box::new(fits);
    }

    /// All cases of the selected clauses, whatever a sample has of them.
    pub(crate) fn unsampled(&self) -> Result<Vec<Contract>, Failure> {
        let whole = self.chosen.clone().without_sample();
        whole.contracts().map(|at| self.expanded_as(&whole, at)).collect()
    }

    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.chosen.contracts().next().is_none()
    }

    /// The selected contracts, each expanded when it is asked for.
    pub(crate) fn each(&self) -> impl Iterator<Item = Result<Contract, Failure>> + '_ {
        self.chosen.contracts().map(|at| self.expanded(at))
    }

    /// The selected contracts in the parts in which they are asked, each with its place; in the order that the seed gives.
    pub(crate) fn parts(
        &self,
        together: Together,
        seed: u64,
    ) -> impl Iterator<Item = (usize, Result<Vec<Contract>, String>)> + '_ {
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let contracts = self.index.contracts();
        for at in self.chosen.contracts() {
            let last = parts.last_mut().filter(|part| match together {
                Together::Contract => false,
                Together::Component => {
                    part.iter().all(|other| contracts[*other].component == contracts[at].component)
                }
                Together::Run => true,
            });
            match last {
                Some(part) => part.push(at),
                None => parts.push(vec![at]),
            }
        }
        let mut parts: Vec<(usize, Vec<usize>)> = parts.into_iter().enumerate().collect();
        plan::shuffle(&mut parts, seed);
        parts.into_iter().map(|(place, part)| {
            let expanded: Result<Vec<Contract>, Failure> =
                part.into_iter().map(|at| self.expanded(at)).collect();
            (place, expanded.map_err(|failure| failure.text))
        })
    }

    /// Keeps the contracts of a shard, and gives what its report says of the whole.
    pub(crate) fn deal_out(&mut self, shard: Option<Shard>) -> Result<Option<ShardInfo>, Failure> {
        let Some(shard) = shard else { return Ok(None) };
        let (mut weighed, mut whole, mut clauses) = (Vec::new(), SelectionDigest::default(), 0);
        for contract in self.each() {
            let contract = contract?;
            weighed.push(Weighed::of(&contract));
            whole.add_all(&contract);
            clauses += contract.clauses.len();
        }
        let mine = shard.of(&weighed);
        if mine.is_empty() {
            let most =
                (1..=shard.of).filter(|index| !(Shard { index: *index, ..shard }).of(&weighed).is_empty());
            let text = format!(
                "--shard {shard}: what is selected can be dealt out in {} parts at most",
                most.count()
            );
            return Err(Failure::usage(text));
        }
        let mut place = 0;
        self.chosen.retain(|_| {
            place += 1;
            mine.contains(&(place - 1))
        });
        Ok(Some(shard.info(clauses, &whole)))
    }

    /// Finds names of cases that there are not, and what is wrong with contracts of others, before anything is asked.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_added {
            self.index.each(self.outlines(), drop).map_err(Failure::diagnostic)?;
        }
        if self.has_every_case() {
            return Ok(());
        }
        self.each().try_for_each(|contract| contract.map(drop))
    }

    fn expanded(&self, at: usize) -> Result<Contract, Failure> {
        self.expanded_as(&self.chosen, at)
    }

    fn expanded_as(&self, chosen: &Chosen, at: usize) -> Result<Contract, Failure> {
        let outline = &self.index.contracts()[at];
        let wanted = |clause: &str| chosen.has(at, clause);
        let is_whole = outline.clauses.iter().all(|clause| wanted(&clause.id));
        let expanded =
            if is_whole { self.index.expand(outline) } else { self.index.expand_some(outline, &wanted) };
        let contract = expanded.map_err(Failure::diagnostic)?;
        chosen.trimmed(at, contract, &self.fits).map_err(|error| refused(&error))
    }
}

fn refused(error: &SelectError) -> Failure {
    Failure { code: error.exit_code(), text: error.to_string() }
}
