//! Laws: whatever happened, the edges are those of the objects that are there; a reader sees one state.

use std::collections::BTreeMap;

use api::garden::{BackupBucket, BackupEntry, Bastion, ManagedSeed, Project, SecretBinding, Seed, Shoot};
use proptest::prelude::*;
use serde_json::json;

use super::super::shared::SharedGraph;
use super::*;

const EXPIRY: &str = "2026-06-01T00:00:00Z";
const TIMES: [&str; 2] = ["2026-01-01T00:00:00Z", "2026-12-01T00:00:00Z"];

/// An object that is written, or deleted.
#[derive(Clone, Debug)]
struct Happening {
    object: (Vertex, Contribution),
    is_deleted: bool,
}

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["a".to_owned(), "b".to_owned()])
}

fn maybe() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(name())
}

fn reference(name: &str) -> Value {
    json!({"namespace": "garden", "name": name})
}

/// Few names, so that objects refer to each other.
fn object() -> impl Strategy<Value = (Vertex, Contribution)> {
    let parts = (0..8_usize, name(), name(), maybe(), maybe(), any::<bool>());
    parts.prop_map(|(kind, own, other, first, second, flag)| {
        let metadata = json!({"namespace": "garden", "name": own});
        let cluster = json!({"name": own});
        match kind {
            0 => event::<Shoot>(&json!({"metadata": metadata, "spec": {"cloudProfileName": other,
                "seedName": first, "secretBindingName": second}, "status": {"seedName": second}})),
            1 => {
                let expiry = flag.then_some(EXPIRY);
                event::<Seed>(&json!({"metadata": cluster, "spec": {"secretRef": first.map(|of| reference(&of))},
                    "status": {"clientCertificateExpirationTimestamp": expiry}}))
            }
            2 => {
                let config = json!({"apiVersion": "gardenlet.config.gardener.cloud/v1alpha1",
                    "kind": "GardenletConfiguration", "seedConfig": {"spec": {"secretRef": reference(&other)}}});
                let mode = if flag { "BootstrapToken" } else { "ServiceAccount" };
                let operation = first.map(|_| "renew-kubeconfig");
                let annotations = operation.map(|operation| json!({"gardener.cloud/operation": operation}));
                event::<ManagedSeed>(&json!({
                    "metadata": {"namespace": "garden", "name": own, "annotations": annotations},
                    "spec": {"shoot": {"name": other}, "gardenlet": {"bootstrap": mode,
                        "config": second.map_or(Value::Null, |_| config)}}}))
            }
            3 => event::<BackupBucket>(&json!({"metadata": cluster, "spec": {"seedName": first,
                "secretRef": reference(&other)}})),
            4 => {
                let owner = json!([{"apiVersion": "a/v1", "kind": "Shoot", "name": other, "uid": "u"}]);
                event::<BackupEntry>(&json!({
                    "metadata": {"namespace": "garden", "name": own, "ownerReferences": owner},
                    "spec": {"seedName": first, "bucketName": other}, "status": {"seedName": second}}))
            }
            5 => event::<Bastion>(&json!({"metadata": metadata, "spec": {"seedName": first}})),
            6 => event::<Project>(&json!({"metadata": cluster, "spec": {"namespace": first.map(|_| "garden")}})),
            _ => event::<SecretBinding>(&json!({"metadata": metadata, "secretRef": reference(&other)})),
        }
    })
}

fn happening() -> impl Strategy<Value = Happening> {
    (object(), proptest::bool::weighted(0.3))
        .prop_map(|(object, is_deleted)| Happening { object, is_deleted })
}

/// The edges of objects, computed from nothing.
fn from_scratch(objects: &BTreeMap<Vertex, Contribution>) -> BTreeSet<Edge> {
    let of = |contribution: &Contribution| {
        let bootstrap = contribution.bootstrap.iter().flat_map(|bootstrap| {
            let seed = objects.get(&VertexKind::Seed.named(&bootstrap.seed));
            bootstrap.edges(seed.and_then(|seed| seed.registration))
        });
        contribution.edges.iter().cloned().chain(bootstrap).collect::<Vec<_>>()
    };
    objects.values().flat_map(of).collect()
}

/// Whether a path leads from one vertex to another, the slow way.
fn leads(edges: &BTreeSet<Edge>, from: &Vertex, to: &Vertex, now: Timestamp) -> bool {
    let mut reached = BTreeSet::from([from.clone()]);
    let there = |vertex: &Vertex| {
        edges.iter().any(|edge| holds(edge.after, now) && (edge.from == *vertex || edge.to == *vertex))
    };
    loop {
        let next: BTreeSet<Vertex> = edges
            .iter()
            .filter(|edge| holds(edge.after, now) && reached.contains(&edge.from))
            .map(|edge| edge.to.clone())
            .filter(|end| !reached.contains(end))
            .collect();
        if next.is_empty() {
            return there(from) && there(to) && reached.contains(to);
        }
        reached.extend(next);
    }
}

