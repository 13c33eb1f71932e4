//! Other fields of a CloudProfile: its provider, volumes, regions and certificates.

use std::collections::BTreeSet;

use api::garden::cloud_profile::{CloudProfileSpec, Region, VolumeType};
use formats::x509::{Certificate, pem};
use webhook::field::{Error, Path};

use super::cloud_profile_machine_types::not_negative;
use super::field_errors::FieldErrors;

/// The provider type is required: GDN-CPP-001.
#[must_use]
pub fn validate_type(spec: &CloudProfileSpec) -> FieldErrors {
    let at = Path::new("spec").child("type");
    if spec.type_.is_empty() {
        vec![Error::required(&at, "must provide a provider type")]
    } else {
        Vec::new()
    }
}

/// The errors of volumes, regions and certificates: GDN-CPP-002 to -006.
#[must_use]
pub fn validate(spec: &CloudProfileSpec) -> FieldErrors {
    let at = Path::new("spec");
    let mut errors = volumes(&spec.volume_types, &at.child("volumeTypes"));
    errors.extend(regions(&spec.regions, &at.child("regions")));
    if let Some(bundle) = spec.ca_bundle.as_ref().filter(|bundle| !is_certificate(bundle)) {
        let text = "caBundle is not a valid PEM-encoded certificate";
        errors.push(Error::invalid(&at.child("caBundle"), bundle, text));
    }
    errors
}

/// A type with a duplicate name is not checked any further.
fn volumes(types: &[VolumeType], at: &Path) -> FieldErrors {
    let (mut errors, mut names) = (Vec::new(), BTreeSet::new());
    for (index, volume_type) in types.iter().enumerate() {
        let at = at.index(index);
        if volume_type.name.is_empty() {
            errors.push(Error::required(&at.child("name"), "must provide a name"));
        }
        if !names.insert(&volume_type.name) {
            errors.push(Error::duplicate(&at.child("name"), &volume_type.name));
            break;
        }
        if volume_type.class.is_empty() {
            errors.push(Error::required(&at.child("class"), "must provide a class"));
        }
        let size = volume_type.min_size.as_ref();
        errors.extend(size.and_then(|size| not_negative(size, &at.child("minSize"))));
    }
    errors
}

fn regions(regions: &[Region], at: &Path) -> FieldErrors {
    let (mut errors, mut names) = (Vec::new(), BTreeSet::new());
    if regions.is_empty() {
        errors.push(Error::required(at, "must provide at least one region"));
    }
    for (index, region) in regions.iter().enumerate() {
        let at = at.index(index);
        errors.extend(named(&mut names, &region.name, "must provide a region name", &at));
        let mut zones = BTreeSet::new();
        for (index, zone) in region.zones.iter().enumerate() {
            let at = at.child("zones").index(index);
            errors.extend(named(&mut zones, &zone.name, "zone name cannot be empty", &at));
        }
        let labels = at.child("labels");
        for (key, value) in &region.labels {
            let texts = formats::name::label_key(key);
            errors.extend(texts.iter().map(|text| Error::invalid(&labels, key, text)));
            let texts = formats::name::label_value(value);
            errors.extend(texts.iter().map(|text| Error::invalid(&labels, value, text)));
        }
    }
    errors
}

/// A name is required and unique.
fn named<'a>(names: &mut BTreeSet<&'a str>, name: &'a str, required: &str, at: &Path) -> Option<Error> {
    let at = at.child("name");
    if name.is_empty() {
        return Some(Error::required(&at, required));
    }
    (!names.insert(name)).then(|| Error::duplicate(&at, name))
}

/// Whether the first block of a PEM bundle is a certificate.
fn is_certificate(bundle: &str) -> bool {
    let block = pem::blocks(bundle.as_bytes()).next();
    block.is_some_and(|block| block.label == "CERTIFICATE" && Certificate::from_der(&block.content).is_ok())
}
