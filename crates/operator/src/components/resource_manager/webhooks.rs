//! The webhooks that the resource-manager of the runtime cluster serves.

use api::gardener::{DELETION_PROTECTED, REMEDIATION_EXCLUDE};
use api::resources::{ENDPOINT_SLICE_HINTS_CONSIDER, SECCOMP_SKIP, TOPOLOGY_SPREAD_SKIP};
use api::{druid, extensions};
use serde_json::{Value, json};

use super::{NAME, PROGRAM, REGISTRATIONS};
use crate::components::NAMESPACE;
use crate::components::error::RenderError;
use crate::components::generated::CA_RUNTIME;
use crate::components::objects::{cluster_metadata, entries, with};
use crate::components::resource_manager_program::webhooks::{
    CREATE_AND_UPDATE, ServedWebhook, WebhookScope, absent, new_pods, rule,
};
use crate::components::values::GardenValues;

/// The kind of the one configuration.
pub(super) const MUTATING: &str = "MutatingWebhookConfiguration";
/// The kind of the other one.
pub(super) const VALIDATING: &str = "ValidatingWebhookConfiguration";

const SCOPE: WebhookScope = WebhookScope { app: NAME, system_components: false };
const DELETE: &[&str] = &["DELETE"];
/// Kinds of extensions whose objects are validated, and protected from deletion: plural and singular.
const EXTENSIONS: [(&str, &str); 11] = [
    ("backupbuckets", "backupbucket"),
    ("backupentries", "backupentry"),
    ("bastions", "bastion"),
    ("containerruntimes", "containerruntime"),
    ("controlplanes", "controlplane"),
    ("dnsrecords", "dnsrecord"),
    ("extensions", "extension"),
    ("infrastructures", "infrastructure"),
    ("networks", "network"),
    ("operatingsystemconfigs", "operatingsystemconfig"),
    ("workers", "worker"),
];

/// Webhooks that change objects. OPC-027, OPC-028, OPC-032.
pub(super) fn mutating(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let seccomp = values.has_default_seccomp_profile().then(seccomp_profile);
    let hints = values.has_topology_aware_routing().then(endpoint_slice_hints);
    let mut webhooks =
        vec![SCOPE.token_invalidator(), SCOPE.projected_token_mount(), SCOPE.high_availability_config()];
    webhooks.extend(seccomp.into_iter().chain(hints));
    webhooks.push(pod_topology_spread_constraints());
    configuration(values, MUTATING, &webhooks)
}

/// Webhooks that refuse requests. OPC-033.
pub(super) fn validating(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let mut webhooks = vec![crd_deletion_protection(), cr_deletion_protection()];
    webhooks.extend(extension_validation());
    configuration(values, VALIDATING, &webhooks)
}

fn configuration(
    values: &GardenValues<'_>,
    kind: &str,
    webhooks: &[ServedWebhook],
) -> Result<Value, RenderError> {
    let authority = values.secrets.bundle_base64(CA_RUNTIME)?;
    let client = |path: &str| {
        json!({
            "service": { "name": NAME, "namespace": NAMESPACE, "path": path },
            "caBundle": authority,
        })
    };
    let registrations: Vec<Value> = webhooks.iter().map(|webhook| webhook.registration(client)).collect();
    let labels = with(PROGRAM.app(), entries([(REMEDIATION_EXCLUDE, "true")]));
    Ok(json!({
        "apiVersion": REGISTRATIONS,
        "kind": kind,
        "metadata": cluster_metadata(NAME, &labels),
        "webhooks": registrations,
    }))
}

fn seccomp_profile() -> ServedWebhook {
    let name = "seccomp-profile";
    ServedWebhook::new(name, name, vec![new_pods()], SCOPE.namespaces())
        .of_objects(json!({ "matchExpressions": [absent(SECCOMP_SKIP), SCOPE.others()] }))
}

fn endpoint_slice_hints() -> ServedWebhook {
    let name = "endpoint-slice-hints";
    let rules = vec![rule("discovery.k8s.io", &["v1"], &["endpointslices"], CREATE_AND_UPDATE)];
    ServedWebhook::new(name, name, rules, SCOPE.namespaces())
        .of_objects(json!({ "matchLabels": { ENDPOINT_SLICE_HINTS_CONSIDER: "true" } }))
        .of_all_versions()
}

fn pod_topology_spread_constraints() -> ServedWebhook {
    let name = "pod-topology-spread-constraints";
    ServedWebhook::new(name, name, vec![new_pods()], SCOPE.namespaces())
        .of_objects(json!({ "matchExpressions": [SCOPE.others(), absent(TOPOLOGY_SPREAD_SKIP)] }))
}

fn crd_deletion_protection() -> ServedWebhook {
    let resources = ["customresourcedefinitions"];
    let rules = vec![rule("apiextensions.k8s.io", &["v1beta1", "v1"], &resources, DELETE)];
    ServedWebhook::new("crd-deletion-protection", "validate-crd-deletion", rules, json!({}))
        .of_objects(json!({ "matchLabels": { DELETION_PROTECTED: "true" } }))
}

fn cr_deletion_protection() -> ServedWebhook {
    let rules = vec![
        rule(druid::GROUP, &[druid::VERSION], &["etcds"], DELETE),
        rule(extensions::GROUP, &[extensions::VERSION], &EXTENSIONS.map(|(plural, _)| plural), DELETE),
    ];
    ServedWebhook::new("cr-deletion-protection", "validate-crd-deletion", rules, json!({}))
}

/// One webhook for each kind, by the alphabet.
fn extension_validation() -> Vec<ServedWebhook> {
    let of_extensions = EXTENSIONS.map(|(plural, singular)| {
        let path = format!("/validate-extensions-gardener-cloud-v1alpha1-{singular}");
        validation(extensions::GROUP, extensions::VERSION, plural, path)
    });
    let path = "/validate-druid-gardener-cloud-v1alpha1-etcd".to_owned();
    let of_etcds = validation(druid::GROUP, druid::VERSION, "etcds", path);
    let mut webhooks = Vec::from(of_extensions);
    webhooks.push(of_etcds);
    webhooks.sort_by(|one, other| one.name.cmp(&other.name));
    webhooks
}

fn validation(group: &str, version: &str, plural: &str, path: String) -> ServedWebhook {
    ServedWebhook {
        name: format!("validation.extensions.{plural}"),
        path,
        rules: vec![rule(group, &[version], &[plural], CREATE_AND_UPDATE)],
        namespaces: json!({}),
        objects: None,
        match_policy: "Exact",
    }
}
