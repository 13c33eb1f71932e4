//! Pairs of the perturbations that scenarios withstand alone: which there are, in which order they are run, and their results.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::outcome::ExplorationCounts;
use super::places::{count_distinct_pairs, count_pairs, places};
use super::scenarios::{LearntScenario, Scenarios};
use super::{ExploreOptions, Job, JobResult};
use crate::parallel::in_parallel;

/// The pairs of all scenarios, which are too many to be listed.
#[derive(Debug, Default)]
pub(super) struct PairPlan {
    parts: Vec<ScenarioPairs>,
    /// The number of pairs, including those of the same place.
    total: usize,
    order: PairOrder,
}

/// Two different perturbations of one scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// Which of the learnt scenarios.
    pub(super) scenario: usize,
    /// The perturbations in its plan, from 0.
    pub(super) members: [usize; 2],
}

/// The result of a pair.
pub(super) struct PairRun {
    /// The pair.
    pub(super) pair: Pair,
    /// What its run showed, or that of the one that fails alone.
    pub(super) result: JobResult,
    /// The one that fails alone.
    pub(super) alone: Option<usize>,
}

/// The pairs of one scenario.
#[derive(Debug)]
struct ScenarioPairs {
    scenario: usize,
    /// The perturbations, each with its place.
    members: Vec<(usize, usize)>,
    /// The number of pairs of the scenarios before it.
    begin: usize,
    /// Space and cut; all others are left.
    counts: ExplorationCounts,
}

/// An order of numbers that a seed determines.
#[derive(Clone, Copy, Debug)]
struct PairOrder {
    first: usize,
    stride: usize,
}

