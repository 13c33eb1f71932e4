//! A whole run: sends recorded sequences, then generated ones, several at the same time, and shrinks those with differences.

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
use crate::known::{self, KnownDifference};
use crate::outcome::{CounterExample, Outcome};
use crate::play::{PATIENCE, SequenceResult, Servers, UnknownDifference, play};
use crate::recorded;
use crate::request::Sequence;
use crate::server::ServerError;
use crate::shrink::shrink;
use crate::tally::Tally;

/// How often a sequence is sent again in order to shrink it.
const SHRINKING: usize = 400;
/// How long shrinking a sequence may take.
const SHRINKING_TIME: Duration = Duration::from_mins(1);
/// How long to wait for a missing event while shrinking.
const SHRINKING_PATIENCE: Duration = Duration::from_millis(1500);

/// How often operations that have succeeded too seldom are generated again.
const STEERING: u64 = 3;

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The number of requests to generate.
    pub requests: usize,
    /// The seed of the generated requests.
    pub seed: u64,
    /// Names of resources (`deployments.apps`); empty for all.
    pub kinds: Vec<String>,
    /// The number of sequences that run at the same time.
    pub parallel: usize,
    /// The number of differences to shrink.
    pub examples: usize,
    /// The known differences.
    pub known: &'static [KnownDifference],
}

impl RunOptions {
    /// Options for requests of a seed, for all kinds.
    #[must_use]
    pub fn new(requests: usize, seed: u64) -> Self {
        Self { requests, seed, kinds: Vec::new(), parallel: 8, examples: 10, known: known::all() }
    }
}

/// Plays sequences, each in a new namespace.
struct Runner<'a> {
    servers: &'a Servers,
    known: &'static [KnownDifference],
    namespaces: AtomicUsize,
}

/// Plays recorded and generated sequences on both servers until all are played, a server does not answer, or `stop` completes.
/// Calls `progress` with the number of compared requests. Returns what was found so far in each case.
pub async fn run(
    servers: &Servers,
    options: &RunOptions,
    progress: &(dyn Fn(usize) + Sync),
    stop: impl Future<Output = ()>,
) -> Outcome {
    let runner = Runner { servers, known: options.known, namespaces: AtomicUsize::new(0) };
    let kinds: Vec<&Kind> = kinds::all().iter().filter(|kind| is_selected(options, kind)).collect();
    let recorded: Vec<Sequence> =
        recorded::all().iter().filter(|sequence| is_relevant(options, sequence)).cloned().collect();
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
    let mut of_recorded = Tally::default();
    let mut end =
        runner.play_all(recorded, options.parallel, &mut of_recorded, &mut findings, &|_| (), &stop).await;
    if matches!(end, Ok(true)) {
        let tally = &mut outcome.tally;
        end = runner.play_all(generated, options.parallel, tally, &mut findings, progress, &stop).await;
        for round in 0..STEERING {
            let steered = steered(options, round, &kinds, tally);
            if !matches!(end, Ok(true)) || steered.is_empty() {
                break;
            }
            end = runner.play_all(steered, options.parallel, tally, &mut findings, progress, &stop).await;
        }
    }
    outcome.requests = outcome.tally.total().requests;
    outcome.tally.add_known(&of_recorded);
    if options.kinds.is_empty() {
        outcome.demands = outcome.tally.demands(options.requests, &kinds);
    }
    let mut found: Vec<(usize, Sequence, UnknownDifference)> = findings.into_values().collect();
    let not_shrunk = found.split_off(options.examples.min(found.len()));
    outcome.not_shrunk = not_shrunk.iter().map(|(count, ..)| count).sum();
    let shrunk =
        found.into_iter().map(|(count, sequence, first)| runner.shrink(count, sequence, first, &stop));
    outcome.found = stream::iter(shrunk).buffered(options.parallel.max(1)).collect().await;
    outcome.stopped = is_over(&stop);
    outcome.failed = end.err();
    outcome
}

/// Differences by signature: how many sequences showed it, the shortest of these, and the difference in it.
type Findings = BTreeMap<String, (usize, Sequence, UnknownDifference)>;

impl Runner<'_> {
    /// Plays sequences; returns whether all were played.
    async fn play_all<F: Future<Output = ()>>(
        &self,
        sequences: Vec<Sequence>,
        parallel: usize,
        tally: &mut Tally,
        found: &mut Findings,
        progress: &(dyn Fn(usize) + Sync),
        stop: &Shared<F>,
    ) -> Result<bool, ServerError> {
        let played = stream::iter(sequences).map(|sequence| async move {
            let played = self.play_with_retry(&sequence).await;
            played.map(|played| (sequence, played))
        });
        let played = played.buffer_unordered(parallel.max(1)).take_until(stop.clone());
        let mut played = std::pin::pin!(played);
        while let Some(next) = played.next().await {
            let (mut sequence, result) = next?;
            tally.add(&result);
            progress(tally.total().requests);
            let Some(difference) = result.found else { continue };
            // The events of a watch depend on the requests after it.
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

    /// Plays a sequence, and repeats it if a connection was closed, which a server may do because it was idle.
    async fn play_with_retry(&self, sequence: &Sequence) -> Result<SequenceResult, ServerError> {
        let played = self.play(sequence, PATIENCE).await?;
        if played.unanswered { self.play(sequence, PATIENCE).await } else { Ok(played) }
    }

    async fn play(&self, sequence: &Sequence, patience: Duration) -> Result<SequenceResult, ServerError> {
        let namespace = format!("f-{}", self.namespaces.fetch_add(1, Ordering::Relaxed));
        play(self.servers, sequence, &namespace, self.known, patience).await
    }

    /// Finds the smallest sequence that shows the same difference, within the time for shrinking.
    async fn shrink<F: Future<Output = ()>>(
        &self,
        count: usize,
        sequence: Sequence,
        first: UnknownDifference,
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

/// Whether a sequence has a request for a selected kind.
fn is_relevant(options: &RunOptions, sequence: &Sequence) -> bool {
    let of_kind = |resource: &String| options.kinds.contains(resource);
    let mut resources = sequence.requests.iter().map(|request| Exercise::of(request).resource);
    options.kinds.is_empty() || resources.any(|resource| of_kind(&resource))
}

fn is_selected(options: &RunOptions, kind: &Kind) -> bool {
    options.kinds.is_empty() || options.kinds.contains(&kind.name())
}

/// Sequences with as many requests as the options state.
fn sequences(options: &RunOptions, kinds: &[&Kind]) -> Vec<Sequence> {
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

/// Sequences for operations that have occurred or succeeded too seldom on a kind.
fn steered(options: &RunOptions, round: u64, kinds: &[&Kind], tally: &Tally) -> Vec<Sequence> {
    if !options.kinds.is_empty() {
        return Vec::new();
    }
    let missing = tally.missing(options.requests, kinds).into_iter();
    let numbered = missing.zip(round << 32..);
    numbered
        .filter_map(|((kind, operation), number)| generate::steered(options.seed, number, kind, operation))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_have_exactly_the_requested_number_of_requests() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let all = sequences(&RunOptions::new(1003, 5), &kinds);
        assert_eq!(all.iter().map(|sequence| sequence.requests.len()).sum::<usize>(), 1003);
        assert!(sequences(&RunOptions::new(10, 5), &[]).is_empty());
    }
}
