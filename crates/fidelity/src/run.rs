//! A whole run: recorded sequences first, then generated ones, several side by side; what is found is shrunk.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::Shared;
use futures::{FutureExt as _, StreamExt as _, stream};
use tokio::time::Instant;

use crate::exercise::Exercise;
use crate::generate;
use crate::kinds::{self, Kind};
use crate::known::{self, Known};
use crate::outcome::{CounterExample, Outcome};
use crate::play::{Found, PATIENCE, Pair, Played, play};
use crate::recorded;
use crate::request::Sequence;
use crate::server::ServerError;
use crate::shrink::shrink;
use crate::tally::Tally;

/// How often a sequence is sent again to make it smaller.
const SHRINKING: usize = 400;
/// How long that may take.
const SHRINKING_TIME: Duration = Duration::from_mins(1);
/// How long is waited for an event then, that was not told before.
const SHRINKING_PATIENCE: Duration = Duration::from_millis(1500);

/// What is done.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many requests are generated.
    pub requests: usize,
    /// What they are generated from.
    pub seed: u64,
    /// Names of resources (`deployments.apps`); empty: all that are known.
    pub kinds: Vec<String>,
    /// Sequences that are under way at once.
    pub parallel: usize,
    /// How many differences are shrunk.
    pub examples: usize,
    /// Differences that are known.
    pub known: &'static [Known],
}

impl Options {
    /// So many requests of a seed, on all kinds.
    #[must_use]
    pub fn new(requests: usize, seed: u64) -> Self {
        Self { requests, seed, kinds: Vec::new(), parallel: 8, examples: 10, known: known::all() }
    }
}

/// Where sequences are played, each in a namespace that none had before.
struct Ground<'a> {
    pair: &'a Pair,
    known: &'static [Known],
    taken: AtomicUsize,
}

/// Plays recorded and generated sequences on both servers until all are played, a server does not answer, or `stop` comes to
/// pass; `progress` is told how many requests were compared. What was found till then is told in each case.
pub async fn run(
    pair: &Pair,
    options: &Options,
    progress: &(dyn Fn(usize) + Sync),
    stop: impl Future<Output = ()>,
) -> Outcome {
    let ground = Ground { pair, known: options.known, taken: AtomicUsize::new(0) };
    let kinds: Vec<&Kind> = kinds::all().iter().filter(|kind| wanted(options, kind)).collect();
    let recorded: Vec<Sequence> =
        recorded::all().iter().filter(|sequence| concerns(options, sequence)).cloned().collect();
    let generated = sequences(options, &kinds);
    let mut outcome = Outcome {
        seed: options.seed,
        sequences: generated.len(),
        recordings: recorded.len(),
        known: options.known,
        ..Outcome::default()
    };
    let stop = stop.shared();
    let mut findings = Findings::default();
    let mut again = Tally::default();
    let mut end = ground.all(recorded, options.parallel, &mut again, &mut findings, &|_| (), &stop).await;
    if matches!(end, Ok(true)) {
        let tally = &mut outcome.tally;
        end = ground.all(generated, options.parallel, tally, &mut findings, progress, &stop).await;
    }
    outcome.requests = outcome.tally.total().requests;
    outcome.tally.add_known(&again);
    if options.kinds.is_empty() {
        outcome.demands = outcome.tally.demands(options.requests, &kinds);
    }
    let mut found: Vec<(usize, Sequence, Found)> = findings.into_values().collect();
    let untold = found.split_off(options.examples.min(found.len()));
    outcome.untold = untold.iter().map(|(count, ..)| count).sum();
    let shrunk =
        found.into_iter().map(|(count, sequence, first)| ground.shrunk(count, sequence, first, &stop));
    outcome.found = stream::iter(shrunk).buffered(options.parallel.max(1)).collect().await;
    outcome.stopped = is_over(&stop);
    outcome.failed = end.err();
    outcome
}

/// Differences by what tells them from others: how often, the sequence that shows it, and how.
type Findings = BTreeMap<String, (usize, Sequence, Found)>;

