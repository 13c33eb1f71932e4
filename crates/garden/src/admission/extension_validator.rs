//! ExtensionValidator: what an object needs must be registered by a ControllerRegistration.

use std::collections::{BTreeMap, BTreeSet};

use api::garden::seed::SeedSpec;
use api::garden::shoot::ShootSpec;
use api::garden::{BackupBucket, BackupEntry, ControllerRegistration, Seed, Shoot};
use schema::admission_plugins;
use serde::de::DeserializeOwned;
use serde_json::Value;
use webhook::field::quote;
use webhook::object;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::lookup::{BACKUP_BUCKETS, CONTROLLER_REGISTRATIONS};
use super::{Attributes, Plugin, Validate, messages};
use crate::webhooks::reading;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::EXTENSION_VALIDATOR,
    is_on_by_default: true,
    admit: None,
    validate: Some(Validate::Plain(validate)),
};

const EXTENSION: &str = "Extension";

/// The types that ControllerRegistrations offer.
#[derive(Debug, Default)]
struct Registered {
    /// The types of each kind that have a primary extension: GPL-EXTVAL-002.
    primary: BTreeMap<String, BTreeSet<String>>,
    /// The types of extensions that Shoots without workers may have.
    workerless: BTreeSet<String>,
}

/// An extension that an object needs, and the part of the message that says where.
struct Needed {
    kind: &'static str,
    type_: String,
    place: String,
}

/// Refuses new objects, and changes of the spec, that need what nobody registered: GPL-EXTVAL-001, GPL-EXTVAL-003.
fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection> {
    if !matches!(attributes.kind, "BackupBucket" | "BackupEntry" | "Seed" | "Shoot")
        || !matches!(attributes.operation, Operation::Create | Operation::Update)
    {
        return Ok(());
    }
    let object =
        messages::given(object, &format!("could not convert object into {} object", attributes.kind))?;
    let registered = Registered::of(attributes)?;
    let missing = match attributes.kind {
        "BackupBucket" => {
            let Some(bucket) =
                changed::<BackupBucket, _>(attributes, object, |old, new| old.spec == new.spec)?
            else {
                return Ok(());
            };
            let place = "given BackupBucket uses non-registered provider type: spec.provider.type";
            registered.missing("BackupBucket", &bucket.spec.provider.type_, place)
        }
        "BackupEntry" => {
            let Some(entry) = changed::<BackupEntry, _>(attributes, object, |old, new| old.spec == new.spec)?
            else {
                return Ok(());
            };
            // GPL-EXTVAL-007: this error stays a 404.
            let bucket = BACKUP_BUCKETS.get(attributes.objects, "", &entry.spec.bucket_name)?;
            let place =
                "given BackupEntry references bucket (spec.bucketName) using non-registered provider type";
            registered.missing("BackupEntry", object::text(&bucket, &["spec", "provider", "type"])?, place)
        }
        "Seed" => match changed::<Seed, _>(attributes, object, |old, new| old.spec == new.spec)? {
            Some(seed) => listed(&registered.all_missing(&of_seed(&seed.spec))),
            None => None,
        },
        _ => match changed::<Shoot, _>(attributes, object, |old, new| old.spec == new.spec)? {
            Some(shoot) => listed(&registered.missing_for_shoot(&shoot.spec)),
            None => None,
        },
    };
    missing.map_or(Ok(()), |why| Err(messages::forbidden(attributes, Some(object), why)))
}

/// The object, unless its spec is that of the old one, or that of an empty one.
fn changed<T: DeserializeOwned + Default, F: Fn(&T, &T) -> bool>(
    attributes: &Attributes<'_>,
    object: &Value,
    is_same: F,
) -> Result<Option<T>, Rejection> {
    let old: Option<T> = attributes.old.map(|old| reading::read(attributes.kind, old)).transpose()?;
    let new: T = reading::read(attributes.kind, object)?;
    Ok((!is_same(&old.unwrap_or_default(), &new)).then_some(new))
}

fn listed(errors: &[String]) -> Option<String> {
    (!errors.is_empty()).then(|| messages::listed(errors))
}

impl Registered {
    fn of(attributes: &Attributes<'_>) -> Result<Self, Rejection> {
        let mut registered = Self::default();
        for object in attributes.objects.list(CONTROLLER_REGISTRATIONS) {
            let registration: ControllerRegistration = reading::read("ControllerRegistration", &object)?;
            for resource in registration.spec.resources {
                if resource.kind == EXTENSION && resource.workerless_supported == Some(true) {
                    registered.workerless.insert(resource.type_.clone());
                }
                if resource.primary != Some(false) {
                    registered.primary.entry(resource.kind).or_default().insert(resource.type_);
                }
            }
        }
        Ok(registered)
    }

    /// As in the original, every message speaks of a Shoot first: GPL-EXTVAL-004.
    fn missing(&self, kind: &str, type_: &str, place: &str) -> Option<String> {
        let is_there = self.primary.get(kind).is_some_and(|types| types.contains(type_));
        (!is_there).then(|| format!("given Shoot uses non-registered {place} ({})", quote(type_)))
    }

