//! The steps of one scenario, one after the other, until one is not kept.

use std::collections::BTreeMap;
use std::time::Duration;

use contract::scenario::{Action, Never, Step};
use substrate::embedded::Embedded;
use tokio::time::{Instant, sleep, sleep_until};

use super::actions;
use super::alone::Scene;
use super::clusters::Clusters;
use super::faults::{Disturbance, InForce};
use super::proof::Kept;
use super::requests::{self, Mark};
use super::seen::Seen;
use super::unmet::{self, Before};
use crate::plan::Looked;
use crate::report::Check;
use crate::target::{Running, Setup};

/// Why a scenario says nothing about its target.
#[derive(Debug)]
pub(crate) enum Ended {
    /// Something around the target broke.
    Environment(String),
    /// It cannot be brought about here.
    NotSupported(String),
    /// The run was interrupted.
    Interrupted,
}

/// How long a state may take to come about: of virtual time, and of real time.
const PATIENCE: Duration = Duration::from_mins(5);
const REAL_PATIENCE: Duration = Duration::from_secs(45);
/// How often a state is looked at: first, and in the end.
const PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// How long nothing more must be sent before requests are counted.
const QUIET: Duration = Duration::from_secs(2);

/// A scenario that is being run.
pub(super) struct Stage<'a> {
    scene: &'a Scene,
    looked: Looked<'a>,
    clusters: &'a Clusters,
    running: Option<Box<dyn Running>>,
    ends: BTreeMap<String, Instant>,
    touches: usize,
    /// Where the step at hand began in the servers' logs.
    mark: Mark,
    /// What every step kept, for its proof.
    kept: Vec<Kept>,
    /// Whether requests are disturbed, so that others are sent than without.
    faulty: bool,
    /// What disturbs them.
    faults: Vec<InForce>,
    /// Whether the target is to be killed where a fault strikes, once.
    kills: bool,
    /// What the witness had reconciled before the target was killed.
    reconciled: f64,
}

/// What changes whenever something is written: while it does not, all is as it was when it was last looked at.
struct News {
    /// Of each server; of a real one nobody knows it.
    revisions: Vec<Option<u64>>,
    /// How many states each watcher has seen; it sees them after they were written.
    seen: Vec<usize>,
}

impl News {
    fn is_old(&self, now: &Self) -> bool {
        self.seen == now.seen && self.revisions == now.revisions && now.revisions.iter().all(Option::is_some)
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        scene: &'a Scene,
        looked: Looked<'a>,
        clusters: &'a Clusters,
        disturbance: &Disturbance,
    ) -> Self {
        Self {
            scene,
            looked,
            clusters,
            running: None,
            ends: BTreeMap::new(),
            touches: 0,
            mark: requests::mark(clusters),
            kept: Vec::new(),
            faulty: disturbance.is_fault(),
            faults: disturbance.begin(clusters),
            kills: disturbance.kills(),
            reconciled: 0.0,
        }
    }

    /// Starts the target.
    async fn start(&mut self) -> Result<(), Ended> {
        let clusters = self.clusters.for_target();
        let setup = Setup {
            component: &self.looked.contract.component,
            now: None,
            config: &self.looked.case.config,
            instance: self.looked.instance(),
            facts: Some(clusters.source.clone()),
            clusters: Some(clusters),
        };
        let started = self.scene.target.start(setup).await;
        let running = started.map_err(|error| Ended::Environment(error.to_string()))?;
        let witness = self
            .looked
            .scenario()
            .and_then(|scenario| scenario.steps.iter().find_map(|step| step.witness.as_ref()));
        if witness.is_some() && running.metrics().await.is_none() {
            running.stop().await;
            let text = "nobody told where the target's metrics are (`metrics` of its target file)";
            return Err(Ended::NotSupported(text.to_owned()));
        }
        self.running = Some(running);
        Ok(())
    }

