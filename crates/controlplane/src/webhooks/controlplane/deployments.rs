//! kube-apiserver, kube-controller-manager, kube-scheduler.

use serde_json::{Map, Value};
use webhook::object;
use webhook::rejection::Rejection;

use crate::cluster::Cluster;
use crate::command_line::CommandLine;
use crate::config::{Component, ControlPlaneWebhooksConfiguration, FeatureGate};
use crate::ensurer::{Ensured, failed};
use crate::pod;

const CLOUD_PROVIDER: &str = "--cloud-provider";
const CLOUD_CONFIG: &str = "--cloud-config";
const EXTERNAL_PLUGIN: &str = "--external-cloud-volume-plugin";
const ENABLED_PLUGINS: &str = "--enable-admission-plugins";
const DISABLED_PLUGINS: &str = "--disable-admission-plugins";
const FEATURE_GATES: &str = "--feature-gates";
const TEMPLATE: [&str; 2] = ["spec", "template"];

/// With CSI plugins, kube-apiserver gets no cloud flags, and incompatible admission plugins are disabled.
///
/// CP-013, CP-027, CP-107.
pub(super) fn kube_api_server(
    config: &ControlPlaneWebhooksConfiguration,
    cluster: Option<&Cluster>,
    deployment: &mut Value,
) -> Ensured {
    let (to, from) =
        if config.csi { (DISABLED_PLUGINS, ENABLED_PLUGINS) } else { (ENABLED_PLUGINS, DISABLED_PLUGINS) };
    let removed: &[&str] = if config.csi { &[CLOUD_PROVIDER, CLOUD_CONFIG] } else { &[] };
    component(&config.kube_api_server, "kube-apiserver", cluster, deployment, |line| {
        remove_unless_wanted(line, removed, &config.kube_api_server);
        for plugin in &config.csi_incompatible_admission_plugins {
            line.remove_member(from, plugin);
            line.add_member(to, plugin);
        }
    })
}

/// With CSI plugins, an external controller manages the cloud.
///
/// CP-041, CP-054.
pub(super) fn kube_controller_manager(
    config: &ControlPlaneWebhooksConfiguration,
    cluster: Option<&Cluster>,
    deployment: &mut Value,
) -> Ensured {
    let wanted = &config.kube_controller_manager;
    component(wanted, "kube-controller-manager", cluster, deployment, |line| {
        if config.csi {
            let removed = [CLOUD_CONFIG, EXTERNAL_PLUGIN];
            remove_unless_wanted(line, &removed, wanted);
            if !wanted.flags.contains_key(CLOUD_PROVIDER)
                && !wanted.removed_flags.iter().any(|flag| flag == CLOUD_PROVIDER)
            {
                line.set(CLOUD_PROVIDER, "external");
            }
        }
    })
}

/// A scheduler only gets feature gates.
///
/// CP-061, CP-063, CP-064, CP-065, CP-066, CP-067, CP-110.
pub(super) fn kube_scheduler(
    config: &ControlPlaneWebhooksConfiguration,
    cluster: Option<&Cluster>,
    deployment: &mut Value,
) -> Ensured {
    let gates = gates(&config.kube_scheduler.feature_gates, cluster)?;
    match pod::container_mut(deployment, "kube-scheduler")? {
        Some(container) => Ok(pod::edit(container, |line| set_gates(line, &gates))?),
        None => Ok(()),
    }
}

/// Changes that all components have in common; a pod without the container stays unchanged.
///
/// CP-012, CP-022, CP-029, CP-031, CP-057, CP-059, CP-111, CP-112.
fn component(
    wanted: &Component,
    name: &str,
    cluster: Option<&Cluster>,
    deployment: &mut Value,
    edit: impl FnOnce(&mut CommandLine),
) -> Ensured {
    let gates = gates(&wanted.feature_gates, cluster)?;
    let Some(container) = pod::container_mut(deployment, name)? else { return Ok(()) };
    pod::edit(container, |line| {
        edit(line);
        wanted.removed_flags.iter().for_each(|flag| line.remove(flag));
        wanted.flags.iter().for_each(|(flag, value)| line.set(flag, value));
        set_gates(line, &gates);
    })?;
    for (field, key, elements) in
        [("env", "name", &wanted.env), ("volumeMounts", "mountPath", &wanted.volume_mounts)]
    {
        ensure(container, field, key, elements)?;
    }
    if !wanted.volumes.is_empty() {
        let volumes = object::list_mut(deployment, &["spec", "template", "spec", "volumes"])?;
        pod::ensure_named(volumes, "name", &wanted.volumes);
    }
    if !wanted.pod_labels.is_empty() {
        let [spec, template] = TEMPLATE;
        let labels = object::map_mut(deployment, &[spec, template, "metadata", "labels"])?;
        labels
            .extend(wanted.pod_labels.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))));
    }
    Ok(())
}

/// A flag that the provider sets is kept even if CSI plugins do not need it; otherwise it would move with each
/// request.
fn remove_unless_wanted(line: &mut CommandLine, flags: &[&str], wanted: &Component) {
    flags.iter().filter(|flag| !wanted.flags.contains_key(**flag)).for_each(|flag| line.remove(flag));
}

fn ensure(container: &mut Map<String, Value>, field: &'static str, key: &str, wanted: &[Value]) -> Ensured {
    if !wanted.is_empty() {
        pod::ensure_named(pod::list_mut(container, field)?, key, wanted);
    }
    Ok(())
}

/// The gates that the control plane's version has.
fn gates<'a>(gates: &'a [FeatureGate], cluster: Option<&Cluster>) -> Result<Vec<&'a FeatureGate>, Rejection> {
    let is_in = |gate: &FeatureGate| match cluster {
        _ if gate.kubernetes.is_empty() => Ok(true),
        Some(cluster) => Ok(gate.is_in(cluster.kubernetes())),
        None => Err(failed(format!(
            "the cluster is not known, and feature gate {} depends on its version",
            gate.name
        ))),
    };
    let kept = gates.iter().map(|gate| is_in(gate).map(|is_in| is_in.then_some(gate)));
    kept.filter_map(Result::transpose).collect()
}

fn set_gates(line: &mut CommandLine, gates: &[&FeatureGate]) {
    for gate in gates {
        line.set_entry(FEATURE_GATES, &gate.name, &gate.enabled.to_string());
    }
}
