//! Writes the objects that a request needs to the garden, in an order that the garden accepts.
//!
//! A garden refuses some facts of cases: a Shoot with a version that its CloudProfile no longer has, a profile with an expired
//! version. So each Shoot is created while a profile offers what it uses, and profiles get their dates last.

use std::time::Duration;

use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::facts;

use super::{profile, surroundings, text};

/// How long the garden's caches may lag behind writes: nothing shows when they have caught up.
pub(super) const LAG: Duration = Duration::from_millis(150);

/// Objects that a request needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CaseObjects {
    /// Shoots, which may use profiles that do not exist.
    pub(super) shoots: Vec<Value>,
    /// CloudProfiles.
    pub(super) profiles: Vec<Value>,
}

/// Objects in the garden that a request needs.
#[derive(Default)]
pub(super) struct Scene {
    wanted: Option<CaseObjects>,
    written: Vec<Value>,
}

impl Scene {
    /// Whether the garden has these objects.
    pub(super) fn is(&self, wanted: &CaseObjects) -> bool {
        self.wanted.as_ref() == Some(wanted)
    }

    /// Writes the objects to an empty garden.
    pub(super) async fn set(&mut self, garden: &Cluster, wanted: CaseObjects) -> Result<(), ClusterError> {
        for shoot in &wanted.shoots {
            self.make_shoot(garden, shoot).await?;
        }
        for profile in &wanted.profiles {
            self.make_profile(garden, profile).await?;
        }
        tokio::time::sleep(LAG).await;
        self.wanted = Some(wanted);
        Ok(())
    }

    /// Removes everything that was written for a request.
    pub(super) async fn clear(&mut self, garden: &Cluster) -> Result<(), ClusterError> {
        self.wanted = None;
        // Profiles are created last and removed first.
        while let Some(object) = self.written.last().cloned() {
            if object["kind"] == "Shoot" {
                remove_shoot(garden, &object).await?;
            } else {
                facts::remove(garden, &object).await?;
            }
            self.written.pop();
        }
        Ok(())
    }

    async fn make_shoot(&mut self, garden: &Cluster, shoot: &Value) -> Result<(), ClusterError> {
        let offering = profile::offering(shoot);
        create(garden, &offering).await?;
        self.written.push(offering.clone());
        tokio::time::sleep(LAG).await;
        let mut shoot = shoot.clone();
        // The creator of a Shoot may not set the gardenlet's finalizer.
        shoot["metadata"]["finalizers"] = Value::Null;
        if facts::is_deleting(&shoot) {
            shoot["metadata"]["annotations"][surroundings::CONFIRMED] = json!("true");
        }
        let written = facts::write(garden, &shoot).await;
        if written.is_ok() {
            self.written.insert(self.written.len() - 1, shoot);
        }
        facts::remove(garden, &offering).await?;
        self.written.pop();
        written.map(|_| ())
    }

    async fn make_profile(&mut self, garden: &Cluster, wanted: &Value) -> Result<(), ClusterError> {
        let without_dates = profile::without_expiration(wanted);
        let created = create(garden, &without_dates).await?;
        self.written.push(without_dates.clone());
        if without_dates == *wanted {
            return Ok(());
        }
        let mut dated = facts::stripped(wanted);
        dated["metadata"]["resourceVersion"] = created["metadata"]["resourceVersion"].clone();
        let reply = garden.replace(&dated, "", "").await?;
        if reply.is_success() { Ok(()) } else { Err(refused(wanted, reply.message())) }
    }
}

/// Removes a Shoot: creates its CloudProfile again, without which it cannot be deleted, and ends a migration or restoration.
async fn remove_shoot(garden: &Cluster, shoot: &Value) -> Result<(), ClusterError> {
    let offering = profile::offering(shoot);
    garden.merge_patch(shoot, "status", &json!({"status": {"lastOperation": null}})).await?;
    create(garden, &offering).await?;
    tokio::time::sleep(LAG).await;
    let removed = surroundings::remove(garden, shoot).await;
    facts::remove(garden, &offering).await?;
    removed
}

async fn create(garden: &Cluster, object: &Value) -> Result<Value, ClusterError> {
    let reply = garden.create(&facts::stripped(object), "").await?;
    if reply.is_success() { Ok(reply.body) } else { Err(refused(object, reply.message())) }
}

fn refused(object: &Value, message: String) -> ClusterError {
    let what = format!("{} {}", text(object, "/kind"), text(object, "/metadata/name"));
    ClusterError::Refused { what, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use substrate::embedded::Embedded;

    fn shoot(name: &str, version: &str) -> Value {
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot",
            "metadata": {"name": name, "namespace": surroundings::NAMESPACE, "finalizers": ["gardener"]},
            "spec": {"cloudProfileName": "used", "kubernetes": {"version": version}, "provider": {"type": "local"}},
            "status": {"technicalID": "a"},
        })
    }

    fn profile(expires: &str) -> Value {
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": "used"},
            "spec": {"type": "local", "kubernetes": {"versions": [{"version": "1.27.4", "expirationDate": expires}]}},
        })
    }

    async fn versions(garden: &Cluster) -> Value {
        garden.get(&profile("")).await.unwrap().body["spec"]["kubernetes"]["versions"].clone()
    }

    #[tokio::test]
    async fn shoots_can_use_what_their_profile_no_longer_offers_and_everything_is_removed() {
        let server = Embedded::start(false, None).await.unwrap();
        let garden = Cluster::new(server.client());
        facts::write_namespace(&garden, surroundings::NAMESPACE, None).await.unwrap();
        let (ended, gone) = ("2024-01-01T00:00:00Z", "2024-06-01T00:00:00Z");
        let deleted = {
            let mut deleted = shoot("two", "1.26.8");
            deleted["metadata"]["deletionTimestamp"] = json!(gone);
            deleted
        };
        let mut scene = Scene::default();
        let wanted = |expires: &str| CaseObjects {
            shoots: vec![shoot("one", "1.27.1"), deleted.clone()],
            profiles: vec![profile(expires)],
        };
        scene.set(&garden, wanted(ended)).await.unwrap();
        let one = garden.get(&shoot("one", "")).await.unwrap().body;
        assert_eq!(one["spec"]["kubernetes"]["version"], "1.27.1");
        assert_eq!(one["status"]["technicalID"], "a");
        assert!(one["metadata"]["finalizers"].is_null(), "{one}");
        let two = garden.get(&deleted).await.unwrap().body;
        assert!(facts::is_deleting(&two), "{two}");
        assert_eq!(two["metadata"]["annotations"][surroundings::CONFIRMED], "true");
        assert_eq!(versions(&garden).await, json!([{"version": "1.27.4", "expirationDate": ended}]));

        assert!(scene.is(&wanted(ended)));
        assert!(!scene.is(&wanted(gone)));

        scene.clear(&garden).await.unwrap();
        for object in [shoot("one", ""), deleted.clone(), profile(gone)] {
            assert_eq!(garden.get(&object).await.unwrap().code, 404, "{object}");
        }
        assert!(!scene.is(&wanted(ended)));
    }
}
