//! Components of ours in a cluster that each of them serves alone, as kind/manifests install them there.

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

use super::installation::{self, InstallError, customize, until, write, write_objects};

/// Why one of them is not installed.
pub(super) struct NotInstalled {
    pub(super) name: &'static str,
    pub(super) error: InstallError,
}

/// Installs them and waits until all run; webhooks are registered then, and the API server reaches them.
pub(super) async fn install(kind: &Kind, components: &[&'static Component]) -> Result<(), NotInstalled> {
    let of = |name| move |error| NotInstalled { name, error };
    installation::prepare(kind, components.iter().copied()).await.map_err(of("our components"))?;
    let deployed = components.iter().map(|component| deploy(kind, component).map_err(of(component.program)));
    let authorities = try_join_all(deployed).await?;
    let cluster = Cluster::new(kind.client().clone());
    for (component, authority) in components.iter().zip(authorities) {
        if let Some(webhooks) = &component.installation.webhooks {
            register(kind, &cluster, webhooks, &authority).await.map_err(of(component.program))?;
        }
    }
    Ok(())
}

/// Waits until it runs, and gives the PEM of the authority that signed its certificate, in base64; empty if it has none.
async fn deploy(kind: &Kind, component: &Component) -> Result<String, InstallError> {
    let alone = &component.installation;
    let folder = tempfile::tempdir()?;
    for (path, text) in alone.manifests.below("base").chain(alone.manifests.below("runtime")) {
        write(folder.path(), path, text)?;
    }
    let mut resources = vec!["runtime"];
    let mut authority = String::new();
    if let Some(webhooks) = &alone.webhooks {
        let identity =
            Identity::made(component.program, installation::names(webhooks.service, alone.namespace))?;
        let mut secret = installation::secret(component, &identity);
        secret["metadata"]["namespace"] = json!(alone.namespace);
        write_objects(folder.path(), "secret.yaml", &[secret])?;
        resources.push("secret.yaml");
        authority = STANDARD.encode(identity.authority);
    }
    let images = [installation::image(component)];
    customize(folder.path(), json!({"resources": resources, "images": images}))?;
    kind.apply(folder.path()).await?;
    let cluster = Cluster::new(kind.client().clone());
    until(|| installation::rolled_out(&cluster, alone.namespace, component.program)).await?;
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
    customize(registration.path(), json!({"resources": ["webhooks.yaml"]}))?;
    kind.apply(registration.path()).await?;
    probed(cluster, &(webhooks.probe)()).await
}

/// A Service is programmed a moment after its Pods are ready: the first webhook calls may fail.
async fn probed(cluster: &Cluster, probe: &Probe) -> Result<(), InstallError> {
    for object in &probe.around {
        let reply = cluster.create(object, "").await?;
        if !reply.is_success() && reply.code != 409 {
            let what = object["kind"].as_str().unwrap_or_default().to_owned();
            return Err(InstallError::Unprobed { what, answer: reply.message() });
        }
    }
    until(|| reached(cluster, &probe.object)).await?;
    for object in probe.around.iter().rev() {
        cluster.delete(object, "").await?;
    }
    Ok(())
}

async fn reached(cluster: &Cluster, object: &Value) -> Result<Option<String>, ClusterError> {
    let reply = cluster.create(object, "dryRun=All").await?;
    let message = reply.message();
    // A webhook that refuses is reached.
    let is_answered = reply.is_success() || message.contains("denied the request");
    Ok((!is_answered).then_some(message))
}
