//! ShootQuotaValidator: what the Shoots of a Quota may use together, and how long they may live.

mod resources;

use api::garden::reference::ObjectReference;
use api::garden::shoot::worker::Worker;
use api::garden::{Quota, SecretBinding, Shoot};
use formats::time::{self, Layout};
use jiff::Timestamp;
use schema::admission_plugins;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use self::resources::{METRICS, Resources, limit};
use super::shoot_support::{
    NO_SHOOT, QUOTAS, SECRET_BINDINGS, SHOOTS, forbidden, internal, is_shoot, list, read_shoot,
};
use super::{Attributes, Plugin, Validate};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SHOOT_QUOTA_VALIDATOR,
    is_on_by_default: true,
    admit: None,
    validate: Some(Validate::Plain(validate)),
};

/// Annotation of a Shoot: when it is deleted.
const EXPIRATION: &str = "shoot.gardener.cloud/expiration-timestamp";
const NANOS_OF_AN_HOUR: i64 = 3_600_000_000_000;

/// Every Quota of the Shoot's SecretBinding must hold, and each of them exist even if nothing is checked:
/// GPL-QUOTA-001, GPL-QUOTA-004, GPL-QUOTA-007.
fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection> {
    let is_written = matches!(attributes.operation, Operation::Create | Operation::Update);
    if !is_shoot(attributes) || !attributes.subresource.is_empty() || !is_written {
        return Ok(());
    }
    let shoot = read_shoot(object, NO_SHOOT)?;
    if shoot.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    let old = match attributes.operation {
        Operation::Update => Some(read_shoot(attributes.old, NO_SHOOT)?),
        _ => None,
    };
    let Some(binding) = &shoot.spec.secret_binding_name else { return Ok(()) };
    let (objects, namespace) = (attributes.objects, attributes.namespace);
    let failed = |why: String| internal(&why);
    let binding: SecretBinding = SECRET_BINDINGS.get(objects, namespace, binding).map_err(failed)?;
    let uses_more = old.as_ref().is_none_or(|old| uses_more(&shoot, old));
    let lives_longer = old.as_ref().is_some_and(|old| is_expiration_changed(&shoot, old));
    let mut days: Option<i32> = None;
    for reference in &binding.quotas {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let quota: Quota =
            QUOTAS.get(objects, &text(&reference.namespace), &text(&reference.name)).map_err(failed)?;
        days = days.into_iter().chain(quota.spec.cluster_lifetime_days).min();
        if uses_more {
            let exceeded = exceeded(attributes, &shoot, &quota).map_err(failed)?;
            if !exceeded.is_empty() {
                let names = exceeded.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
                let text = format!("quota limits exceeded. Unable to allocate further {names} ");
                return Err(forbidden(attributes, object, &text));
            }
        }
    }
    match days.filter(|_| lives_longer) {
        Some(days) => check_lifetime(attributes, object, &shoot, days),
        None => Ok(()),
    }
}

/// Whether an update switches the ingress on, adds a pool, or changes machine type, maximum or root volume of one:
/// GPL-QUOTA-002.
fn uses_more(new: &Shoot, old: &Shoot) -> bool {
    let has_ingress = |shoot: &Shoot| {
        let ingress = shoot.spec.addons.as_ref().and_then(|addons| addons.nginx_ingress.as_ref());
        ingress.is_some_and(|ingress| ingress.enabled)
    };
    let is_changed = |pool: &Worker| {
        let mut known = old.spec.provider.workers.iter().filter(|known| known.name == pool.name).peekable();
        let differs = |known: &Worker| {
            known.machine.type_ != pool.machine.type_
                || known.maximum != pool.maximum
                || known.volume != pool.volume
        };
        known.peek().is_none() || known.any(differs)
    };
    (!has_ingress(old) && has_ingress(new)) || new.spec.provider.workers.iter().any(is_changed)
}

