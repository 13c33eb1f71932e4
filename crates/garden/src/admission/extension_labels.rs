//! ExtensionLabels: labels that name the extensions that an object needs.

use std::collections::BTreeSet;

use api::garden::{ControllerRegistration, Seed, Shoot};
use schema::admission_plugins;
use serde_json::Value;
use webhook::object;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::lookup::{BACKUP_BUCKETS, CONTROLLER_REGISTRATIONS, spec_text};
use super::{Admit, Attributes, Plugin, messages};
use crate::webhooks::reading;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::EXTENSION_LABELS,
    is_on_by_default: true,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};

const EXTENSION: &str = "extensions.extensions.gardener.cloud/";
const PROVIDER: &str = "provider.extensions.gardener.cloud/";
const DNS_RECORD: &str = "dnsrecord.extensions.gardener.cloud/";
const NETWORKING: &str = "networking.extensions.gardener.cloud/";
const OPERATING_SYSTEM: &str = "operatingsystemconfig.extensions.gardener.cloud/";
const CONTAINER_RUNTIME: &str = "containerruntime.extensions.gardener.cloud/";
const PREFIXES: [&str; 6] =
    [EXTENSION, PROVIDER, DNS_RECORD, NETWORKING, OPERATING_SYSTEM, CONTAINER_RUNTIME];
/// The type of DNS providers that nobody manages.
const UNMANAGED: &str = "unmanaged";

/// Replaces all labels of extensions, whatever subresource is written: GPL-EXTLAB-001, GPL-EXTLAB-003.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    let is_labelled = matches!(
        attributes.kind,
        "Seed" | "SecretBinding" | "Shoot" | "CloudProfile" | "BackupBucket" | "BackupEntry"
    );
    if !is_labelled || !matches!(attributes.operation, Operation::Create | Operation::Update) {
        return Ok(());
    }
    let from = if attributes.kind.starts_with("Backup") { "object" } else { "resource" };
    let object =
        messages::given(object, &format!("could not convert {from} into {} object", attributes.kind))?;
    let wanted = labels(attributes, object)?;
    replace(object, &wanted)
}

fn labels(attributes: &Attributes<'_>, object: &Value) -> Result<BTreeSet<String>, Rejection> {
    let provider = |type_: &str| BTreeSet::from([format!("{PROVIDER}{type_}")]);
    Ok(match attributes.kind {
        "Seed" => of_seed(&reading::read("Seed", object)?),
        "SecretBinding" => match object::get(object, &["provider"])? {
            Some(_) => {
                let types = object::text(object, &["provider", "type"])?.split(',');
                types.map(|type_| format!("{PROVIDER}{type_}")).collect()
            }
            None => BTreeSet::new(),
        },
        "Shoot" => of_shoot(&reading::read("Shoot", object)?, &registrations(attributes)?),
        "CloudProfile" => provider(spec_text(object, "type")?),
        "BackupEntry" => {
            let bucket = BACKUP_BUCKETS.get(attributes.objects, "", spec_text(object, "bucketName")?);
            let bucket = bucket.map_err(|missing| messages::internal(missing.message))?;
            provider(object::text(&bucket, &["spec", "provider", "type"])?)
        }
        _ => provider(object::text(object, &["spec", "provider", "type"])?),
    })
}

fn registrations(attributes: &Attributes<'_>) -> Result<Vec<ControllerRegistration>, Rejection> {
    let listed = attributes.objects.list(CONTROLLER_REGISTRATIONS);
    listed.iter().map(|object| reading::read("ControllerRegistration", object)).collect()
}

fn of_seed(seed: &Seed) -> BTreeSet<String> {
    let spec = &seed.spec;
    let mut labels = BTreeSet::from([format!("{PROVIDER}{}", spec.provider.type_)]);
    labels.extend(spec.backup.iter().map(|backup| format!("{PROVIDER}{}", backup.provider)));
    labels.extend(spec.dns.provider.iter().map(|provider| format!("{DNS_RECORD}{}", provider.type_)));
    labels
}

