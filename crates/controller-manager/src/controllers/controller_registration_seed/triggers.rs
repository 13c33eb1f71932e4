//! Which changes concern the extensions of which Seeds. GCM-CRS-040 to -046.

use api::garden::shoot::Networking;
use api::garden::{
    BackupBucket, BackupEntry, ControllerDeployment, ControllerInstallation, ControllerRegistration, Seed,
    Shoot,
};
use controller::{Event, Request, Store};
use kube::{Resource, ResourceExt as _};

use crate::controllers::conditions;

/// The Seed itself matters but for its status.
pub(super) fn seed(event: &Event<Seed>) -> bool {
    let Some(old) = event.old() else { return true };
    let new = event.object();
    old.spec != new.spec
        || old.annotations() != new.annotations()
        || old.labels() != new.labels()
        || new.metadata.deletion_timestamp.is_some()
}

/// New and written objects matter, deleted ones do not.
pub(super) fn is_written<K>(event: &Event<K>) -> bool {
    matches!(event, Event::Create(_) | Event::Update { .. })
}

pub(super) fn bucket(event: &Event<BackupBucket>) -> bool {
    let new = event.object();
    event.old().map_or(new.spec.seed_name.is_some(), |old| {
        old.spec.seed_name != new.spec.seed_name || old.spec.provider.type_ != new.spec.provider.type_
    })
}

pub(super) fn entry(event: &Event<BackupEntry>) -> bool {
    let new = event.object();
    event.old().map_or(new.spec.seed_name.is_some(), |old| {
        old.spec.seed_name != new.spec.seed_name || old.spec.bucket_name != new.spec.bucket_name
    })
}

/// An installation matters when it is created, and when it begins or ceases to be required.
pub(super) fn installation(event: &Event<ControllerInstallation>) -> bool {
    match event {
        Event::Create(_) => true,
        Event::Update { old, new } => is_required(old) != is_required(new),
        Event::Delete(_) | Event::Generic(_) => false,
    }
}

/// Whether gardenlet found resources in the Seed that the extension is responsible for.
pub(super) fn is_required(installation: &ControllerInstallation) -> bool {
    conditions::is_true(&installation.status.conditions, "Required")
}

pub(super) fn shoot(event: &Event<Shoot>) -> bool {
    let new = &event.object().spec;
    event.old().map_or(new.seed_name.is_some(), |old| {
        let old = &old.spec;
        old.seed_name != new.seed_name
            || old.provider.workers != new.provider.workers
            || old.extensions != new.extensions
            || old.dns != new.dns
            || network(old.networking.as_ref()) != network(new.networking.as_ref())
            || old.provider.type_ != new.provider.type_
    })
}

fn network(networking: Option<&Networking>) -> Option<&str> {
    networking?.type_.as_deref()
}

pub(super) fn seed_of_bucket(bucket: &BackupBucket) -> Option<Request> {
    request(bucket.spec.seed_name.as_ref())
}

pub(super) fn seed_of_entry(entry: &BackupEntry) -> Option<Request> {
    request(entry.spec.seed_name.as_ref())
}

pub(super) fn seed_of_installation(installation: &ControllerInstallation) -> Option<Request> {
    request(installation.spec.seed_ref.name.as_ref())
}

pub(super) fn seed_of_shoot(shoot: &Shoot) -> Option<Request> {
    request(shoot.spec.seed_name.as_ref())
}

fn request(seed: Option<&String>) -> Option<Request> {
    seed.map(|name| Request::new("", name))
}

/// All Seeds.
pub(super) fn all<K>(seeds: &Store<Seed>) -> impl Fn(&K) -> Vec<Request> + Send + Sync + use<K> {
    let seeds = seeds.clone();
    move |_| requests(&seeds)
}

/// All Seeds if a ControllerRegistration refers to the ControllerDeployment.
pub(super) fn users(
    registrations: &Store<ControllerRegistration>,
    seeds: &Store<Seed>,
) -> impl Fn(&ControllerDeployment) -> Vec<Request> + Send + Sync + use<> {
    let (registrations, seeds) = (registrations.clone(), seeds.clone());
    move |deployment| {
        let name = deployment.name_any();
        let refers = |registration: &ControllerRegistration| {
            let deployment = registration.spec.deployment.as_ref();
            deployment
                .is_some_and(|deployment| deployment.deployment_refs.iter().any(|other| other.name == name))
        };
        let is_used = registrations.list().iter().any(|registration| refers(registration));
        if is_used { requests(&seeds) } else { Vec::new() }
    }
}

fn requests<K: Resource>(objects: &Store<K>) -> Vec<Request> {
    objects.list().iter().map(|object| Request::of(&**object)).collect()
}
