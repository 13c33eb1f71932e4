//! What no contract covers: names, addresses, order, and fields other than rules and selectors.

use controller::config::Configuration as _;
use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::config::ResourceManagerConfiguration;

fn all() -> ResourceManagerConfiguration {
    let on = json!({"enabled": true});
    ResourceManagerConfiguration::from_partial(&json!({
        "leaderElection": {"resourceName": "virtual-garden-gardener-resource-manager", "resourceNamespace": "shoot--a"},
        "controllers": {"tokenInvalidator": on},
        "webhooks": {
            "crdDeletionProtection": on, "endpointSliceHints": on, "extensionValidation": on,
            "highAvailabilityConfig": on, "kubernetesServiceHost": on, "systemComponentsConfig": on,
            "podSchedulerName": on, "podTopologySpreadConstraints": on, "projectedTokenMount": on,
            "seccompProfile": on, "tokenInvalidator": on,
        },
    }))
    .unwrap()
}

fn seccomp(instance: Instance) -> Value {
    let config = ResourceManagerConfiguration::from_partial(
        &json!({"webhooks": {"seccompProfile": {"enabled": true}}}),
    )
    .unwrap();
    let mut objects = objects(&config, instance, Some("Q0E="));
    assert_eq!(objects.len(), 1, "a configuration without webhooks is left out");
    objects.remove(0)
}

fn common(purposes: &str) -> Value {
    json!({
        "name": "seccomp-profile.resources.gardener.cloud",
        "admissionReviewVersions": ["v1beta1", "v1"],
        "failurePolicy": "Fail", "matchPolicy": "Exact", "sideEffects": "None", "timeoutSeconds": 10,
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}],
        "namespaceSelector": {"matchExpressions": [{
            "key": "gardener.cloud/purpose", "operator": purposes, "values": ["kube-system", "kubernetes-dashboard"],
        }]},
        "objectSelector": {"matchExpressions": [
            {"key": "seccompprofile.resources.gardener.cloud/skip", "operator": "DoesNotExist"},
            {"key": "app", "operator": "NotIn", "values": ["gardener-resource-manager"]},
        ]},
    })
}

#[test]
fn a_seed_is_called_by_service_and_excluded_from_the_shoot_care_controller() {
    let mut webhook = common("NotIn");
    webhook["clientConfig"] = json!({
        "service": {"name": "gardener-resource-manager", "namespace": "garden", "path": "/webhooks/seccomp-profile"},
        "caBundle": "Q0E=",
    });
    let want = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {
            "name": "gardener-resource-manager",
            "labels": {
                "app": "gardener-resource-manager", "remediation.webhook.shoot.gardener.cloud/exclude": "true",
            },
        },
        "webhooks": [webhook],
    });
    assert_eq!(without_nulls(seccomp(Instance::Seed)), want);
}

#[test]
fn a_shoot_is_called_by_url() {
    let mut webhook = common("In");
    webhook["clientConfig"] = json!({
        "url": "https://gardener-resource-manager.garden:443/webhooks/seccomp-profile", "caBundle": "Q0E=",
    });
    let want = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "gardener-resource-manager-shoot", "labels": {"app": "gardener-resource-manager"}},
        "webhooks": [webhook],
    });
    assert_eq!(without_nulls(seccomp(Instance::Shoot)), want);
}

#[test]
fn webhooks_have_gardenlets_order_names_and_paths() {
    let written: Vec<String> = registrations(&all(), Instance::Seed, None)
        .iter()
        .flat_map(|configuration| &configuration.webhooks)
        .map(|webhook| {
            let service = webhook.client_config.service.as_ref().unwrap();
            assert_eq!(
                (service.name.as_str(), service.namespace.as_str()),
                ("virtual-garden-gardener-resource-manager", "shoot--a",)
            );
            format!(
                "{} {}",
                webhook.name.replace(".resources.gardener.cloud", ""),
                service.path.as_ref().unwrap()
            )
        })
        .collect();
    let kinds = [
        ("backupbuckets", "extensions", "backupbucket"),
        ("backupentries", "extensions", "backupentry"),
        ("bastions", "extensions", "bastion"),
        ("containerruntimes", "extensions", "containerruntime"),
        ("controlplanes", "extensions", "controlplane"),
        ("dnsrecords", "extensions", "dnsrecord"),
        ("etcds", "druid", "etcd"),
        ("extensions", "extensions", "extension"),
        ("infrastructures", "extensions", "infrastructure"),
        ("networks", "extensions", "network"),
        ("operatingsystemconfigs", "extensions", "operatingsystemconfig"),
        ("workers", "extensions", "worker"),
    ];
    let validations = kinds.map(|(plural, group, kind)| {
        format!("validation.extensions.{plural} /validate-{group}-gardener-cloud-v1alpha1-{kind}")
    });
    let others = [
        "token-invalidator /webhooks/invalidate-service-account-token-secret",
        "projected-token-mount /webhooks/mount-projected-service-account-token",
        "high-availability-config /webhooks/high-availability-config",
        "pod-scheduler-name /webhooks/default-pod-scheduler-name",
        "seccomp-profile /webhooks/seccomp-profile",
        "kubernetes-service-host /webhooks/kubernetes-service-host",
        "system-components-config /webhooks/system-components-config",
        "endpoint-slice-hints /webhooks/endpoint-slice-hints",
        "pod-topology-spread-constraints /webhooks/pod-topology-spread-constraints",
        "crd-deletion-protection /webhooks/validate-crd-deletion",
        "cr-deletion-protection /webhooks/validate-crd-deletion",
    ];
    assert_eq!(written, [&others.map(ToOwned::to_owned)[..], &validations[..]].concat());
}

#[tokio::test]
async fn everything_that_is_registered_is_served() {
    let config = all();
    let client = kube::Client::new(apiserver::ApiServer::builder().build(), "default");
    let clients = crate::serving::Clients { source: client.clone(), target: client };
    let webhooks = crate::serving::webhooks(&config, &clients);
    let served: BTreeSet<String> = webhooks.service.routes().map(|route| route.path.clone()).collect();
    let registered: BTreeSet<String> = registrations(&config, Instance::Seed, None)
        .into_iter()
        .flat_map(|configuration| configuration.webhooks)
        .filter_map(|webhook| webhook.client_config.service?.path)
        .collect();
    assert_eq!(registered, served);
}

fn without_nulls(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            for field in fields.values_mut() {
                *field = without_nulls(field.take());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_nulls(item.take())),
        _ => {}
    }
    value
}
