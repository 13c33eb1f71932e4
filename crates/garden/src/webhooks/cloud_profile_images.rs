//! The machine images of a CloudProfile.

use std::collections::BTreeSet;

use api::garden::cloud_profile::{MachineImage, MachineImageVersion};
use api::garden::shoot::worker::{
    ARCHITECTURE_AMD64, ARCHITECTURE_ARM64, CRI_CONTAINERD, CRI_DOCKER, ContainerRuntime, Cri,
};
use formats::version::Version;
use formats::version::constraint::Constraint;
use webhook::field::{Error, Path, Shown};

use super::cloud_profile_versions::classification;
use super::field_errors::FieldErrors;

const NO_VERSION: &str = "could not parse version. Use a semantic version. In case there is no semantic version for this image use the \
     extensibility provider (define mapping in the CloudProfile) to map to the actual non semantic version";

/// The errors of the images.
///
/// GDN-CPI-001 to -008.
#[must_use]
pub fn validate(images: &[MachineImage]) -> FieldErrors {
    let at = Path::new("spec").child("machineImages");
    let mut errors = Vec::new();
    if images.is_empty() {
        errors.push(Error::required(&at, "must provide at least one machine image"));
    }
    if let Some(text) = images.iter().find_map(unknown_latest_version) {
        let none = "map[string]core.MachineImageVersion(nil)";
        errors.push(Error::invalid(&at, Shown::verbatim(none), &text));
    }
    let (mut names, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for (index, image) in images.iter().enumerate() {
        let at = at.index(index);
        if !names.insert(&image.name) {
            errors.push(Error::duplicate(&at, &image.name));
        }
        if image.name.is_empty() {
            errors.push(Error::required(&at.child("name"), "machine image name must not be empty"));
        }
        if image.versions.is_empty() {
            let text = format!("must provide at least one version for the machine image '{}'", image.name);
            errors.push(Error::required(&at.child("versions"), &text));
        }
        for (index, version) in image.versions.iter().enumerate() {
            let at = at.child("versions").index(index);
            let key = format!("{}-{}", image.name, version.version);
            if keys.contains(&key) {
                errors.push(Error::duplicate(&at, &key));
            }
            keys.insert(key);
            errors.extend(validate_one(version, &image.versions, &at));
        }
    }
    errors
}

/// Why the latest version of an image cannot be determined.
fn unknown_latest_version(image: &MachineImage) -> Option<String> {
    let why = match image
        .versions
        .iter()
        .find_map(|version| Some((version, Version::parse(&version.version).err()?)))
    {
        Some((version, error)) => {
            format!("error while parsing expirable version '{}': {error}", version.version)
        }
        None if image.versions.is_empty() => "unable to determine latest expirable version".to_owned(),
        None => return None,
    };
    Some(format!("failed to determine latest machine image version for image '{}': {why}", image.name))
}

fn validate_one(version: &MachineImageVersion, all: &[MachineImageVersion], at: &Path) -> FieldErrors {
    let mut errors = Vec::new();
    let text = &version.version;
    if text.is_empty() {
        errors.push(Error::required(&at.child("version"), ""));
    }
    if Version::parse(text).is_err() {
        errors.push(Error::invalid(&at.child("version"), text, NO_VERSION));
    }
    errors.extend(classification(version, all, at));
    errors.extend(interfaces(&version.cri, &at.child("cri")));
    let known = [ARCHITECTURE_AMD64, ARCHITECTURE_ARM64];
    let unknown = version.architectures.iter().filter(|architecture| !known.contains(&architecture.as_str()));
    errors.extend(unknown.map(|unknown| Error::not_supported(&at.child("architecture"), unknown, &known)));
    if let Some(text) = &version.kubelet_version_constraint
        && let Err(error) = Constraint::parse(text)
    {
        let detail = format!("cannot parse the kubeletVersionConstraint: {error}");
        errors.push(Error::invalid(&at.child("kubeletVersionConstraint"), text, &detail));
    }
    errors
}

/// Container runtime interfaces must be unique and include docker.
fn interfaces(cris: &[Cri], at: &Path) -> FieldErrors {
    if cris.is_empty() {
        return vec![Error::required(at, "must provide at least one supported container runtime")];
    }
    let (mut errors, mut names) = (Vec::new(), BTreeSet::new());
    for (index, cri) in cris.iter().enumerate() {
        let at = at.index(index);
        if !names.insert(&cri.name) {
            errors.push(Error::duplicate(&at, &cri.name));
        }
        let known = [CRI_CONTAINERD, CRI_DOCKER];
        if !known.contains(&cri.name.as_str()) {
            errors.push(Error::not_supported(&at, Shown::verbatim(go_value(cri)), &known));
        }
        let mut types = BTreeSet::new();
        for (index, runtime) in cri.container_runtimes.iter().enumerate() {
            if !types.insert(&runtime.type_) {
                let at = at.child("containerRuntimes").index(index).child("type");
                errors.push(Error::duplicate(&at, &runtime.type_));
            }
        }
    }
    if !names.iter().any(|name| *name == CRI_DOCKER) {
        let all: Vec<String> = cris.iter().map(go_value).collect();
        let all = Shown::verbatim(format!("[]core.CRI{{{}}}", all.join(", ")));
        errors.push(Error::invalid(at, all, "must provide docker as supported container runtime"));
    }
    errors
}

/// An interface as Go prints it; for a pointer to a configuration Go prints the address.
fn go_value(cri: &Cri) -> String {
    let runtime = |runtime: &ContainerRuntime| {
        let config = if runtime.provider_config.is_some() { "…" } else { "nil" };
        format!(
            "core.ContainerRuntime{{Type:{:?}, ProviderConfig:(*runtime.RawExtension)({config})}}",
            runtime.type_
        )
    };
    let runtimes: Vec<String> = cri.container_runtimes.iter().map(runtime).collect();
    let runtimes =
        if runtimes.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", runtimes.join(", ")) };
    format!("core.CRI{{Name:{:?}, ContainerRuntimes:[]core.ContainerRuntime{runtimes}}}", cri.name)
}
