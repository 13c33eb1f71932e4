//! Validates a configuration: it must be well-formed and leave reserved settings alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as FilePath;

use formats::name;
use formats::version::{Version, constraint::Constraint};
use serde_json::Value;
use webhook::field::{Error, Path};

use super::reserved::{self, ReservedFlags};
use super::{Component, ControlPlaneWebhooksConfiguration, FeatureGate, Kubelet};
use crate::ensurer::operating_system_config::CLOUD_PROVIDER_CONFIG;
use crate::webhooks::NAMES;

const GATES: &str = "--feature-gates";
const CLOUD_CONFIG: &str = "--cloud-config";

/// All errors of a configuration.
#[must_use]
pub fn validate(config: &ControlPlaneWebhooksConfiguration) -> Vec<Error> {
    let mut errors = Vec::new();
    let field = Path::new("provider");
    errors.extend(
        name::dns1123_label(&config.provider)
            .iter()
            .map(|wrong| Error::invalid(&field, &config.provider, wrong)),
    );
    if let Err(wrong) = Version::parse(&config.gardener_version) {
        errors.push(Error::invalid(
            &Path::new("gardenerVersion"),
            &config.gardener_version,
            &wrong.to_string(),
        ));
    }
    for (at, webhook) in config.disabled_webhooks.iter().enumerate() {
        if !NAMES.contains(&webhook.as_str()) {
            errors.push(Error::not_supported(&Path::new("disabledWebhooks").index(at), webhook, &NAMES));
        }
    }
    component(&config.kube_api_server, &Path::new("kubeAPIServer"), reserved::KUBE_API_SERVER, &mut errors);
    let at = Path::new("kubeControllerManager");
    component(&config.kube_controller_manager, &at, reserved::KUBE_CONTROLLER_MANAGER, &mut errors);
    gates(
        &config.kube_scheduler.feature_gates,
        &Path::new("kubeScheduler").child("featureGates"),
        &mut errors,
    );
    kubelet(&config.kubelet, config.csi, &Path::new("kubelet"), &mut errors);
    errors
}

fn component(component: &Component, at: &Path, reserved: ReservedFlags, errors: &mut Vec<Error>) {
    flags(component.flags.keys(), &at.child("flags"), reserved, errors);
    flags(&component.removed_flags, &at.child("removedFlags"), reserved, errors);
    not_both(&component.flags, &component.removed_flags, at, errors);
    gates(&component.feature_gates, &at.child("featureGates"), errors);
    unique(&component.env, "name", &at.child("env"), errors);
    unique(&component.volume_mounts, "mountPath", &at.child("volumeMounts"), errors);
    let volumes = unique(&component.volumes, "name", &at.child("volumes"), errors);
    let mounted: BTreeSet<&str> =
        component.volume_mounts.iter().filter_map(|mount| mount["name"].as_str()).collect();
    for (index, volume) in component.volumes.iter().enumerate() {
        let (field, name) =
            (at.child("volumes").index(index).child("name"), volume["name"].as_str().unwrap_or_default());
        if reserved::VOLUMES.iter().any(|pattern| reserved::matches_pattern(pattern, name)) {
            errors.push(Error::forbidden(&field, "it is a volume of Gardener"));
        }
        if !mounted.contains(name) {
            errors.push(Error::invalid(&field, name, "no volumeMount mounts it"));
        }
    }
    for (index, mount) in component.volume_mounts.iter().enumerate() {
        let name = mount["name"].as_str().unwrap_or_default();
        if !volumes.contains(name) {
            errors.push(Error::not_found(&at.child("volumeMounts").index(index).child("name"), name));
        }
    }
    if let Some(file) = component.flags.get(CLOUD_CONFIG) {
        let mut folders = component.volume_mounts.iter().filter_map(|mount| mount["mountPath"].as_str());
        if !folders.any(|folder| FilePath::new(file).starts_with(folder)) {
            let field = at.child("flags").key(CLOUD_CONFIG);
            errors.push(Error::invalid(&field, file, "no volume is mounted there"));
        }
    }
}

fn flags<'a>(
    flags: impl IntoIterator<Item = &'a String>,
    at: &Path,
    reserved: ReservedFlags,
    errors: &mut Vec<Error>,
) {
    for flag in flags {
        let field = at.key(flag);
        if !flag.starts_with("--") {
            errors.push(Error::invalid(&field, flag, "must begin with --"));
        } else if flag == GATES {
            errors.push(Error::forbidden(&field, "set feature gates in featureGates"));
        } else if let Some((_, clause)) =
            reserved.iter().find(|(pattern, _)| reserved::matches_pattern(pattern, flag))
        {
            let message = format!("Gardener sets this flag, and webhooks must not change it ({clause})");
            errors.push(Error::forbidden(&field, &message));
        }
    }
}