impl PairPlan {
    /// The pairs of the perturbations that were withstood, or the one that was requested; `results` are those of the jobs.
    pub(super) fn of(
        learnt: &[LearntScenario<'_>],
        (jobs, results): (&[Job], &[JobResult]),
        options: &ExploreOptions,
    ) -> Self {
        let requested = options.perturbation.and_then(|numbers| Some([numbers.first, numbers.second?]));
        if requested.is_none() && (options.depth < 2 || options.perturbation.is_some()) {
            return Self::default();
        }
        let mut of_scenario: BTreeMap<usize, Vec<(usize, &JobResult)>> = BTreeMap::new();
        for (job, result) in jobs.iter().zip(results) {
            of_scenario.entry(job.scenario).or_default().push((job.perturbation, result));
        }
        let mut plan = Self::default();
        for (scenario, learnt) in learnt.iter().enumerate() {
            let places = places(learnt.perturbations());
            match requested {
                Some(numbers) => plan.add_requested(scenario, &places, numbers),
                None => plan.add(scenario, &places, &of_scenario.remove(&scenario).unwrap_or_default()),
            }
        }
        plan.order = PairOrder::of(plan.total, options.seed);
        plan
    }

    fn add(&mut self, scenario: usize, places: &[usize], results: &[(usize, &JobResult)]) {
        let having = |is_meant: fn(&JobResult) -> bool| {
            let meant = results.iter().filter(|(_, result)| is_meant(result));
            let mut members: Vec<_> = meant.map(|(number, _)| (*number, places[*number])).collect();
            members.sort_unstable();
            members
        };
        let withstood = having(|result| matches!(result, JobResult::Held));
        // What was not run alone may be withstood, too.
        let possible =
            having(|result| matches!(result, JobResult::Held | JobResult::Left | JobResult::Broken(_)));
        let left = count_distinct_pairs(possible.iter().map(|(_, place)| *place));
        self.push(scenario, places.len(), (withstood, left));
    }

    fn add_requested(&mut self, scenario: usize, places: &[usize], numbers: [usize; 2]) {
        let members: Option<Vec<_>> =
            numbers.iter().map(|number| Some((number - 1, *places.get(number - 1)?))).collect();
        let Some(members) = members else { return };
        let left = count_distinct_pairs(members.iter().map(|(_, place)| *place));
        self.push(scenario, places.len(), (members, left));
    }

    fn push(&mut self, scenario: usize, planned: usize, (members, left): (Vec<(usize, usize)>, usize)) {
        let space = count_pairs(planned);
        let counts = ExplorationCounts { space, cut: space - left, left, ..ExplorationCounts::default() };
        let begin = self.total;
        self.total += count_pairs(members.len());
        self.parts.push(ScenarioPairs { scenario, members, begin, counts });
    }

    /// How many pairs are to be run.
    pub(super) fn planned(&self) -> usize {
        let distinct =
            |part: &ScenarioPairs| count_distinct_pairs(part.members.iter().map(|(_, place)| *place));
        self.parts.iter().map(distinct).sum()
    }

    /// Space, cut and left of a scenario before any pair is run.
    pub(super) fn counts(&self, scenario: usize) -> ExplorationCounts {
        let part = self.parts.iter().find(|part| part.scenario == scenario);
        part.map(|part| part.counts).unwrap_or_default()
    }

    /// The pair at a position of the order; `None` if its members have the same place, so that only one of them can strike.
    fn pair(&self, position: usize) -> Option<Pair> {
        let number = self.order.number(position, self.total);
        let part = self.parts.iter().rev().find(|part| part.begin <= number)?;
        let mut second = number - part.begin;
        // All pairs with the same first member are a row.
        let mut first = 0;
        while second >= part.members.len().checked_sub(first + 1)? {
            second -= part.members.len() - first - 1;
            first += 1;
        }
        let (one, other) = (part.members.get(first)?, part.members.get(first + 1 + second)?);
        (one.1 != other.1).then_some(Pair { scenario: part.scenario, members: [one.0, other.0] })
    }

    /// Runs the pairs until the budget is spent; the results are in the order of the plan.
    pub(super) fn run(
        &self,
        scenarios: &Scenarios<'_>,
        learnt: &[LearntScenario<'_>],
        lanes: usize,
    ) -> Vec<PairRun> {
        let next = AtomicUsize::new(0);
        let work = |_: usize, (): &()| {
            let mut runs = Vec::new();
            loop {
                let position = next.fetch_add(1, Ordering::Relaxed);
                if position >= self.total || scenarios.is_over() {
                    break runs;
                }
                if let Some(pair) = self.pair(position) {
                    let (result, alone) = scenarios.perturb_twice(&learnt[pair.scenario], pair.members);
                    runs.push(PairRun { pair, result, alone });
                }
            }
        };
        let mut runs: Vec<PairRun> =
            in_parallel(&vec![(); lanes], lanes, work).into_iter().flatten().collect();
        runs.sort_by_key(|run| (run.pair.scenario, run.pair.members));
        runs
    }
}

impl Default for PairOrder {
    fn default() -> Self {
        Self { first: 0, stride: 1 }
    }
}

impl PairOrder {
    /// An order of the numbers below `total`; the seed 0 keeps that of the plan.
    fn of(total: usize, seed: u64) -> Self {
        if seed == 0 || total == 0 {
            return Self::default();
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let first = random.usize(0..total);
        loop {
            // A stride without a common divisor comes to each number once.
            let stride = random.usize(1..=total);
            if greatest_common_divisor(stride, total) == 1 {
                return Self { first, stride };
            }
        }
    }

    fn number(self, position: usize, total: usize) -> usize {
        let wide = |number: usize| number as u128;
        let number = (wide(self.first) + wide(position) * wide(self.stride)) % wide(total);
        usize::try_from(number).unwrap_or_default()
    }
}

fn greatest_common_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::explore::FailedRun;

    fn plan(seed: u64, withstood: &[&[usize]]) -> PairPlan {
        let mut plan = PairPlan::default();
        for (scenario, places) in withstood.iter().enumerate() {
            let held = JobResult::Held;
            let results: Vec<_> = (0..places.len()).map(|number| (number, &held)).collect();
            plan.add(scenario, places, &results);
        }
        plan.order = PairOrder::of(plan.total, seed);
        plan
    }

    fn pairs(plan: &PairPlan) -> Vec<(usize, [usize; 2])> {
        let found = (0..plan.total).filter_map(|position| plan.pair(position));
        found.map(|pair| (pair.scenario, pair.members)).collect()
    }

    #[test]
    fn each_pair_comes_once_in_the_order_of_the_seed() {
        let members: [&[usize]; 3] = [&[0, 1, 2], &[0], &[0, 0, 2, 3]];
        let in_order = pairs(&plan(0, &members));
        let wanted = [
            (0, [0, 1]),
            (0, [0, 2]),
            (0, [1, 2]),
            // The first two have the same place.
            (2, [0, 2]),
            (2, [0, 3]),
            (2, [1, 2]),
            (2, [1, 3]),
            (2, [2, 3]),
        ];
        assert_eq!(in_order, wanted);
        assert_eq!(plan(0, &members).planned(), wanted.len());
        let mut orders = BTreeSet::new();
        for seed in 1..20 {
            let found = pairs(&plan(seed, &members));
            assert_eq!(found, pairs(&plan(seed, &members)));
            let sorted: BTreeSet<_> = found.iter().copied().collect();
            assert_eq!(
                (sorted.into_iter().collect::<Vec<_>>(), found.len()),
                (wanted.to_vec(), wanted.len())
            );
            orders.insert(found);
        }
        assert!(orders.len() > 1, "the seed has an effect");
    }

    #[test]
    fn a_pair_with_one_that_fails_alone_is_cut() {
        let results = [
            JobResult::Held,
            JobResult::Failed(FailedRun::default()),
            JobResult::Held,
            JobResult::Left,
            JobResult::Missed,
        ];
        let mut plan = PairPlan::default();
        plan.add(0, &[0, 1, 2, 3, 4], &results.iter().enumerate().collect::<Vec<_>>());
        plan.order = PairOrder::of(plan.total, 0);
        assert_eq!(pairs(&plan), [(0, [0, 2])]);
        let counts = plan.counts(0);
        assert_eq!((counts.space, counts.cut, counts.left), (10, 7, 3));
        assert_eq!(plan.counts(1), ExplorationCounts::default());
    }
}
