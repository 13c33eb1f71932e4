//! A differential run of controllers: runs generated worlds against two targets, each with clusters of its own, and compares the
//! objects in the clusters after each step.
//!
//! Pure: `managed_resource` and `documents` (random worlds), `world` (a world as a scenario), `comparison` (comparable objects),
//! `smaller`. `run::scenario` runs the worlds.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract::explanations::{Explanations, SubjectName};
use contract::model::{Contract, Form};
use fastrand::Rng;
use serde_json::{Value, json};

use super::effect::Difference;
use super::explain::Explainer;
use super::outcome::{Example, Explained, Group, Outcome, Subject, SubjectOutcome};
use super::{generate, idle};
use crate::matching;
use crate::parallel::in_parallel;
use crate::run::Interrupt;
use crate::run::scenario::{ObjectStates, ScenarioEnd, StabilityRules, UnjudgedScenario, run_unjudged};
use crate::target::Target;

mod comparison;
mod documents;
mod duplicates;
mod managed_resource;
mod shrink;
mod smaller;
mod world;

/// How worlds are generated and run.
pub struct ControllerOptions<'a> {
    /// Number of worlds for each controller.
    pub worlds: usize,
    /// Seed of the generator.
    pub seed: u64,
    /// Number of worlds in parallel, at least 1.
    pub parallel: usize,
    /// Number of smaller worlds that are tried for a difference; default: 200, or 40 if a target is outside.
    pub tries: Option<usize>,
    /// TargetDescription reasons for differences.
    pub explanations: &'a [Explanations],
}

/// A controller for which worlds are generated.
struct ControllerKind {
    /// Its name in contracts (`target.controller`).
    controller: &'static str,
    world: fn(&mut Rng) -> Value,
    stability: StabilityRules,
    /// The outcome of a world, in a word.
    outcome_of: fn(&ObjectStates) -> String,
}

const CONTROLLERS: [ControllerKind; 1] = [ControllerKind {
    controller: "managedresource",
    world: managed_resource::world,
    stability: StabilityRules {
        normalize: comparison::normalize,
        is_in_progress: managed_resource::is_in_progress,
    },
    outcome_of: managed_resource::outcome_of,
}];

/// Two targets and a controller of both.
struct ControllerPair<'a> {
    a: &'a Arc<dyn Target>,
    b: &'a Arc<dyn Target>,
    contract: &'a Contract,
    kind: &'static ControllerKind,
    explainer: &'a Explainer<'a>,
    interrupt: &'a Interrupt,
    parallel: usize,
    tries: Option<usize>,
}

/// The result of a world for both targets.
struct WorldResult {
    world: Value,
    /// Its outcome with the first target.
    outcome: String,
    differences: Vec<WorldDifference>,
}

/// One difference of a world.
#[derive(Clone)]
struct WorldDifference {
    difference: Difference,
    explanation: Option<Explained>,
    /// The world, and the step after which the difference was found.
    given: Value,
}

/// Whether worlds are generated for the controller of a contract.
#[must_use]
pub fn is_asked(form: Form, subject: &contract::model::Subject) -> bool {
    kind(form, subject).is_some()
}

fn kind(form: Form, subject: &contract::model::Subject) -> Option<&'static ControllerKind> {
    let controller = subject.controller.as_deref().filter(|_| form == Form::Scenario)?;
    CONTROLLERS.iter().find(|kind| kind.controller == controller)
}

/// Runs the same worlds against both targets, for the controller of each contract. Calls `progress` with a controller and the
/// number of worlds that have just run.
pub fn run(
    contracts: &[Contract],
    (a, b): (&Arc<dyn Target>, &Arc<dyn Target>),
    options: &ControllerOptions<'_>,
    progress: &(dyn Fn(&str, usize) + Sync),
    interrupt: &Interrupt,
) -> Outcome {
    let explainer = Explainer::new(options.explanations, a.as_ref(), b.as_ref());
    let mut outcome = Outcome::of((a.identity(), b.identity()), options.seed, options.worlds);
    for contract in contracts {
        let Some(kind) = kind(contract.form, &contract.subject).filter(|_| interrupt.raised().is_none())
        else {
            continue;
        };
        let parallel = options.parallel.max(1);
        let pair = ControllerPair {
            a,
            b,
            contract,
            kind,
            explainer: &explainer,
            interrupt,
            parallel,
            tries: options.tries,
        };
        let (found, errors) = pair.controller(options, progress);
        outcome.controllers.push(found);
        outcome.environment_errors.extend(errors);
    }
    outcome.interrupted = interrupt.raised();
    outcome.idle_explanations = idle(&explainer, &outcome.controllers);
    outcome
}

