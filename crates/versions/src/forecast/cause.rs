//! Which version a stuck shoot has, and when it ends: the same for all shoots with that version.

use api::garden::CloudProfile;
use jiff::Timestamp;

use crate::image::ImageError;
use crate::kubernetes::{self, KubernetesError};
use crate::maintenance::{Failure, ImagesError};
use crate::offer::Offered;

/// `suse-chost 15.4.20240801 ends 2027-03-31`; for other failures their own text.
pub(super) fn of(failure: &Failure, profile: &CloudProfile) -> String {
    match failure {
        Failure::ControlPlane(KubernetesError::NoPath(version))
        | Failure::Pool { source: KubernetesError::NoPath(version), .. } => {
            let known = kubernetes::known(version, &profile.spec.kubernetes.versions).ok().flatten();
            describe(&format!("kubernetes {version}"), known.is_some(), known.and_then(Offered::expires))
        }
        Failure::Images(ImagesError::Image(ImageError::NoPath { image, version })) => {
            let images = profile.spec.machine_images.iter().filter(|known| known.name == *image);
            let known = images.flat_map(|known| &known.versions).find(|known| known.version == *version);
            describe(&format!("{image} {version}"), known.is_some(), known.and_then(Offered::expires))
        }
        other => other.to_string(),
    }
}

fn describe(version: &str, is_offered: bool, expires: Option<Timestamp>) -> String {
    match (is_offered, expires) {
        (false, _) => format!("{version} is not in the profile"),
        (true, None) => format!("{version} has no successor"),
        (true, Some(expires)) => format!("{version} ends {}", expires.strftime("%F")),
    }
}
