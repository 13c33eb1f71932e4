//! The state that all parts of a run share, and the state of one part.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use contract::model::Contract;
use substrate::embedded::Embedded;
use webhook::dial::Dialers;

use super::lasting_failures::LastingFailures;
use super::traced::Witnesses;
use super::{CaseRun, Event, Interrupt, Options, parts, server, shared_namespace};
use crate::plan;
use crate::report::Status;
use crate::target::{NeedsError, Target};

/// The state that all parts of a run share.
pub(crate) struct RunState<'a> {
    pub(crate) target: &'a Arc<dyn Target>,
    pub(crate) options: &'a Options,
    pub(crate) progress: &'a (dyn Fn(Event<'_>) + Sync),
    pub(crate) interrupt: &'a Interrupt,
    /// Number of parts in parallel, and of groups or scenarios of each.
    pub(super) lanes: usize,
    pub(crate) parallel: usize,
    pub(super) ended: AtomicBool,
    pub(super) number: u64,
    /// Objects in a cluster that is not ours that could not be removed.
    pub(super) left: Mutex<BTreeSet<String>>,
    /// Webhook configurations that stay until the end of the run.
    pub(super) registry: server::Registry,
    /// Namespaces that cases share.
    pub(super) namespaces: shared_namespace::SharedNamespaces,
    /// Failures that waiting for the target's caches did not remove.
    pub(super) lasting: LastingFailures,
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
            lasting: LastingFailures::default(),
        }
    }

    /// Whether no further case starts.
    pub(super) fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.interrupt.raised().is_some()
    }

    /// Reports objects that could not be removed.
    pub(super) fn left_behind(&self, names: impl IntoIterator<Item = String>) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
    }
}

/// The state that all groups of one part share.
pub(crate) struct PartState<'a> {
    pub(crate) contracts: &'a Arc<[Contract]>,
    /// Number of contracts in earlier parts.
    pub(crate) before: usize,
    pub(crate) state: &'a RunState<'a>,
    pub(crate) target: &'a Arc<dyn Target>,
    pub(crate) options: &'a Options,
    pub(crate) interrupt: &'a Interrupt,
    /// Exchanges for the proofs of laws.
    pub(crate) witnesses: Witnesses,
}

impl<'a> PartState<'a> {
    pub(super) fn new(contracts: &'a Arc<[Contract]>, before: usize, state: &'a RunState<'a>) -> Self {
        let RunState { target, options, interrupt, .. } = *state;
        Self { contracts, before, state, target, options, interrupt, witnesses: Witnesses::default() }
    }

    /// An embedded server with the kinds of the substrate and what the target needs; `outside` and `dialers` as in
    /// [`Needs::embedded`].
    ///
    /// # Errors
    /// As [`Needs::embedded`].
    ///
    /// [`Needs::embedded`]: crate::target::Needs::embedded
    pub(crate) async fn embedded_server(
        &self,
        outside: bool,
        dialers: Option<Arc<dyn Dialers>>,
    ) -> Result<Embedded, NeedsError> {
        self.target.needs().embedded(self.options.substrate.typed_api(), outside, dialers).await
    }

    /// Whether no further case starts.
    pub(crate) fn is_over(&self) -> bool {
        self.state.is_over()
    }

    /// Reports objects that could not be removed.
    pub(crate) fn left_behind(&self, names: impl IntoIterator<Item = String>) {
        self.state.left_behind(names);
    }

    /// Reports a finished case.
    pub(crate) fn done(&self, case_run: &mut CaseRun) {
        self.witnesses.take_from(case_run);
        let located = plan::locate(self.contracts, case_run.at);
        let status = case_run.result.status;
        (self.state.progress)(Event::Case { contract: &located.contract.name, id: &located.id(), status });
        if self.options.fail_fast && matches!(status, Status::Failed | Status::Errored) {
            self.state.ended.store(true, Ordering::Relaxed);
        }
    }
}
