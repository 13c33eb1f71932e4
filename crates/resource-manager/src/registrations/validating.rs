//! The webhooks of the ValidatingWebhookConfiguration.

use api::gardener::DELETION_PROTECTED;
use formats::selector::LabelSelector;
use webhook::registration::Registration;

use super::selectors::labelled;
use super::{Address, rule};
use crate::config::WebhooksConfiguration;

const DELETION_PATH: &str = "/webhooks/validate-crd-deletion";
const DRUID: &str = "druid.gardener.cloud";
const EXTENSIONS: &str = "extensions.gardener.cloud";
const VERSION: &[&str] = &["v1alpha1"];

/// Validated resources, with their group and kind in lower case.
const VALIDATED: [(&str, &str, &str); 12] = [
    ("backupbuckets", EXTENSIONS, "backupbucket"),
    ("backupentries", EXTENSIONS, "backupentry"),
    ("bastions", EXTENSIONS, "bastion"),
    ("containerruntimes", EXTENSIONS, "containerruntime"),
    ("controlplanes", EXTENSIONS, "controlplane"),
    ("dnsrecords", EXTENSIONS, "dnsrecord"),
    ("etcds", DRUID, "etcd"),
    ("extensions", EXTENSIONS, "extension"),
    ("infrastructures", EXTENSIONS, "infrastructure"),
    ("networks", EXTENSIONS, "network"),
    ("operatingsystemconfigs", EXTENSIONS, "operatingsystemconfig"),
    ("workers", EXTENSIONS, "worker"),
];

/// The enabled webhooks, in gardenlet's order. GRM-CDP-023, GRM-EXV-321.
pub(super) fn webhooks(config: &WebhooksConfiguration, address: &Address<'_>) -> Vec<Registration> {
    let mut webhooks = Vec::new();
    if config.crd_deletion_protection.enabled {
        webhooks.extend([definitions(address), custom_resources(address)]);
    }
    if config.extension_validation.enabled {
        webhooks.extend(VALIDATED.map(|(plural, group, kind)| validation(address, plural, group, kind)));
    }
    webhooks
}

fn definitions(address: &Address<'_>) -> Registration {
    let versions = &["v1beta1", "v1"];
    let rules = vec![rule("apiextensions.k8s.io", versions, &["customresourcedefinitions"], &["DELETE"])];
    let name = "crd-deletion-protection.resources.gardener.cloud".to_owned();
    Registration {
        namespace_selector: Some(LabelSelector::default()),
        object_selector: Some(labelled(DELETION_PROTECTED, "true")),
        ..address.registration(name, DELETION_PATH, rules)
    }
}

/// Like the original, this includes bastions although their deletion needs no confirmation.
fn custom_resources(address: &Address<'_>) -> Registration {
    let extensions: Vec<&str> =
        VALIDATED.iter().filter(|(_, group, _)| *group == EXTENSIONS).map(|(plural, ..)| *plural).collect();
    let rules = vec![
        rule(DRUID, VERSION, &["etcds"], &["DELETE"]),
        rule(EXTENSIONS, VERSION, &extensions, &["DELETE"]),
    ];
    let name = "cr-deletion-protection.resources.gardener.cloud".to_owned();
    Registration {
        namespace_selector: Some(LabelSelector::default()),
        ..address.registration(name, DELETION_PATH, rules)
    }
}

fn validation(address: &Address<'_>, plural: &str, group: &str, kind: &str) -> Registration {
    let path = format!("/validate-{}-v1alpha1-{kind}", group.replace('.', "-"));
    let rules = vec![rule(group, VERSION, &[plural], &["CREATE", "UPDATE"])];
    let name = format!("validation.extensions.{plural}.resources.gardener.cloud");
    Registration {
        namespace_selector: Some(LabelSelector::default()),
        ..address.registration(name, &path, rules)
    }
}
