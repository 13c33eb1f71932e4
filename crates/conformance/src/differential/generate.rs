//! Generates inputs from the cases of a contract: each world starts as the cluster of a case, each request as the object of a
//! case, and both are changed at random. The same seed gives the same inputs.

use contract::case::{Case, Given, When};
use contract::model::Contract;
use fastrand::Rng;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use webhook::review::{Operation, ReviewVersion};

use super::dictionary::Dictionary;
use super::input::{Batch, Input, World};
use super::mutate::Mutator;
use super::sent::as_sent;
use super::world::PREFIX;
use crate::place;

/// Number of requests that share a world.
const PER_WORLD: usize = 10;
/// Namespace to which facts are sometimes moved, so that a webhook that reads only its own namespace does not see them.
const ELSEWHERE: &str = "elsewhere";
/// Names that objects sometimes get instead of their own.
const NAMES: [&str; 6] = ["", "b", "a.b", "Upper", "-a", "a_b"];

/// A case from which inputs are generated.
#[derive(Clone, Copy, Debug)]
pub struct Seed<'a> {
    /// The case.
    pub case: &'a Case,
    /// `seed` or `shoot`.
    pub instance: &'a str,
    /// Index of its clause: clauses are drawn, not cases, so that a long table has no more weight than a short one.
    pub clause: usize,
}

/// Generates inputs for the webhook of a contract, in batches of one world; none without seeds.
#[must_use]
pub fn batches(contract: &Contract, seeds: &[Seed<'_>], objects: usize, seed: u64) -> Vec<Batch> {
    let dictionary = Dictionary::of(seeds.iter().map(|seed| seed.case));
    let worlds = if seeds.is_empty() { 0 } else { objects.div_ceil(PER_WORLD) };
    let batch = |number: usize| {
        let mut generator = Generator {
            seeds,
            mutator: Mutator { dictionary: &dictionary, rng: &mut rng(seed, &contract.name, number) },
        };
        let inputs = PER_WORLD.min(objects - number * PER_WORLD);
        generator.batch(&format!("{PREFIX}{:04x}-{number}", seed & 0xffff), inputs)
    };
    (0..worlds).map(batch).collect()
}

struct Generator<'a, 'b> {
    seeds: &'a [Seed<'a>],
    mutator: Mutator<'b>,
}

