//! A differential run of controllers: generated worlds are played against two targets, each with clusters of its own, and
//! what the clusters hold after each step is compared.
//!
//! Pure: `managed_resource` and `documents` (worlds by chance), `world` (a world as a scenario), `held` (what two targets can be
//! held to), `smaller`. Playing is the scenarios' (`run::scenario`).

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use contract::explanations::{Asked, Explanations};
use contract::model::{Contract, Form};
use fastrand::Rng;
use serde_json::{Value, json};

use super::effect::Difference;
use super::explain::Explainer;
use super::outcome::{Example, Explained, Group, Outcome, Subject, SubjectOutcome};
use super::{generate, idle};
use crate::matching;
use crate::run::Interrupt;
use crate::run::scenario::{Play, ScenarioEnd, Settled, States, states};
use crate::target::Target;

mod documents;
mod held;
mod managed_resource;
mod shrunk;
mod smaller;
mod twice;
mod world;

/// How worlds are made and played.
pub struct Options<'a> {
    /// Worlds for each controller.
    pub worlds: usize,
    /// Decides every world.
    pub seed: u64,
    /// Worlds side by side, at least 1.
    pub parallel: usize,
    /// Smaller worlds that are played for a difference; absent: 200, or 40 where a target is outside.
    pub tries: Option<usize>,
    /// Why clusters may differ.
    pub explanations: &'a [Explanations],
}

/// A controller that worlds are generated for.
struct Kind {
    /// As contracts call it (`target.controller`).
    controller: &'static str,
    world: fn(&mut Rng) -> Value,
    settled: Settled,
    /// What came of a world in the end, in a word.
    tells: fn(&States) -> String,
}

const KINDS: [Kind; 1] = [Kind {
    controller: "managedresource",
    world: managed_resource::world,
    settled: Settled { plain: held::plain, is_under_way: managed_resource::is_under_way },
    tells: managed_resource::tells,
}];

/// Two targets, and a controller of theirs.
struct Pair<'a> {
    a: &'a Arc<dyn Target>,
    b: &'a Arc<dyn Target>,
    contract: &'a Contract,
    kind: &'static Kind,
    explainer: &'a Explainer<'a>,
    interrupt: &'a Interrupt,
    parallel: usize,
    tries: Option<usize>,
}

/// A world that was played against both.
struct Played {
    world: Value,
    /// What came of it with the first.
    tells: String,
    found: Vec<Found>,
}

/// One difference of a world.
#[derive(Clone)]
struct Found {
    difference: Difference,
    explanation: Option<Explained>,
    /// Everything that was played, and after which step it was seen.
    told: Value,
}

/// Whether worlds are generated for the controller of a contract.
#[must_use]
pub fn is_asked(form: Form, subject: &contract::model::Subject) -> bool {
    kind(form, subject).is_some()
}

fn kind(form: Form, subject: &contract::model::Subject) -> Option<&'static Kind> {
    let controller = subject.controller.as_deref().filter(|_| form == Form::Scenario)?;
    KINDS.iter().find(|kind| kind.controller == controller)
}

/// Plays the same worlds against both targets, for the controller of each contract. `progress` is told of a controller and
/// how many of its worlds were played just now.
pub fn run(
    contracts: &[Contract],
    (a, b): (&Arc<dyn Target>, &Arc<dyn Target>),
    options: &Options<'_>,
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
        let pair =
            Pair { a, b, contract, kind, explainer: &explainer, interrupt, parallel, tries: options.tries };
        let (found, errors) = pair.controller(options, progress);
        outcome.controllers.push(found);
        outcome.environment_errors.extend(errors);
    }
    outcome.interrupted = interrupt.raised();
    outcome.idle_explanations = idle(&explainer, &outcome.controllers);
    outcome
}