impl ControllerPair<'_> {
    /// The differences of the controller, and environment errors.
    fn controller(
        &self,
        options: &ControllerOptions<'_>,
        progress: &(dyn Fn(&str, usize) + Sync),
    ) -> (SubjectOutcome, Vec<String>) {
        let name = &self.contract.name;
        let world = |number: usize| (self.kind.world)(&mut generate::rng(options.seed, name, number));
        let worlds: Vec<Value> = (0..options.worlds).map(world).collect();
        let played = in_parallel(&worlds, self.parallel, |number, world| {
            let played = self.compare_twice(world, &format!("world {number} of {name}"));
            progress(name, 1);
            played
        });
        let targets = (self.a.as_ref(), self.b.as_ref());
        let mut found = SubjectOutcome::of(Subject::Controller(name.clone()), self.contract, targets);
        let (mut errors, mut unexplained) = (Vec::new(), Vec::new());
        for played in played {
            match played {
                Ok(played) => count(&mut found, &played, &mut unexplained),
                Err(ScenarioEnd::Interrupted) => {}
                Err(ScenarioEnd::Environment(reason) | ScenarioEnd::NotSupported(reason)) => {
                    errors.push(reason);
                }
            }
        }
        let mut small: Vec<usize> = Vec::new();
        for (at, world) in unexplained {
            if small.contains(&at) {
                continue;
            }
            let group = found.groups[at].place.clone();
            for smallest in self.shrink(world, &group) {
                // Other groups that differ in the small world get it as their example, too.
                let place = smallest.difference.group();
                let same = |group: &Group| group.place == place && group.explanation.is_none();
                if let Some(other) = found.groups.iter().position(same).filter(|other| !small.contains(other))
                {
                    found.groups[other].example = Example::new(&smallest.difference, smallest.given);
                    small.push(other);
                }
            }
        }
        errors.dedup();
        let place = |group: &Group| (group.explanation.is_some(), group.place.clone());
        found.groups.sort_by_key(place);
        (found, errors)
    }

    /// Runs a world against both. Runs it again if there is an unexplained difference: a target outside may be slow.
    fn compare_twice(&self, world: &Value, id: &str) -> Result<WorldResult, ScenarioEnd> {
        let (mut outcome, mut differences) = self.compare(world, id)?;
        let is_outside = self.a.is_outside() || self.b.is_outside();
        if is_outside && differences.iter().any(|found| found.explanation.is_none()) {
            let (_, again) = self.compare(world, id)?;
            let is_there = |one: &WorldDifference| {
                again.iter().any(|other| other.difference.group() == one.difference.group())
            };
            differences.retain(|one| one.explanation.is_some() || is_there(one));
        }
        if outcome.is_empty() {
            "nothing".clone_into(&mut outcome);
        }
        Ok(WorldResult { world: world.clone(), outcome, differences })
    }

    fn compare(&self, world: &Value, id: &str) -> Result<(String, Vec<WorldDifference>), ScenarioEnd> {
        let scenario =
            world::scenario(world).map_err(|reason| ScenarioEnd::Environment(format!("{id}: {reason}")))?;
        let scenario_run = UnjudgedScenario {
            id: id.to_owned(),
            component: self.contract.component.clone(),
            instance: "seed".to_owned(),
            config: world.get("config").cloned().unwrap_or_else(|| json!({})),
            scenario,
            stability: self.kind.stability,
        };
        let named = |ended| match ended {
            ScenarioEnd::Environment(reason) => ScenarioEnd::Environment(format!("{id}: {reason}")),
            ended => ended,
        };
        let a = run_unjudged(self.a, &scenario_run, self.interrupt).map_err(named)?;
        let b = run_unjudged(self.b, &scenario_run, self.interrupt).map_err(named)?;
        let outcome = a.last().map(self.kind.outcome_of).unwrap_or_default();
        Ok((outcome, self.find_differences(world, &a, &b)))
    }

    /// Differences of the clusters, step by step, up to the first unexplained one, which may cause all later ones.
    fn find_differences(
        &self,
        world: &Value,
        a: &[ObjectStates],
        b: &[ObjectStates],
    ) -> Vec<WorldDifference> {
        let mut all: Vec<WorldDifference> = Vec::new();
        let mut outcomes = BTreeSet::new();
        for (step, (a, b)) in a.iter().zip(b).enumerate() {
            outcomes.extend([a, b].map(self.kind.outcome_of));
            let given = describe_world(world, step, &outcomes);
            let rules = |object: &Value| matching::rules_of_raw(self.contract, Some(object));
            for difference in comparison::differences(a, b, &rules) {
                if all.iter().any(|found| found.difference == difference) {
                    continue;
                }
                let explanation = self.explained(&difference, &given);
                all.push(WorldDifference { difference, explanation, given: given.clone() });
            }
            if all.iter().any(|found| found.explanation.is_none()) {
                break;
            }
        }
        all
    }

    fn explained(&self, difference: &Difference, given: &Value) -> Option<Explained> {
        self.explainer.explained(SubjectName::Controller(&self.contract.name), difference, given)
    }
}

/// Counts a world and its differences; remembers the first world of each unexplained group.
fn count(found: &mut SubjectOutcome, played: &WorldResult, unexplained: &mut Vec<(usize, Value)>) {
    found.compared += 1;
    *found.effects.entry(played.outcome.clone()).or_default() += 1;
    found.differing += usize::from(!played.differences.is_empty());
    let mut counted = Vec::new();
    for WorldDifference { difference, explanation, given } in &played.differences {
        let place = difference.group();
        // A world counts once in a group, even if several objects differ.
        if counted.contains(&(place.clone(), explanation)) {
            continue;
        }
        counted.push((place.clone(), explanation));
        if let Some(group) = found.group(&place, explanation.as_ref()) {
            group.inputs += 1;
            continue;
        }
        if explanation.is_none() {
            unexplained.push((found.groups.len(), played.world.clone()));
        }
        let example = Example::new(difference, given.clone());
        found.groups.push(Group { place, inputs: 1, explanation: explanation.clone(), example });
    }
}

/// The world with the number of the last step (0: the start of the targets), its outcomes so far with both targets, and the
/// objects that several manifests define.
fn describe_world(world: &Value, step: usize, outcomes: &BTreeSet<String>) -> Value {
    let mut given = world.clone();
    given["afterStep"] = json!(step);
    given["outcomes"] = json!(outcomes);
    let twice = duplicates::manifests(world, step);
    if !twice.is_empty() {
        given["manifestsTwice"] = json!(twice);
    }
    given
}
