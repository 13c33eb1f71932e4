//! Runs the parts of a run one after the other, or in parallel if each has servers and targets of its own in this process, so
//! that all cores have work.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use contract::model::Contract;
use tokio::runtime::{Builder, Handle, RuntimeFlavor};

use super::conclude::Intake;
use super::{
    CaseRun, Event, FactsFrom, Options, PartState, RunState, Substrate, excluded, group, missing, run_all,
    substrate_failure,
};
use crate::plan::{self, PlannedOn};
use crate::target::Target;

/// The index of a part and its contracts, or why they cannot be read.
type Next = (usize, Result<Vec<Contract>, String>);

/// Parts that have not run yet.
struct Queue<I> {
    parts: I,
    /// Number of contracts in the parts that were taken.
    contracts: usize,
}

/// A part with its index.
struct WaitingPart {
    at: usize,
    /// Number of contracts in earlier parts.
    before: usize,
    contracts: Arc<[Contract]>,
}

/// Runs all parts and sends their results on to be evaluated; returns environment errors.
pub(super) async fn run_parts(
    state: &RunState<'_>,
    parts: impl Iterator<Item = Next> + Send,
    conclusion: &Intake,
) -> Vec<String> {
    let queue = Mutex::new(Queue { parts, contracts: 0 });
    let broken = Mutex::new(Vec::new());
    match state.lanes {
        1 => run_in_turn(state, &queue, conclusion, &broken).await,
        lanes => thread::scope(|scope| {
            for _ in 0..lanes {
                scope.spawn(|| match Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => runtime.block_on(run_in_turn(state, &queue, conclusion, &broken)),
                    Err(error) => lock(&broken).push(format!("failed to start: {error}")),
                });
            }
        }),
    }
    broken.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// How many parts run in parallel. Parts that share a control plane, a cluster or a target outside this process run one after
/// the other. So do all parts on a runtime of one thread, which has a test's clock, and if the first failure ends the run.
pub(super) fn side_by_side(target: &dyn Target, options: &Options) -> usize {
    let own_servers = matches!(
        options.substrate,
        Substrate::Embedded | Substrate::Aggregated(_) | Substrate::Direct(FactsFrom::Embedded)
    );
    let in_order = target.is_outside() || target.asks_in_turn() || options.fail_fast;
    let is_threaded = |handle: Handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread;
    if !own_servers || in_order || !Handle::try_current().is_ok_and(is_threaded) {
        return 1;
    }
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    cores.min(usize::from(options.parallel.max(1)))
}

async fn run_in_turn<I: Iterator<Item = Next>>(
    state: &RunState<'_>,
    queue: &Mutex<Queue<I>>,
    conclusion: &Intake,
    broken: &Mutex<Vec<String>>,
) {
    let mut dead = None;
    loop {
        let next = lock(queue).next(state);
        let WaitingPart { at, before, contracts } = match next {
            None => return,
            Some(Ok(part)) => part,
            Some(Err(error)) => {
                lock(broken).push(format!("contracts cannot be read: {error}"));
                continue;
            }
        };
        let shared = PartState::new(&contracts, before, state);
        let (case_runs, errors) = run_part(&shared, &mut dead).await;
        lock(broken).extend(errors);
        let laws = shared.witnesses.prove();
        conclusion.take(at, (contracts, case_runs), laws);
    }
}

/// Runs the cases of a part; returns results in the order of the contracts. `dead` is why the substrate has failed, once it has.
async fn run_part(shared: &PartState<'_>, dead: &mut Option<String>) -> (Vec<CaseRun>, Vec<String>) {
    let options = shared.options;
    let is_server = !matches!(options.substrate, Substrate::Direct(_));
    let on = PlannedOn { substrate: options.substrate.name(), is_server };
    let plan = plan::plan(shared.contracts, shared.target.as_ref(), options.seed, on);
    let (mut case_runs, mut broken) = (excluded(shared.contracts, &plan), Vec::new());
    (shared.state.progress)(Event::Planned(missing(&plan, &case_runs).len()));
    if dead.is_none() {
        *dead = tokio::select! {
            () = run_all(shared, &plan, (&mut case_runs, &mut broken)) => None,
            error = substrate_failure(&options.substrate) => Some(error),
        };
    }
    if let Some(error) = dead {
        let (lost, error) = group::all_errored(shared, &missing(&plan, &case_runs), error);
        case_runs.extend(lost);
        broken.extend(error);
    }
    case_runs.sort_by_key(|case_run| case_run.at);
    (case_runs, broken)
}

impl<I: Iterator<Item = Next>> Queue<I> {
    /// Expands the next part.
    fn next(&mut self, state: &RunState<'_>) -> Option<Result<WaitingPart, String>> {
        let (at, part) = self.parts.next()?;
        Some(part.map(|contracts| {
            let contracts = plan::with_parameters(contracts, state.target.as_ref());
            let part = WaitingPart { at, before: self.contracts, contracts };
            self.contracts += part.contracts.len();
            part
        }))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
