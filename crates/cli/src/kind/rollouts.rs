//! Installs our components once for each configuration that cases need: a Deployment and a Service each.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use component::{Component, Rollout};
use conformance::rollouts::Rollouts;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::identity::Identity;
use substrate::kind::{Kind, PORTS};
use webhook::dial::{DialError, Https, Target, Trust};

use super::installation::{
    self, InstallError, certificate_secret, image_override, missing_of_rollout, service_names,
    wait_until_none_missing, write, write_kustomization, write_objects,
};

/// The namespace of the rollouts.
pub(super) const NAMESPACE: &str = "gardener-conformance";
/// Ports of the Services that are reached from outside: for webhooks and for metrics.
const SERVICE_PORTS: [u16; 2] = [443, 8080];
/// The label that distinguishes the pods of the rollouts of a component.
const LABEL: &str = "conformance.gardener.cloud/rollout";

/// A component and the configurations to install it with.
pub(super) struct PlannedRollouts {
    pub(super) component: &'static Component,
    pub(super) rollout: &'static Rollout,
    pub(super) rollouts: Rollouts,
}

/// How to reach the installed rollouts from outside the cluster.
pub(super) struct InstalledRollouts {
    /// PEM of the CA that signed their certificate.
    pub(super) authority: String,
    /// Addresses of the webhooks and the metrics of each rollout.
    pub(super) addresses: BTreeMap<String, [SocketAddr; 2]>,
}

impl PlannedRollouts {
    fn names(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.rollouts.configs().len()).map(|number| name(self.component, number))
    }
}

impl InstalledRollouts {
    /// A dialer for the webhooks of a rollout.
    pub(super) fn dialer(&self, name: &str, webhooks: SocketAddr) -> Result<Https, DialError> {
        Https::new(&Target {
            url: format!("https://{name}.{NAMESPACE}"),
            address: Some(webhooks.to_string()),
            server_name: None,
            trust: Trust::Bundle(self.authority.as_bytes().to_vec()),
        })
    }
}

/// Name of the Deployment and the Service of a rollout.
pub(super) fn name(component: &Component, rollout: usize) -> String {
    format!("{}-{rollout}", component.program)
}

/// Assigns node ports to each rollout.
fn node_ports(planned: &[PlannedRollouts]) -> BTreeMap<String, [u16; 2]> {
    let mut ports = PORTS;
    let mut port = || ports.next().expect("there are ports for the maximum number of rollouts");
    planned
        .iter()
        .flat_map(PlannedRollouts::names)
        .map(|name| (name, SERVICE_PORTS.map(|_| port())))
        .collect()
}

/// Installs the rollouts and waits until all run; then stops the scheduler and the controllers of the cluster.
pub(super) async fn install(
    kind: &Kind,
    planned: &[PlannedRollouts],
) -> Result<InstalledRollouts, InstallError> {
    let published = kind.published().await?;
    installation::prepare(kind, planned.iter().map(|planned| planned.component)).await?;
    let node_ports = node_ports(planned);
    let host_names: Vec<String> = node_ports.keys().flat_map(|name| service_names(name, NAMESPACE)).collect();
    let identity = Identity::made(NAMESPACE, host_names)?;
    let folder = tempfile::tempdir()?;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    write_objects(folder.path(), "namespace.yaml", &[namespace])?;
    let (mut resources, mut images) = (vec!["namespace.yaml".to_owned()], Vec::new());
    for PlannedRollouts { component, rollout: definition, rollouts } in planned {
        let manifests = component.installation.manifests;
        let of_component = folder.path().join(component.program);
        for (path, text) in manifests.below("base") {
            write(&of_component, path, text)?;
        }
        for (number, config) in rollouts.configs().iter().enumerate() {
            let rollout = of_component.join(number.to_string());
            write_objects(&rollout, "secret.yaml", &[certificate_secret(component, &identity)])?;
            for (path, text) in manifests.of_rollouts() {
                write(&rollout, path, text)?;
            }
            let file = (definition.file)(config).map_err(InstallError::Configuration)?;
            if let Some(file) = &file {
                write(&rollout, "config.yaml", &formats::yaml::to_string(file)?)?;
            }
            let mut overlay = overlay(component, number, file.is_some());
            overlay["patches"] = json!([node_port_patch(component, node_ports[&name(component, number)])]);
            write_kustomization(&rollout, overlay)?;
            resources.push(format!("{}/{number}", component.program));
        }
        images.push(image_override(component));
    }
    write_kustomization(folder.path(), json!({"resources": resources, "images": images}))?;
    kind.apply(folder.path()).await?;
    let cluster = Cluster::new(kind.client().clone());
    for name in node_ports.keys() {
        wait_until_none_missing(|| missing_of_rollout(&cluster, NAMESPACE, name)).await?;
    }
    kind.rest().await?;
    let addresses = node_ports.into_iter().map(|(name, ports)| (name, ports.map(|port| published[&port])));
    Ok(InstalledRollouts { authority: identity.authority, addresses: addresses.collect() })
}

/// A patch that makes the Service of a component one of type NodePort.
fn node_port_patch(component: &Component, node_ports: [u16; 2]) -> Value {
    let ports = SERVICE_PORTS.into_iter().zip(node_ports);
    let ports: Vec<Value> =
        ports.map(|(port, node)| json!({"port": port, "protocol": "TCP", "nodePort": node})).collect();
    let patch = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": component.program},
        "spec": {"type": "NodePort", "ports": ports},
    });
    json!({"patch": patch.to_string()})
}

fn overlay(component: &Component, number: usize, has_file: bool) -> Value {
    let own = component.installation.manifests.of_rollouts().map(|(path, _)| path);
    let resources: Vec<&str> = ["../base", "secret.yaml"].into_iter().chain(own).collect();
    let mut overlay = json!({
        "namespace": NAMESPACE,
        "nameSuffix": format!("-{number}"),
        "resources": resources,
        "labels": [{"pairs": {LABEL: number.to_string()}, "includeSelectors": true}],
    });
    if has_file {
        let name = format!("{}-config", component.program);
        overlay["configMapGenerator"] = json!([{"name": name, "files": ["config.yaml"]}]);
    }
    overlay
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::components::COMPONENTS;
    use crate::kind::in_cluster::{InCluster, ROLLOUTS};

    #[test]
    fn services_have_the_ports_that_node_ports_forward_to() {
        for component in COMPONENTS.iter().filter(|component| component.installation.rollout.is_some()) {
            let text = component.installation.manifests.text("base/service.yaml").unwrap();
            let service = formats::yaml::documents(text).unwrap().remove(0);
            assert_eq!(service["metadata"]["name"], component.program);
            let ports = service["spec"]["ports"].as_array().unwrap();
            let names = SERVICE_PORTS.map(|wanted| {
                ports.iter().find(|port| port["port"] == wanted).map(|port| port["name"].clone())
            });
            assert_eq!(names, [Some(json!("server")), Some(json!("metrics"))], "{}", component.name);
        }
    }

    #[test]
    fn each_rollout_of_all_contracts_together_has_node_ports_of_its_own() {
        let contracts = contracts::all().unwrap();
        let ports = node_ports(InCluster::of(&contracts).unwrap().to_install());
        let all: BTreeSet<u16> = ports.values().flatten().copied().collect();
        assert!(ports.len() > 2 && all.len() == 2 * ports.len(), "{ports:?}");
        let most = 2
            * ROLLOUTS
            * COMPONENTS.iter().filter(|component| component.installation.rollout.is_some()).count();
        assert!(PORTS.count() >= most, "{most} ports may be needed");
    }
}