    fn all_missing(&self, needed: &[Needed]) -> Vec<String> {
        needed.iter().filter_map(|needed| self.missing(needed.kind, &needed.type_, &needed.place)).collect()
    }

    /// GPL-EXTVAL-005.
    fn missing_for_shoot(&self, spec: &ShootSpec) -> Vec<String> {
        let needed = of_shoot(spec);
        let mut errors = self.all_missing(&needed);
        if spec.provider.workers.is_empty() {
            let extensions = needed.iter().filter(|needed| needed.kind == EXTENSION);
            let unsupported = extensions.filter(|needed| !self.workerless.contains(&needed.type_));
            errors.extend(unsupported.map(|Needed { type_, place, .. }| {
                format!("given Shoot is workerless and uses non-supported {place} ({})", quote(type_))
            }));
        }
        errors
    }
}

fn of_seed(spec: &SeedSpec) -> Vec<Needed> {
    let needed = |kind, type_: &str, place: &str| Needed {
        kind,
        type_: type_.to_owned(),
        place: format!("given Seed uses non-registered {place}"),
    };
    let mut all = vec![needed("ControlPlane", &spec.provider.type_, "provider type: spec.provider.type")];
    if let Some(backup) = &spec.backup {
        let place = "backup provider type: spec.backup.provider";
        all.extend(["BackupBucket", "BackupEntry"].map(|kind| needed(kind, &backup.provider, place)));
    }
    if let (Some(_), Some(provider)) = (&spec.ingress, &spec.dns.provider) {
        all.push(needed("DNSRecord", &provider.type_, "extension type: spec.dns.provider.type"));
    }
    all
}

