//! Objects that every Shoot needs in a garden before its versions are checked: a project, credentials, a seed, extensions.

use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, PostParams};
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::facts::{self, Before};

use super::scene::LAG;

/// The namespace of all Shoots.
pub(super) const NAMESPACE: &str = "garden-conformance";
/// The project of that namespace; project names have at most ten letters.
const PROJECT: &str = "conform";
/// Annotation that confirms a deletion.
pub(super) const CONFIRMED: &str = "confirmation.gardener.cloud/deletion";
/// Kinds and types of extensions that the cases' Shoots use.
const EXTENSIONS: [(&str, &str); 15] = [
    ("BackupBucket", "local"),
    ("BackupEntry", "local"),
    ("ControlPlane", "local"),
    ("DNSRecord", "local"),
    ("Infrastructure", "local"),
    ("Worker", "local"),
    ("Network", "calico"),
    ("OperatingSystemConfig", "gardenlinux"),
    ("OperatingSystemConfig", "flatcar"),
    ("OperatingSystemConfig", "other"),
    ("OperatingSystemConfig", "arm-only"),
    ("OperatingSystemConfig", "stateless"),
    ("OperatingSystemConfig", "waning"),
    ("ContainerRuntime", "gvisor"),
    ("ContainerRuntime", "kata"),
];

/// The name of the ControllerRegistration.
const REGISTRATION: &str = "conformance";

/// Created objects; objects that existed before stay.
#[derive(Default)]
pub(super) struct Surroundings {
    made: Vec<Value>,
    registered: bool,
}

impl Surroundings {
    /// Creates objects that do not exist.
    pub(super) async fn make(&mut self, garden: &Cluster) -> Result<(), ClusterError> {
        let registered = registrations(garden).create(&PostParams::default(), &registration()).await;
        self.registered = registered.is_ok();
        if let Err(error) = registered
            && !matches!(&error, kube::Error::Api(status) if status.code == 409)
        {
            let what = format!("ControllerRegistration {REGISTRATION}");
            return Err(ClusterError::Refused { what, message: error.to_string() });
        }
        for object in objects() {
            tokio::time::sleep(LAG).await;
            let reply = garden.create(&object, "").await?;
            if reply.is_success() {
                self.made.push(object);
            } else if reply.code != 409 {
                let what =
                    format!("{} {}", super::text(&object, "/kind"), super::text(&object, "/metadata/name"));
                return Err(ClusterError::Refused { what, message: reply.message() });
            }
        }
        Ok(())
    }

    /// Removes created objects, and returns those that could not be removed.
    pub(super) async fn take_back(self, garden: &Cluster) -> Vec<String> {
        let mut left = Vec::new();
        if self.registered
            && let Err(error) = registrations(garden).delete(REGISTRATION, &DeleteParams::default()).await
        {
            left.push(format!("ControllerRegistration {REGISTRATION}: {error}"));
        }
        for object in self.made.iter().rev() {
            let removed = match object["kind"].as_str() {
                Some("Namespace") => {
                    facts::restore_namespace(garden, NAMESPACE, &Before::Nothing, true).await
                }
                _ => remove(garden, object).await,
            };
            if let Err(error) = removed {
                left.push(error.to_string());
            }
        }
        left
    }
}

/// Deletes an object after confirming the deletion and removing finalizers, as a garden requires.
pub(super) async fn remove(garden: &Cluster, object: &Value) -> Result<(), ClusterError> {
    let confirmed = json!({"metadata": {"annotations": {CONFIRMED: "true"}, "finalizers": null}});
    garden.merge_patch(object, "", &confirmed).await?;
    facts::remove(garden, object).await
}

/// The API of ControllerRegistrations.
fn registrations(garden: &Cluster) -> Api<DynamicObject> {
    Api::all_with(garden.client(), &kind_of_registrations())
}

fn kind_of_registrations() -> ApiResource {
    let text = str::to_owned;
    ApiResource {
        group: text("core.gardener.cloud"),
        version: text("v1beta1"),
        api_version: text("core.gardener.cloud/v1beta1"),
        kind: text("ControllerRegistration"),
        plural: text("controllerregistrations"),
    }
}

fn registration() -> DynamicObject {
    let resources: Vec<Value> =
        EXTENSIONS.iter().map(|(kind, of)| json!({"kind": kind, "type": of})).collect();
    DynamicObject::new(REGISTRATION, &kind_of_registrations()).data(json!({"spec": {"resources": resources}}))
}

/// In the order of their dependencies.
fn objects() -> Vec<Value> {
    let garden = |kind: &str, name: &str, spec: Value| json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": kind, "metadata": {"name": name}, "spec": spec});
    let secret = json!({"name": "local", "namespace": NAMESPACE});
    vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}),
        garden("Project", PROJECT, json!({"namespace": NAMESPACE})),
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": secret}),
        json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding", "metadata": secret,
            "provider": {"type": "local"}, "secretRef": secret,
        }),
        garden(
            "Seed",
            "local",
            json!({
                "provider": {"type": "local", "region": "local"},
                "networks": {"nodes": "10.251.0.0/16", "pods": "10.252.0.0/16", "services": "10.253.0.0/16"},
                "dns": {"provider": {"type": "local", "secretRef": secret}},
                "ingress": {"domain": "ingress.example.com", "controller": {"kind": "nginx"}},
            }),
        ),
    ]
}
