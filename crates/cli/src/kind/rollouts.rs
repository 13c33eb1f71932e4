//! Our components with every configuration that cases need, side by side: a Deployment and a Service each.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use conformance::rollouts::Rollouts;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::envtest;
use substrate::identity::Identity;
use substrate::kind::Kind;

use super::component::{Component, Suite};
use super::installation::{self, InstallError, TAG, customize, until, write, write_objects};

/// Where they run.
pub(super) const NAMESPACE: &str = "gardener-conformance";
/// What tells their pods apart.
const LABEL: &str = "conformance.gardener.cloud/rollout";

/// A component with the configurations that it runs with.
pub(super) struct Installed {
    pub(super) component: &'static Component,
    pub(super) suite: &'static Suite,
    pub(super) rollouts: Rollouts,
}

/// Name of the Deployment and of the Service of a rollout.
pub(super) fn name(component: &Component, rollout: usize) -> String {
    format!("{}-{rollout}", component.name)
}

/// Installs one for each configuration and waits until all run; then no further pod begins. Gives the PEM of the authority
/// that signed their certificate, in base64.
pub(super) async fn install(kind: &Kind, installed: &[Installed]) -> Result<String, InstallError> {
    let crds: Vec<Value> = schema::crds().iter().map(|crd| crd.json().clone()).collect();
    envtest::install(kind.client(), &crds).await?;
    let mut names = Vec::new();
    for Installed { component, rollouts, .. } in installed {
        kind.load(&format!("{}:{TAG}", component.image())).await?;
        names.extend((0..rollouts.configs().len()).map(|number| name(component, number)));
    }
    let reached_as: Vec<String> =
        names.iter().flat_map(|name| installation::names(name, NAMESPACE)).collect();
    let identity = Identity::made(NAMESPACE, reached_as)?;
    let folder = tempfile::tempdir()?;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    write_objects(folder.path(), "namespace.yaml", &[namespace])?;
    let (mut resources, mut images) = (vec!["namespace.yaml".to_owned()], Vec::new());
    for Installed { component, suite, rollouts } in installed {
        let of_component = folder.path().join(component.name);
        for (path, text) in component.base {
            write(&of_component, path, text)?;
        }
        for (number, config) in rollouts.configs().iter().enumerate() {
            let rollout = of_component.join(number.to_string());
            write_objects(&rollout, "secret.yaml", &[installation::secret(component, &identity)])?;
            for (path, text) in suite.manifests {
                write(&rollout, path, text)?;
            }
            let file = (suite.file)(config)?;
            if let Some(file) = &file {
                write(&rollout, "config.yaml", &formats::yaml::to_string(file)?)?;
            }
            customize(&rollout, overlay(component, suite, number, file.is_some()))?;
            resources.push(format!("{}/{number}", component.name));
        }
        images.push(installation::image(component));
    }
    customize(folder.path(), json!({"resources": resources, "images": images}))?;
    kind.apply(folder.path()).await?;
    let cluster = Cluster::new(kind.client().clone());
    for name in &names {
        until(|| installation::rolled_out(&cluster, NAMESPACE, name)).await?;
    }
    kind.cordon().await?;
    Ok(STANDARD.encode(identity.authority))
}

fn overlay(component: &Component, suite: &Suite, number: usize, has_file: bool) -> Value {
    let own = suite.manifests.iter().map(|(path, _)| *path);
    let resources: Vec<&str> = ["../base", "secret.yaml"].into_iter().chain(own).collect();
    let mut overlay = json!({
        "namespace": NAMESPACE,
        "nameSuffix": format!("-{number}"),
        "resources": resources,
        "labels": [{"pairs": {LABEL: number.to_string()}, "includeSelectors": true}],
    });
    if has_file {
        let name = format!("{}-config", component.name);
        overlay["configMapGenerator"] = json!([{"name": name, "files": ["config.yaml"]}]);
    }
    overlay
}
