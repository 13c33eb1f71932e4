//! Which object of the garden belongs to which seed: a directed graph, as one value that events change.
//!
//! Every object adds edges that depend on it alone, one file per kind; a ManagedSeed also has edges that depend on the
//! Seed of its name. The graph keeps what each object adds, so that its edges are always those that the objects which
//! exist now add, whatever happened before.

mod backup_bucket;
mod backup_entry;
mod bastion;
mod certificate_signing_request;
mod contribution;
mod controller_installation;
pub mod feed;
mod managed_seed;
mod project;
mod secret_binding;
mod seed;
mod service_account;
pub mod shared;
mod shoot;
#[cfg(test)]
mod tests;
mod vertex;

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use jiff::Timestamp;

pub(crate) use self::certificate_signing_request::check as check_seed_client;
pub use self::contribution::{Bootstrap, Contributes, Contribution, Registration};
pub(crate) use self::seed::LEASE_NAMESPACE;
pub(crate) use self::shoot::{INTERNAL_SECRET_SUFFIX, SECRET_SUFFIXES, audit_policy};
use self::vertex::holds;
pub use self::vertex::{Edge, Vertex, VertexKind};

/// The other end of an edge, and after which time it holds.
type Neighbour = (Vertex, Option<Timestamp>);
/// The edges of a vertex, each with the number of objects that add it.
type Neighbours = OrdMap<Neighbour, usize>;

/// The graph. Cheap to clone: clones share what they have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    contributions: OrdMap<Vertex, Arc<Contribution>>,
    /// The edges that each object adds now.
    added: OrdMap<Vertex, Arc<BTreeSet<Edge>>>,
    outgoing: OrdMap<Vertex, Neighbours>,
    incoming: OrdMap<Vertex, Neighbours>,
    /// ManagedSeeds by the Seed that they will register.
    awaiting: OrdMap<Arc<str>, OrdSet<Vertex>>,
}

impl Graph {
    /// An object was written; whether that changes what it adds.
    pub fn put(&mut self, object: &Vertex, contribution: Contribution) -> bool {
        if self.contributions.get(object).is_some_and(|known| **known == contribution) {
            return false;
        }
        self.forget(object);
        if let Some(bootstrap) = &contribution.bootstrap {
            self.awaiting.entry(bootstrap.seed.clone()).or_default().insert(object.clone());
        }
        self.contributions.insert(object.clone(), Arc::new(contribution));
        self.refresh_with_dependents(object);
        true
    }

    /// An object was deleted.
    pub fn remove(&mut self, object: &Vertex) {
        self.forget(object);
        self.refresh_with_dependents(object);
    }

    /// Whether an object exists, or one that exists refers to it.
    #[must_use]
    pub fn has(&self, vertex: &Vertex, now: Timestamp) -> bool {
        [&self.outgoing, &self.incoming]
            .into_iter()
            .any(|edges| neighbours(edges, vertex, now).next().is_some())
    }

    /// Whether a path leads from one vertex to another; both must be there.
    #[must_use]
    pub fn reaches(&self, from: &Vertex, to: &Vertex, now: Timestamp) -> bool {
        if !self.has(from, now) || !self.has(to, now) {
            return false;
        }
        let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(vertex) = open.pop() {
            if vertex == to {
                return true;
            }
            open.extend(neighbours(&self.outgoing, vertex, now).filter(|next| seen.insert(next)));
        }
        false
    }

    /// All vertices that have an edge, in order.
    #[must_use]
    pub fn vertices(&self, now: Timestamp) -> BTreeSet<&Vertex> {
        self.outgoing.keys().chain(self.incoming.keys()).filter(|vertex| self.has(vertex, now)).collect()
    }

    /// Where edges to a vertex begin, in order.
    pub fn incoming<'a>(&'a self, vertex: &Vertex, now: Timestamp) -> impl Iterator<Item = &'a Vertex> {
        neighbours(&self.incoming, vertex, now)
    }

    /// Where edges from a vertex end, in order.
    pub fn outgoing<'a>(&'a self, vertex: &Vertex, now: Timestamp) -> impl Iterator<Item = &'a Vertex> {
        neighbours(&self.outgoing, vertex, now)
    }

    /// All edges, in order.
    #[must_use]
    pub fn edges(&self) -> BTreeSet<Edge> {
        let of = |(from, ends): (&Vertex, &Neighbours)| -> Vec<Edge> {
            let edge = |(to, after): &Neighbour| Edge { from: from.clone(), to: to.clone(), after: *after };
            ends.keys().map(edge).collect()
        };
        self.outgoing.iter().flat_map(of).collect()
    }

    /// Removes an object's own data; its edges stay until they are refreshed.
    fn forget(&mut self, object: &Vertex) {
        let Some(known) = self.contributions.remove(object) else { return };
        let Some(bootstrap) = &known.bootstrap else { return };
        let Some(waiting) = self.awaiting.get_mut(&bootstrap.seed) else { return };
        waiting.remove(object);
        if waiting.is_empty() {
            self.awaiting.remove(&bootstrap.seed);
        }
    }

    fn refresh_with_dependents(&mut self, object: &Vertex) {
        self.refresh(object);
        if object.kind == VertexKind::Seed {
            for dependent in self.awaiting.get(&object.name).cloned().unwrap_or_default() {
                self.refresh(&dependent);
            }
        }
    }

    /// Replaces the edges of an object by those that it adds now.
    fn refresh(&mut self, object: &Vertex) {
        let now = Arc::new(self.current(object));
        let before = if now.is_empty() {
            self.added.remove(object)
        } else {
            self.added.insert(object.clone(), now.clone())
        };
        let before = before.unwrap_or_default();
        for edge in before.difference(&now) {
            decrement(&mut self.outgoing, &edge.from, &(edge.to.clone(), edge.after));
            decrement(&mut self.incoming, &edge.to, &(edge.from.clone(), edge.after));
        }
        for edge in now.difference(&before) {
            increment(&mut self.outgoing, &edge.from, (edge.to.clone(), edge.after));
            increment(&mut self.incoming, &edge.to, (edge.from.clone(), edge.after));
        }
    }

    fn current(&self, object: &Vertex) -> BTreeSet<Edge> {
        let Some(known) = self.contributions.get(object) else { return BTreeSet::new() };
        let mut edges = known.edges.clone();
        if let Some(bootstrap) = &known.bootstrap {
            let seed = self.contributions.get(&VertexKind::Seed.named(&bootstrap.seed));
            edges.extend(bootstrap.edges(seed.and_then(|seed| seed.registration)));
        }
        edges
    }
}

fn neighbours<'a>(
    edges: &'a OrdMap<Vertex, Neighbours>,
    vertex: &Vertex,
    now: Timestamp,
) -> impl Iterator<Item = &'a Vertex> + use<'a> {
    let ends = edges.get(vertex).into_iter().flat_map(OrdMap::keys);
    ends.filter(move |(_, after)| holds(*after, now)).map(|(end, _)| end)
}

fn increment(edges: &mut OrdMap<Vertex, Neighbours>, vertex: &Vertex, end: Neighbour) {
    *edges.entry(vertex.clone()).or_default().entry(end).or_insert(0) += 1;
}

fn decrement(edges: &mut OrdMap<Vertex, Neighbours>, vertex: &Vertex, end: &Neighbour) {
    let Some(ends) = edges.get_mut(vertex) else { return };
    match ends.get_mut(end) {
        Some(count) if *count > 1 => *count -= 1,
        _ => {
            ends.remove(end);
        }
    }
    if ends.is_empty() {
        edges.remove(vertex);
    }
}
