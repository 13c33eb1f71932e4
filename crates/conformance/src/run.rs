//! A run: contract × target × substrate → one report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::model::Contract;
use futures::StreamExt as _;
use substrate::envtest::Envtest;

use crate::observation::Observation;
use crate::plan::{self, CaseRef, Group, Plan};
use crate::report::{CaseResult, Proof, Reason, ReasonCode, Report, Status};
use crate::target::{Facts, Target};
use contract::document::waivers::Waiver;

mod attempt;
mod conclude;
mod configure;
mod decide;
mod direct;
mod emitted;
mod further;
mod group;
mod interrupt;
mod maintain;
mod parts;
mod prepare;
mod process;
pub(crate) mod scenario;
mod server;
mod shared_namespace;
mod state;
mod story;
pub(crate) mod subject;
mod traced;
mod whole;

use conclude::Conclusion;
pub use conclude::Judged;
pub use interrupt::Interrupt;
pub use prepare::CASES;
pub(crate) use state::{RunState, Shared};
use traced::Traced;
pub use whole::{Guard, Whole};

/// Where cases run.
#[derive(Clone)]
pub enum Ground {
    /// AdmissionReviews straight to the target.
    Direct(FactsFrom),
    /// The in-process API server; AdmissionReviews come from it.
    Embedded,
    /// A real control plane, one for the whole run; AdmissionReviews come from it over TLS.
    Envtest(Arc<Envtest>),
    /// A whole cluster, one for the whole run, in which the target runs; AdmissionReviews come through its Service.
    Whole(Arc<Whole>),
}

/// Where a direct run writes facts.
#[derive(Clone)]
pub enum FactsFrom {
    /// An in-process API server for each group, which the target is started with.
    Embedded,
    /// The cluster that the target reads already.
    Given(Facts),
    /// Nowhere: cases with facts are not supported.
    Nowhere,
}

/// How cases run.
#[derive(Clone)]
pub struct Options {
    /// Where cases run.
    pub ground: Ground,
    /// Orders cases; 0: as written.
    pub seed: u64,
    /// Groups side by side, at least 1.
    pub parallel: u16,
    /// How often each case is asked, at least 1.
    pub repeat: u16,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// How long a failing case with facts is asked again.
    pub settle: Duration,
    /// How long a scenario may wait for real time to pass; only targets outside this process need it.
    pub time_budget: Duration,
    /// Whether the contracts were taken to the letter; told in the report.
    pub strict: bool,
    /// Waivers to apply.
    pub waivers: Vec<Waiver>,
    /// When the run begins, RFC 3339: `2026-03-02T08:20:11Z`. Its day decides which waivers have expired.
    pub started_at: String,
    /// Version of the tool.
    pub version: String,
    /// How a case is repeated: `gardener-conformance run`; `--case '…'` is put behind.
    pub command: String,
    /// What was selected, in words, for the report.
    pub expression: Vec<String>,
}

/// What a caller may show while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// So many more cases will be asked.
    Planned(usize),
    /// A case has been asked.
    Case {
        /// Its contract.
        contract: &'a str,
        /// `<clause>/<case>`.
        id: &'a str,
        /// What became of it.
        status: Status,
    },
}

/// One case, asked.
pub(crate) struct Asked {
    pub(crate) at: CaseRef,
    pub(crate) result: CaseResult,
    pub(crate) observation: Option<Observation>,
    pub(crate) traced: Option<Traced>,
    /// Of a scenario: whether it was shown able to fail.
    pub(crate) proof: Option<Proof>,
}

/// Asks every case of the contracts and concludes. What broke around the target is in the report, never an error:
/// a report comes out of every run, an interrupted one too.
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

/// The same for contracts that come part by part, each with its place in the report; a part is expanded when its turn comes and
/// dropped once it is concluded. Callers may let the ground go before the last proofs are made.
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
    let mut broken = parts::ask(&state, parts, &conclusion.intake).await;
    if let Ground::Whole(whole) = &options.ground {
        server::leave(&state, whole).await;
    }
    state.left_behind(target.leave().await);
    broken.sort();
    broken.dedup();
    conclusion.judge(&state, broken, started.elapsed())
}

/// The report of a run for which there was no place to run: nothing was asked, because the place `name` did not start
/// for the reason `error`, or because the interrupt was raised before.
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
            Ok(contracts) => plan::stated(contracts, target.as_ref()),
            Err(error) => {
                broken.push(format!("contracts cannot be read: {error}"));
                continue;
            }
        };
        let plan = plan::plan(&contracts, target.as_ref(), options.seed, true);
        let shared = Shared::new(&contracts, 0, &state);
        let mut asked = silent(&contracts, &plan);
        let cases = missing(&plan, &asked);
        if interrupt.raised().is_some() {
            asked.extend(unasked(&shared, &cases, Status::NotRun, &ended(&shared)));
        } else {
            asked.extend(group::broken(&shared, &cases, error).0);
            broken.push(error.to_owned());
        }
        asked.sort_by_key(|asked| asked.at);
        conclusion.intake.take(at, (contracts, asked), BTreeMap::new());
    }
    broken.sort();
    broken.dedup();
    let mut report = conclusion.judge(&state, broken, Duration::ZERO).proven();
    name.clone_into(&mut report.substrate.name);
    report.substrate.description = format!("{name} did not start");
    report
}

