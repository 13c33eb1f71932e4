//! Runs the steps of one scenario one after the other, until one fails.

mod instances;
mod rest;

use std::collections::BTreeMap;
use std::time::Duration;

use contract::scenario::{Action, Never, Step};
use substrate::embedded::Embedded;
use tokio::time::{Instant, sleep};

use super::actions;
use super::clusters::{Clusters, TARGET_USER};
use super::exploration::Exploration;
use super::faults::{ActiveFault, Disturbance};
use super::object_watch::ObjectWatch;
use super::proof::StepRecord;
use super::requests::{self, LogPosition};
use super::task::ScenarioTask;
use super::unmet::{self, StepBaseline};
use crate::plan::LocatedCase;
use crate::report::Check;
use crate::target::Running;

/// Why a scenario ended without a result.
#[derive(Debug)]
pub(crate) enum ScenarioEnd {
    /// The environment broke.
    Environment(String),
    /// The scenario cannot run here.
    NotSupported(String),
    /// The run was interrupted.
    Interrupted,
}

/// Timeout of an expected state: of virtual time, and of real time.
const PATIENCE: Duration = Duration::from_mins(5);
const REAL_PATIENCE: Duration = Duration::from_secs(45);
/// Pause between two reads of a state: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Pause before requests are counted.
const QUIET: Duration = Duration::from_secs(2);

/// Runs the steps of a scenario.
pub(super) struct StepRunner<'a> {
    task: &'a ScenarioTask,
    located: LocatedCase<'a>,
    clusters: &'a Clusters,
    running: Option<Box<dyn Running>>,
    /// The instance that led before a second one took over.
    former: Option<Box<dyn Running>>,
    /// The user of the instance that runs, in this process.
    user: &'static str,
    /// Whether instances elect a leader.
    elects_leader: bool,
    ends: BTreeMap<String, Instant>,
    touches: usize,
    /// Position in the servers' logs at which the current step began.
    begin: LogPosition,
    /// Records of the steps that passed, for the proof.
    records: Vec<StepRecord>,
    /// Whether faults are injected, so that the target sends other requests than without.
    faulty: bool,
    /// The injected faults.
    faults: Vec<ActiveFault>,
    /// Number of reconciliations of the witness before the target was killed.
    reconciled: f64,
    /// The recording, if the scenario is explored.
    exploration: Option<Exploration>,
}

/// Versions that change with every write: if they are unchanged, the objects need not be read again.
struct ObservedVersions {
    /// Of each server; unknown of a real one.
    revisions: Vec<Option<u64>>,
    /// Number of states that each watch has delivered; it delivers them after they were written.
    seen: Vec<usize>,
}

impl ObservedVersions {
    fn is_unchanged(&self, now: &Self) -> bool {
        self.seen == now.seen && self.revisions == now.revisions && now.revisions.iter().all(Option::is_some)
    }
}

impl<'a> StepRunner<'a> {
    pub(super) fn new(
        task: &'a ScenarioTask,
        located: LocatedCase<'a>,
        clusters: &'a Clusters,
        disturbance: &Disturbance,
    ) -> Self {
        Self {
            task,
            located,
            clusters,
            running: None,
            former: None,
            user: TARGET_USER,
            elects_leader: disturbance.elects_leader(),
            ends: BTreeMap::new(),
            touches: 0,
            begin: requests::current_position(clusters),
            records: Vec::new(),
            faulty: disturbance.is_fault(),
            faults: disturbance.activate(clusters),
            reconciled: 0.0,
            exploration: disturbance.is_explored().then(|| Exploration::begin(clusters)),
        }
    }

    /// Starts the target and runs the steps; returns the failed checks of the first step that fails.
    pub(super) async fn run(&mut self, steps: &[Step]) -> Result<Vec<Check>, ScenarioEnd> {
        for (at, step) in steps.iter().enumerate() {
            let checks = self.run_step(at, step).await?;
            if !checks.is_empty() {
                return Ok(checks);
            }
            self.ends.insert(step.name.clone(), Instant::now());
            self.begin = requests::current_position(self.clusters);
        }
        // A fault that never strikes proves nothing.
        let never_struck = self.faults.iter().filter(|fault| fault.missed());
        Ok(never_struck.map(ActiveFault::never_struck).collect())
    }

