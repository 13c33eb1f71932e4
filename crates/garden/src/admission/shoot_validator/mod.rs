//! ShootValidator: fills in what a Shoot leaves open, and compares it with its CloudProfile, Seed, Project and
//! SecretBinding. Both happen in the mutating phase, on the object as the client sent it, its status included.
//!
//! Where the original panics, a Shoot without what it expects is a Shoot that differs: validation refuses it
//! afterwards.

mod annotations;
mod deletion;
mod dns_domain;
mod hibernation;
mod kubeconfig_secrets;
mod kubelet;
mod kubernetes_version;
mod machine_image;
mod networks;
mod project;
mod provider;
mod raw_extensions;
mod region;
pub(crate) mod scheduling;
#[cfg(test)]
mod testing;
mod volume;

use api::garden::{CloudProfile, Project, SecretBinding, Seed, Shoot};
use schema::admission_plugins;
use serde_json::Value;
use webhook::field::{Error, quote};
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::shoot_support::{
    CLOUD_PROFILES, NO_SHOOT, SECRET_BINDINGS, SEEDS, about, internal, is_shoot, listed, project_of,
    write_changes,
};
use super::{Admit, Attributes, Plugin};
use crate::webhooks::field_errors::FieldErrors;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SHOOT_VALIDATOR,
    is_on_by_default: true,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};

/// What the checks of a Shoot know.
struct ValidationContext<'a> {
    attributes: &'a Attributes<'a>,
    profile: CloudProfile,
    project: Project,
    /// The Seed that the Shoot names.
    seed: Option<Seed>,
    /// The SecretBinding of a new Shoot.
    binding: Option<SecretBinding>,
    /// The Shoot, as far as it is filled in.
    shoot: Shoot,
    /// The Shoot before an update; else an empty one.
    old: Shoot,
}

/// A created or updated Shoot, its binding to a Seed, or its deletion: GPL-SHVAL-001.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    let is_judged = is_shoot(attributes) && matches!(attributes.subresource, "" | "binding");
    if !is_judged || attributes.operation == Operation::Connect {
        return Ok(());
    }
    let decided = decide(attributes, object.as_deref());
    let decided = decided.map_err(|rejection| about(attributes, object.as_deref(), rejection))?;
    match (object, decided) {
        (Some(object), Some((before, after))) => write_changes(object, &before, &after),
        _ => Ok(()),
    }
}

/// The Shoot before and after it was filled in; `None` if nothing but the status changed.
fn decide(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<Option<(Shoot, Shoot)>, Rejection> {
    let is_deleted = attributes.operation == Operation::Delete;
    let raw = if is_deleted { attributes.old } else { object };
    let shoot = converted(raw, NO_SHOOT)?;
    let mut old = Shoot::default();
    if attributes.operation == Operation::Update {
        old = converted(attributes.old, "could not convert old resource into Shoot object")?;
        if attributes.subresource == "binding" {
            scheduling::is_new_seed(&old, &shoot)?;
        }
        let metadata = |object: Option<&Value>| object.and_then(|object| object.get("metadata")).cloned();
        if old.spec == shoot.spec && metadata(attributes.old) == metadata(raw) {
            return Ok(None);
        }
    }
    let before = shoot.clone();
    let mut context = ValidationContext::gather(attributes, shoot, old)?;
    context.admit()?;
    Ok(Some((before, context.shoot)))
}

/// As in the original, what is no Shoot is the server's fault.
fn converted(object: Option<&Value>, otherwise: &str) -> Result<Shoot, Rejection> {
    let shoot = object.and_then(|object| serde_json::from_value(object.clone()).ok());
    shoot.ok_or_else(|| internal(otherwise))
}

impl<'a> ValidationContext<'a> {
    /// Reads what the Shoot refers to; a deletion needs it, too: GPL-SHVAL-003.
    fn gather(attributes: &'a Attributes<'a>, shoot: Shoot, old: Shoot) -> Result<Self, Rejection> {
        let (objects, spec) = (attributes.objects, &shoot.spec);
        let missing = |what: &str, why: &str| internal(&format!("could not find referenced {what}: {why}"));
        let profile = CLOUD_PROFILES
            .get(objects, "", &spec.cloud_profile_name)
            .map_err(|why| missing("cloud profile", &why))?;
        let read_seed = |name: &String| {
            SEEDS.get(objects, "", name).map_err(|why| missing(&format!("seed {}", quote(name)), &why))
        };
        let seed = spec.seed_name.as_ref().map(read_seed).transpose()?;
        let project = project_of(objects, attributes.namespace).map_err(|why| missing("project", &why))?;
        let of_new = spec.secret_binding_name.as_ref().filter(|_| attributes.operation == Operation::Create);
        let read_binding = |name: &String| {
            SECRET_BINDINGS
                .get(objects, attributes.namespace, name)
                .map_err(|why| missing("secret binding", &why))
        };
        let binding = of_new.map(read_binding).transpose()?;
        Ok(Self { attributes, profile, project, seed, binding, shoot, old })
    }

    /// All checks in the original's order; nothing but images and a new version looks at whether the Shoot is being
    /// deleted: GPL-SHVAL-005.
    fn admit(&mut self) -> Result<(), Rejection> {
        let operation = self.attributes.operation;
        if operation == Operation::Create {
            project::check(&self.project, &self.shoot)?;
        }
        scheduling::check(self)?;
        deletion::check(operation, &self.shoot, &self.old)?;
        hibernation::check(&mut self.shoot, &self.old)?;
        refused(&machine_image::fill_in(&mut self.shoot, &self.old, &self.profile))?;
        annotations::add(operation, &mut self.shoot, &self.old);
        refused(&self.collect())
    }

    /// The errors that are reported together: GPL-SHVAL-004.
    fn collect(&mut self) -> FieldErrors {
        let (profile, now) = (&self.profile, self.attributes.now);
        let mut errors = raw_extensions::validate(&self.shoot.spec);
        let is_deleted = self.attributes.operation == Operation::Delete;
        if !is_deleted {
            let seed = self.seed.as_ref();
            errors.extend(networks::fill_in(&mut self.shoot.spec, &self.old.spec, seed));
            errors.extend(kubernetes_version::fill_in(&mut self.shoot, &self.old, profile, now));
        }
        errors.extend(region::validate(&self.shoot.spec, &self.old.spec, profile));
        if is_deleted {
            return errors;
        }
        let binding = self.binding.as_ref();
        errors.extend(provider::fill_in(&mut self.shoot.spec, &self.old.spec, profile, binding, now));
        let (objects, namespace) = (self.attributes.objects, self.attributes.namespace);
        errors.extend(kubeconfig_secrets::validate(&self.shoot.spec, objects, namespace));
        if self.shoot.spec != self.old.spec {
            errors.extend(dns_domain::validate(&self.shoot, objects));
        }
        errors
    }
}

/// Field errors as 403, whose message is all that has them.
fn refused(errors: &[Error]) -> Result<(), Rejection> {
    if errors.is_empty() { Ok(()) } else { Err(Rejection::forbidden(listed(errors))) }
}

#[cfg(test)]
mod tests;
