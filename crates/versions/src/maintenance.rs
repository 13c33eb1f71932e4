//! One maintenance of a shoot: which versions it moves, and what it prepares for that.

mod preparation;

use api::garden::CloudProfile;
use api::garden::shoot::ShootSpec;
use api::garden::shoot::worker::Worker;
use formats::version::{Version, VersionError};
use jiff::Timestamp;
use thiserror::Error;

use crate::image::{self, ImageError};
use crate::kubernetes::{self, KubernetesError};

/// What one maintenance did, in the original's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Maintained {
    /// Images that were moved, one sentence a pool.
    pub images: Vec<String>,
    /// What was changed so that a version can follow.
    pub preparations: Vec<String>,
    /// Versions of Kubernetes that were moved, the control plane's first.
    pub kubernetes: Vec<String>,
    /// What could not be decided; the rest went on.
    pub failures: Vec<Failure>,
}

/// What could not be decided.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The images of the pools, from one pool on.
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

/// Why images could not be moved.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImagesError {
    /// The version that kubelets have is none.
    #[error("failed to read version {version:?} of kubelets: {source}")]
    Kubelet {
        /// The text.
        version: String,
        /// Why it is none.
        source: VersionError,
    },
    /// An image could not be moved.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// Why a shoot cannot be maintained at all.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("failed to read the control plane's version {version:?}: {source}")]
pub struct NotMaintained {
    /// The text.
    pub version: String,
    /// Why it is none.
    pub source: VersionError,
}

impl Maintained {
    /// All that was done, in the order in which a shoot's `lastMaintenance` tells it.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        let all = self.images.iter().chain(&self.preparations).chain(&self.kubernetes);
        all.map(String::as_str)
    }
}

/// Maintains a shoot at `now`: images, the control plane's version, what that needs, the pools'
/// versions (GDN-MNT-001 to -010). No pool gets ahead of its control plane.
///
/// A shoot that does not say what may be updated wants both updated.
///
/// # Errors
/// Where the control plane's version, before or after, is none; the shoot then is changed in part.
pub fn maintain(
    shoot: &mut ShootSpec,
    profile: &CloudProfile,
    now: Timestamp,
) -> Result<Maintained, NotMaintained> {
    let mut done = Maintained::default();
    if let Err(error) = images(shoot, profile, now, &mut done.images) {
        // Pools before the one that failed stay moved, and nothing is said of them.
        done.images.clear();
        done.failures.push(error.into());
    }
    let before = shoot.kubernetes.version.clone();
    match control_plane(shoot, profile, now) {
        Ok(sentence) => done.kubernetes.extend(sentence),
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

/// Each pool's image for itself, until one cannot be decided (GDN-IMG-020, GDN-IMG-021, GDN-IMG-025).
fn images(
    shoot: &mut ShootSpec,
    profile: &CloudProfile,
    now: Timestamp,
    told: &mut Vec<String>,
) -> Result<(), ImagesError> {
    let auto_update = auto_update_of_images(shoot);
    for at in 0..shoot.provider.workers.len() {
        let pool = &shoot.provider.workers[at];
        let text = crate::update::effective(shoot, pool);
        let kubelet = Version::parse(text)
            .map_err(|source| ImagesError::Kubelet { version: text.to_owned(), source })?;
        let Some(to) = image::target(pool, &kubelet, auto_update, profile, now)? else { continue };
        told.push(image_moved(pool, &to));
        let Some(image) = &mut shoot.provider.workers[at].machine.image else { continue };
        // What was configured for the version that is left may not hold for the next.
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
    let sentence = kubernetes_moved("Control Plane", current, &to);
    shoot.kubernetes.version = Some(to.to);
    Ok(Some(sentence))
}

/// Pools with a version of their own, in order; one that would get ahead of the control plane gets the control plane's,
/// while the sentence names what it was moved to.
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
                done.kubernetes.push(kubernetes_moved(&name, version, &to));
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
    let said = shoot.maintenance.as_ref().and_then(|maintenance| maintenance.auto_update.as_ref());
    said.is_none_or(|said| said.kubernetes_version)
}

pub(crate) fn auto_update_of_images(shoot: &ShootSpec) -> bool {
    let said = shoot.maintenance.as_ref().and_then(|maintenance| maintenance.auto_update.as_ref());
    said.and_then(|said| said.machine_image_version).unwrap_or(true)
}

fn read(version: Option<&str>) -> Result<Version, NotMaintained> {
    let text = version.unwrap_or_default();
    Version::parse(text).map_err(|source| NotMaintained { version: text.to_owned(), source })
}

fn image_moved(pool: &Worker, to: &image::Move) -> String {
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

fn kubernetes_moved(what: &str, from: &str, to: &kubernetes::Move) -> String {
    format!(
        "For {what:?}: Kubernetes version upgraded {from:?} to version {:?}. Reason: {}",
        to.to, to.reason
    )
}