fn apply(graph: &mut Graph, objects: &mut BTreeMap<Vertex, Contribution>, happening: Happening) {
    let (vertex, contribution) = happening.object;
    if happening.is_deleted {
        graph.remove(&vertex);
        objects.remove(&vertex);
    } else {
        graph.put(&vertex, contribution.clone());
        objects.insert(vertex, contribution);
    }
}

proptest! {
    #[test]
    fn after_any_events_the_edges_are_those_of_the_objects_that_are_there(
        happenings in proptest::collection::vec(happening(), 0..40)
    ) {
        let (mut graph, mut objects) = (Graph::default(), BTreeMap::new());
        for happening in happenings {
            apply(&mut graph, &mut objects, happening);
            let scratch = from_scratch(&objects);
            prop_assert_eq!(graph.edges(), scratch.clone());
            for now in TIMES.map(time) {
                let seeds = ["a", "b"].map(|seed| VertexKind::Seed.named(seed));
                for vertex in graph.vertices(now) {
                    for seed in &seeds {
                        let want = leads(&scratch, vertex, seed, now);
                        prop_assert_eq!(graph.reaches(vertex, seed, now), want, "{} {}", vertex, seed);
                    }
                }
            }
        }
        for vertex in objects.keys() {
            graph.remove(vertex);
        }
        prop_assert_eq!(graph, Graph::default());
    }

    #[test]
    fn the_order_in_which_objects_come_does_not_matter(
        objects in proptest::collection::vec(object(), 0..12), turn in 0..12_usize
    ) {
        let objects: BTreeMap<Vertex, Contribution> = objects.into_iter().collect();
        let mut turned: Vec<_> = objects.clone().into_iter().collect();
        let by = turn.min(turned.len());
        turned.rotate_left(by);
        prop_assert_eq!(graph(objects), graph(turned));
    }

    #[test]
    fn an_object_that_comes_takes_no_path_away_unless_it_is_a_seed(
        objects in proptest::collection::vec(object(), 0..12), new in object()
    ) {
        let before = graph(objects.into_iter().collect::<BTreeMap<_, _>>());
        prop_assume!(!before.contributions.contains_key(&new.0) && new.0.kind != VertexKind::Seed);
        let mut after = before.clone();
        after.put(&new.0, new.1);
        prop_assert!(before.edges().is_subset(&after.edges()));
    }
}

#[test]
fn a_question_during_a_change_is_answered_from_before_or_after_it() {
    let shared = std::sync::Arc::new(SharedGraph::default());
    let shoot = VertexKind::Shoot.in_namespace("garden", "x");
    let on = |seed: &str| {
        event::<Shoot>(&json!({"metadata": {"namespace": "garden", "name": "x"}, "spec": {"seedName": seed}}))
            .1
    };
    let seeds = ["a", "b"].map(|seed| VertexKind::Seed.named(seed));
    shared.change(|graph| graph.put(&shoot, on("a")));
    let writer = {
        let (shared, shoot, moves) = (shared.clone(), shoot.clone(), [on("b"), on("a")]);
        std::thread::spawn(move || {
            for round in 0..2_000 {
                let now = moves[round % 2].clone();
                shared.change(|graph| graph.put(&shoot, now));
            }
        })
    };
    while !writer.is_finished() {
        let (graph, now) = (shared.current(), time(TIMES[0]));
        let reached = seeds.iter().filter(|seed| graph.reaches(&shoot, seed, now)).count();
        assert_eq!(reached, 1);
    }
    writer.join().unwrap();
}

#[test]
fn a_secret_of_two_owners_stays_reachable_when_one_of_them_goes() {
    let bucket = |name: &str, seed: &str| {
        event::<BackupBucket>(&json!({"metadata": {"name": name}, "spec": {"seedName": seed,
            "secretRef": reference("shared")}}))
    };
    let mut graph = graph([bucket("a", "a"), bucket("b", "b")]);
    let (secret, now) = (VertexKind::Secret.in_namespace("garden", "shared"), time(TIMES[0]));
    let reaches =
        |graph: &Graph| ["a", "b"].map(|seed| graph.reaches(&secret, &VertexKind::Seed.named(seed), now));
    assert_eq!(reaches(&graph), [true, true]);
    graph.remove(&VertexKind::BackupBucket.named("a"));
    assert_eq!(reaches(&graph), [false, true]);
    graph.remove(&VertexKind::BackupBucket.named("b"));
    assert!(!graph.has(&secret, now));
}