/// A flag that is both set and removed would change its position with each request.
fn not_both(there: &BTreeMap<String, String>, removed: &[String], at: &Path, errors: &mut Vec<Error>) {
    let both = removed.iter().filter(|flag| there.contains_key(*flag));
    errors.extend(both.map(|flag| Error::duplicate(&at.child("removedFlags").key(flag), flag.as_str())));
}

fn gates(gates: &[FeatureGate], at: &Path, errors: &mut Vec<Error>) {
    for (index, gate) in gates.iter().enumerate() {
        let at = at.index(index);
        if gate.name.is_empty() {
            errors.push(Error::required(&at.child("name"), "name a feature gate"));
        }
        if let (false, Err(wrong)) = (gate.kubernetes.is_empty(), Constraint::parse(&gate.kubernetes)) {
            errors.push(Error::invalid(&at.child("kubernetes"), &gate.kubernetes, &wrong.to_string()));
        }
    }
}

fn kubelet(kubelet: &Kubelet, csi: bool, at: &Path, errors: &mut Vec<Error>) {
    flags(kubelet.flags.keys(), &at.child("flags"), reserved::KUBELET, errors);
    flags(&kubelet.removed_flags, &at.child("removedFlags"), reserved::KUBELET, errors);
    not_both(&kubelet.flags, &kubelet.removed_flags, at, errors);
    gates(&kubelet.feature_gates, &at.child("featureGates"), errors);
    let field = |name: &str| at.child("configuration").key(name);
    let attach_detach = "enableControllerAttachDetach";
    if csi && kubelet.configuration.get(attach_detach).is_some_and(|value| *value != Value::Bool(true)) {
        errors.push(Error::forbidden(&field(attach_detach), "CSI plugins need it to be true (CP-104)"));
    }
    if kubelet.configuration.contains_key("featureGates") {
        errors.push(Error::forbidden(&field("featureGates"), "set feature gates in featureGates"));
    }
    if let Some(file) = kubelet.flags.get(CLOUD_CONFIG) {
        let is_there = kubelet.files.iter().any(|known| known["path"] == **file);
        if !is_there && (kubelet.cloud_provider_config.is_empty() || file != CLOUD_PROVIDER_CONFIG) {
            let field = at.child("flags").key(CLOUD_CONFIG);
            errors.push(Error::invalid(
                &field,
                file,
                "neither files nor cloudProviderConfig contains this file (CP-102)",
            ));
        }
    }
    unit_options(kubelet, at, errors);
    for (setting, value) in &kubelet.kernel {
        let blank = |text: &str| text.is_empty() || text.contains(['\n', '=']);
        if blank(setting) || setting.contains(char::is_whitespace) || blank(value) {
            let message = "a setting and its value must not be empty and must fit on one line, name = value";
            errors.push(Error::invalid(&at.child("kernel").key(setting), value, message));
        }
    }
    for (list, name, key, reserved, what) in [
        (&kubelet.files, "files", "path", &reserved::FILES[..], "it is a file of Gardener (CP-106)"),
        (&kubelet.units, "units", "name", &reserved::UNITS[..], "it is a unit of Gardener (CP-106)"),
    ] {
        unique(list, key, &at.child(name), errors);
        let is_reserved = |item: &Value| item[key].as_str().is_some_and(|name| reserved.contains(&name));
        let taken = list.iter().enumerate().filter(|(_, item)| is_reserved(item));
        errors
            .extend(taken.map(|(index, _)| Error::forbidden(&at.child(name).index(index).child(key), what)));
    }
}

fn unit_options(kubelet: &Kubelet, at: &Path, errors: &mut Vec<Error>) {
    for (index, option) in kubelet.unit_options.iter().enumerate() {
        let at = at.child("unitOptions").index(index);
        if option.name == "ExecStart" {
            errors.push(Error::forbidden(&at.child("name"), "kubelet.service has one ExecStart (CP-094)"));
        }
        if option.section.is_empty() {
            errors.push(Error::required(&at.child("section"), "name a section: Service"));
        }
        if option.name.is_empty() || option.name.contains(['=', '\n', '[', '#', ';']) {
            errors.push(Error::invalid(&at.child("name"), &option.name, "must be the name of an option"));
        }
        if option.value.contains('\n') || option.value.ends_with('\\') {
            errors.push(Error::invalid(&at.child("value"), &option.value, "must be one line"));
        }
    }
}

/// The keys of elements; they must be unique.
fn unique<'a>(items: &'a [Value], key: &str, at: &Path, errors: &mut Vec<Error>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let field = at.index(index).child(key);
        match item[key].as_str().filter(|name| !name.is_empty()) {
            None => errors.push(Error::required(&field, "every element needs this key")),
            Some(name) if !seen.insert(name) => errors.push(Error::duplicate(&field, name)),
            Some(_) => {}
        }
    }
    seen
}
