//! Volumes of a pool's machines.

use std::collections::BTreeSet;

use api::garden::shoot::worker::Worker;
use webhook::field::{Error, Path};

use super::field_errors::{FieldErrors, each_invalid};
use super::names;

/// Maximum length of a data volume's name.
const NAME_LENGTH: usize = 15;

/// The errors of the volumes: GDN-SPO-001 to -003.
pub(super) fn validate(pool: &Worker, at: &Path) -> FieldErrors {
    let mut errors = FieldErrors::new();
    if let Some(volume) = &pool.volume {
        errors.extend(size(&volume.size, &at.child("volume"), "volume"));
    }
    if pool.volume.is_none() && !pool.data_volumes.is_empty() {
        let detail = "a worker volume must be defined if data volumes are defined";
        errors.push(Error::required(&at.child("volume"), detail));
    }
    let mut seen = BTreeSet::new();
    for (index, volume) in pool.data_volumes.iter().enumerate() {
        let at = at.child("dataVolumes").index(index);
        let (name, at_name) = (&volume.name, at.child("name"));
        if name.is_empty() {
            errors.push(Error::required(&at_name, "must specify a name"));
        } else {
            errors.extend(each_invalid(&at_name, name, &names::dns_label(name)));
        }
        if name.len() > NAME_LENGTH {
            errors.push(Error::too_long(&at_name, NAME_LENGTH));
        }
        if !seen.insert(name) {
            errors.push(Error::duplicate(&at_name, name));
        }
        errors.extend(size(&volume.size, &at, "data volume"));
    }
    if let Some(name) = pool.kubelet_data_volume_name.as_ref().filter(|name| !seen.contains(name)) {
        let detail = format!("KubeletDataVolumeName refers to unrecognized data volume {name}");
        errors.push(Error::invalid(&at.child("kubeletDataVolumeName"), name, &detail));
    }
    errors
}

/// A size is a whole number of Gi.
fn size(size: &str, at: &Path, of: &str) -> Option<Error> {
    let digits = size.strip_suffix("Gi").unwrap_or_default();
    let is_size = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let detail = format!(r"{of} size must match the regex ^(\d)+Gi$");
    (!is_size).then(|| Error::invalid(&at.child("size"), size, &detail))
}
