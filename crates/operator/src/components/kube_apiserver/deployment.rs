//! The Deployment of kube-apiserver.

use api::gardener::{ROLE, ROLE_CONTROL_PLANE};
use api::networking::{TO_DNS, TO_PRIVATE_NETWORKS, TO_PUBLIC_NETWORKS};
use api::operator::kube_apiserver::VirtualApiServerConfig;
use api::resources::HA_TYPE;
use serde_json::{Value, json};

use super::arguments;
use super::autoscaling::min_replicas;
use super::files::ServerFiles;
use super::secret_requests::health_check_token;
use super::{CONTAINER, NAME, labels};
use crate::components::access::push;
use crate::components::error::RenderError;
use crate::components::existing::remove_stale;
use crate::components::networks::{ETCD_CLIENT_PORT, MAIN_ETCD, TO_WEBHOOK_TARGETS, allowed, to_service};
use crate::components::objects::{entries, metadata, with};
use crate::components::rendering::name_of;
use crate::components::values::GardenValues;

/// The Service of the Etcd of events.
const EVENTS_ETCD: &str = "virtual-garden-etcd-events-client";
/// Label of a Pod that may call webhooks of extensions.
const TO_EXTENSION_WEBHOOKS: &str = "networking.resources.gardener.cloud/to-extensions-all-webhook-targets";
const PRIORITY_CLASS: &str = "gardener-garden-system-500";
/// The watchdog needs it; Gardens of later versions do not have it any more.
const SHARED_PROCESSES: &str = "/spec/template/spec/shareProcessNamespace";
const WATCHDOG_FOLDER: &str = "/var/watchdog/bin";
/// The mode of the script, 0764; the original writes 500 and means octal.
const WATCHDOG_MODE: u32 = 500;

/// The Deployment without annotations. OPC-072, OPC-075, OPC-076, OPC-085, OPC-099, OPC-100.
pub(super) fn deployment(
    values: &GardenValues<'_>,
    config: &VirtualApiServerConfig,
    files: &ServerFiles<'_>,
) -> Result<Value, RenderError> {
    let token = health_check_token(values.secrets)?;
    let with_role = with(labels(), entries([(ROLE, ROLE_CONTROL_PLANE)]));
    let pod = json!({
        "automountServiceAccountToken": false,
        "priorityClassName": PRIORITY_CLASS,
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
        "containers": [container(values, &token)?],
    });
    let mut deployment = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(NAME, &with(with_role.clone(), entries([(HA_TYPE, "server")]))),
        "spec": {
            "minReadySeconds": 30,
            "revisionHistoryLimit": 2,
            "replicas": replicas(values),
            "selector": { "matchLabels": labels() },
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": { "maxSurge": "100%", "maxUnavailable": 0 },
            },
            "template": {
                "metadata": { "labels": with(with_role, peers()) },
                "spec": pod,
            },
        },
    });
    arguments::parts(values, config, files)?.add_to(&mut deployment);
    if let Some(script) = &files.watchdog {
        let pod = &mut deployment["spec"]["template"]["spec"];
        add_watchdog(pod, name_of(script), &values.target_image("alpine")?, &token);
    }
    let existing = values.observed.existing.get("apps/v1", "Deployment", NAME);
    remove_stale(&mut deployment, existing, &[SHARED_PROCESSES]);
    Ok(deployment)
}

/// An autoscaler decides about replicas, unless there are none. OPC-072.
fn replicas(values: &GardenValues<'_>) -> Value {
    let Some(existing) = values.observed.existing.get("apps/v1", "Deployment", NAME) else {
        return min_replicas(values).into();
    };
    let replicas = &existing["spec"]["replicas"];
    if replicas.as_i64().is_some_and(|replicas| replicas > 0) { replicas.clone() } else { 1.into() }
}

/// Where its Pods may connect to.
fn peers() -> impl Iterator<Item = (String, String)> {
    let services = [MAIN_ETCD, EVENTS_ETCD].map(|service| to_service(service, ETCD_CLIENT_PORT));
    let plain = [TO_DNS, TO_PUBLIC_NETWORKS, TO_PRIVATE_NETWORKS, TO_WEBHOOK_TARGETS, TO_EXTENSION_WEBHOOKS];
    allowed(plain.map(str::to_owned).into_iter().chain(services)).into_iter()
}

fn container(values: &GardenValues<'_>, token: &str) -> Result<Value, RenderError> {
    let existing = values.observed.existing.requests("Deployment", NAME, CONTAINER);
    let kept = existing.filter(|_| values.has_hvpa()).cloned();
    let requests = kept.unwrap_or_else(|| json!({ "cpu": "600m", "memory": "512Mi" }));
    Ok(json!({
        "name": CONTAINER,
        "image": values.target_image("kube-apiserver")?,
        "imagePullPolicy": "IfNotPresent",
        "command": ["/usr/local/bin/kube-apiserver"],
        "ports": [{ "name": "https", "containerPort": 443, "protocol": "TCP" }],
        "resources": { "requests": requests },
        "livenessProbe": probe("/livez", 15, token),
        "readinessProbe": probe("/readyz", 10, token),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }))
}

fn probe(path: &str, initial_delay: u32, token: &str) -> Value {
    json!({
        "httpGet": {
            "path": path,
            "port": 443,
            "scheme": "HTTPS",
            "httpHeaders": [{ "name": "Authorization", "value": format!("Bearer {token}") }],
        },
        "initialDelaySeconds": initial_delay,
        "periodSeconds": 10,
        "timeoutSeconds": 15,
        "failureThreshold": 3,
        "successThreshold": 1,
    })
}

/// Adds a container that ends kube-apiserver when it hangs.
fn add_watchdog(pod: &mut Value, script: &str, image: &str, token: &str) {
    let container = json!({
        "name": "watchdog",
        "image": image,
        "command": ["/bin/sh", format!("{WATCHDOG_FOLDER}/watchdog.sh"), token],
        "securityContext": { "capabilities": { "add": ["SYS_PTRACE"] } },
        "volumeMounts": [{ "name": "watchdog", "mountPath": WATCHDOG_FOLDER }],
    });
    let volume = json!({ "name": "watchdog", "configMap": { "name": script, "defaultMode": WATCHDOG_MODE } });
    push(pod, "containers", container);
    push(pod, "volumes", volume);
    pod["shareProcessNamespace"] = true.into();
}
