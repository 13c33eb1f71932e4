//! The edges of every kind, and the laws of the graph.

mod kinds;
mod laws;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::*;

/// An object as an event brings it.
fn event<K: Contributes + DeserializeOwned>(object: &Value) -> (Vertex, Contribution) {
    let object: K = serde_json::from_value(object.clone()).unwrap();
    (object.vertex(), object.contribution())
}

/// A graph of these objects.
fn graph(events: impl IntoIterator<Item = (Vertex, Contribution)>) -> Graph {
    let mut graph = Graph::default();
    for (object, contribution) in events {
        graph.put(&object, contribution);
    }
    graph
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The edges that hold now, as text.
fn edges(graph: &Graph, now: Timestamp) -> Vec<String> {
    let holding = graph.edges().into_iter().filter(|edge| holds(edge.after, now));
    holding.map(|edge| format!("{} -> {}", edge.from, edge.to)).collect()
}