impl<'a> Generator<'a, '_> {
    fn batch(&mut self, name: &str, inputs: usize) -> Batch {
        let all: Vec<&Seed<'a>> = self.seeds.iter().collect();
        let first = self.draw(&all);
        // All inputs of a batch are sent to one start of the targets.
        let alike =
            |seed: &&Seed<'a>| seed.instance == first.instance && seed.case.config == first.case.config;
        let alike: Vec<&Seed<'a>> = self.seeds.iter().filter(alike).collect();
        let placed = place::assign_namespace(first.case, name);
        let (name, world) = (placed.namespace.clone(), self.world(&placed.namespace, placed.given, &alike));
        let inputs = (0..inputs).map(|_| self.input(first, &alike, &name)).collect();
        Batch { instance: first.instance.to_owned(), config: first.case.config.clone(), world, inputs }
    }

    /// Draws a clause and one of its cases.
    fn draw<'s>(&mut self, seeds: &[&'s Seed<'a>]) -> &'s Seed<'a> {
        let mut clauses: Vec<usize> = seeds.iter().map(|seed| seed.clause).collect();
        clauses.dedup();
        let clause = clauses[self.mutator.rng.usize(..clauses.len())];
        let of_clause: Vec<&'s Seed<'a>> =
            seeds.iter().copied().filter(|seed| seed.clause == clause).collect();
        of_clause[self.mutator.rng.usize(..of_clause.len())]
    }

    fn world(&mut self, name: &str, given: Given, alike: &[&Seed<'a>]) -> World {
        let bare = || json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let mut namespace =
            given.namespace.filter(|_| !name.is_empty()).or_else(|| (!name.is_empty()).then(bare));
        if let Some(namespace) = &mut namespace {
            let changes = self.mutator.rng.usize(..3);
            self.metadata(namespace, changes);
        }
        let mut cluster = given.cluster;
        // Adds facts of another case.
        if self.mutator.rng.u8(..) < 90 {
            let other = self.draw(alike);
            let facts = place::assign_namespace(other.case, name).given.cluster;
            cluster.extend(facts);
        }
        let mut kept: Vec<Value> = Vec::new();
        for mut fact in cluster {
            let is_same = |other: &Value| identity(other) == identity(&fact);
            if self.mutator.rng.u8(..) < 25 || kept.iter().any(is_same) {
                continue;
            }
            if self.mutator.rng.u8(..) < 90 {
                self.mutator.times(&mut fact, 1);
            }
            if fact["metadata"]["namespace"] == name && self.mutator.rng.u8(..) < 30 {
                fact["metadata"]["namespace"] = json!(ELSEWHERE);
            }
            kept.push(fact);
        }
        World { name: name.to_owned(), namespace, cluster: kept }
    }

    /// Changes labels and annotations.
    fn metadata(&mut self, namespace: &mut Value, changes: usize) {
        let mut bare = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": namespace["metadata"]});
        self.mutator.times(&mut bare, changes);
        for field in ["labels", "annotations"] {
            if let Some(value) = bare["metadata"].get_mut(field) {
                namespace["metadata"][field] = value.take();
            }
        }
    }

    fn input(&mut self, first: &Seed<'a>, alike: &[&Seed<'a>], namespace: &str) -> Input {
        let seed = if self.mutator.rng.bool() { first } else { self.draw(alike) };
        let mut input = request_of(seed.case, namespace);
        if input.collection.is_none() {
            self.operate(&mut input);
            let name = self.name();
            for object in [&mut input.object, &mut input.old_object].into_iter().flatten() {
                move_object(object, namespace, name);
            }
        }
        let rng = &mut *self.mutator.rng;
        input.dry_run = rng.u8(..) < 50;
        input.review = if rng.u8(..) < 50 { ReviewVersion::V1beta1 } else { ReviewVersion::V1 };
        input.object = input.object.map(as_sent);
        input.old_object = input.old_object.map(as_sent);
        input
    }

    /// Sometimes another name.
    fn name(&mut self) -> Option<&'static str> {
        let rng = &mut *self.mutator.rng;
        (rng.u8(..) < 12).then(|| NAMES[rng.usize(..NAMES.len())])
    }

    /// Changes the objects, and sometimes the operation.
    fn operate(&mut self, input: &mut Input) {
        let changes = self.changes();
        let base = input.object.clone().or_else(|| input.old_object.clone()).unwrap_or_default();
        let mut object = base.clone();
        self.mutator.times(&mut object, changes);
        let other = [Operation::Create, Operation::Update, Operation::Update, Operation::Delete];
        if self.mutator.rng.u8(..) < 40 {
            input.operation = other[self.mutator.rng.usize(..other.len())];
        }
        let mut old = input.old_object.take().unwrap_or(base);
        if self.mutator.rng.u8(..) < 90 {
            let changes = self.changes();
            self.mutator.times(&mut old, changes);
        }
        (input.object, input.old_object) = match input.operation {
            Operation::Create | Operation::Connect => (Some(object), None),
            Operation::Update => (Some(object), Some(old)),
            Operation::Delete => (None, Some(object)),
        };
    }

    /// Number of changes, 0 to 8: few changes are more probable than many.
    fn changes(&mut self) -> usize {
        let most = self.mutator.rng.usize(1..=8);
        self.mutator.rng.usize(..=most)
    }
}

/// The case's own request.
fn request_of(case: &Case, namespace: &str) -> Input {
    let given = place::assign_namespace(case, namespace).given;
    let (operation, collection) = match &case.when {
        When::DeleteCollection { resource } => (Operation::Delete, Some(resource.clone())),
        When::Admission { operation, .. } => {
            let operation = match operation.as_str() {
                "UPDATE" => Operation::Update,
                "DELETE" => Operation::Delete,
                _ => Operation::Create,
            };
            (operation, None)
        }
        When::Steps(_)
        | When::Registration { .. }
        | When::Configuration
        | When::Process(_)
        | When::Emitted(_)
        | When::Decision(_) => (Operation::Create, None),
    };
    let (object, old_object) = if collection.is_some() { (None, None) } else { (given.object, given.old) };
    Input { operation, review: ReviewVersion::V1, dry_run: false, object, old_object, collection }
}

