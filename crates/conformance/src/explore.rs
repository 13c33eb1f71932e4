//! Explores scenarios: each runs once undisturbed, and then once with each perturbation of what the target did and saw in
//! that run: every write crashed, refused or answered by a timeout, the leader lost at it, every watch event lost, late or
//! delivered twice, every read answered from the past.
//!
//! `plan` makes the perturbations, `pairs` those of depth 2, `oracle` judges a perturbed run, [`Outcome`] has the result.

mod numbers;
mod oracle;
mod outcome;
mod pairs;
mod past;
mod places;
mod plan;
mod scenarios;
mod tally;
mod timeline;

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::model::Contract;

pub use self::numbers::PlanNumbers;
pub use self::outcome::{
    ExplorationCounts, Outcome, PerturbationFailure, ScenarioOutcome, ScenarioState, TimelineEntry,
    TimelineKind,
};
use self::pairs::PairPlan;
use self::scenarios::{LearntScenario, Scenarios};
use crate::parallel::in_parallel;
use crate::plan::{PlannedOn, Separate};
use crate::report::Check;
use crate::run::{self, Event, Interrupt, PartState, RunState, Substrate};
use crate::target::Target;

/// How scenarios are explored.
#[derive(Clone, Debug)]
pub struct ExploreOptions {
    /// How many perturbations a run has at most: 1, or 2. Pairs come after all perturbations alone.
    pub depth: u8,
    /// The order of the pairs, and of the perturbations if there is a budget; 0 keeps that of the plan.
    pub seed: u64,
    /// After this time, no further run begins.
    pub budget: Option<Duration>,
    /// Number of runs in parallel, at least 1.
    pub parallel: u16,
    /// How long a step may wait in real time, for targets outside this process.
    pub time_budget: Duration,
    /// Only the perturbation with this number, or the pair with these.
    pub perturbation: Option<PlanNumbers>,
    /// The command that repeats one run, without the flags that select it.
    pub command: String,
}

/// What one run of a perturbed scenario showed.
#[derive(Debug)]
enum JobResult {
    /// The scenario withstood the perturbation.
    Held,
    /// Something is wrong.
    Failed(FailedRun),
    /// The run took another way, so that the perturbation struck nothing.
    Missed,
    /// The budget was spent, or the user interrupted.
    Left,
    /// The environment broke.
    Broken(String),
}

/// What a run showed in which something is wrong.
#[derive(Debug, Default)]
struct FailedRun {
    /// Failed checks.
    checks: Vec<Check>,
    /// What happened.
    timeline: Vec<TimelineEntry>,
}

/// One perturbation of one scenario.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// Which of the learnt scenarios.
    scenario: usize,
    /// Which perturbation of its plan, from 0.
    perturbation: usize,
}

/// Explores the scenarios of the contracts on embedded API servers.
pub fn run(
    contracts: Vec<Contract>,
    target: &Arc<dyn Target>,
    options: &ExploreOptions,
    progress: &(dyn Fn(Event<'_>) + Sync),
    interrupt: &Interrupt,
) -> Outcome {
    let began = Instant::now();
    let contracts = crate::plan::with_parameters(contracts, target.as_ref());
    let run_options = of_run(options);
    let state = RunState::new(target, &run_options, progress, interrupt);
    let shared = PartState::new(&contracts, 0, &state);
    let on = PlannedOn { substrate: run_options.substrate.name(), is_server: true };
    let plan = crate::plan::plan(&contracts, target.as_ref(), 0, on);
    let cases = plan.separate(Separate::Scenarios);
    let scenarios =
        Scenarios { shared: &shared, end: options.budget.map(|budget| began + budget), interrupt };
    let lanes = usize::from(options.parallel.max(1));
    progress(Event::Planned(cases.len()));
    let learnt = in_parallel(cases, lanes, |_, at| scenarios.learn(*at));
    let jobs = jobs(&learnt, options);
    progress(Event::Planned(jobs.len()));
    let results =
        in_parallel(&jobs, lanes, |_, job| scenarios.perturb(&learnt[job.scenario], job.perturbation));
    let pairs = PairPlan::of(&learnt, (&jobs, &results), options);
    if pairs.planned() > 0 {
        progress(Event::Planned(pairs.planned()));
    }
    let pair_runs = pairs.run(&scenarios, &learnt, lanes);
    let mut outcome = Outcome::of(target.identity(), options);
    tally::excluded(&mut outcome, &contracts, &plan.silent);
    tally::scenarios(&mut outcome, &learnt, (&jobs, results), (&pairs, pair_runs));
    outcome.interrupted = interrupt.raised();
    outcome.duration_ms = began.elapsed().as_secs_f64() * 1e3;
    outcome
}

/// The runs: with a budget in the order of the seed, so that what is left is a sample.
fn jobs(learnt: &[LearntScenario<'_>], options: &ExploreOptions) -> Vec<Job> {
    let of_scenario = |(scenario, learnt): (usize, &LearntScenario<'_>)| {
        let all = (0..learnt.perturbations().len()).map(move |perturbation| Job { scenario, perturbation });
        all.collect::<Vec<_>>()
    };
    let mut jobs: Vec<Job> = learnt.iter().enumerate().flat_map(of_scenario).collect();
    if let Some(numbers) = options.perturbation {
        // A pair is no single one.
        jobs.retain(|job| PlanNumbers::one(job.perturbation + 1) == numbers);
    }
    if options.budget.is_some() {
        crate::plan::shuffle(&mut jobs, options.seed);
    }
    jobs
}

/// The options of the runs.
fn of_run(options: &ExploreOptions) -> run::Options {
    run::Options {
        substrate: Substrate::Embedded,
        seed: 0,
        parallel: options.parallel,
        repeat: 1,
        fail_fast: false,
        settle: Duration::ZERO,
        time_budget: options.time_budget,
        strict: false,
        waivers: Vec::new(),
        started_at: String::new(),
        version: String::new(),
        command: String::new(),
        expression: Vec::new(),
    }
}
