//! Kinds and types of extension resources that a Seed needs, such as `Worker/aws`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use api::garden::{BackupBucket, BackupEntry, ControllerRegistration, Seed, Shoot};
use kube::ResourceExt as _;

use super::State;
use super::domains::Domains;

/// Provider of unmanaged DNS records.
const UNMANAGED: &str = "unmanaged";

/// Kinds and types, as `Kind/type`.
pub(super) type Ids = BTreeSet<String>;

/// Everything that a Seed needs.
pub(super) fn all(state: &State) -> Ids {
    let mut ids = of_backups(&state.buckets, &state.entries);
    for shoot in &state.shoots {
        ids.extend(of_shoot(shoot, &state.seed, &state.registrations, &state.domains));
    }
    ids.extend(of_seed(&state.seed));
    ids
}

fn id(kind: &str, type_: &str) -> String {
    format!("{kind}/{type_}")
}

/// GCM-CRS-010, GCM-CRS-011.
fn of_backups(buckets: &[Arc<BackupBucket>], entries: &[BackupEntry]) -> Ids {
    let providers: BTreeMap<String, &str> =
        buckets.iter().map(|bucket| (bucket.name_any(), &*bucket.spec.provider.type_)).collect();
    let of_entries = entries.iter().filter_map(|entry| {
        let provider = providers.get(&entry.spec.bucket_name);
        if provider.is_none() {
            tracing::error!(
                entry = entry.name_any(),
                "BackupBucket {:?} of BackupEntry not found",
                entry.spec.bucket_name
            );
        }
        provider.map(|provider| id("BackupEntry", provider))
    });
    providers.values().map(|provider| id("BackupBucket", provider)).chain(of_entries).collect()
}

/// GCM-CRS-012 to -016, GCM-CRS-020.
fn of_shoot(
    shoot: &Shoot,
    seed: &Seed,
    registrations: &BTreeMap<String, Arc<ControllerRegistration>>,
    domains: &Domains,
) -> Ids {
    let mut ids = Ids::from([id("ControlPlane", &seed.spec.provider.type_)]);
    if let Some(backup) = &seed.spec.backup {
        ids.extend(["BackupBucket", "BackupEntry"].map(|kind| id(kind, &backup.provider)));
    }
    ids.extend(of_workers(shoot));
    let (disabled, enabled): (Vec<_>, Vec<_>) =
        shoot.spec.extensions.iter().partition(|extension| extension.disabled == Some(true));
    ids.extend(enabled.iter().map(|extension| id("Extension", &extension.type_)));
    let is_disabled = |type_: &str| disabled.iter().any(|extension| extension.type_ == type_);
    let resources = registrations.values().flat_map(|registration| &registration.spec.resources);
    let global = resources.filter(|resource| {
        resource.kind == "Extension"
            && resource.globally_enabled == Some(true)
            && !is_disabled(&resource.type_)
            && (!shoot.spec.provider.workers.is_empty() || resource.workerless_supported == Some(true))
    });
    ids.extend(global.map(|resource| id("Extension", &resource.type_)));
    ids.extend(of_domains(shoot, domains));
    ids
}

fn of_workers(shoot: &Shoot) -> Ids {
    let provider = &shoot.spec.provider;
    let mut ids = Ids::new();
    if provider.workers.is_empty() {
        return ids;
    }
    ids.extend(["ControlPlane", "Infrastructure", "Worker"].map(|kind| id(kind, &provider.type_)));
    let network = shoot.spec.networking.as_ref().and_then(|networking| networking.type_.as_ref());
    ids.extend(network.map(|network| id("Network", network)));
    for pool in &provider.workers {
        ids.extend(pool.machine.image.as_ref().map(|image| id("OperatingSystemConfig", &image.name)));
        let runtimes = pool.cri.iter().flat_map(|cri| &cri.container_runtimes);
        ids.extend(runtimes.map(|runtime| id("ContainerRuntime", &runtime.type_)));
    }
    ids
}

fn of_domains(shoot: &Shoot, domains: &Domains) -> Ids {
    let providers = shoot.spec.dns.iter().flat_map(|dns| &dns.providers);
    let primary = providers.filter(|provider| provider.primary == Some(true));
    let own = primary.filter_map(|provider| provider.type_.clone());
    let providers = own.chain(domains.internal.clone()).chain(domains.external(shoot));
    providers.filter(|provider| provider != UNMANAGED).map(|provider| id("DNSRecord", &provider)).collect()
}

/// What a Seed needs without Shoots; nothing if it is being deleted. GCM-CRS-001, GCM-CRS-002.
fn of_seed(seed: &Seed) -> Ids {
    if seed.metadata.deletion_timestamp.is_some() {
        return Ids::new();
    }
    let kinds = ["ControlPlane", "Infrastructure", "Worker"].map(|kind| id(kind, &seed.spec.provider.type_));
    let dns = seed.spec.dns.provider.as_ref().map(|provider| id("DNSRecord", &provider.type_));
    kinds.into_iter().chain(dns).collect()
}
