//! Our components with every configuration that cases need, side by side: a Deployment and a Service each.

use std::sync::Arc;

use conformance::rollouts::Rollouts;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::forwarded::Forwarded;
use substrate::identity::Identity;
use substrate::kind::Kind;
use webhook::dial::{DialError, Https, Target, Trust};

use super::component::{Component, Suite};
use super::installation::{self, InstallError, customize, until, write, write_objects};

/// Where they run.
pub(super) const NAMESPACE: &str = "gardener-conformance";
/// Where a pod of theirs serves webhooks.
const SERVER: u16 = 10250;
/// What tells their pods apart.
const LABEL: &str = "conformance.gardener.cloud/rollout";

/// A component with the configurations that it runs with.
pub(super) struct Installed {
    pub(super) component: &'static Component,
    pub(super) suite: &'static Suite,
    pub(super) rollouts: Rollouts,
}

impl Installed {
    fn names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.rollouts.configs().len()).map(|number| name(self.component, number))
    }
}

/// Name of the Deployment and of the Service of a rollout.
pub(super) fn name(component: &Component, rollout: usize) -> String {
    format!("{}-{rollout}", component.name)
}

/// Asks the webhooks of a rollout directly, over a connection that is led to one of its pods.
pub(super) fn dialer(
    client: &kube::Client,
    authority: &str,
    component: &Component,
    rollout: usize,
) -> Result<Https, DialError> {
    let labels = format!("app={},{LABEL}={rollout}", component.name);
    let url = format!("https://{}.{NAMESPACE}", name(component, rollout));
    let target =
        Target { url, address: None, server_name: None, trust: Trust::Bundle(authority.as_bytes().to_vec()) };
    Https::over(Arc::new(Forwarded::new(client.clone(), NAMESPACE, &labels, SERVER)), &target)
}

/// Installs one for each configuration and waits until all run; then scheduler and controllers rest. Gives the PEM of the
/// authority that signed their certificate.
pub(super) async fn install(kind: &Kind, installed: &[Installed]) -> Result<String, InstallError> {
    installation::prepare(kind, installed.iter().map(|installed| installed.component)).await?;
    let names: Vec<String> = installed.iter().flat_map(Installed::names).collect();
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
    kind.rest().await?;
    Ok(identity.authority)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::component::COMPONENTS;

    #[test]
    fn pods_serve_webhooks_and_have_labels_where_they_are_looked_for() {
        for component in COMPONENTS.iter().filter(|component| component.suite.is_some()) {
            let text = component.base.iter().find(|(path, _)| path.ends_with("deployment.yaml")).unwrap().1;
            let deployment = formats::yaml::documents(text).unwrap().remove(0);
            let pod = &deployment["spec"]["template"];
            assert_eq!(pod["metadata"]["labels"]["app"], component.name);
            let ports = pod["spec"]["containers"][0]["ports"].as_array().unwrap();
            let server = ports.iter().find(|port| port["name"] == "server").unwrap();
            assert_eq!(server["containerPort"], SERVER, "{}", component.name);
        }
    }
}
