//! The configuration of a resource-manager.

use std::collections::BTreeMap;

use formats::yaml;
use serde_json::{Value, json};

use super::{HEALTH_PORT, METRICS_PORT, ResourceManagerProgram, SERVER_PORT};
use crate::components::error::RenderError;
use crate::components::gardener_program::server;
use crate::components::values::GardenValues;
use crate::components::{NAMESPACE, unique};

/// The key of the file.
pub const KEY: &str = "config.yaml";
/// The folder with the server certificate.
pub const CERTIFICATES: &str = "/etc/gardener-resource-manager-tls";

/// What differs between the configurations of the resource-managers.
#[derive(Clone, Debug, Default)]
pub struct ConfigurationParts {
    /// Connection to the cluster with the ManagedResources.
    pub source: Value,
    /// Connection to the cluster that their objects are applied to, if it is another one.
    pub target: Option<Value>,
    /// Section `controllers`.
    pub controllers: Value,
    /// Section `webhooks`.
    pub webhooks: Value,
}

impl ResourceManagerProgram {
    /// The ConfigMap with its configuration.
    ///
    /// # Errors
    /// If the configuration has no YAML form.
    pub fn config_map(
        &self,
        values: &GardenValues<'_>,
        parts: ConfigurationParts,
    ) -> Result<Value, RenderError> {
        let text = yaml::to_string(&self.configuration(values, parts)).map_err(RenderError::yaml(KEY))?;
        let data = BTreeMap::from([(KEY.to_owned(), text)]);
        Ok(unique::config_map(self.name, &BTreeMap::new(), &data))
    }

    fn configuration(&self, values: &GardenValues<'_>, parts: ConfigurationParts) -> Value {
        let mut configuration = json!({
            "apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1",
            "kind": "ResourceManagerConfiguration",
            "sourceClientConnection": parts.source,
            "leaderElection": {
                "leaderElect": true,
                "leaseDuration": "0s",
                "renewDeadline": "0s",
                "retryPeriod": "0s",
                "resourceLock": "",
                "resourceName": self.name,
                "resourceNamespace": NAMESPACE,
            },
            "server": {
                "webhooks": { "bindAddress": "", "port": SERVER_PORT, "tls": { "serverCertDir": CERTIFICATES } },
                "healthProbes": server(HEALTH_PORT),
                "metrics": server(METRICS_PORT),
            },
            "logLevel": values.config.log_level,
            "logFormat": values.config.log_format,
            "controllers": parts.controllers,
            "webhooks": parts.webhooks,
        });
        if let Some(target) = parts.target {
            configuration["targetClientConnection"] = target;
        }
        configuration
    }
}

/// A connection to a cluster, in some of its namespaces; without any, in all.
#[must_use]
pub fn connection(kubeconfig: &str, namespaces: &[&str]) -> Value {
    let mut connection = json!({
        "kubeconfig": kubeconfig,
        "acceptContentTypes": "",
        "contentType": "",
        "qps": 0,
        "burst": 0,
    });
    if !namespaces.is_empty() {
        connection["namespaces"] = json!(namespaces);
    }
    connection
}

/// A webhook, or a controller without settings.
#[must_use]
pub fn switched(is_on: bool) -> Value {
    json!({ "enabled": is_on })
}