fn of_shoot(shoot: &Shoot, registrations: &[ControllerRegistration]) -> BTreeSet<String> {
    let spec = &shoot.spec;
    let mut labels = BTreeSet::from([format!("{PROVIDER}{}", spec.provider.type_)]);
    labels.extend(extensions(shoot, registrations).into_iter().map(|type_| format!("{EXTENSION}{type_}")));
    for worker in &spec.provider.workers {
        let runtimes = worker.cri.iter().flat_map(|cri| &cri.container_runtimes);
        labels.extend(runtimes.map(|runtime| format!("{CONTAINER_RUNTIME}{}", runtime.type_)));
        labels.extend(worker.machine.image.iter().map(|image| format!("{OPERATING_SYSTEM}{}", image.name)));
    }
    let providers = spec.dns.iter().flat_map(|dns| &dns.providers);
    let types = providers.filter_map(|provider| provider.type_.as_ref()).filter(|type_| *type_ != UNMANAGED);
    labels.extend(types.map(|type_| format!("{DNS_RECORD}{type_}")));
    let network = spec.networking.as_ref().and_then(|networking| networking.type_.as_ref());
    labels.extend(network.map(|type_| format!("{NETWORKING}{type_}")));
    labels
}

/// The types that are enabled for all Shoots, and those that the Shoot lists, in the list's order: GPL-EXTLAB-002.
fn extensions(shoot: &Shoot, registrations: &[ControllerRegistration]) -> BTreeSet<String> {
    let workerless = shoot.spec.provider.workers.is_empty();
    let resources = registrations.iter().flat_map(|registration| &registration.spec.resources);
    let global = resources.filter(|resource| {
        resource.kind == "Extension"
            && resource.globally_enabled == Some(true)
            && (!workerless || resource.workerless_supported == Some(true))
    });
    let mut types: BTreeSet<String> = global.map(|resource| resource.type_.clone()).collect();
    for extension in &shoot.spec.extensions {
        if extension.disabled == Some(true) {
            types.remove(&extension.type_);
        } else {
            types.insert(extension.type_.clone());
        }
    }
    types
}