    /// The records of the steps that passed.
    pub(super) fn into_records(self) -> Vec<StepRecord> {
        self.records
    }

    async fn run_step(&mut self, at: usize, step: &Step) -> Result<Vec<Check>, ScenarioEnd> {
        let mut before = StepBaseline::of(self.clusters, step).await?;
        // The first step starts before the target, so that everything that the target does belongs to it.
        if at == 0 {
            self.start().await?;
        }
        self.advance(step).await?;
        // In a first step without actions, reconciliations since the start count.
        if at > 0 || step.advance.is_some() || !step.actions.is_empty() {
            let read_error = || ScenarioEnd::Environment("failed to read the target's metrics".to_owned());
            before.reconciles = self.reconciles(step).await.ok_or_else(read_error)?;
        }
        self.perform(&step.actions).await?;
        let mut checks = self.wait_for_states(step, &before).await?;
        if !checks.is_empty() {
            return Ok(checks);
        }
        if let Some(never) = &step.never {
            checks.extend(self.check_never(step, never).await?);
        }
        if let Some(wanted) = step.requests.as_ref().filter(|_| !self.faulty) {
            sleep(QUIET).await;
            let writes = requests::writes_since(self.clusters, &self.begin);
            checks.extend(requests::judge(&step.name, wanted, &writes));
        }
        if checks.is_empty() {
            checks.extend(self.rest_at_end(at, step, &before).await?);
        }
        // A target that has ended would meet any expectation that nothing changes.
        checks.extend(self.end_of_target(step));
        if checks.is_empty() {
            self.record(at, step, before).await?;
        }
        Ok(checks)
    }

    async fn record(&mut self, at: usize, step: &Step, before: StepBaseline) -> Result<(), ScenarioEnd> {
        let mut states = Vec::new();
        for state in &step.eventually {
            let input = before.objects.get(&(state.side, state.object.clone())).cloned().flatten();
            states.push((
                input,
                self.clusters.read(state.side, &state.object).await.map_err(ScenarioEnd::Environment)?,
            ));
        }
        let seen = before.seen.iter().map(ObjectWatch::states).collect::<Result<_, ScenarioEnd>>()?;
        let writes = requests::writes_since(self.clusters, &self.begin);
        self.records.push(StepRecord { step: at, states, seen, writes });
        Ok(())
    }

    /// Moves the clock: in virtual time each timer in between fires; in real time it waits.
    async fn advance(&mut self, step: &Step) -> Result<(), ScenarioEnd> {
        let Some(advance) = &step.advance else { return Ok(()) };
        let from = advance.after.as_ref().and_then(|after| self.ends.get(after)).copied();
        let until = from.unwrap_or_else(Instant::now) + advance.to;
        self.wait_until(until, step).await
    }

    async fn perform(&mut self, todo: &[Action]) -> Result<(), ScenarioEnd> {
        for action in todo {
            match action {
                Action::Stop => self.stop().await,
                Action::Start => self.start().await?,
                _ => {
                    self.touches += 1;
                    actions::perform(self.clusters, action, self.touches).await?;
                }
            }
        }
        Ok(())
    }