impl Pair<'_> {
    /// What is found of the controller, and what broke around the targets.
    fn controller(
        &self,
        options: &Options<'_>,
        progress: &(dyn Fn(&str, usize) + Sync),
    ) -> (SubjectOutcome, Vec<String>) {
        let name = &self.contract.name;
        let world = |number: usize| (self.kind.world)(&mut generate::rng(options.seed, name, number));
        let worlds: Vec<Value> = (0..options.worlds).map(world).collect();
        let played = side_by_side(&worlds, self.parallel, |number, world| {
            let played = self.played(world, &format!("world {number} of {name}"));
            progress(name, 1);
            played
        });
        let mut found = SubjectOutcome::of(Subject::Controller(name.clone()));
        let (mut errors, mut unexplained) = (Vec::new(), Vec::new());
        for played in played {
            match played {
                Ok(played) => count(&mut found, &played, &mut unexplained),
                Err(ScenarioEnd::Interrupted) => {}
                Err(ScenarioEnd::Environment(reason) | ScenarioEnd::NotSupported(reason)) => {
                    errors.push(reason)
                }
            }
        }
        let mut small: Vec<usize> = Vec::new();
        for (at, world) in unexplained {
            if small.contains(&at) {
                continue;
            }
            let group = found.groups[at].place.clone();
            for shown in self.shrunk(world, &group) {
                // What else differs in the small world, is small there too.
                let place = shown.difference.group();
                let same = |group: &Group| group.place == place && group.explanation.is_none();
                if let Some(other) = found.groups.iter().position(same).filter(|other| !small.contains(other))
                {
                    found.groups[other].example = Example::new(&shown.difference, shown.told);
                    small.push(other);
                }
            }
        }
        errors.dedup();
        let place = |group: &Group| (group.explanation.is_some(), group.place.clone());
        found.groups.sort_by_key(place);
        (found, errors)
    }

    /// Plays a world against both. What differs without explanation is played again: a target outside may be slow.
    fn played(&self, world: &Value, id: &str) -> Result<Played, ScenarioEnd> {
        let (mut tells, mut found) = self.compared(world, id)?;
        let is_outside = self.a.is_outside() || self.b.is_outside();
        if is_outside && found.iter().any(|found| found.explanation.is_none()) {
            let (_, again) = self.compared(world, id)?;
            let is_there =
                |one: &Found| again.iter().any(|other| other.difference.group() == one.difference.group());
            found.retain(|one| one.explanation.is_some() || is_there(one));
        }
        if tells.is_empty() {
            "nothing".clone_into(&mut tells);
        }
        Ok(Played { world: world.clone(), tells, found })
    }

    fn compared(&self, world: &Value, id: &str) -> Result<(String, Vec<Found>), ScenarioEnd> {
        let scenario =
            world::scenario(world).map_err(|reason| ScenarioEnd::Environment(format!("{id}: {reason}")))?;
        let play = Play {
            id: id.to_owned(),
            component: self.contract.component.clone(),
            instance: "seed".to_owned(),
            config: world.get("config").cloned().unwrap_or_else(|| json!({})),
            scenario,
            settled: self.kind.settled,
        };
        let named = |ended| match ended {
            ScenarioEnd::Environment(reason) => ScenarioEnd::Environment(format!("{id}: {reason}")),
            ended => ended,
        };
        let a = states(self.a, &play, self.interrupt).map_err(named)?;
        let b = states(self.b, &play, self.interrupt).map_err(named)?;
        let tells = a.last().map(self.kind.tells).unwrap_or_default();
        Ok((tells, self.found(world, &a, &b)))
    }

    /// Where clusters differ, step by step; what follows a difference without explanation follows from it.
    fn found(&self, world: &Value, a: &[States], b: &[States]) -> Vec<Found> {
        let mut all: Vec<Found> = Vec::new();
        let mut outcomes = BTreeSet::new();
        for (step, (a, b)) in a.iter().zip(b).enumerate() {
            outcomes.extend([a, b].map(self.kind.tells));
            let told = told(world, step, &outcomes);
            let rules = |object: &Value| matching::rules_of_raw(self.contract, Some(object));
            for difference in held::differences(a, b, &rules) {
                if all.iter().any(|found| found.difference == difference) {
                    continue;
                }
                let explanation = self.explained(&difference, &told);
                all.push(Found { difference, explanation, told: told.clone() });
            }
            if all.iter().any(|found| found.explanation.is_none()) {
                break;
            }
        }
        all
    }

    fn explained(&self, difference: &Difference, told: &Value) -> Option<Explained> {
        self.explainer.explained(Asked::Controller(&self.contract.name), difference, told)
    }
}

/// Counts a world and its differences; notes the worlds that show a group without explanation first.
fn count(found: &mut SubjectOutcome, played: &Played, unexplained: &mut Vec<(usize, Value)>) {
    found.compared += 1;
    *found.effects.entry(played.tells.clone()).or_default() += 1;
    found.differing += usize::from(!played.found.is_empty());
    let mut counted = Vec::new();
    for Found { difference, explanation, told } in &played.found {
        let place = difference.group();
        // One world counts once in a group, in however many objects it differs.
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
        let example = Example::new(difference, told.clone());
        found.groups.push(Group { place, inputs: 1, explanation: explanation.clone(), example });
    }
}

/// Everything that was played, the step after which something is seen (0: the start of the targets), what came of the world so
/// far with either, and the objects that several manifests are of.
fn told(world: &Value, step: usize, outcomes: &BTreeSet<String>) -> Value {
    let mut told = world.clone();
    told["afterStep"] = json!(step);
    told["outcomes"] = json!(outcomes);
    let twice = twice::manifests(world, step);
    if !twice.is_empty() {
        told["manifestsTwice"] = json!(twice);
    }
    told
}

/// Does something with each of several things, so many at once; in the order of the things.
fn side_by_side<T: Sync, R: Send>(
    things: &[T],
    parallel: usize,
    work: impl Fn(usize, &T) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..parallel.min(things.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(thing) = things.get(at) else { break };
                    let result = work(at, thing);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}
