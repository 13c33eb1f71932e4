//! Parsed webhook configurations, each parsed once per revision.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use webhook::registration::{Phase, WebhookConfiguration};

use crate::store::{Object, Store};

/// The parsed configurations by phase and name, with the revision of each.
#[derive(Debug, Default)]
pub(crate) struct WebhookCache(Mutex<CachedConfigurations>);

type CachedConfigurations = BTreeMap<(Phase, String), (u64, Arc<WebhookConfiguration>)>;

impl WebhookCache {
    /// The configurations of a phase, by name.
    pub(crate) fn of(&self, store: &Store, phase: Phase) -> Vec<Arc<WebhookConfiguration>> {
        let table = match phase {
            Phase::Mutating => "mutatingwebhookconfigurations.admissionregistration.k8s.io",
            Phase::Validating => "validatingwebhookconfigurations.admissionregistration.k8s.io",
        };
        let snapshot = store.snapshot(table);
        if snapshot.objects.is_empty() {
            return Vec::new();
        }
        let mut cached = self.0.lock();
        cached.retain(|(of, name), _| *of != phase || snapshot.objects.contains_key(name.as_str()));
        let read = |(name, object): (&Arc<str>, &Arc<Object>)| {
            let key = (phase, name.to_string());
            if let Some((revision, configuration)) = cached.get(&key)
                && *revision == object.revision()
            {
                return Some(Arc::clone(configuration));
            }
            let configuration = Arc::new(WebhookConfiguration::from_object(object.value()).ok()?);
            cached.insert(key, (object.revision(), Arc::clone(&configuration)));
            Some(configuration)
        };
        snapshot.range("", None).filter_map(read).collect()
    }
}
