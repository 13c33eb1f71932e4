//! Registrations that stay for the whole run. `matchConditions` limit each to requests of a generated user group, which only its
//! own cases impersonate: requests of controllers and other cases do not reach it, so webhooks are registered once and tested in
//! parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use substrate::cluster::{Asker, Cluster};
use tokio::sync::OnceCell;

use super::in_cluster::{self, TargetLock};
use crate::run::prepare;

/// The user of requests, in the logs of an API server.
const USER: &str = "gardener-conformance";
/// The group with all permissions.
const MASTERS: &str = "system:masters";
/// Prefix of generated user groups.
const GROUP: &str = "conformance.gardener.cloud:registration-";

/// The webhook configurations in the cluster of a run.
#[derive(Default)]
pub(crate) struct Registry {
    kept: Mutex<BTreeMap<String, Arc<KeptRegistration>>>,
    target_lock: Mutex<BTreeMap<String, Arc<TargetLock>>>,
}

/// A webhook's configurations for one group of requests.
pub(super) struct KeptRegistration {
    user: Asker,
    objects: Vec<Value>,
    registered: OnceCell<Result<(), String>>,
}

impl Registry {
    /// These configurations, limited to a user group of their own.
    pub(super) fn of(&self, objects: &[Value]) -> Arc<KeptRegistration> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.len();
        let key = Value::from(objects).to_string();
        Arc::clone(kept.entry(key).or_insert_with(|| Arc::new(KeptRegistration::new(objects, number))))
    }

    /// The lock of the target behind a Service.
    pub(super) fn target_lock(&self, service: &str) -> Arc<TargetLock> {
        let mut target_lock = self.target_lock.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(target_lock.entry(service.to_owned()).or_default())
    }

    /// Deletes all configurations, and returns those that could not be deleted.
    pub(crate) async fn remove_all(&self, cluster: &Cluster) -> BTreeSet<String> {
        let kept: Vec<Arc<KeptRegistration>> =
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        let objects = kept.iter().flat_map(|kept| &kept.objects);
        let mut left = BTreeSet::new();
        for object in objects {
            match cluster.delete(object, "").await {
                Ok(reply) if reply.is_success() || reply.code == 404 => {}
                Ok(reply) => {
                    left.insert(format!("{}: {}", prepare::describe(object), reply.message()));
                }
                Err(error) => {
                    left.insert(format!("{}: {error}", prepare::describe(object)));
                }
            }
        }
        left
    }
}

impl KeptRegistration {
    fn new(objects: &[Value], number: usize) -> Self {
        let group = format!("{GROUP}{number}");
        let objects = objects.iter().map(|object| for_group(object, &group, number)).collect();
        let user = Asker { name: USER.to_owned(), groups: vec![MASTERS.to_owned(), group] };
        Self { user, objects, registered: OnceCell::new() }
    }

    /// The user whose requests reach the webhooks.
    pub(super) fn user(&self) -> Asker {
        self.user.clone()
    }

    /// Creates the configurations the first time, and waits until they are active.
    pub(super) async fn ensure_registered(&self, cluster: &Cluster) -> Result<(), String> {
        self.registered.get_or_init(|| self.register(cluster)).await.clone()
    }

    async fn register(&self, cluster: &Cluster) -> Result<(), String> {
        for object in &self.objects {
            create(cluster, object).await?;
        }
        in_cluster::wait_until_registered(&cluster.speaking_for(self.user()), self.objects.len(), true).await
    }
}

/// Creates a webhook configuration.
pub(super) async fn create(cluster: &Cluster, object: &Value) -> Result<(), String> {
    let reply = cluster.create(object, "").await.map_err(|error| error.to_string())?;
    if reply.is_success() {
        return Ok(());
    }
    Err(format!("the API server refused {}: {}", prepare::describe(object), reply.message()))
}

/// The configuration with a unique name and its webhooks limited to requests of this group.
fn for_group(configuration: &Value, group: &str, number: usize) -> Value {
    let mut object = configuration.clone();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    object["metadata"]["name"] = json!(format!("{name}-{number}"));
    let condition =
        json!({"name": "of-this-run", "expression": format!("'{group}' in request.userInfo.groups")});
    for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
        webhook["matchConditions"] = json!([condition]);
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(name: &str) -> Value {
        let webhooks = json!([{"name": "a.b.c"}, {"name": "0.probe"}]);
        json!({"kind": "MutatingWebhookConfiguration", "metadata": {"name": name}, "webhooks": webhooks})
    }

    #[test]
    fn each_is_registered_once_under_a_name_and_for_a_group_of_its_own() {
        let registry = Registry::default();
        let [first, second] = ["a", "b"].map(|name| registry.of(&[configuration(name)]));
        let again = registry.of(&[configuration("a")]);
        assert!(Arc::ptr_eq(&first, &again));
        let all = [&first, &second];
        assert_eq!(all.map(|kept| kept.objects[0]["metadata"]["name"].clone()), ["a-0", "b-1"]);
        for kept in all {
            let user = kept.user();
            let group = user.groups.last().unwrap();
            for webhook in kept.objects[0]["webhooks"].as_array().unwrap() {
                let condition = &webhook["matchConditions"][0]["expression"];
                assert_eq!(condition, &json!(format!("'{group}' in request.userInfo.groups")));
            }
        }
        assert_ne!(first.user(), second.user());
    }
}
