//! Runs the cases of contracts against a target on a substrate, and makes one report of the results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::model::Contract;
use futures::StreamExt as _;
use substrate::cluster::Cluster;
use substrate::embedded::TypedApi;
use substrate::envtest::Envtest;

use crate::gardener;
use crate::observation::Observation;
use crate::plan::{self, CaseRef, Group, Plan, PlannedOn, Separate};
use crate::report::{CaseResult, Proof, Reason, ReasonCode, Report, Status};
use crate::target::{Facts, Target};
use contract::document::waivers::Waiver;

mod aggregated;
pub(crate) mod attempt;
mod conclude;
mod configure;
pub(crate) mod direct;
mod emitted;
mod group;
mod interrupt;
mod lasting_failures;
mod law_requests;
mod parts;
mod prepare;
mod process;
pub(crate) mod scenario;
pub(crate) mod server;
mod shared_namespace;
mod state;
mod story;
pub(crate) mod subject;
mod traced;
mod whole;

pub use aggregated::{Aggregated, PluginsOf};
use conclude::Conclusion;
pub use conclude::Judged;
pub use interrupt::Interrupt;
pub use prepare::CASES;
pub(crate) use state::{PartState, RunState};
use traced::Traced;
pub use whole::{Guard, Whole};

/// Where cases run.
#[derive(Clone)]
pub enum Substrate {
    /// Sends AdmissionReviews straight to the target.
    Direct(FactsFrom),
    /// An in-process API server sends the AdmissionReviews.
    Embedded,
    /// The same, and some kinds are served as an aggregated API server does: their rules are the server's, not a webhook's.
    Aggregated(Arc<Aggregated>),
    /// One real control plane for the whole run sends the AdmissionReviews over TLS.
    Envtest(Arc<Envtest>),
    /// One whole cluster for the whole run, in which the target runs; AdmissionReviews reach it through its Service.
    Whole(Arc<Whole>),
}

impl Substrate {
    /// Its name in reports and in `notOn` of clauses.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Direct(_) => "direct",
            Self::Embedded => "embedded",
            Self::Aggregated(aggregated) => &aggregated.name,
            Self::Envtest(_) => "envtest",
            Self::Whole(whole) => &whole.name,
        }
    }

    /// The kinds that its embedded servers serve as an aggregated API server does.
    pub(crate) fn typed_api(&self) -> Option<&TypedApi> {
        match self {
            Self::Aggregated(aggregated) => Some(&aggregated.api),
            Self::Direct(_) | Self::Embedded | Self::Envtest(_) | Self::Whole(_) => None,
        }
    }
}

/// The cluster to which a direct run writes facts.
#[derive(Clone)]
pub enum FactsFrom {
    /// An in-process API server for each group; the target starts with its kubeconfig.
    Embedded,
    /// The cluster from which the running target reads.
    Given(Facts),
    /// None: cases with facts are not supported.
    Nowhere,
}

/// How cases run.
#[derive(Clone)]
pub struct Options {
    /// Where cases run.
    pub substrate: Substrate,
    /// Seed of the order of cases; 0 keeps the order of the contracts.
    pub seed: u64,
    /// Number of groups that run in parallel, at least 1.
    pub parallel: u16,
    /// How often each case runs, at least 1.
    pub repeat: u16,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// How long a failing case with facts is retried, so that the target's caches can catch up.
    pub settle: Duration,
    /// How much real time a scenario may spend waiting; only targets outside this process need it.
    pub time_budget: Duration,
    /// Whether `--strict` is set; the report contains it.
    pub strict: bool,
    /// Waivers to apply.
    pub waivers: Vec<Waiver>,
    /// Start of the run, RFC 3339: `2026-03-02T08:20:11Z`. Its day decides which waivers have expired.
    pub started_at: String,
    /// Version of the tool.
    pub version: String,
    /// The command that repeats a case: `gardener-conformance run`; the report appends `--case '…'`.
    pub command: String,
    /// Human-readable description of the selection, for the report.
    pub expression: Vec<String>,
}

/// Progress of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// This many more cases will run.
    Planned(usize),
    /// A case has run.
    Case {
        /// Its contract.
        contract: &'a str,
        /// `<clause>/<case>`.
        id: &'a str,
        /// Its result.
        status: Status,
    },
}

/// One case with its result.
pub(crate) struct CaseRun {
    pub(crate) at: CaseRef,
    pub(crate) result: CaseResult,
    pub(crate) observation: Option<Observation>,
    pub(crate) traced: Option<Traced>,
    /// The proof of a scenario, that is, whether it can fail.
    pub(crate) proof: Option<Proof>,
}

