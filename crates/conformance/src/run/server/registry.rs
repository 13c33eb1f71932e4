//! Registrations that stay as long as a run. Each counts only for requests of a group that nobody is in, as which the requests
//! of its cases are sent: neither controllers nor other cases meet it, so that webhooks are registered once and asked side by
//! side.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use substrate::cluster::{Asker, Cluster};
use tokio::sync::OnceCell;

use super::inside::{self, Turns};
use crate::run::prepare;

/// Who asks, in the logs of an API server.
const USER: &str = "gardener-conformance";
/// The group that may do everything.
const MASTERS: &str = "system:masters";
/// What the names of groups begin with that nobody is in.
const GROUP: &str = "conformance.gardener.cloud:registration-";

/// What is registered in the cluster of a run.
#[derive(Default)]
pub(crate) struct Registry {
    kept: Mutex<BTreeMap<String, Arc<Kept>>>,
    turns: Mutex<BTreeMap<String, Arc<Turns>>>,
}

/// A webhook's configurations for one group of requests.
pub(super) struct Kept {
    asker: Asker,
    objects: Vec<Value>,
    stands: OnceCell<Result<(), String>>,
}

impl Registry {
    /// These configurations, registered for requests of their own.
    pub(super) fn of(&self, objects: &[Value]) -> Arc<Kept> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let number = kept.len();
        let key = Value::from(objects).to_string();
        Arc::clone(kept.entry(key).or_insert_with(|| Arc::new(Kept::new(objects, number))))
    }

    /// Who may ask the target behind a Service, where its own count tells what it was asked.
    pub(super) fn turns(&self, service: &str) -> Arc<Turns> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(service.to_owned()).or_default())
    }

    /// Takes all back, and says what could not be.
    pub(crate) async fn take_back(&self, cluster: &Cluster) -> BTreeSet<String> {
        let kept: Vec<Arc<Kept>> =
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

impl Kept {
    fn new(objects: &[Value], number: usize) -> Self {
        let group = format!("{GROUP}{number}");
        let objects = objects.iter().map(|object| for_group(object, &group, number)).collect();
        let asker = Asker { name: USER.to_owned(), groups: vec![MASTERS.to_owned(), group] };
        Self { asker, objects, stands: OnceCell::new() }
    }

    /// As whom requests are sent that meet it.
    pub(super) fn asker(&self) -> Asker {
        self.asker.clone()
    }

    /// Registers it, the first time, and waits until it counts.
    pub(super) async fn stand(&self, cluster: &Cluster) -> Result<(), String> {
        self.stands.get_or_init(|| self.register(cluster)).await.clone()
    }

    async fn register(&self, cluster: &Cluster) -> Result<(), String> {
        for object in &self.objects {
            create(cluster, object).await?;
        }
        inside::await_heed(&cluster.speaking_for(self.asker()), self.objects.len(), true).await
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

/// The configuration under a name of its own, its webhooks for requests of this group alone.
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
            let asker = kept.asker();
            let group = asker.groups.last().unwrap();
            for webhook in kept.objects[0]["webhooks"].as_array().unwrap() {
                let condition = &webhook["matchConditions"][0]["expression"];
                assert_eq!(condition, &json!(format!("'{group}' in request.userInfo.groups")));
            }
        }
        assert_ne!(first.asker(), second.asker());
    }
}