/// Whether an update changes the expiration. As in the original, a Shoot without one had the time of its creation as Go
/// prints it: GPL-QUOTA-003.
fn is_expiration_changed(new: &Shoot, old: &Shoot) -> bool {
    let created = || {
        let created = old.metadata.creation_timestamp.as_ref().map(|created| created.0);
        created.map_or_else(
            || "0001-01-01 00:00:00 +0000 UTC".to_owned(),
            |created| created.strftime("%Y-%m-%d %H:%M:%S +0000 UTC").to_string(),
        )
    };
    let before = expiration(old).map_or_else(created, str::to_owned);
    expiration(new).unwrap_or_default() != before
}

fn expiration(shoot: &Shoot) -> Option<&str> {
    shoot.metadata.annotations.as_ref()?.get(EXPIRATION).map(String::as_str)
}

/// The metrics of a Quota that its Shoots exceed with this one: GPL-QUOTA-006.
fn exceeded(attributes: &Attributes<'_>, shoot: &Shoot, quota: &Quota) -> Result<Vec<&'static str>, String> {
    let mut used = Resources::default();
    for other in others(attributes, shoot, quota)? {
        used = used + Resources::of(attributes.objects, &other)?;
    }
    let required = used + Resources::of(attributes.objects, shoot)?;
    let is_exceeded = |metric: &&str| {
        let most = quota.spec.metrics.get(*metric);
        most.is_some_and(|most| limit(most) < required.amount(metric))
    };
    Ok(METRICS.into_iter().filter(is_exceeded).collect())
}

/// The other Shoots whose SecretBindings refer to a Quota, once for each reference; those of a Project are in its
/// namespace.
fn others(attributes: &Attributes<'_>, shoot: &Shoot, quota: &Quota) -> Result<Vec<Shoot>, String> {
    let is_of_project = is_of_project(&quota.spec.scope)?;
    let refers = |reference: &&ObjectReference| {
        reference.name == quota.metadata.name && reference.namespace == quota.metadata.namespace
    };
    let shoots: Vec<Shoot> = list(attributes.objects, SHOOTS)?;
    let bindings: Vec<SecretBinding> = list(attributes.objects, "secretbindings.core.gardener.cloud")?;
    let mut found = Vec::new();
    for binding in bindings {
        let (name, namespace) = (&binding.metadata.name, binding.metadata.namespace.as_deref());
        if is_of_project && namespace != Some(attributes.namespace) {
            continue;
        }
        let is_other = |other: &&Shoot| {
            let is_same =
                namespace == Some(attributes.namespace) && other.metadata.name == shoot.metadata.name;
            other.metadata.namespace.as_deref() == namespace
                && !is_same
                && other.spec.secret_binding_name == *name
        };
        for _ in binding.quotas.iter().filter(refers) {
            found.extend(shoots.iter().filter(is_other).cloned());
        }
    }
    Ok(found)
}

/// Whether the scope of a Quota is a Project, and not a Secret.
fn is_of_project(scope: &ObjectReference) -> Result<bool, String> {
    let (version, kind) = (scope.api_version.as_deref().unwrap_or_default(), scope.kind.as_deref());
    match (version, kind) {
        (version, Some("Project")) if version.split('/').next() == Some(api::garden::GROUP) => Ok(true),
        ("v1", Some("Secret")) => Ok(false),
        _ => Err("unknown quota scope".to_owned()),
    }
}

/// A Shoot expires no later than the Quotas' days from now; as in the original, the hours are counted in 32
/// bits and nanoseconds in 64, so that more days than these hold are over already: GPL-QUOTA-008, GPL-QUOTA-009.
fn check_lifetime(
    attributes: &Attributes<'_>,
    object: Option<&Value>,
    shoot: &Shoot,
    days: i32,
) -> Result<(), Rejection> {
    let Some(planned) = expiration(shoot) else { return Ok(()) };
    let planned = time::read(planned, Layout::Seconds).map_err(|why| internal(&why))?;
    let latest = latest(attributes.now, days);
    if planned <= latest {
        return Ok(());
    }
    let text = format!("requested shoot expiration time is too long. Can only be extended by {days} day(s)");
    Err(forbidden(attributes, object, &text))
}

fn latest(now: Timestamp, days: i32) -> i128 {
    let hours = i64::from(days.wrapping_mul(24));
    now.as_nanosecond() + i128::from(hours.wrapping_mul(NANOS_OF_AN_HOUR))
}

#[cfg(test)]
mod tests;
