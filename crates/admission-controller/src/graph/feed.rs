//! Feeds the graph with the events of the garden's stores.

use std::sync::Arc;

use controller::{Event, Store};
use kube::Resource;

use super::shared::SharedGraph;
use super::{Contributes, VertexKind};
use crate::garden::GardenCaches;
use crate::measurements::Measurements;

/// Feeds a graph with all objects of the garden, and with every change.
pub fn follow(garden: &GardenCaches, graph: &Arc<SharedGraph>, measurements: &Arc<Measurements>) {
    let feed = Feed { graph: graph.clone(), measurements: measurements.clone() };
    feed.follow(&garden.backup_buckets);
    feed.follow(&garden.backup_entries);
    feed.follow(&garden.bastions);
    feed.follow(&garden.certificate_signing_requests);
    feed.follow(&garden.controller_installations);
    feed.follow(&garden.managed_seeds);
    feed.follow(&garden.projects);
    feed.follow(&garden.secret_bindings);
    feed.follow(&garden.seeds);
    feed.follow(&garden.service_accounts);
    feed.follow(&garden.shoots);
}

#[derive(Clone)]
struct Feed {
    graph: Arc<SharedGraph>,
    measurements: Arc<Measurements>,
}

impl Feed {
    fn follow<K: Contributes + Resource + Send + Sync + 'static>(&self, store: &Store<K>) {
        let feed = self.clone();
        store.subscribe(move |event| feed.apply(event));
    }

    /// An event is measured if it changes what its object adds; the time that it waits for others counts.
    fn apply<K: Contributes>(&self, event: &Event<K>) {
        let started = tokio::time::Instant::now();
        let object = event.object().vertex();
        let operation = match event {
            Event::Delete(_) => {
                self.graph.change(|graph| graph.remove(&object));
                "Delete"
            }
            Event::Create(object_now)
            | Event::Update { new: object_now, .. }
            | Event::Generic(object_now) => {
                let contribution = object_now.contribution();
                if !self.graph.change(|graph| graph.put(&object, contribution)) {
                    return;
                }
                // Nothing about a request that matters can change.
                if K::VERTEX_KIND == VertexKind::CertificateSigningRequest {
                    "Create"
                } else {
                    "CreateOrUpdate"
                }
            }
        };
        self.measurements.graph_updated(K::VERTEX_KIND, operation, started.elapsed());
    }
}
