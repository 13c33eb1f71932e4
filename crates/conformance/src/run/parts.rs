//! The parts of a run, one after the other, or side by side where each has servers and targets of its own in this process: then
//! every core has work.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use contract::model::Contract;
use tokio::runtime::{Builder, Handle, RuntimeFlavor};

use super::conclude::Intake;
use super::{
    Asked, Event, FactsFrom, Ground, Options, RunState, Shared, ask_all, death, group, missing, silent,
};
use crate::plan;
use crate::target::Target;

/// A part with its place, or why its contracts cannot be read.
type Next = (usize, Result<Vec<Contract>, String>);

/// Parts that are still to be asked.
struct Queue<I> {
    parts: I,
    /// How many contracts the parts have that were taken.
    contracts: usize,
}

/// A part in its place.
struct Part {
    at: usize,
    /// How many contracts earlier parts have.
    before: usize,
    contracts: Arc<[Contract]>,
}

/// Asks all parts and hands them on to be concluded; gives what broke around the target.
pub(super) async fn ask(
    state: &RunState<'_>,
    parts: impl Iterator<Item = Next> + Send,
    conclusion: &Intake,
) -> Vec<String> {
    let queue = Mutex::new(Queue { parts, contracts: 0 });
    let broken = Mutex::new(Vec::new());
    match state.lanes {
        1 => in_turn(state, &queue, conclusion, &broken).await,
        lanes => thread::scope(|scope| {
            for _ in 0..lanes {
                scope.spawn(|| match Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => runtime.block_on(in_turn(state, &queue, conclusion, &broken)),
                    Err(error) => lock(&broken).push(format!("failed to start: {error}")),
                });
            }
        }),
    }
    broken.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// How many parts are asked at once. What parts share (a control plane, a cluster, a target outside this process) is asked by one
/// after the other; so is everything on a runtime of one thread, which has the clock of a test, and where the first failure ends the
/// run.
pub(super) fn side_by_side(target: &dyn Target, options: &Options) -> usize {
    let own_servers = matches!(options.ground, Ground::Embedded | Ground::Direct(FactsFrom::Embedded));
    let in_order = target.is_outside() || target.asks_in_turn() || options.fail_fast;
    let is_threaded = |handle: Handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread;
    if !own_servers || in_order || !Handle::try_current().is_ok_and(is_threaded) {
        return 1;
    }
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    cores.min(usize::from(options.parallel.max(1)))
}

async fn in_turn<I: Iterator<Item = Next>>(
    state: &RunState<'_>,
    queue: &Mutex<Queue<I>>,
    conclusion: &Intake,
    broken: &Mutex<Vec<String>>,
) {
    let mut dead = None;
    loop {
        let next = lock(queue).next(state);
        let Part { at, before, contracts } = match next {
            None => return,
            Some(Ok(part)) => part,
            Some(Err(error)) => {
                lock(broken).push(format!("contracts cannot be read: {error}"));
                continue;
            }
        };
        let shared = Shared::new(&contracts, before, state);
        let (asked, errors) = one(&shared, &mut dead).await;
        lock(broken).extend(errors);
        let laws = shared.witnesses.prove();
        conclusion.take(at, (contracts, asked), laws);
    }
}

/// Asks the cases of a part, in the order of the contracts; `dead` is why the place where they run is gone, once it is.
async fn one(shared: &Shared<'_>, dead: &mut Option<String>) -> (Vec<Asked>, Vec<String>) {
    let options = shared.options;
    let served = !matches!(options.ground, Ground::Direct(_));
    let plan = plan::plan(shared.contracts, shared.target.as_ref(), options.seed, served);
    let (mut asked, mut broken) = (silent(shared.contracts, &plan), Vec::new());
    (shared.state.progress)(Event::Planned(missing(&plan, &asked).len()));
    if dead.is_none() {
        *dead = tokio::select! {
            () = ask_all(shared, &plan, (&mut asked, &mut broken)) => None,
            error = death(&options.ground) => Some(error),
        };
    }
    if let Some(error) = dead {
        let (lost, error) = group::broken(shared, &missing(&plan, &asked), error);
        asked.extend(lost);
        broken.extend(error);
    }
    asked.sort_by_key(|asked| asked.at);
    (asked, broken)
}

impl<I: Iterator<Item = Next>> Queue<I> {
    /// Expands the next part.
    fn next(&mut self, state: &RunState<'_>) -> Option<Result<Part, String>> {
        let (at, part) = self.parts.next()?;
        Some(part.map(|contracts| {
            let contracts = plan::stated(contracts, state.target.as_ref());
            let part = Part { at, before: self.contracts, contracts };
            self.contracts += part.contracts.len();
            part
        }))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