fn replace(object: &mut Value, wanted: &BTreeSet<String>) -> Result<(), Rejection> {
    if object::map(object, &["metadata", "labels"])?.is_none() && wanted.is_empty() {
        return Ok(());
    }
    let labels = object::map_mut(object, &["metadata", "labels"])?;
    labels.retain(|key, _| !PREFIXES.iter().any(|prefix| key.starts_with(prefix)));
    labels.extend(wanted.iter().map(|key| (key.clone(), "true".into())));
    if labels.is_empty() {
        object::map_mut(object, &["metadata"])?.remove("labels");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::testing::TestGarden;

    fn garden() -> TestGarden {
        let resource = |type_: &str, more: Value| {
            let mut resource = json!({"kind": "Extension", "type": type_});
            resource.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            resource
        };
        TestGarden::default()
            .with(CONTROLLER_REGISTRATIONS, json!({"metadata": {"name": "a"}, "spec": {"resources": [
                resource("x", json!({"globallyEnabled": true})),
                resource("y", json!({"globallyEnabled": true, "workerlessSupported": true, "primary": false})),
                resource("z", json!({})),
                {"kind": "Network", "type": "n", "globallyEnabled": true},
            ]}}))
            .with(BACKUP_BUCKETS.resource, json!({"metadata": {"name": "b"}, "spec": {"provider": {"type": "gcp"}}}))
    }

    fn labelled(kind: &str, mut object: Value) -> Result<Vec<String>, String> {
        let garden = garden();
        let given = object.clone();
        let attributes = garden.attributes(Operation::Update, kind, &given);
        admit(&attributes, Some(&mut object)).map_err(|rejection| rejection.message)?;
        let labels = object["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        Ok(labels.into_iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap())).collect())
    }

    #[rstest]
    #[case("Seed",
        json!({"provider": {"type": "aws"}, "backup": {"provider": "gcp"}, "dns": {"provider": {"type": "r"}}}),
        &["dnsrecord.extensions.gardener.cloud/r", "provider.extensions.gardener.cloud/aws",
            "provider.extensions.gardener.cloud/gcp"])]
    #[case("Seed", json!({"provider": {"type": "aws"}}), &["provider.extensions.gardener.cloud/aws"])]
    #[case("CloudProfile", json!({"type": "aws"}), &["provider.extensions.gardener.cloud/aws"])]
    #[case("BackupBucket", json!({"provider": {"type": "aws"}}), &["provider.extensions.gardener.cloud/aws"])]
    #[case("BackupEntry", json!({"bucketName": "b"}), &["provider.extensions.gardener.cloud/gcp"])]
    #[case("Shoot", json!({"provider": {"type": "aws"}}),
        &["extensions.extensions.gardener.cloud/y", "provider.extensions.gardener.cloud/aws"])]
    #[case("Shoot", json!({
        "provider": {"type": "aws", "workers": [
            {"name": "w", "machine": {"image": {"name": "linux"}}, "cri": {"containerRuntimes": [{"type": "gvisor"}]}},
            {"name": "v", "machine": {}},
        ]},
        "extensions": [{"type": "x", "disabled": true}, {"type": "z"}],
        "dns": {"providers": [{"type": "r"}, {"type": "unmanaged"}, {}]},
        "networking": {"type": "calico"},
    }), &[
        "containerruntime.extensions.gardener.cloud/gvisor", "dnsrecord.extensions.gardener.cloud/r",
        "extensions.extensions.gardener.cloud/y", "extensions.extensions.gardener.cloud/z",
        "networking.extensions.gardener.cloud/calico", "operatingsystemconfig.extensions.gardener.cloud/linux",
        "provider.extensions.gardener.cloud/aws",
    ])]
    #[case("Shoot",
        json!({"provider": {"type": "aws", "workers": [{"name": "v"}]},
        "extensions": [{"type": "y", "disabled": true}]}),
        &["extensions.extensions.gardener.cloud/x", "provider.extensions.gardener.cloud/aws"])]
    fn labels_are_computed_anew(#[case] kind: &str, #[case] spec: Value, #[case] want: &[&str]) {
        let given = json!({"provider.extensions.gardener.cloud/mine": "true", "a": "b"});
        let object = json!({"metadata": {"name": "o", "labels": given}, "spec": spec});
        let want: Vec<String> =
            ["a=b".to_owned()].into_iter().chain(want.iter().map(|key| format!("{key}=true"))).collect();
        assert_eq!(labelled(kind, object), Ok(want));
    }

    #[rstest]
    #[case(json!({"type": "aws, gcp"}),
        &["provider.extensions.gardener.cloud/ gcp=true", "provider.extensions.gardener.cloud/aws=true"])]
    #[case(Value::Null, &[])]
    fn a_secret_binding_names_its_providers(#[case] provider: Value, #[case] want: &[&str]) {
        let labels = json!({"provider.extensions.gardener.cloud/mine": "true"});
        let object =
            json!({"metadata": {"name": "o", "namespace": "n", "labels": labels}, "provider": provider});
        assert_eq!(labelled("SecretBinding", object), Ok(want.iter().map(ToString::to_string).collect()));
    }

    /// GPL-EXTLAB-004.
    #[test]
    fn a_backup_entry_needs_its_bucket() {
        let object = json!({"metadata": {"name": "o", "namespace": "n"}, "spec": {"bucketName": "x"}});
        let why = "Internal error occurred: backupbucket.core.gardener.cloud \"x\" not found";
        assert_eq!(labelled("BackupEntry", object), Err(why.to_owned()));
    }
}