/// Runs every case of the contracts. Environment errors are part of the report: every run returns a report, also an
/// interrupted one.
pub async fn run(
    contracts: Arc<[Contract]>,
    target: Arc<dyn Target>,
    options: &Options,
    progress: &(dyn Fn(Event<'_>) + Sync),
    interrupt: &Interrupt,
) -> Report {
    let all = std::iter::once((0, Ok(contracts.to_vec())));
    judged(all, target, options, progress, interrupt).await.proven()
}

/// Like [`run`], for contracts that come in parts, each with its index in the report. A part is expanded when its turn comes
/// and dropped once it is evaluated. Callers may stop the substrate before the last proofs are made.
pub async fn judged(
    parts: impl Iterator<Item = (usize, Result<Vec<Contract>, String>)> + Send,
    target: Arc<dyn Target>,
    options: &Options,
    progress: &(dyn Fn(Event<'_>) + Sync),
    interrupt: &Interrupt,
) -> Judged {
    let started = Instant::now();
    let state = RunState::new(&target, options, progress, interrupt);
    let conclusion = Conclusion::begin(target.extras());
    let mut broken = parts::run_parts(&state, parts, &conclusion.intake).await;
    match &options.substrate {
        Substrate::Whole(whole) => server::clean_up_cluster(&state, whole).await,
        Substrate::Direct(FactsFrom::Given(facts)) => {
            let cluster = Cluster::new(facts.client.clone());
            state.left_behind(state.namespaces.remove_all(&cluster).await);
        }
        Substrate::Direct(_) | Substrate::Embedded | Substrate::Aggregated(_) | Substrate::Envtest(_) => {}
    }
    state.left_behind(target.leave().await);
    broken.sort();
    broken.dedup();
    conclusion.judge(&state, broken, started.elapsed())
}

/// The report of a run in which no case ran, because the substrate `name` did not start (`error`), or because the run was
/// interrupted before.
pub fn unstarted(
    parts: impl Iterator<Item = (usize, Result<Vec<Contract>, String>)>,
    target: &Arc<dyn Target>,
    options: &Options,
    (name, error): (&str, &str),
    interrupt: &Interrupt,
) -> Report {
    let state = RunState::new(target, options, &|_| {}, interrupt);
    let conclusion = Conclusion::begin(target.extras());
    let mut broken = Vec::new();
    for (at, part) in parts {
        let contracts = match part {
            Ok(contracts) => plan::with_parameters(contracts, target.as_ref()),
            Err(error) => {
                broken.push(format!("contracts cannot be read: {error}"));
                continue;
            }
        };
        let on = PlannedOn { substrate: name, is_server: true };
        let plan = plan::plan(&contracts, target.as_ref(), options.seed, on);
        let shared = PartState::new(&contracts, 0, &state);
        let mut case_runs = excluded(&contracts, &plan);
        let cases = missing(&plan, &case_runs);
        if interrupt.raised().is_some() {
            case_runs.extend(not_run(&shared, &cases, Status::NotRun, &end_reason(&shared)));
        } else {
            case_runs.extend(group::all_errored(&shared, &cases, error).0);
            broken.push(error.to_owned());
        }
        case_runs.sort_by_key(|case_run| case_run.at);
        conclusion.intake.take(at, (contracts, case_runs), BTreeMap::new());
    }
    broken.sort();
    broken.dedup();
    let mut report = conclusion.judge(&state, broken, Duration::ZERO).proven();
    name.clone_into(&mut report.substrate.name);
    report.substrate.description = format!("{name} did not start");
    report
}

/// Lanes of groups: lanes run in parallel, the groups of one lane one after the other.
type Lanes<'p> = Vec<Vec<&'p Group>>;

/// The lanes that run first, those that run afterwards, and the number of lanes in parallel. In a shared cluster, a case whose
/// objects other cases see runs after them and alone. On a shared control plane, only one group runs at a time, since its
/// webhooks would receive the requests of others, unless `matchConditions` separate them.
fn ordered<'p>(shared: &'p PartState<'_>, plan: &'p Plan) -> ([Lanes<'p>; 2], usize) {
    let parallel = shared.state.parallel;
    let one_per_lane = |groups: Vec<&'p Group>| groups.into_iter().map(|group| vec![group]).collect();
    let visible_last = || plan.groups.iter().partition(|group| !group.alone);
    match &shared.options.substrate {
        Substrate::Whole(whole) if whole.supports_match_conditions() => {
            let (first, last) = visible_last();
            ([one_per_lane(first), plan::lanes(shared.contracts, last)], parallel)
        }
        Substrate::Envtest(_) | Substrate::Whole(_) => {
            let (first, last) = visible_last();
            ([one_per_lane(first), vec![last]], 1)
        }
        Substrate::Direct(_) if shared.target.asks_in_turn() => {
            ([one_per_lane(plan.groups.iter().collect()), Vec::new()], 1)
        }
        Substrate::Direct(FactsFrom::Given(_)) => {
            let (first, last) = visible_last();
            ([one_per_lane(first), vec![last]], parallel)
        }
        Substrate::Direct(_) | Substrate::Embedded | Substrate::Aggregated(_) => {
            ([one_per_lane(plan.groups.iter().collect()), Vec::new()], parallel)
        }
    }
}

/// Runs all cases and collects their results and the environment errors.
async fn run_all(
    shared: &PartState<'_>,
    plan: &Plan,
    (case_runs, broken): (&mut Vec<CaseRun>, &mut Vec<String>),
) {
    let (lanes, side_by_side) = ordered(shared, plan);
    for lanes in lanes {
        let lanes = lanes
            .into_iter()
            .map(|lane| futures::stream::iter(lane).then(|group| run_group(shared, group)).boxed_local());
        let mut groups = futures::stream::iter(lanes).flatten_unordered(side_by_side);
        while let Some((of_group, error)) = groups.next().await {
            case_runs.extend(of_group);
            broken.extend(error);
        }
    }
    case_runs.extend(gardener::decide::run_cases(shared, plan.separate(Separate::Decisions)));
    case_runs.extend(emitted::run_cases(shared, plan.separate(Separate::Emitted)));
    let (configured, error) = configure::run_cases(shared, plan.separate(Separate::Configurations)).await;
    case_runs.extend(configured);
    broken.extend(error);
    case_runs.extend(process::run_cases(shared, plan.separate(Separate::Processes)).await);
    let (scenarios, errors) = scenario::run_all(shared, plan.separate(Separate::Scenarios));
    case_runs.extend(scenarios);
    broken.extend(errors);
    let (maintained, errors) = gardener::maintain::run_all(shared, plan.separate(Separate::Maintenances));
    case_runs.extend(maintained);
    broken.extend(errors);
}

/// Waits until the substrate has failed; only a control plane can end before the run.
async fn substrate_failure(substrate: &Substrate) -> String {
    match substrate {
        Substrate::Envtest(server) => server.ended().await.to_string(),
        Substrate::Direct(_) | Substrate::Embedded | Substrate::Aggregated(_) | Substrate::Whole(_) => {
            std::future::pending().await
        }
    }
}

/// Planned cases without a result.
fn missing(plan: &Plan, case_runs: &[CaseRun]) -> Vec<CaseRef> {
    let finished: BTreeSet<CaseRef> = case_runs.iter().map(|case_run| case_run.at).collect();
    let grouped = plan.groups.iter().flat_map(|group| &group.cases);
    grouped.chain(plan.separate.values().flatten()).copied().filter(|at| !finished.contains(at)).collect()
}

async fn run_group(shared: &PartState<'_>, group: &Group) -> (Vec<CaseRun>, Option<String>) {
    if shared.is_over() {
        return (not_run(shared, &group.cases, Status::NotRun, &end_reason(shared)), None);
    }
    group::run(shared, group).await
}

/// The results of the cases that the plan excludes.
fn excluded(contracts: &[Contract], plan: &Plan) -> Vec<CaseRun> {
    let result = |(at, status, reason): &(CaseRef, Status, Reason)| {
        let located = plan::locate(contracts, *at);
        let result =
            CaseResult::without_checks(&located.case.name, &located.case.location, *status, reason.clone());
        CaseRun { at: *at, result, observation: None, traced: None, proof: None }
    };
    plan.silent.iter().map(result).collect()
}

/// The results of cases that did not run, all for the same reason.
pub(crate) fn not_run(
    shared: &PartState<'_>,
    cases: &[CaseRef],
    status: Status,
    reason: &Reason,
) -> Vec<CaseRun> {
    let result = |at: &CaseRef| {
        let located = plan::locate(shared.contracts, *at);
        let result =
            CaseResult::without_checks(&located.case.name, &located.case.location, status, reason.clone());
        CaseRun { at: *at, result, observation: None, traced: None, proof: None }
    };
    cases.iter().map(result).collect()
}

pub(crate) fn end_reason(shared: &PartState<'_>) -> Reason {
    let text = match shared.interrupt.raised() {
        Some(_) => "the run was interrupted",
        None => "an earlier case failed (--fail-fast)",
    };
    Reason::new(ReasonCode::Ended, text)
}