/// Moves an object to the namespace of its request, and renames it.
fn move_object(object: &mut Value, namespace: &str, name: Option<&str>) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    if metadata.contains_key("namespace") {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
    if let Some(name) = name {
        metadata.insert("name".to_owned(), json!(name));
    }
}

fn identity(object: &Value) -> [&Value; 4] {
    [&object["apiVersion"], &object["kind"], &object["metadata"]["namespace"], &object["metadata"]["name"]]
}

/// A random number generator for each batch of each webhook, so that an additional batch does not change others.
pub(super) fn rng(seed: u64, webhook: &str, number: usize) -> Rng {
    let digest = Sha256::digest(format!("{seed}/{webhook}/{number}"));
    let eight = digest.iter().take(8).fold(0, |whole: u64, byte| (whole << 8) | u64::from(*byte));
    Rng::with_seed(eight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::document::SourceFile;
    use contract::model::Catalog;

    const CONTRACT: &str = r"
apiVersion: conformance.gardener.cloud/v1alpha1
kind: Contract
metadata: {name: replicas, labels: {component: example}}
spec:
  form: mutation
  source: {document: docs/a.md, version: v1, section: A}
  target: {webhook: replicas, handles: [apps/v1 deployments]}
  clauses:
  - id: EX-001
    text: servers have three replicas
    table: |
      | type       | replicas  |
      | server     | 3         |
      | controller | unchanged |
    given:
      namespace: {apiVersion: v1, kind: Namespace, metadata: {name: garden, labels: {a: b}}}
      cluster: [{apiVersion: v1, kind: ServiceAccount, metadata: {name: app}}]
      object:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: app, namespace: garden, labels: {type: <type>}}
        spec: {replicas: 1, template: {spec: {containers: [{name: a, image: b}]}}}
    when: {admission: [CREATE, UPDATE]}
    then: {object: {spec: {replicas: <replicas>}}}
";

    fn generated(objects: usize, seed: u64) -> Vec<Batch> {
        let file = SourceFile::new("contracts/a.yaml", CONTRACT.trim_start());
        let catalog = Catalog::load(&[file]).map_err(|errors| errors.to_string()).unwrap();
        let contract = &catalog.contracts[0];
        let cases = contract.clauses.iter().enumerate();
        let seeds: Vec<Seed<'_>> = cases
            .flat_map(|(number, clause)| {
                clause.cases.iter().map(move |case| Seed { case, instance: "seed", clause: number })
            })
            .collect();
        batches(contract, &seeds, objects, seed)
    }

    #[test]
    fn a_seed_gives_the_same_inputs_and_more_inputs_start_with_the_same() {
        let (few, many) = (generated(40, 7), generated(110, 7));
        assert_eq!(many.iter().map(|batch| batch.inputs.len()).collect::<Vec<_>>(), [10; 11]);
        assert_eq!(few, many[..4]);
        assert_ne!(few, generated(40, 8));
    }

    #[test]
    fn inputs_vary_and_are_all_in_their_world() {
        let batches = generated(400, 1);
        let inputs = || batches.iter().flat_map(|batch| batch.inputs.iter().map(move |input| (batch, input)));
        for operation in [Operation::Create, Operation::Update, Operation::Delete] {
            assert!(inputs().any(|(_, input)| input.operation == operation), "{operation}");
        }
        for (batch, input) in inputs() {
            let object = input.object_under_test().unwrap();
            assert_eq!(object["metadata"]["namespace"], json!(batch.world.name));
            assert!(input.subject(&batch.world).is_ok());
            assert_eq!(
                (input.operation == Operation::Update, true),
                (input.old_object.is_some() && input.object.is_some(), true)
            );
        }
        let labels = |value: &str| {
            inputs()
                .any(|(_, input)| input.object_under_test().unwrap()["metadata"]["labels"]["type"] == value)
        };
        assert!(labels("server") && labels("controller"));
        assert!(batches.iter().any(|batch| batch.world.cluster.is_empty()));
        let facts =
            || batches.iter().flat_map(|batch| batch.world.cluster.iter().map(move |fact| (batch, fact)));
        let moved = facts().filter(|(_, fact)| fact["metadata"]["namespace"] == ELSEWHERE).count();
        let at_home =
            facts().filter(|(batch, fact)| fact["metadata"]["namespace"] == *batch.world.name).count();
        assert!(moved > 0 && at_home > moved, "{moved} {at_home}");
    }
}
