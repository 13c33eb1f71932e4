//! Provider, Secret, backup, taints and volumes of a Seed.

use std::collections::BTreeSet;

use api::garden::seed::{SeedBackup, SeedProvider, SeedSpec, SeedTaint, SeedVolumeProvider};
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use super::field_errors::{FieldErrors, required};
use super::{references, resource_quantity};

/// The provider, and the reference to a Secret: GDN-SES-001, GDN-SES-002.
#[must_use]
pub fn validate_provider(spec: &SeedSpec, at: &Path, in_template: bool) -> FieldErrors {
    let mut errors = provider(&spec.provider, &at.child("provider"), in_template);
    if let Some(reference) = &spec.secret_ref {
        errors.extend(references::required_secret(reference, &at.child("secretRef")));
    }
    errors
}

/// The backup, taints and volumes: GDN-SES-003 to -005.
///
/// # Errors
/// 400 when a size is no quantity.
pub fn validate(spec: &SeedSpec, at: &Path) -> Result<FieldErrors, Rejection> {
    let mut errors = FieldErrors::new();
    if let Some(backup) = &spec.backup {
        errors.extend(validate_backup(backup, &spec.provider.type_, &at.child("backup")));
    }
    errors.extend(taints(&spec.taints, &at.child("taints")));
    if let Some(volume) = &spec.volume {
        let at = at.child("volume");
        if let Some(size) = &volume.minimum_size {
            errors.extend(resource_quantity::read("Seed", "minimumSize", size, &at.child("minimumSize"))?);
        }
        errors.extend(volume_providers(&volume.providers, &at.child("providers")));
    }
    Ok(errors)
}

fn provider(provider: &SeedProvider, at: &Path, in_template: bool) -> FieldErrors {
    let mut errors = FieldErrors::new();
    if !in_template {
        errors.extend(required(&at.child("type"), &provider.type_, "must provide a provider type"));
        errors.extend(required(&at.child("region"), &provider.region, "must provide a provider region"));
    }
    let mut seen = BTreeSet::new();
    let repeated = provider.zones.iter().enumerate().find(|(_, zone)| !seen.insert(*zone));
    errors.extend(repeated.map(|(index, zone)| Error::duplicate(&at.child("zones").index(index), zone)));
    errors
}

fn validate_backup(backup: &SeedBackup, provider: &str, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    let why = "must provide a backup cloud provider name";
    errors.extend(required(&at.child("provider"), &backup.provider, why));
    if provider != backup.provider && backup.region.as_ref().is_none_or(String::is_empty) {
        let why =
            "region must be specified for if backup provider is different from provider used in `spec.cloud`";
        errors.push(Error::invalid(&at.child("region"), "", why));
    }
    errors.extend(references::required_secret(&backup.secret_ref, &at.child("secretRef")));
    errors
}

/// Unlike tolerations, a taint with a value may follow one without.
fn taints(taints: &[SeedTaint], at: &Path) -> FieldErrors {
    let (mut errors, mut seen) = (FieldErrors::new(), BTreeSet::new());
    for (index, taint) in taints.iter().enumerate() {
        let at = at.index(index);
        errors.extend(required(&at.child("key"), &taint.key, "cannot be empty"));
        let written = match &taint.value {
            Some(value) => format!("{}={value}", taint.key),
            None => taint.key.clone(),
        };
        if seen.contains(&written) {
            errors.push(Error::duplicate(&at, &written));
        }
        seen.insert(written);
    }
    errors
}

fn volume_providers(providers: &[SeedVolumeProvider], at: &Path) -> FieldErrors {
    let (mut errors, mut seen) = (FieldErrors::new(), BTreeSet::new());
    for (index, provider) in providers.iter().enumerate() {
        let at = at.index(index);
        errors.extend(required(&at.child("purpose"), &provider.purpose, "cannot be empty"));
        errors.extend(required(&at.child("name"), &provider.name, "cannot be empty"));
        if !seen.insert(&provider.purpose) {
            errors.push(Error::duplicate(&at.child("purpose"), &provider.purpose));
        }
    }
    errors
}
