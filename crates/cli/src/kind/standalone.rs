//! Installs components as the only ones that serve a cluster (`env up --install`), with the manifests of kind/manifests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use component::{Component, Probe, Webhooks};
use futures::TryFutureExt as _;
use futures::future::try_join_all;
use serde_json::{Value, json};
use substrate::cluster::{Cluster, ClusterError};
use substrate::identity::Identity;
use substrate::kind::Kind;
use webhook::registration::WebhookConfiguration;

use super::installation::{
    self, InstallError, certificate_secret, image_override, missing_of_rollout, service_names,
    wait_until_none_missing, write, write_kustomization, write_objects,
};

/// A component that could not be installed, and why.
pub(super) struct InstallFailure {
    pub(super) name: &'static str,
    pub(super) error: InstallError,
}

/// Installs components and waits until all run; then registers their webhooks and waits until the API server reaches them.
pub(super) async fn install(kind: &Kind, components: &[&'static Component]) -> Result<(), InstallFailure> {
    let failed = |name| move |error| InstallFailure { name, error };
    installation::prepare(kind, components.iter().copied()).await.map_err(failed("our components"))?;
    let deployed =
        components.iter().map(|component| deploy(kind, component).map_err(failed(component.program)));
    let authorities = try_join_all(deployed).await?;
    let cluster = Cluster::new(kind.client().clone());
    for (component, authority) in components.iter().zip(authorities) {
        if let Some(webhooks) = &component.installation.webhooks {
            register(kind, &cluster, webhooks, &authority).await.map_err(failed(component.program))?;
        }
    }
    Ok(())
}

/// Deploys a component and waits until it runs. Returns the PEM of the CA that signed its certificate, in Base64, or an empty
/// text for a component without webhooks.
async fn deploy(kind: &Kind, component: &Component) -> Result<String, InstallError> {
    let installation = &component.installation;
    let folder = tempfile::tempdir()?;
    for (path, text) in installation.manifests.below("base").chain(installation.manifests.below("runtime")) {
        write(folder.path(), path, text)?;
    }
    let mut resources = vec!["runtime"];
    let mut authority = String::new();
    if let Some(webhooks) = &installation.webhooks {
        let identity =
            Identity::made(component.program, service_names(webhooks.service, installation.namespace))?;
        let mut secret = certificate_secret(component, &identity);
        secret["metadata"]["namespace"] = json!(installation.namespace);
        write_objects(folder.path(), "secret.yaml", &[secret])?;
        resources.push("secret.yaml");
        authority = STANDARD.encode(identity.authority);
    }
    let images = [image_override(component)];
    write_kustomization(folder.path(), json!({"resources": resources, "images": images}))?;
    kind.apply(folder.path()).await?;
    let cluster = Cluster::new(kind.client().clone());
    wait_until_none_missing(|| missing_of_rollout(&cluster, installation.namespace, component.program))
        .await?;
    Ok(authority)
}

async fn register(
    kind: &Kind,
    cluster: &Cluster,
    webhooks: &Webhooks,
    authority: &str,
) -> Result<(), InstallError> {
    let registration = tempfile::tempdir()?;
    let registrations = (webhooks.registrations)(authority).map_err(InstallError::Configuration)?;
    let objects: Vec<Value> = registrations.iter().map(WebhookConfiguration::to_object).collect();
    write_objects(registration.path(), "webhooks.yaml", &objects)?;
    write_kustomization(registration.path(), json!({"resources": ["webhooks.yaml"]}))?;
    kind.apply(registration.path()).await?;
    wait_until_reached(cluster, &(webhooks.probe)()).await
}

/// Waits until the API server reaches the webhooks: kube-proxy programs a Service a moment after its Pods are ready, so that the
/// first calls may fail.
async fn wait_until_reached(cluster: &Cluster, probe: &Probe) -> Result<(), InstallError> {
    for object in &probe.around {
        let reply = cluster.create(object, "").await?;
        if !reply.is_success() && reply.code != 409 {
            let what = object["kind"].as_str().unwrap_or_default().to_owned();
            return Err(InstallError::ProbeRefused { what, answer: reply.message() });
        }
    }
    wait_until_none_missing(|| probe_once(cluster, &probe.object)).await?;
    for object in probe.around.iter().rev() {
        cluster.delete(object, "").await?;
    }
    Ok(())
}

/// Returns the error if a dry run does not reach the webhook.
async fn probe_once(cluster: &Cluster, object: &Value) -> Result<Option<String>, ClusterError> {
    let reply = cluster.create(object, "dryRun=All").await?;
    let message = reply.message();
    // A webhook that denies the request was reached.
    let is_answered = reply.is_success() || message.contains("denied the request");
    Ok((!is_answered).then_some(message))
}
