//! What several plugins look up in the garden. What the original finds in a cache after a while, or in the end by asking the
//! server, is one read here.

use std::collections::BTreeSet;

use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;
use webhook::strategy::ObjectReader;

use super::messages;

/// A kind whose objects the original reads from a cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cached {
    /// `seeds.core.gardener.cloud`.
    pub(super) resource: &'static str,
    /// What the cache calls it: `seed.core.gardener.cloud`.
    singular: &'static str,
}

pub(super) const BACKUP_BUCKETS: Cached =
    Cached { resource: "backupbuckets.core.gardener.cloud", singular: "backupbucket.core.gardener.cloud" };
pub(super) const CLOUD_PROFILES: Cached =
    Cached { resource: "cloudprofiles.core.gardener.cloud", singular: "cloudprofile.core.gardener.cloud" };
pub(super) const EXPOSURE_CLASSES: Cached =
    Cached { resource: "exposureclasses.core.gardener.cloud", singular: "exposureclass.core.gardener.cloud" };
pub(super) const QUOTAS: Cached =
    Cached { resource: "quotas.core.gardener.cloud", singular: "quota.core.gardener.cloud" };
pub(super) const SECRET_BINDINGS: Cached =
    Cached { resource: "secretbindings.core.gardener.cloud", singular: "secretbinding.core.gardener.cloud" };
pub(super) const SEEDS: Cached =
    Cached { resource: "seeds.core.gardener.cloud", singular: "seed.core.gardener.cloud" };

pub(super) const BACKUP_ENTRIES: &str = "backupentries.core.gardener.cloud";
pub(super) const CONTROLLER_DEPLOYMENTS: &str = "controllerdeployments.core.gardener.cloud";
pub(super) const CONTROLLER_REGISTRATIONS: &str = "controllerregistrations.core.gardener.cloud";
pub(super) const MANAGED_SEEDS: &str = "managedseeds.seedmanagement.gardener.cloud";
pub(super) const PROJECTS: &str = "projects.core.gardener.cloud";
pub(super) const SECRETS: &str = "secrets";
pub(super) const SHOOTS: &str = "shoots.core.gardener.cloud";

impl Cached {
    /// The object of a name.
    ///
    /// # Errors
    /// 404 in the cache's words.
    pub(super) fn get(
        self,
        objects: &dyn ObjectReader,
        namespace: &str,
        name: &str,
    ) -> Result<Value, Rejection> {
        objects.get(self.resource, namespace, name).ok_or_else(|| messages::not_found(self.singular, name))
    }
}

/// An object that the original asks the server for; a namespaced one needs a namespace.
///
/// # Errors
/// The client's objection to an empty name or namespace, or 404 in the server's words.
pub(super) fn live(
    objects: &dyn ObjectReader,
    resource: &str,
    namespace: Option<&str>,
    name: &str,
) -> Result<Value, Rejection> {
    if name.is_empty() {
        return Err(messages::plain("resource name may not be empty"));
    }
    if namespace == Some("") {
        let why = "an empty namespace may not be set when a resource name is provided";
        return Err(messages::plain(why));
    }
    objects
        .get(resource, namespace.unwrap_or_default(), name)
        .ok_or_else(|| messages::not_found(resource, name))
}

/// Whether a Shoot is to be on a Seed, or still is.
pub(super) fn is_seed_used(objects: &dyn ObjectReader, seed: &str) -> bool {
    let is_there = |shoot: &Value| shoot["spec"]["seedName"] == seed || shoot["status"]["seedName"] == seed;
    objects.list(SHOOTS).iter().any(is_there)
}

/// The zones of a Seed's spec, sorted.
///
/// # Errors
/// 400 when they are no list.
pub(super) fn zones(spec: &Value) -> Result<BTreeSet<String>, Rejection> {
    let zones = object::list(spec, &["provider", "zones"])?;
    Ok(zones.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Whether the request updates an object that is being deleted, which several rules let pass.
pub(super) fn is_terminating(object: &Value) -> bool {
    !object["metadata"]["deletionTimestamp"].is_null()
}

/// A field of the spec, as text; empty if absent.
///
/// # Errors
/// 400 when it is no text.
pub(super) fn spec_text<'a>(object: &'a Value, field: &str) -> Result<&'a str, Rejection> {
    Ok(object::text(object, &["spec", field])?)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::testing::TestGarden;

    #[test]
    fn cache_and_server_use_different_words() {
        let garden =
            TestGarden::default().with("seeds.core.gardener.cloud", json!({"metadata": {"name": "a"}}));
        assert!(SEEDS.get(&garden, "", "a").is_ok());
        let missing = SEEDS.get(&garden, "", "b").unwrap_err();
        assert_eq!(
            (missing.code, missing.message.as_str()),
            (404, "seed.core.gardener.cloud \"b\" not found")
        );
        let text = |namespace, name| live(&garden, SECRETS, Some(namespace), name).unwrap_err().message;
        assert_eq!(text("garden", "x"), "secrets \"x\" not found");
        assert_eq!(text("garden", ""), "resource name may not be empty");
        assert_eq!(text("", "x"), "an empty namespace may not be set when a resource name is provided");
    }

    #[rstest]
    #[case(json!({"spec": {"seedName": "a"}}), true)]
    #[case(json!({"spec": {"seedName": "b"}, "status": {"seedName": "a"}}), true)]
    #[case(json!({"spec": {"seedName": "b"}, "status": {"seedName": "b"}}), false)]
    #[case(json!({"spec": {}}), false)]
    fn a_seed_is_used_by_shoots_that_are_or_will_be_there(#[case] mut shoot: Value, #[case] want: bool) {
        shoot["metadata"] = json!({"name": "app", "namespace": "garden-dev"});
        let garden = TestGarden::default().with(SHOOTS, shoot);
        assert_eq!(is_seed_used(&garden, "a"), want);
    }
}