impl Ground<'_> {
    /// Plays sequences; whether it came to their end.
    async fn all<F: Future<Output = ()>>(
        &self,
        sequences: Vec<Sequence>,
        parallel: usize,
        tally: &mut Tally,
        found: &mut Findings,
        progress: &(dyn Fn(usize) + Sync),
        stop: &Shared<F>,
    ) -> Result<bool, ServerError> {
        let played = stream::iter(sequences).map(|sequence| async move {
            let played = self.answered(&sequence).await;
            played.map(|played| (sequence, played))
        });
        let played = played.buffer_unordered(parallel.max(1)).take_until(stop.clone());
        let mut played = std::pin::pin!(played);
        while let Some(next) = played.next().await {
            let (mut sequence, result) = next?;
            tally.add(&result);
            progress(tally.total().requests);
            let Some(difference) = result.found else { continue };
            // A watch differs by what follows it.
            if difference.exercise.verb != "watch" {
                sequence.requests.truncate(difference.at + 1);
            }
            let entry =
                found.entry(difference.signature()).or_insert((0, sequence.clone(), difference.clone()));
            entry.0 += 1;
            if sequence.requests.len() < entry.1.requests.len() {
                (entry.1, entry.2) = (sequence, difference);
            }
        }
        Ok(!is_over(stop))
    }

    /// Plays a sequence; once more where a connection ended, which may have been for want of something to do.
    async fn answered(&self, sequence: &Sequence) -> Result<Played, ServerError> {
        let played = self.play(sequence, PATIENCE).await?;
        if played.unanswered { self.play(sequence, PATIENCE).await } else { Ok(played) }
    }

    async fn play(&self, sequence: &Sequence, patience: Duration) -> Result<Played, ServerError> {
        let namespace = format!("f-{}", self.taken.fetch_add(1, Ordering::Relaxed));
        play(self.pair, sequence, &namespace, self.known, patience).await
    }

    /// The smallest sequence that shows the same difference, as far as there is time.
    async fn shrunk<F: Future<Output = ()>>(
        &self,
        count: usize,
        sequence: Sequence,
        first: Found,
        stop: &Shared<F>,
    ) -> CounterExample {
        let signature = first.signature();
        let end = Instant::now() + SHRINKING_TIME;
        let shows = |candidate: Sequence| {
            let signature = &signature;
            async move {
                if is_over(stop) || Instant::now() > end {
                    return false;
                }
                let played = self.play(&candidate, SHRINKING_PATIENCE).await;
                played.is_ok_and(|played| played.found.is_some_and(|found| &found.signature() == signature))
            }
        };
        let smallest = shrink(sequence, SHRINKING, shows).await;
        let again = if is_over(stop) { None } else { self.play(&smallest, PATIENCE).await.ok() };
        let again = again.and_then(|played| played.found).filter(|found| found.signature() == signature);
        let steady = again.is_some();
        CounterExample { count, found: again.unwrap_or(first), sequence: smallest, steady }
    }
}

fn is_over<F: Future<Output = ()>>(stop: &Shared<F>) -> bool {
    stop.clone().now_or_never().is_some()
}

/// Whether a sequence asks for one of the kinds that are wanted.
fn concerns(options: &Options, sequence: &Sequence) -> bool {
    let of_kind = |resource: &String| options.kinds.contains(resource);
    let mut asked = sequence.requests.iter().map(|request| Exercise::of(request).resource);
    options.kinds.is_empty() || asked.any(|resource| of_kind(&resource))
}

fn wanted(options: &Options, kind: &Kind) -> bool {
    options.kinds.is_empty() || options.kinds.contains(&kind.name())
}

/// So many sequences that their requests fill the budget.
fn sequences(options: &Options, kinds: &[&Kind]) -> Vec<Sequence> {
    let (mut all, mut requests) = (Vec::new(), 0);
    if kinds.is_empty() {
        return all;
    }
    for number in 0.. {
        if requests >= options.requests {
            break;
        }
        let mut next = generate::sequence(options.seed, number, kinds);
        next.requests.truncate(options.requests - requests);
        requests += next.requests.len();
        all.push(next);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_filled_and_not_exceeded() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let all = sequences(&Options::new(1003, 5), &kinds);
        assert_eq!(all.iter().map(|sequence| sequence.requests.len()).sum::<usize>(), 1003);
        assert!(sequences(&Options::new(10, 5), &[]).is_empty());
    }
}