/// Lanes of groups that are asked side by side; those of one lane follow each other.
type Lanes<'p> = Vec<Vec<&'p Group>>;

/// What is asked first, what then, and how many lanes side by side. In the one cluster that was given, cases that others
/// would see wait for them and for each other. On a control plane that all share, webhooks of two groups would be asked about
/// each other's objects too, unless they are told apart.
fn ordered<'p>(shared: &'p Shared<'_>, plan: &'p Plan) -> ([Lanes<'p>; 2], usize) {
    let parallel = shared.state.parallel;
    let each = |groups: Vec<&'p Group>| groups.into_iter().map(|group| vec![group]).collect();
    let seen_last = || plan.groups.iter().partition(|group| !group.alone);
    match &shared.options.ground {
        Ground::Whole(whole) if whole.tells_askers_apart() => {
            let (first, last) = seen_last();
            ([each(first), plan::lanes(shared.contracts, last)], parallel)
        }
        Ground::Envtest(_) | Ground::Whole(_) => {
            let (first, last) = seen_last();
            ([each(first), vec![last]], 1)
        }
        Ground::Direct(_) if shared.target.asks_in_turn() => {
            ([each(plan.groups.iter().collect()), Vec::new()], 1)
        }
        Ground::Direct(FactsFrom::Given(_)) => {
            let (first, last) = seen_last();
            ([each(first), vec![last]], parallel)
        }
        Ground::Direct(_) | Ground::Embedded => ([each(plan.groups.iter().collect()), Vec::new()], parallel),
    }
}

/// Asks all cases and notes what became of them.
async fn ask_all(shared: &Shared<'_>, plan: &Plan, (asked, broken): (&mut Vec<Asked>, &mut Vec<String>)) {
    let (lanes, side_by_side) = ordered(shared, plan);
    for lanes in lanes {
        let lanes = lanes
            .into_iter()
            .map(|lane| futures::stream::iter(lane).then(|group| ask_group(shared, group)).boxed_local());
        let mut groups = futures::stream::iter(lanes).flatten_unordered(side_by_side);
        while let Some((of_group, error)) = groups.next().await {
            asked.extend(of_group);
            broken.extend(error);
        }
    }
    asked.extend(decide::ask(shared, &plan.decisions));
    asked.extend(emitted::ask(shared, &plan.emitted));
    let (configured, error) = configure::ask(shared, &plan.configurations).await;
    asked.extend(configured);
    broken.extend(error);
    asked.extend(process::run(shared, &plan.processes).await);
    let (scenarios, errors) = scenario::ask_all(shared, &plan.scenarios);
    asked.extend(scenarios);
    broken.extend(errors);
    let (maintained, errors) = maintain::ask_all(shared, &plan.maintenances);
    asked.extend(maintained);
    broken.extend(errors);
}

/// Waits until the place where cases run is gone; none goes by itself.
async fn death(ground: &Ground) -> String {
    match ground {
        Ground::Envtest(server) => server.ended().await.to_string(),
        Ground::Direct(_) | Ground::Embedded | Ground::Whole(_) => std::future::pending().await,
    }
}

/// Cases that nothing was noted of.
fn missing(plan: &Plan, asked: &[Asked]) -> Vec<CaseRef> {
    let noted: BTreeSet<CaseRef> = asked.iter().map(|asked| asked.at).collect();
    let grouped = plan.groups.iter().flat_map(|group| &group.cases);
    grouped
        .chain(&plan.configurations)
        .chain(&plan.processes)
        .chain(&plan.scenarios)
        .chain(&plan.decisions)
        .chain(&plan.maintenances)
        .chain(&plan.emitted)
        .copied()
        .filter(|at| !noted.contains(at))
        .collect()
}

async fn ask_group(shared: &Shared<'_>, group: &Group) -> (Vec<Asked>, Option<String>) {
    if shared.is_over() {
        return (unasked(shared, &group.cases, Status::NotRun, &ended(shared)), None);
    }
    group::ask(shared, group).await
}

fn silent(contracts: &[Contract], plan: &Plan) -> Vec<Asked> {
    let silent = |(at, status, reason): &(CaseRef, Status, Reason)| {
        let looked = plan::look(contracts, *at);
        let result = CaseResult::silent(&looked.case.name, &looked.case.location, *status, reason.clone());
        Asked { at: *at, result, observation: None, traced: None, proof: None }
    };
    plan.silent.iter().map(silent).collect()
}

/// Cases that were not asked, all for one reason.
pub(crate) fn unasked(shared: &Shared<'_>, cases: &[CaseRef], status: Status, reason: &Reason) -> Vec<Asked> {
    let silent = |at: &CaseRef| {
        let looked = plan::look(shared.contracts, *at);
        let result = CaseResult::silent(&looked.case.name, &looked.case.location, status, reason.clone());
        Asked { at: *at, result, observation: None, traced: None, proof: None }
    };
    cases.iter().map(silent).collect()
}

pub(crate) fn ended(shared: &Shared<'_>) -> Reason {
    let text = match shared.interrupt.raised() {
        Some(_) => "the run was interrupted",
        None => "an earlier case failed (--fail-fast)",
    };
    Reason::new(ReasonCode::Ended, text)
}