    /// Stops the target, if it runs.
    pub(super) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }

    /// Starts the target and takes the steps; gives what the first step that was not kept shows.
    pub(super) async fn take(&mut self, steps: &[Step]) -> Result<Vec<Check>, Ended> {
        for (at, step) in steps.iter().enumerate() {
            let checks = self.step(at, step).await?;
            if !checks.is_empty() {
                return Ok(checks);
            }
            self.ends.insert(step.name.clone(), Instant::now());
            self.mark = requests::mark(self.clusters);
        }
        // A fault that strikes nothing shows nothing. A last write may come after all was seen, too late for a kill.
        let idle = self.faults.iter().filter(|fault| !fault.struck() && !self.kills);
        Ok(idle.map(InForce::idle).collect())
    }

    /// What the steps kept.
    pub(super) fn into_kept(self) -> Vec<Kept> {
        self.kept
    }

    async fn step(&mut self, at: usize, step: &Step) -> Result<Vec<Check>, Ended> {
        let mut before = Before::of(self.clusters, step).await?;
        // What the target does from its start on belongs to the first step, however late this one is told of it.
        if at == 0 {
            self.start().await?;
        }
        self.advance(step).await;
        // Whatever the target did since it was started is seen by a first step that does nothing itself.
        if at > 0 || step.advance.is_some() || !step.actions.is_empty() {
            let unread = || Ended::Environment("failed to read the target's metrics".to_owned());
            before.reconciles = self.reconciles(step).await.ok_or_else(unread)?;
        }
        self.act(&step.actions).await?;
        let mut checks = self.wait(step, &before).await?;
        if !checks.is_empty() {
            return Ok(checks);
        }
        if let Some(never) = &step.never {
            checks.extend(self.hold(step, never).await?);
        }
        if let Some(wanted) = step.requests.as_ref().filter(|_| !self.faulty) {
            sleep(QUIET).await;
            let writes = requests::writes_since(self.clusters, &self.mark);
            checks.extend(requests::judge(&step.name, wanted, &writes));
        }
        // Whoever is gone leaves everything as it is.
        checks.extend(self.death(step));
        if checks.is_empty() {
            self.keep(at, step, before).await?;
        }
        Ok(checks)
    }

    async fn keep(&mut self, at: usize, step: &Step, before: Before) -> Result<(), Ended> {
        let mut states = Vec::new();
        for state in &step.eventually {
            let input = before.objects.get(&(state.side, state.object.clone())).cloned().flatten();
            states.push((
                input,
                self.clusters.read(state.side, &state.object).await.map_err(Ended::Environment)?,
            ));
        }
        let seen = before.seen.iter().map(Seen::states).collect::<Result<_, Ended>>()?;
        let writes = requests::writes_since(self.clusters, &self.mark);
        self.kept.push(Kept { step: at, states, seen, writes });
        Ok(())
    }

    /// Moves the clock: in virtual time each timer in between fires; in real time it waits.
    async fn advance(&self, step: &Step) {
        let Some(advance) = &step.advance else { return };
        let from = advance.after.as_ref().and_then(|after| self.ends.get(after)).copied();
        let until = from.unwrap_or_else(Instant::now) + advance.to;
        sleep_until(until).await;
    }

    async fn act(&mut self, todo: &[Action]) -> Result<(), Ended> {
        for action in todo {
            match action {
                Action::Stop => self.stop().await,
                Action::Start => self.start().await?,
                _ => {
                    self.touches += 1;
                    actions::act(self.clusters, action, self.touches).await?;
                }
            }
        }
        Ok(())
    }

    /// Waits until the witness was seen and every state came about; gives what did not.
    async fn wait(&mut self, step: &Step, before: &Before) -> Result<Vec<Check>, Ended> {
        let patience = if self.scene.place.is_real_time() { REAL_PATIENCE } else { PATIENCE };
        let deadline = Instant::now() + patience;
        let mut pause = PAUSE;
        let mut last: Option<(News, Vec<Check>)> = None;
        loop {
            self.crash(step).await?;
            if let Some(death) = self.death(step) {
                return Ok(vec![death]);
            }
            let news = self.news(&before.seen);
            let unmet = match last.take() {
                Some((old, unmet)) if old.is_old(&news) => unmet,
                _ => self.unmet(step, before).await?,
            };
            let is_over = Instant::now() >= deadline;
            if unmet.is_empty() || is_over {
                let mut checks = self.witnessed(step, before).await;
                if checks.is_empty() || is_over {
                    checks.extend(unmet);
                    return Ok(checks);
                }
            }
            last = Some((news, unmet));
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// That the target has ended, though nobody stopped it.
    fn death(&mut self, step: &Step) -> Option<Check> {
        let running = self.running.as_mut()?;
        let status = running.ended()?;
        let words = running.last_words();
        let last = words.lines().find(|line| line.starts_with("panic: ")).or(words.lines().last());
        Some(Check {
            part: "runs".to_owned(),
            path: step.name.clone(),
            want: "to the end".to_owned(),
            got: format!("ended ({status}){}", last.map(|last| format!(": {last}")).unwrap_or_default()),
        })
    }

    /// What there is to look at now.
    fn news<'s>(&self, seen: impl IntoIterator<Item = &'s Seen>) -> News {
        News {
            revisions: self.clusters.servers().map(Embedded::revision).collect(),
            seen: seen.into_iter().map(Seen::count).collect(),
        }
    }

    /// The states and histories that have not come about.
    async fn unmet(&self, step: &Step, before: &Before) -> Result<Vec<Check>, Ended> {
        let contract = self.looked.contract;
        let mut checks = unmet::states(self.clusters, contract, step, before).await;
        if !self.faulty {
            checks.extend(unmet::histories(contract, step, before)?);
        }
        Ok(checks)
    }

    /// Kills the target where it is due, and starts it again; its unanswered write has been done.
    async fn crash(&mut self, step: &Step) -> Result<(), Ended> {
        if !self.kills || !self.faults.iter().any(InForce::struck) {
            return Ok(());
        }
        self.kills = false;
        self.faults.iter().for_each(InForce::remove);
        self.reconciled = self.reconciles(step).await.unwrap_or(self.reconciled);
        self.stop().await;
        self.start().await
    }

    async fn witnessed(&self, step: &Step, before: &Before) -> Vec<Check> {
        let Some(controller) = &step.witness else { return Vec::new() };
        if self.reconciles(step).await.is_some_and(|count| count > before.reconciles) {
            return Vec::new();
        }
        vec![Check {
            part: "witness".to_owned(),
            path: step.name.clone(),
            want: format!("controller_runtime_reconcile_total{{controller={controller:?}}} rises"),
            got: format!("it stays {}", before.reconciles),
        }]
    }

    /// How often the witness reconciled so far; `None` if the target does not tell.
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

    /// Looks for what must not happen, for as long as it must not.
    async fn hold(&mut self, step: &Step, never: &Never) -> Result<Vec<Check>, Ended> {
        let until = Instant::now() + never.hold;
        let mut watched = Vec::new();
        for state in &never.states {
            watched.push((state, Seen::follow(self.clusters, state.side, &state.object).await?));
        }
        let (mut last, mut from) = (None, self.mark.clone());
        loop {
            self.crash(step).await?;
            let writes = requests::writes_since(self.clusters, &from);
            from = requests::mark(self.clusters);
            let mut checks = requests::forbidden(&step.name, never, &writes);
            let news = self.news(watched.iter().map(|(_, seen)| seen));
            if !last.as_ref().is_some_and(|last: &News| last.is_old(&news)) {
                let contract = self.looked.contract;
                checks.extend(unmet::came_about(self.clusters, contract, step, &watched).await?);
                last = Some(news);
            }
            if !checks.is_empty() || Instant::now() >= until {
                return Ok(checks);
            }
            sleep(PAUSE * 10).await;
        }
    }
}
