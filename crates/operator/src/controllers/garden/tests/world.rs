//! A runtime cluster on the embedded API server, and who makes things ready there: etcd-druid, the resource-manager, Deployments.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use api::operator::Garden;
use apiserver::ApiServer;
use controller::clock::Clock;
use controller::config::Configuration as _;
use controller::controllers::Running;
use controller::{CancellationToken, Entropy};
use k8s_openapi::api::core::v1::{Namespace, Secret, Service};
use kube::Client;
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Resource, ResourceExt};
use secrets::authority::SigningAuthority;
use secrets::material::{CertificateTemplate, RsaKey, SignedCertificate};
use secrets::{Material, MaterialError, SystemMaterial};
use serde_json::{Value, json};

use super::super::component_table::ComponentTable;
use super::super::{GardenSettings, controller, objects};
use crate::components::image_vector::ImageVector;
use crate::config::OperatorConfiguration;
use crate::controllers::OperatorContext;
use crate::controllers::care::VirtualCluster;

/// How often the actor looks at the cluster.
const LOOK: Duration = Duration::from_secs(1);
/// How long a test waits for what it expects.
const PATIENCE: Duration = Duration::from_hours(1);

/// The cluster with a controller.
pub(super) struct World {
    pub(super) server: ApiServer,
    pub(super) client: Client,
    running: Vec<Running>,
}

/// Makes one certificate, and uses it for all: keys take long to make.
struct OneCertificate;

impl Material for OneCertificate {
    fn text(&mut self, length: usize, characters: &str) -> Result<String, MaterialError> {
        SystemMaterial.text(length, characters)
    }

    fn rsa_key(&mut self, bits: u32) -> Result<RsaKey, MaterialError> {
        SystemMaterial.rsa_key(bits)
    }

    fn certificate(
        &mut self,
        template: &CertificateTemplate,
        _: Option<&SigningAuthority>,
    ) -> Result<SignedCertificate, MaterialError> {
        static MADE: OnceLock<SignedCertificate> = OnceLock::new();
        Ok(MADE.get_or_init(|| SystemMaterial.certificate(&long(template), None).unwrap()).clone())
    }
}

/// The same, valid before the first test and after the last.
fn long(template: &CertificateTemplate) -> CertificateTemplate {
    CertificateTemplate {
        begin: "2020-01-01T00:00:00Z".parse().unwrap(),
        end: "2100-01-01T00:00:00Z".parse().unwrap(),
        ..template.clone()
    }
}

impl World {
    /// A cluster that serves all kinds but those that are named.
    pub(super) async fn without(kinds: &[&str]) -> Self {
        let crds = schema::crds().iter().filter(|crd| !kinds.contains(&crd.kind())).cloned();
        let server = ApiServer::builder().crds(crds).build();
        let client = Client::new(server.clone(), "default");
        for namespace in ["istio-system", "virtual-garden-istio-ingress"] {
            create::<Namespace>(&client, "", json!({"metadata": {"name": namespace}})).await;
        }
        let spec = json!({"type": "LoadBalancer", "ports": [{"port": 443}]});
        let gateway = json!({"metadata": {"name": "istio-ingressgateway"}, "spec": spec});
        create::<Service>(&client, "virtual-garden-istio-ingress", gateway).await;
        Self { server, client, running: Vec::new() }
    }

    /// Starts the controller with these components; it runs as long as the test does.
    pub(super) fn start(&mut self, components: ComponentTable) {
        self.running.push(start(&self.server, &self.client, components));
    }

    /// Creates a Garden.
    pub(super) async fn create_garden(&self, name: &str, metadata: &Value) {
        let mut garden = json!({"metadata": metadata, "spec": spec()});
        garden["metadata"]["name"] = name.into();
        let gardens: Api<Garden> = Api::all(self.client.clone());
        gardens.create(&PostParams::default(), &serde_json::from_value(garden).unwrap()).await.unwrap();
    }

    /// The Garden, if it is there.
    pub(super) async fn garden(&self) -> Option<Value> {
        let gardens: Api<Garden> = Api::all(self.client.clone());
        gardens.get_opt("garden").await.unwrap().map(|garden| json!(garden))
    }

    /// Waits until the Garden is so, and returns it; null if it is gone.
    pub(super) async fn garden_that(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        let waits = async {
            loop {
                let garden = self.garden().await.unwrap_or_default();
                if is_so(&garden) {
                    return garden;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let Ok(garden) = tokio::time::timeout(PATIENCE, waits).await else {
            panic!("{:#}", self.garden().await.unwrap_or_default()["status"]);
        };
        garden
    }

    /// Names of the Secrets in the namespace `garden`.
    pub(super) async fn secrets(&self) -> Vec<String> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), "garden");
        let found = secrets.list(&ListParams::default()).await.unwrap();
        found.items.iter().map(ResourceExt::name_any).collect()
    }

    /// Makes everything ready as soon as it is there, as long as the test runs.
    pub(super) fn act(&self) {
        let client = self.client.clone();
        tokio::spawn(async move {
            loop {
                act(&client).await;
                tokio::time::sleep(LOOK).await;
            }
        });
    }
}

