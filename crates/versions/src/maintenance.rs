//! One maintenance of a shoot: updates versions, and changes fields that block the updates.

mod preparation;

use api::garden::CloudProfile;
use api::garden::shoot::ShootSpec;
use api::garden::shoot::worker::Worker;
use formats::version::{Version, VersionError};
use jiff::Timestamp;
use thiserror::Error;

use crate::image::{self, ImageError};
use crate::kubernetes::{self, KubernetesError};

/// The result of one maintenance, with the original's texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// Updated images, one message for each pool.
    pub images: Vec<String>,
    /// Changes that prepare for a version.
    pub preparations: Vec<String>,
    /// Updated versions of Kubernetes, the control plane's first.
    pub kubernetes: Vec<String>,
    /// Failed decisions; the other decisions were made.
    pub failures: Vec<Failure>,
}

/// A failed decision.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The images of a pool and of all pools after it.
    #[error("failed to maintain machine images: {0}")]
    Images(#[from] ImagesError),
    /// The control plane's version.
    #[error("failed to maintain the control plane's version: {0}")]
    ControlPlane(#[source] KubernetesError),
    /// A pool's version.
    #[error("failed to maintain the version of worker pool {pool:?}: {source}")]
    Pool {
        /// Its name.
        pool: String,
        /// Why.
        source: KubernetesError,
    },
}

/// Failure to update images.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImagesError {
    /// The version of kubelets is invalid.
    #[error("failed to read version {version:?} of kubelets: {source}")]
    Kubelet {
        /// The text.
        version: String,
        /// The cause.
        source: VersionError,
    },
    /// An image could not be updated.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// A shoot that cannot be maintained, because its version is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("failed to read the control plane's version {version:?}: {source}")]
pub struct NotMaintained {
    /// The text.
    pub version: String,
    /// The cause.
    pub source: VersionError,
}

impl Maintained {
    /// All messages, in the order of a shoot's `lastMaintenance`.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        let all = self.images.iter().chain(&self.preparations).chain(&self.kubernetes);
        all.map(String::as_str)
    }
}

/// Maintains a shoot at `now`: images, the control plane's version, changes that it needs, the pools'
/// versions (GDN-MNT-001 to -010). No pool gets a higher version than its control plane.
///
/// By default, both Kubernetes and images are updated.
///
/// # Errors
/// If the control plane's version, before or after, is invalid; the shoot may then be partially changed.
pub fn maintain(
    shoot: &mut ShootSpec,
    profile: &CloudProfile,
    now: Timestamp,
) -> Result<Maintained, NotMaintained> {
    let mut done = Maintained::default();
    if let Err(error) = images(shoot, profile, now, &mut done.images) {
        // Pools before the failed one stay updated, but without messages.
        done.images.clear();
        done.failures.push(error.into());
    }
    let before = shoot.kubernetes.version.clone();
    match control_plane(shoot, profile, now) {
        Ok(message) => done.kubernetes.extend(message),
        Err(error) => done.failures.push(Failure::ControlPlane(error)),
    }
    let old = read(before.as_deref())?;
    let wanted = read(shoot.kubernetes.version.as_deref())?;
    let mut new = &wanted;
    if preparation::for_1_25(shoot, &old, &wanted, &mut done.preparations) {
        new = &old;
        shoot.kubernetes.version = before;
        done.kubernetes.clear();
    }
    preparation::for_1_27(shoot, &old, new, &mut done.preparations);
    pools(shoot, profile, new, now, &mut done);
    Ok(done)
}