/// What a Shoot needs, in the original's order; of DNS only what its primary provider needs: GPL-EXTVAL-006.
fn of_shoot(spec: &ShootSpec) -> Vec<Needed> {
    let mut all = Vec::new();
    let mut need = |kind, type_: &str, place: String| {
        all.push(Needed { kind, type_: type_.to_owned(), place });
    };
    let uses = |place: &str| format!("given Shoot uses non-registered {place}");
    let workers = &spec.provider.workers;
    if !workers.is_empty() {
        for kind in ["ControlPlane", "Infrastructure", "Worker"] {
            need(kind, &spec.provider.type_, uses("provider type: spec.provider.type"));
        }
        let network = spec.networking.as_ref().and_then(|networking| networking.type_.as_ref());
        if let Some(type_) = network {
            need("Network", type_, uses("networking type: spec.networking.type"));
        }
    }
    for (index, provider) in spec.dns.iter().flat_map(|dns| &dns.providers).enumerate() {
        let type_ = provider.type_.as_ref().filter(|type_| *type_ != "unmanaged");
        if let Some(type_) = type_.filter(|_| provider.primary == Some(true)) {
            need("DNSRecord", type_, uses(&format!("extension type: spec.dns.providers[{index}].type")));
        }
    }
    for (index, extension) in spec.extensions.iter().enumerate() {
        need(EXTENSION, &extension.type_, format!("extension type: spec.extensions[{index}].type"));
    }
    for (index, worker) in workers.iter().enumerate() {
        let at = format!("spec.provider.workers[{index}]");
        for (number, runtime) in worker.cri.iter().flat_map(|cri| &cri.container_runtimes).enumerate() {
            let place = format!("container runtime type: {at}.cri.containerRuntimes[{number}].type");
            need("ContainerRuntime", &runtime.type_, uses(&place));
        }
        if let Some(image) = &worker.machine.image {
            let place = format!("operating system type: {at}.machine.image.name");
            need("OperatingSystemConfig", &image.name, uses(&place));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::testing::TestGarden;

    fn garden(resources: &Value) -> TestGarden {
        TestGarden::default()
            .with(
                CONTROLLER_REGISTRATIONS,
                json!({"metadata": {"name": "a"}, "spec": {"resources": resources}}),
            )
            .with(
                BACKUP_BUCKETS.resource,
                json!({"metadata": {"name": "b"}, "spec": {"provider": {"type": "gcp"}}}),
            )
    }

    fn refusal(garden: &TestGarden, kind: &str, old: Option<&Value>, spec: &Value) -> Option<(u16, String)> {
        let object = json!({"metadata": {"name": "o"}, "spec": spec});
        let operation = if old.is_some() { Operation::Update } else { Operation::Create };
        let old = old.map(|spec| json!({"metadata": {"name": "o"}, "spec": spec}));
        let attributes = Attributes { old: old.as_ref(), ..garden.attributes(operation, kind, &object) };
        validate(&attributes, Some(&object)).err().map(|rejection| (rejection.code, rejection.message))
    }

    const SHOOT: &str = "shoots.core.gardener.cloud \"o\" is forbidden: ";
    const SEED: &str = "seeds.core.gardener.cloud \"o\" is forbidden: ";
    const TWICE: &str = "given Shoot uses non-registered given Shoot uses non-registered";

    #[rstest]
    #[case::bucket("BackupBucket", json!({"provider": {"type": "x"}}),
        "backupbuckets.core.gardener.cloud \"o\" is forbidden: given Shoot uses non-registered given BackupBucket uses \
         non-registered provider type: spec.provider.type (\"x\")".to_owned())]
    #[case::entry("BackupEntry", json!({"bucketName": "b"}),
        "backupentries.core.gardener.cloud \"o\" is forbidden: given Shoot uses non-registered given BackupEntry references \
         bucket (spec.bucketName) using non-registered provider type (\"gcp\")".to_owned())]
    #[case::seed("Seed", json!({
        "provider": {"type": "x"}, "backup": {"provider": "y"}, "ingress": {"domain": "d"},
            "dns": {"provider": {"type": "z"}},
    }), format!("{SEED}4 errors occurred:\n\t\
        * given Shoot uses non-registered given Seed uses non-registered provider type: spec.provider.type (\"x\")\n\t\
        * given Shoot uses non-registered given Seed uses non-registered backup provider type: spec.backup.provider (\"y\")\n\t\
        * given Shoot uses non-registered given Seed uses non-registered backup provider type: spec.backup.provider (\"y\")\n\t\
        * given Shoot uses non-registered given Seed uses non-registered extension type: spec.dns.provider.type (\"z\")\n\n"))]
    #[case::shoot("Shoot", json!({
        "provider": {"type": "p",
            "workers": [{"name": "w", "machine": {"image": {"name": "i"}},
            "cri": {"containerRuntimes": [{"type": "c"}]}}]},
        "networking": {"type": "n"},
        "dns": {"providers": [{"type": "a"}, {"type": "unmanaged", "primary": true}, {"type": "d", "primary": true}]},
        "extensions": [{"type": "e", "disabled": true}],
    }), format!("{SHOOT}8 errors occurred:\n\t\
        * {TWICE} provider type: spec.provider.type (\"p\")\n\t\
        * {TWICE} provider type: spec.provider.type (\"p\")\n\t\
        * {TWICE} provider type: spec.provider.type (\"p\")\n\t\
        * {TWICE} networking type: spec.networking.type (\"n\")\n\t\
        * {TWICE} extension type: spec.dns.providers[2].type (\"d\")\n\t\
        * given Shoot uses non-registered extension type: spec.extensions[0].type (\"e\")\n\t\
        * {TWICE} container runtime type: spec.provider.workers[0].cri.containerRuntimes[0].type (\"c\")\n\t\
        * {TWICE} operating system type: spec.provider.workers[0].machine.image.name (\"i\")\n\n"))]
    #[case::workerless("Shoot",
        json!({"provider": {"type": "p"}, "networking": {"type": "n"}, "extensions": [{"type": "e"}]}),
        format!("{SHOOT}2 errors occurred:\n\t\
        * given Shoot uses non-registered extension type: spec.extensions[0].type (\"e\")\n\t\
        * given Shoot is workerless and uses non-supported extension type: spec.extensions[0].type (\"e\")\n\n"))]
    fn what_is_not_registered_is_refused(#[case] kind: &str, #[case] spec: Value, #[case] want: String) {
        let garden = garden(&json!([
            {"kind": "ControlPlane", "type": "other"}, {"kind": "ControlPlane", "type": "p", "primary": false},
        ]));
        assert_eq!(refusal(&garden, kind, None, &spec), Some((403, want)));
        assert_eq!(refusal(&garden, kind, Some(&spec), &spec), None);
        let mut changed = spec.clone();
        changed["seedName"] = json!("s");
        changed["region"] = json!("s");
        changed["volume"] = json!({"minimumSize": "1Gi"});
        assert!(refusal(&garden, kind, Some(&changed), &spec).is_some());
    }

    #[test]
    fn what_is_registered_is_accepted() {
        let resource = |kind: &str| json!({"kind": kind, "type": "p", "workerlessSupported": true});
        let kinds = [
            "ControlPlane",
            "Infrastructure",
            "Worker",
            "Network",
            "DNSRecord",
            "Extension",
            "BackupBucket",
            "BackupEntry",
        ];
        let garden = garden(&kinds.map(resource).to_vec().into());
        let extension = json!([{"type": "p"}]);
        let with_workers = json!({"provider": {"type": "p", "workers": [{"name": "w"}]}, "networking": {"type": "p"},
            "extensions": extension});
        assert_eq!(refusal(&garden, "Shoot", None, &with_workers), None);
        let workerless = json!({"provider": {"type": "none"}, "extensions": extension});
        assert_eq!(refusal(&garden, "Shoot", None, &workerless), None);
        let seed = json!({"provider": {"type": "p"}, "backup": {"provider": "p"},
            "dns": {"provider": {"type": "none"}}});
        assert_eq!(refusal(&garden, "Seed", None, &seed), None);
    }

    #[test]
    fn a_backup_entry_without_bucket_is_not_found() {
        let missing = refusal(&garden(&json!([])), "BackupEntry", None, &json!({"bucketName": "x"}));
        assert_eq!(missing, Some((404, "backupbucket.core.gardener.cloud \"x\" not found".to_owned())));
    }
}
