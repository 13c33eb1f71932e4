//! The parts of a run, one after the other, or side by side where each has servers and targets of its own in this process: then
//! every core has work.

use std::num::NonZero;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use contract::model::Contract;
use tokio::runtime::{Builder, Handle, RuntimeFlavor};

use super::conclude::Intake;
use super::{Asked, Event, FactsFrom, Ground, RunState, Shared, ask_all, death, group, missing, silent};
use crate::plan;

/// A part, or why it cannot be had.
type Next = Result<Vec<Contract>, String>;

/// Parts that are still to be asked.
struct Queue<I> {
    parts: I,
    /// How many parts, and contracts of them, were taken.
    taken: usize,
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
    let queue = Mutex::new(Queue { parts, taken: 0, contracts: 0 });
    let broken = Mutex::new(Vec::new());
    match side_by_side(state) {
        1 => in_turn(state, &queue, conclusion, &broken).await,
        lanes => thread::scope(|scope| {
            for _ in 0..lanes {
                scope.spawn(|| match Builder::new_current_thread().enable_all().build() {
                    Ok(runtime) => runtime.block_on(in_turn(state, &queue, conclusion, &broken)),
                    Err(error) => held(&broken).push(format!("failed to start: {error}")),
                });
            }
        }),
    }
    broken.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// How many parts are asked at once. What parts share (a control plane, a cluster, a target outside this process) is asked by one
/// after the other; so is everything on a runtime of one thread, which has the clock of a test.
fn side_by_side(state: &RunState<'_>) -> usize {
    let own_servers = matches!(state.options.ground, Ground::Embedded | Ground::Direct(FactsFrom::Embedded));
    let has_threads = Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread;
    if !own_servers || !has_threads || state.target.is_outside() || state.target.asks_in_turn() {
        return 1;
    }
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    cores.min(usize::from(state.options.parallel.max(1)))
}

async fn in_turn<I: Iterator<Item = Next>>(
    state: &RunState<'_>,
    queue: &Mutex<Queue<I>>,
    conclusion: &Intake,
    broken: &Mutex<Vec<String>>,
) {
    let mut dead = None;
    loop {
        let next = held(queue).next(state);
        let Part { at, before, contracts } = match next {
            None => return,
            Some(Ok(part)) => part,
            Some(Err(error)) => return held(broken).push(format!("contracts cannot be read: {error}")),
        };
        let shared = Shared::new(&contracts, before, state);
        let (asked, errors) = one(&shared, &mut dead).await;
        held(broken).extend(errors);
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
    /// Expands the next part. What cannot be had ends the queue.
    fn next(&mut self, state: &RunState<'_>) -> Option<Result<Part, String>> {
        let part = match self.parts.next()? {
            Ok(contracts) => {
                let contracts = plan::stated(contracts, state.target.as_ref());
                let part = Part { at: self.taken, before: self.contracts, contracts };
                self.contracts += part.contracts.len();
                Ok(part)
            }
            Err(error) => Err(error),
        };
        self.taken += 1;
        Some(part)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