/// Updates the image of each pool, until the first failure (GDN-IMG-020, GDN-IMG-021, GDN-IMG-025).
fn images(
    shoot: &mut ShootSpec,
    profile: &CloudProfile,
    now: Timestamp,
    messages: &mut Vec<String>,
) -> Result<(), ImagesError> {
    let auto_update = auto_update_of_images(shoot);
    for at in 0..shoot.provider.workers.len() {
        let pool = &shoot.provider.workers[at];
        let text = crate::update::effective(shoot, pool);
        let kubelet = Version::parse(text)
            .map_err(|source| ImagesError::Kubelet { version: text.to_owned(), source })?;
        let Some(to) = image::target(pool, &kubelet, auto_update, profile, now)? else { continue };
        messages.push(describe_image_update(pool, &to));
        let Some(image) = &mut shoot.provider.workers[at].machine.image else { continue };
        // The configuration for the old version may be invalid for the new one.
        image.provider_config = None;
        (image.name, image.version) = (to.name, Some(to.version));
    }
    Ok(())
}

fn control_plane(
    shoot: &mut ShootSpec,
    profile: &CloudProfile,
    now: Timestamp,
) -> Result<Option<String>, KubernetesError> {
    let current = shoot.kubernetes.version.as_deref().unwrap_or_default();
    let to = kubernetes::target(current, auto_update_of_kubernetes(shoot), offered(profile), now)?;
    let Some(to) = to else { return Ok(None) };
    let message = describe_kubernetes_update("Control Plane", current, &to);
    shoot.kubernetes.version = Some(to.to);
    Ok(Some(message))
}

/// Updates pools with their own version, in order. A pool that would get a higher version than the control plane gets
/// the control plane's, but the message names the higher version.
fn pools(
    shoot: &mut ShootSpec,
    profile: &CloudProfile,
    control_plane: &Version,
    now: Timestamp,
    done: &mut Maintained,
) {
    let auto_update = auto_update_of_kubernetes(shoot);
    for pool in &mut shoot.provider.workers {
        let Some(version) = pool.kubernetes.as_mut().and_then(|own| own.version.as_mut()) else { continue };
        match kubernetes::target(version, auto_update, offered(profile), now) {
            Ok(None) => {}
            Ok(Some(to)) => {
                let name = format!("Worker Pool {}", pool.name);
                done.kubernetes.push(describe_kubernetes_update(&name, version, &to));
                let is_ahead = Version::parse(&to.to).is_ok_and(|to| to > *control_plane);
                *version = if is_ahead { control_plane.text().to_owned() } else { to.to };
            }
            Err(source) => done.failures.push(Failure::Pool { pool: pool.name.clone(), source }),
        }
    }
}

fn offered(profile: &CloudProfile) -> &[api::garden::cloud_profile::ExpirableVersion] {
    &profile.spec.kubernetes.versions
}

fn auto_update_of_kubernetes(shoot: &ShootSpec) -> bool {
    let auto_update = shoot.maintenance.as_ref().and_then(|maintenance| maintenance.auto_update.as_ref());
    auto_update.is_none_or(|auto_update| auto_update.kubernetes_version)
}

pub(crate) fn auto_update_of_images(shoot: &ShootSpec) -> bool {
    let auto_update = shoot.maintenance.as_ref().and_then(|maintenance| maintenance.auto_update.as_ref());
    auto_update.and_then(|auto_update| auto_update.machine_image_version).unwrap_or(true)
}

fn read(version: Option<&str>) -> Result<Version, NotMaintained> {
    let text = version.unwrap_or_default();
    Version::parse(text).map_err(|source| NotMaintained { version: text.to_owned(), source })
}

fn describe_image_update(pool: &Worker, to: &image::Move) -> String {
    let from = pool.machine.image.as_ref();
    format!(
        "Machine image of worker-pool {:?} upgraded from {:?} version {:?} to version {:?}. Reason: {}",
        pool.name,
        from.map_or("", |image| image.name.as_str()),
        from.and_then(|image| image.version.as_deref()).unwrap_or_default(),
        to.version,
        to.reason
    )
}

fn describe_kubernetes_update(what: &str, from: &str, to: &kubernetes::Move) -> String {
    format!(
        "For {what:?}: Kubernetes version upgraded {from:?} to version {:?}. Reason: {}",
        to.to, to.reason
    )
}
