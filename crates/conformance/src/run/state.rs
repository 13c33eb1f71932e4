//! What all parts of a run share, and what all groups of one part do.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use contract::model::Contract;

use super::traced::Witnesses;
use super::{Asked, Event, Interrupt, Options, parts, server, shared_namespace};
use crate::plan;
use crate::report::Status;
use crate::target::Target;

/// What all parts of a run share.
pub(crate) struct RunState<'a> {
    pub(crate) target: &'a Arc<dyn Target>,
    pub(crate) options: &'a Options,
    pub(crate) progress: &'a (dyn Fn(Event<'_>) + Sync),
    pub(crate) interrupt: &'a Interrupt,
    /// Parts side by side, and groups or scenarios of each.
    pub(super) lanes: usize,
    pub(super) parallel: usize,
    pub(super) ended: AtomicBool,
    pub(super) number: u64,
    /// What was written into a cluster that is not ours and is still there.
    pub(super) left: Mutex<BTreeSet<String>>,
    /// What is registered in the cluster of the run and stays until its end.
    pub(super) registry: server::Registry,
    /// The namespaces there of cases for which nothing else is written.
    pub(super) namespaces: shared_namespace::SharedNamespaces,
}

impl<'a> RunState<'a> {
    pub(super) fn new(
        target: &'a Arc<dyn Target>,
        options: &'a Options,
        progress: &'a (dyn Fn(Event<'_>) + Sync),
        interrupt: &'a Interrupt,
    ) -> Self {
        let lanes = parts::side_by_side(target.as_ref(), options);
        Self {
            target,
            options,
            progress,
            interrupt,
            lanes,
            parallel: (usize::from(options.parallel) / lanes).max(1),
            ended: AtomicBool::new(false),
            number: interrupt.run_number(),
            left: Mutex::default(),
            registry: server::Registry::default(),
            namespaces: shared_namespace::SharedNamespaces::default(),
        }
    }

    /// Whether no further case is begun.
    pub(super) fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.interrupt.raised().is_some()
    }

    /// Notes what could not be taken back.
    pub(super) fn left_behind(&self, names: impl IntoIterator<Item = String>) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
    }
}

/// What all groups of a part of a run share.
pub(crate) struct Shared<'a> {
    pub(crate) contracts: &'a Arc<[Contract]>,
    /// How many contracts were asked in earlier parts.
    pub(crate) before: usize,
    pub(crate) state: &'a RunState<'a>,
    pub(crate) target: &'a Arc<dyn Target>,
    pub(crate) options: &'a Options,
    pub(crate) interrupt: &'a Interrupt,
    /// What shows that laws can be broken.
    pub(crate) witnesses: Witnesses,
}

impl<'a> Shared<'a> {
    pub(super) fn new(contracts: &'a Arc<[Contract]>, before: usize, state: &'a RunState<'a>) -> Self {
        let RunState { target, options, interrupt, .. } = *state;
        Self { contracts, before, state, target, options, interrupt, witnesses: Witnesses::default() }
    }

    /// Whether no further case is begun.
    pub(crate) fn is_over(&self) -> bool {
        self.state.is_over()
    }

    /// Notes what could not be taken back.
    pub(crate) fn left_behind(&self, names: impl IntoIterator<Item = String>) {
        self.state.left_behind(names);
    }

    /// Notes what became of a case.
    pub(crate) fn done(&self, asked: &mut Asked) {
        self.witnesses.take_from(asked);
        let looked = plan::look(self.contracts, asked.at);
        let status = asked.result.status;
        (self.state.progress)(Event::Case { contract: &looked.contract.name, id: &looked.id(), status });
        if self.options.fail_fast && matches!(status, Status::Failed | Status::Errored) {
            self.state.ended.store(true, Ordering::Relaxed);
        }
    }
}
