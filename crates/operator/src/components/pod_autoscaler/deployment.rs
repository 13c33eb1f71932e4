//! The Deployments of the vertical pod autoscaler.

use api::networking::{TO_DNS, TO_RUNTIME_API_SERVER};
use api::resources::HA_TYPE;
use serde_json::{Value, json};

use super::programs::{ADMISSION_CONTROLLER, AutoscalerProgram};
use super::role;
use crate::components::access::push;
use crate::components::error::RenderError;
use crate::components::generated::CA_RUNTIME;
use crate::components::networks::allowed;
use crate::components::objects::{entries, metadata, with};
use crate::components::values::GardenValues;

const CERTIFICATES: &str = "/etc/tls-certs";
const VOLUME: &str = "vpa-tls-certs";

impl AutoscalerProgram {
    /// Its Deployment; the admission controller's has the Secret `certificate`.
    pub(super) fn deployment(
        &self,
        values: &GardenValues<'_>,
        certificate: &str,
    ) -> Result<Value, RenderError> {
        let labels = with(role(), entries([("app", self.name)]));
        let mut deployment = json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": metadata(self.name, &labels),
            "spec": {
                "replicas": 1,
                "revisionHistoryLimit": 2,
                "selector": {"matchLabels": {"app": self.name}},
                "template": {
                    "metadata": {"labels": with(labels, allowed([TO_DNS, TO_RUNTIME_API_SERVER]))},
                    "spec": {
                        "serviceAccountName": self.name,
                        "priorityClassName": self.priority,
                        "containers": [self.container(&values.runtime_image(self.name)?)],
                    },
                },
            },
        });
        if self.is_available {
            deployment["metadata"]["labels"][HA_TYPE] = "server".into();
        }
        if self.name == ADMISSION_CONTROLLER.name {
            let pod = &mut deployment["spec"]["template"]["spec"];
            mount_certificates(pod, values.secrets.name(CA_RUNTIME)?, certificate);
        }
        Ok(deployment)
    }

    fn container(&self, image: &str) -> Value {
        let [cpu, memory, limit] = self.resources;
        let mut container = json!({
            "name": self.container,
            "image": image,
            "imagePullPolicy": "IfNotPresent",
            "command": [format!("./{}", self.container)],
            "args": self.arguments,
            "livenessProbe": {
                "httpGet": {"path": "/health-check", "port": "metrics", "scheme": "HTTP"},
                "initialDelaySeconds": 120,
                "periodSeconds": 60,
                "timeoutSeconds": 30,
                "successThreshold": 1,
                "failureThreshold": 3,
            },
            "resources": {
                "requests": {"cpu": cpu, "memory": memory},
                "limits": {"memory": limit},
            },
            "ports": self.ports(),
        });
        if self.knows_namespace {
            let source = json!({"fieldRef": {"fieldPath": "metadata.namespace"}});
            container["env"] = json!([{"name": "NAMESPACE", "valueFrom": source}]);
        }
        container
    }

    fn ports(&self) -> [Value; 2] {
        let metrics = json!({"name": "metrics", "containerPort": self.metrics_port});
        if self.name == ADMISSION_CONTROLLER.name {
            return [metrics, json!({"containerPort": self.port})];
        }
        [json!({"name": "server", "containerPort": self.port}), metrics]
    }
}

/// Certificates of the authority, and the server's.
fn mount_certificates(pod: &mut Value, authority: &str, certificate: &str) {
    let source = |secret: &str, keys: &[&str]| {
        let items: Vec<Value> = keys.iter().map(|key| json!({"key": key, "path": key})).collect();
        json!({"secret": {"name": secret, "items": items}})
    };
    let sources = [source(authority, &["bundle.crt"]), source(certificate, &["tls.crt", "tls.key"])];
    let mount = json!({"name": VOLUME, "mountPath": CERTIFICATES, "readOnly": true});
    push(&mut pod["containers"][0], "volumeMounts", mount);
    push(pod, "volumes", json!({"name": VOLUME, "projected": {"defaultMode": 420, "sources": sources}}));
}