    /// Waits until the witness has reconciled and every state has come about; returns what did not.
    async fn wait_for_states(
        &mut self,
        step: &Step,
        before: &StepBaseline,
    ) -> Result<Vec<Check>, ScenarioEnd> {
        let patience = if self.task.environment.is_real_time() { REAL_PATIENCE } else { PATIENCE };
        let deadline = Instant::now() + patience;
        let mut pause = PAUSE;
        let mut last: Option<(ObservedVersions, Vec<Check>)> = None;
        loop {
            self.apply_consequences(step).await?;
            self.restart_ended(step).await?;
            if let Some(check) = self.end_of_target(step) {
                return Ok(vec![check]);
            }
            let observed_versions = self.observed_versions(&before.seen);
            let unmet = match last.take() {
                Some((old, unmet)) if old.is_unchanged(&observed_versions) => unmet,
                _ => self.unmet(step, before).await?,
            };
            let is_over = Instant::now() >= deadline;
            if unmet.is_empty() || is_over {
                let mut checks = self.check_witness(step, before).await;
                if checks.is_empty() || is_over {
                    checks.extend(unmet);
                    return Ok(checks);
                }
            }
            last = Some((observed_versions, unmet));
            self.sleep_or_strike(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// A failed check if the target has ended without being stopped; under a fault it is started again instead.
    fn end_of_target(&mut self, step: &Step) -> Option<Check> {
        let running = self.running.as_mut().filter(|_| !self.faulty)?;
        let status = running.ended()?;
        let output = running.last_output();
        let last = output.lines().find(|line| line.starts_with("panic: ")).or(output.lines().last());
        Some(Check {
            part: "runs".to_owned(),
            path: step.name.clone(),
            want: "to the end".to_owned(),
            got: format!("ended ({status}){}", last.map(|last| format!(": {last}")).unwrap_or_default()),
            ..Check::default()
        })
    }

    /// The current versions.
    fn observed_versions<'s>(&self, seen: impl IntoIterator<Item = &'s ObjectWatch>) -> ObservedVersions {
        ObservedVersions {
            revisions: self.clusters.servers().map(Embedded::revision).collect(),
            seen: seen.into_iter().map(ObjectWatch::count).collect(),
        }
    }

    /// The states and histories that have not come about.
    async fn unmet(&self, step: &Step, before: &StepBaseline) -> Result<Vec<Check>, ScenarioEnd> {
        let contract = self.located.contract;
        let mut checks = unmet::states(self.clusters, contract, step, before).await;
        if !self.faulty {
            checks.extend(unmet::histories(contract, step, before)?);
        }
        Ok(checks)
    }

    async fn check_witness(&self, step: &Step, before: &StepBaseline) -> Vec<Check> {
        let Some(controller) = &step.witness else { return Vec::new() };
        if self.reconciles(step).await.is_some_and(|count| count > before.reconciles) {
            return Vec::new();
        }
        vec![Check {
            part: "witness".to_owned(),
            path: step.name.clone(),
            want: format!("controller_runtime_reconcile_total{{controller={controller:?}}} rises"),
            got: format!("it stays {}", before.reconciles),
            ..Check::default()
        }]
    }

    /// How often the witness has reconciled so far; `None` if the metrics cannot be read.
    async fn reconciles(&self, step: &Step) -> Option<f64> {
        let (Some(controller), Some(running)) = (&step.witness, &self.running) else { return Some(0.0) };
        let label = format!("controller=\"{controller}\"");
        let text = running.metrics().await?;
        let lines = text
            .lines()
            .filter(|line| line.starts_with("controller_runtime_reconcile_total{") && line.contains(&label));
        let now: f64 = lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum();
        Some(self.reconciled + now)
    }

    /// Checks for the time of `never` that nothing forbidden happens.
    async fn check_never(&mut self, step: &Step, never: &Never) -> Result<Vec<Check>, ScenarioEnd> {
        let until = Instant::now() + never.hold;
        let mut watched = Vec::new();
        for state in &never.states {
            watched.push((state, ObjectWatch::start(self.clusters, state.side, &state.object).await?));
        }
        let (mut last, mut from) = (None, self.begin.clone());
        loop {
            self.apply_consequences(step).await?;
            self.restart_ended(step).await?;
            let writes = requests::writes_since(self.clusters, &from);
            from = requests::current_position(self.clusters);
            let mut checks = requests::forbidden(&step.name, never, &writes);
            let observed_versions = self.observed_versions(watched.iter().map(|(_, seen)| seen));
            if !last.as_ref().is_some_and(|last: &ObservedVersions| last.is_unchanged(&observed_versions)) {
                let contract = self.located.contract;
                checks.extend(unmet::came_about(self.clusters, contract, step, &watched).await?);
                last = Some(observed_versions);
            }
            if !checks.is_empty() || Instant::now() >= until {
                return Ok(checks);
            }
            self.sleep_or_strike(PAUSE * 10).await;
        }
    }
}