fn start(server: &ApiServer, client: &Client, components: ComponentTable) -> Running {
    let (clock, entropy) = (Clock::starting_at(server.now()), Entropy::seeded(1));
    let config = json!({"controllers": {"networkPolicy": {"concurrentSyncs": 5}}});
    let config = OperatorConfiguration::from_partial(&config).unwrap();
    let mut context = OperatorContext::new(config, client, clock, entropy.clone());
    context.virtual_cluster = VirtualCluster::Client(Some(client.clone()));
    let identity = json!({"id": "id", "name": "operator", "version": "v1.82.0"});
    let settings = GardenSettings {
        identity: serde_json::from_value(identity).unwrap(),
        runtime_version: formats::version::Version::parse("1.27.1").unwrap(),
        images: ImageVector::built_in().unwrap(),
        component_images: BTreeMap::new(),
        components,
        is_local: false,
        material: || Box::new(OneCertificate),
        stop: CancellationToken::new(),
    };
    let controller = controller(&context, settings);
    Running::start(vec![context.runtime.clone()], entropy, |running, stop| async move {
        running.run(vec![controller], stop).await
    })
}

fn spec() -> Value {
    json!({
        "runtimeCluster": {
            "ingress": {"domain": "ingress.example.com", "controller": {"kind": "nginx"}},
            "networking": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16"},
            "provider": {"zones": ["a"]},
        },
        "virtualCluster": {
            "dns": {"domains": ["virtual.example.com"]},
            "gardener": {"clusterIdentity": "identity"},
            "kubernetes": {"version": "1.27.3"},
            "maintenance": {"timeWindow": {"begin": "220000+0100", "end": "230000+0100"}},
            "networking": {"services": "10.3.0.0/16"},
        },
    })
}

/// Creates an object, in a namespace or in the cluster.
pub(super) async fn create<K: Resource<DynamicType = ()>>(
    client: &Client,
    namespace: &str,
    mut object: Value,
) {
    let (api_version, kind) = (K::api_version(&()).into_owned(), K::kind(&()).into_owned());
    object["apiVersion"] = api_version.as_str().into();
    object["kind"] = kind.as_str().into();
    let all = objects::api(client, &api_version, &kind, namespace);
    all.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
}

async fn act(client: &Client) {
    let ready = [
        json!({"type": "Available", "status": "True"}),
        json!({"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}),
    ];
    report(client, "apps/v1", "Deployment", "garden", &json!({"conditions": ready})).await;
    let time = "2023-11-14T22:13:20Z";
    let applied = ["ResourcesApplied", "ResourcesHealthy", "ResourcesProgressing"].map(|type_| {
        let status = if type_ == "ResourcesProgressing" { "False" } else { "True" };
        json!({
            "type": type_, "status": status, "reason": "R", "message": "", "lastTransitionTime": time,
            "lastUpdateTime": time,
        })
    });
    let managed = ("resources.gardener.cloud/v1alpha1", "ManagedResource");
    for namespace in ["garden", "istio-system"] {
        report(client, managed.0, managed.1, namespace, &json!({"conditions": applied})).await;
    }
    let etcds = objects::api(client, "druid.gardener.cloud/v1alpha1", "Etcd", "garden");
    let picked_up = json!({"metadata": {"annotations": {"gardener.cloud/operation": null}}});
    for etcd in list(&etcds).await {
        // It may be deleted between the list and the patch, as all objects here.
        let _ = etcds.patch(&etcd.name_any(), &PatchParams::default(), &Patch::Merge(&picked_up)).await;
    }
    report(client, "druid.gardener.cloud/v1alpha1", "Etcd", "garden", &json!({"ready": true})).await;
    let address = json!({"loadBalancer": {"ingress": [{"ip": "10.9.9.9"}]}});
    report(client, "v1", "Service", "virtual-garden-istio-ingress", &address).await;
    give_token(client).await;
}

/// Writes the status of all objects of a kind, which is that of their current generation.
async fn report(client: &Client, api_version: &str, kind: &str, namespace: &str, status: &Value) {
    let all = objects::api(client, api_version, kind, namespace);
    for object in list(&all).await {
        let mut status = status.clone();
        if kind != "Service" {
            status["observedGeneration"] = object.metadata.generation.into();
        }
        let patch = Patch::Merge(json!({ "status": status }));
        let _ = all.patch_status(&object.name_any(), &PatchParams::default(), &patch).await;
    }
}

/// Gives the resource-manager of the virtual cluster its token.
async fn give_token(client: &Client) {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), "garden");
    let name = "shoot-access-gardener-resource-manager";
    if secrets.get_opt(name).await.is_ok_and(|secret| secret.is_some()) {
        let renewal = "serviceaccount.resources.gardener.cloud/token-renew-timestamp";
        let patch = json!({"metadata": {"annotations": {renewal: "2100-01-01T00:00:00Z"}}});
        let _ = secrets.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
    }
}

async fn list(objects: &Api<DynamicObject>) -> Vec<DynamicObject> {
    objects.list(&ListParams::default()).await.map(|found| found.items).unwrap_or_default()
}
