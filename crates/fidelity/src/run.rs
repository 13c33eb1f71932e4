//! A whole run: recorded sequences first, then generated ones, several side by side; what is found is shrunk.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _, stream};

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

/// Plays recorded and generated sequences on both servers; `progress` is told how many requests were compared.
///
/// # Errors
/// When a server does not answer.
pub async fn run(
    pair: &Pair,
    options: &Options,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Outcome, ServerError> {
    let ground = Ground { pair, known: options.known, taken: AtomicUsize::new(0) };
    let kinds: Vec<&Kind> = kinds::all().iter().filter(|kind| wanted(options, kind)).collect();
    let mut found = BTreeMap::new();
    let mut again = Tally::default();
    let recorded = recorded::all().to_vec();
    let recordings = recorded.len();
    ground.all(recorded, options.parallel, &mut again, &mut found, &|_| ()).await?;
    let mut tally = Tally::default();
    let generated = sequences(options, &kinds);
    let sequences = generated.len();
    ground.all(generated, options.parallel, &mut tally, &mut found, progress).await?;
    let whole = options.kinds.is_empty();
    let mut outcome = Outcome {
        requests: tally.total().requests,
        seed: options.seed,
        sequences,
        recordings,
        took: Duration::ZERO,
        demands: if whole { tally.demands(options.requests, &kinds) } else { Vec::new() },
        tally,
        known: options.known,
        found: Vec::new(),
        untold: 0,
    };
    let mut found: Vec<(usize, Sequence, Found)> = found.into_values().collect();
    let untold = found.split_off(options.examples.min(found.len()));
    outcome.untold = untold.iter().map(|(count, ..)| count).sum();
    let shrunk = found.into_iter().map(|(count, sequence, first)| ground.shrunk(count, sequence, first));
    outcome.found = stream::iter(shrunk).buffered(options.parallel.max(1)).try_collect().await?;
    Ok(outcome)
}

/// Differences by what tells them from others: how often, the sequence that shows it, and how.
type Findings = BTreeMap<String, (usize, Sequence, Found)>;

impl Ground<'_> {
    async fn all(
        &self,
        sequences: Vec<Sequence>,
        parallel: usize,
        tally: &mut Tally,
        found: &mut Findings,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<(), ServerError> {
        let played = stream::iter(sequences).map(|sequence| async move {
            let played = self.play(&sequence, PATIENCE).await;
            played.map(|played| (sequence, played))
        });
        let mut played = std::pin::pin!(played.buffer_unordered(parallel.max(1)));
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
        Ok(())
    }

    async fn play(&self, sequence: &Sequence, patience: Duration) -> Result<Played, ServerError> {
        let namespace = format!("f-{}", self.taken.fetch_add(1, Ordering::Relaxed));
        play(self.pair, sequence, &namespace, self.known, patience).await
    }

    /// The smallest sequence that shows the same difference.
    async fn shrunk(
        &self,
        count: usize,
        sequence: Sequence,
        first: Found,
    ) -> Result<CounterExample, ServerError> {
        let signature = first.signature();
        let shows = |candidate: Sequence| {
            let signature = &signature;
            async move {
                let played = self.play(&candidate, SHRINKING_PATIENCE).await;
                played.is_ok_and(|played| played.found.is_some_and(|found| &found.signature() == signature))
            }
        };
        let smallest = shrink(sequence, SHRINKING, shows).await;
        let again = self.play(&smallest, PATIENCE).await?.found;
        let steady = again.is_some();
        Ok(CounterExample { count, found: again.unwrap_or(first), sequence: smallest, steady })
    }
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
