//! When a Shoot sleeps.

use std::collections::BTreeSet;

use api::garden::Shoot;
use api::garden::shoot::ShootSpec;
use api::garden::shoot::credentials::ShootCredentialsRotation;
use api::garden::shoot::maintenance::HibernationSchedule;
use formats::cron::Schedule;
use formats::zone;
use webhook::field::{Error, Path};

use super::field_errors::FieldErrors;
use super::shoot_operations;

/// The errors of the schedules; `operation` is the one requested for the next maintenance: GDN-SHI-001 to -005.
pub(super) fn validate(spec: &ShootSpec, operation: &str, at: &Path) -> FieldErrors {
    let Some(hibernation) = &spec.hibernation else { return FieldErrors::new() };
    let at = at.child("hibernation");
    let mut errors = FieldErrors::new();
    if hibernation.enabled == Some(true) && shoot_operations::needs_machines(operation) {
        let detail = format!(
            "shoot cannot be hibernated when maintenance.gardener.cloud/operation={operation} annotation is set"
        );
        errors.push(Error::forbidden(&at.child("enabled"), &detail));
    }
    let mut seen = BTreeSet::new();
    for (index, schedule) in hibernation.schedules.iter().enumerate() {
        errors.extend(validate_schedule(schedule, &mut seen, &at.child("schedules").index(index)));
    }
    errors
}

/// A Shoot does not go to sleep while keys are replaced that its machines must know: GDN-SHI-006.
pub(super) fn validate_update(new: &Shoot, old: &Shoot) -> FieldErrors {
    let sleeps = |shoot: &Shoot| {
        shoot.spec.hibernation.as_ref().is_some_and(|hibernation| hibernation.enabled == Some(true))
    };
    let rotation = new.status.credentials.as_ref().and_then(|credentials| credentials.rotation.as_ref());
    let Some(rotation) = rotation.filter(|_| sleeps(new) && !sleeps(old)) else { return FieldErrors::new() };
    let at = Path::new("spec").child("hibernation").child("enabled");
    let refuse = |(key, phase): (&str, &str)| {
        let detail =
            format!("shoot cannot be hibernated when .status.credentials.rotation.{key}.phase is {phase:?}");
        Error::forbidden(&at, &detail)
    };
    let phases =
        phases(rotation).into_iter().filter(|(_, phase)| ["Preparing", "Completing"].contains(phase));
    phases.map(refuse).collect()
}

fn phases(rotation: &ShootCredentialsRotation) -> [(&'static str, &str); 2] {
    let etcd = rotation.etcd_encryption_key.as_ref().map_or("", |rotation| rotation.phase.as_str());
    let accounts = rotation.service_account_key.as_ref().map_or("", |rotation| rotation.phase.as_str());
    [("etcdEncryptionKey", etcd), ("serviceAccountKey", accounts)]
}

fn validate_schedule<'a>(
    schedule: &'a HibernationSchedule,
    seen: &mut BTreeSet<&'a String>,
    at: &Path,
) -> FieldErrors {
    let mut errors = FieldErrors::new();
    if schedule.start.is_none() && schedule.end.is_none() {
        // The original has this path for both.
        errors.push(Error::required(&at.child("start/end"), "either start or end has to be provided"));
    }
    for (name, time) in [("start", &schedule.start), ("end", &schedule.end)] {
        let Some(time) = time else { continue };
        match Schedule::parse(time) {
            Err(error) => {
                errors.push(Error::invalid(
                    &at.child(name),
                    time,
                    &format!("not a valid cron spec: {error}"),
                ));
            }
            Ok(_) if !seen.insert(time) => errors.push(Error::duplicate(&at.child(name), time)),
            Ok(_) => {}
        }
    }
    if let Some(location) = &schedule.location
        && let Err(error) = zone::load(location)
    {
        let detail = format!("not a valid location: {error}");
        errors.push(Error::invalid(&at.child("location"), location, &detail));
    }
    errors
}
