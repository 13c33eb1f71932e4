//! What Gardener's programs beside gardener-apiserver have in common: they read a configuration file, and work with the
//! virtual cluster.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use api::networking::TO_DNS;
use api::resources::HA_TYPE;
use formats::yaml;
use serde_json::{Value, json};

use super::access::{self, ACCOUNT_NAMESPACE, KUBECONFIG};
use super::error::RenderError;
use super::managed::ManagedObjects;
use super::networks::{allowed, to_virtual_api_server};
use super::objects::{
    at_least, config_map_volume, entries, http_probe, metadata, pod_disruption_budget,
    vertical_pod_autoscaler, with,
};
use super::rendering::{Rendering, name_of};
use super::values::GardenValues;
use super::{references, unique};

/// A program of Gardener's control plane.
#[derive(Clone, Copy, Debug)]
pub struct GardenerProgram {
    /// Name of its Deployment, image and ServiceAccount.
    pub name: &'static str,
    /// Value of its label `role`.
    pub role: &'static str,
    /// Whether all replicas work at once (`server`) or one after the other (`controller`).
    pub availability: &'static str,
    /// The priority class of its pods.
    pub priority: &'static str,
    /// Requested CPU and memory.
    pub resources: [&'static str; 2],
    /// Name of its VerticalPodAutoscaler, and the memory that it leaves at least.
    pub autoscaler: [&'static str; 2],
    /// Begin of the name of the ConfigMap with its configuration, and the key in it.
    pub config: [&'static str; 2],
    /// The port of its probes.
    pub probe_port: u16,
    /// Seconds until the first liveness probe.
    pub liveness_delay: u32,
}

/// What a program has beside its Deployment's common parts.
#[derive(Clone, Debug, Default)]
pub struct ProgramParts {
    /// Its configuration.
    pub config: Value,
    /// Its Service.
    pub service: Value,
    /// A volume before that of its configuration, and its mount.
    pub volume: Option<(Value, Value)>,
    /// Its objects in the virtual cluster.
    pub in_virtual: Vec<Value>,
}

impl GardenerProgram {
    /// Its labels, also those of its pods.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<String, String> {
        entries([("app", "gardener"), ("role", self.role)])
    }

    /// Its access Secret, and a ManagedResource for each cluster.
    ///
    /// # Errors
    /// If an image or a Secret is missing.
    pub fn render(&self, values: &GardenValues<'_>, parts: ProgramParts) -> Result<Rendering, RenderError> {
        let ProgramParts { config, service, volume, in_virtual } = parts;
        let config_map = self.config_map(&config)?;
        let deployment = self.deployment(values, &config_map, volume)?;
        let [autoscaler, memory] = self.autoscaler;
        let runtime = vec![
            config_map,
            pod_disruption_budget(self.name, &self.labels()),
            service,
            vertical_pod_autoscaler(autoscaler, self.name, &self.labels(), &at_least(memory)),
            deployment,
        ];
        Ok(Rendering {
            steps: vec![access::secret(self.name)],
            managed: vec![
                ManagedObjects::in_runtime(&format!("{}-runtime", self.name), runtime),
                ManagedObjects::in_virtual(&format!("{}-virtual", self.name), in_virtual),
            ],
            awaited_service: None,
        })
    }

    /// The ConfigMap, whose name changes with the configuration: then the pods are replaced.
    fn config_map(&self, config: &Value) -> Result<Value, RenderError> {
        let [prefix, key] = self.config;
        let text = yaml::to_string(config).map_err(RenderError::yaml(key))?;
        Ok(unique::config_map(prefix, &self.labels(), &BTreeMap::from([(key.to_owned(), text)])))
    }

    /// OPC-013, OPC-018, OPC-127.
    fn deployment(
        &self,
        values: &GardenValues<'_>,
        config_map: &Value,
        volume: Option<(Value, Value)>,
    ) -> Result<Value, RenderError> {
        let labels = self.labels();
        let config_volume = format!("{}-config", self.name);
        let config_mount = json!({"name": config_volume, "mountPath": self.config_path()});
        let config = (config_map_volume(&config_volume, name_of(config_map)), config_mount);
        let (volumes, mounts): (Vec<Value>, Vec<Value>) = volume.into_iter().chain([config]).unzip();
        let container = self.container(values, &mounts)?;
        let to = [TO_DNS.to_owned(), to_virtual_api_server()];
        let availability = [(HA_TYPE.to_owned(), self.availability.to_owned())];
        let mut deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata(self.name, &with(labels.clone(), availability)),
            "spec": {
                "replicas": 1,
                "revisionHistoryLimit": 2,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": with(labels.clone(), allowed(to))},
                    "spec": {
                        "priorityClassName": self.priority,
                        "automountServiceAccountToken": false,
                        "containers": [container],
                        "volumes": volumes,
                    },
                },
            },
        });
        access::mount_kubeconfig(&mut deployment, values.secrets, self.name)?;
        references::annotate(&mut deployment);
        Ok(deployment)
    }

    fn container(&self, values: &GardenValues<'_>, mounts: &[Value]) -> Result<Value, RenderError> {
        let ([cpu, memory], [_, key]) = (self.resources, self.config);
        Ok(json!({
            "name": self.name,
            "image": values.gardener_image(self.name)?,
            "imagePullPolicy": "IfNotPresent",
            "args": [format!("--config={}/{key}", self.config_path())],
            "resources": {"requests": {"cpu": cpu, "memory": memory}},
            "livenessProbe": http_probe("/healthz", self.probe_port, self.liveness_delay, 5),
            "readinessProbe": http_probe("/readyz", self.probe_port, 10, 5),
            "volumeMounts": mounts,
        }))
    }

    fn config_path(&self) -> String {
        format!("/etc/{}/config", self.name)
    }
}

/// How a program connects to the virtual cluster, in its configuration.
#[must_use]
pub fn client_connection() -> Value {
    json!({"kubeconfig": KUBECONFIG, "acceptContentTypes": "", "contentType": "", "qps": 100, "burst": 130})
}

/// How replicas of a program elect a leader, in its configuration: in the virtual cluster, with the program's defaults of all times.
/// OPC-124.
#[must_use]
pub fn leader_election(lease: &str) -> Value {
    json!({
        "leaderElect": true,
        "leaseDuration": "0s",
        "renewDeadline": "0s",
        "retryPeriod": "0s",
        "resourceLock": "",
        "resourceName": lease,
        "resourceNamespace": ACCOUNT_NAMESPACE,
    })
}

/// A server of a program on all addresses, in its configuration.
#[must_use]
pub fn server(port: u16) -> Value {
    json!({"bindAddress": "", "port": port})
}
