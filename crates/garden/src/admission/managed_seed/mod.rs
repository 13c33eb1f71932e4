//! ManagedSeed: a Shoot that can be a Seed, and a Seed that agrees with its Shoot.

mod dns;
mod seed_spec;
mod zones;

use api::garden::Shoot;
use api::garden::seed_management::GROUP;
use schema::admission_plugins;
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::object;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::lookup::{MANAGED_SEEDS, SHOOTS};
use super::{Admit, Attributes, Plugin, messages};
use crate::webhooks::{gardenlet_configuration, reading};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::MANAGED_SEED,
    is_on_by_default: true,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};

const KIND: &str = "ManagedSeed";
const GARDEN: &str = "garden";
const CONFIG: [&str; 3] = ["spec", "gardenlet", "config"];
/// The path of the Seed's spec, as an error names it.
const SEED_SPEC: [&str; 5] = [CONFIG[0], CONFIG[1], CONFIG[2], "seedConfig", "spec"];

/// As in the original, every update needs the Shoot, whatever it changes: GPL-MSEED-008.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    if attributes.kind != KIND
        || !attributes.subresource.is_empty()
        || !matches!(attributes.operation, Operation::Create | Operation::Update)
    {
        return Ok(());
    }
    let managed_seed = messages::given(object, "could not convert object to ManagedSeed")?;
    let shoot = shoot_of(attributes, managed_seed)?;
    check_shoot(attributes, managed_seed, &shoot)?;
    let mut errors = agree(attributes, managed_seed, &shoot)?;
    errors.extend(match attributes.operation {
        Operation::Update => {
            let why = "could not convert old resource into ManagedSeed object";
            let old = attributes.old.ok_or_else(|| messages::internal(why))?;
            zones::of_update(attributes.objects, (old, managed_seed), &shoot)?
        }
        _ => zones::of_new(managed_seed, &shoot)?,
    });
    if errors.is_empty() { Ok(()) } else { Err(invalid(managed_seed, &errors)) }
}

/// The Shoot that the ManagedSeed names: GPL-MSEED-001.
fn shoot_of(attributes: &Attributes<'_>, managed_seed: &Value) -> Result<Shoot, Rejection> {
    let namespace = object::text(managed_seed, &["metadata", "namespace"])?;
    let one = |error: Error| Err(invalid(managed_seed, &[error]));
    if namespace != GARDEN {
        let at = Path::new("metadata").child("namespace");
        return one(Error::invalid(&at, namespace, "namespace must be garden"));
    }
    let at = Path::new("spec").child("shoot");
    if object::map(managed_seed, &["spec", "shoot"])?.is_none() {
        return one(Error::required(&at, "shoot is required"));
    }
    let name = object::text(managed_seed, &["spec", "shoot", "name"])?;
    if name.is_empty() {
        return one(Error::required(&at.child("name"), "shoot name is required"));
    }
    match attributes.objects.get(SHOOTS, namespace, name) {
        Some(shoot) => reading::read("Shoot", &shoot),
        None => one(Error::invalid(&at.child("name"), name, &format!("shoot {namespace}/{name} not found"))),
    }
}

/// Whether the Shoot can be a Seed: GPL-MSEED-002.
fn check_shoot(attributes: &Attributes<'_>, managed_seed: &Value, shoot: &Shoot) -> Result<(), Rejection> {
    let of = qualified(shoot);
    let spec = &shoot.spec;
    let addons = spec.addons.as_ref();
    let vpa = spec.kubernetes.vertical_pod_autoscaler.as_ref();
    let why = if domain(shoot).is_empty() {
        format!("shoot {of} does not specify a domain")
    } else if addons.and_then(|addons| addons.nginx_ingress.as_ref()).is_some_and(|nginx| nginx.enabled) {
        "shoot ingress addon is not supported for managed seeds - use the managed seed ingress controller"
            .to_owned()
    } else if !vpa.is_some_and(|vpa| vpa.enabled) {
        "shoot VPA has to be enabled for managed seeds".to_owned()
    } else if spec.provider.workers.is_empty() {
        "workerless shoot cannot be used to create managed seed".to_owned()
    } else {
        match registered_by(attributes, managed_seed, shoot)? {
            Some(other) => format!("shoot {of} already registered as seed by managed seed {other}"),
            None => return Ok(()),
        }
    };
    let at = Path::new("spec").child("shoot").child("name");
    let name = shoot.metadata.name.as_deref().unwrap_or_default();
    Err(invalid(managed_seed, &[Error::invalid(&at, name, &why)]))
}

/// Another ManagedSeed of the Shoot.
fn registered_by(
    attributes: &Attributes<'_>,
    managed_seed: &Value,
    shoot: &Shoot,
) -> Result<Option<String>, Rejection> {
    let (namespace, name) = (shoot.metadata.namespace.as_deref(), shoot.metadata.name.as_deref());
    let is_of_shoot = |seed: &Value| {
        seed["metadata"]["namespace"].as_str() == namespace && seed["spec"]["shoot"]["name"].as_str() == name
    };
    let seeds = attributes.objects.list(MANAGED_SEEDS);
    let of_shoot: Vec<&Value> = seeds.iter().filter(|seed| is_of_shoot(seed)).collect();
    match of_shoot.as_slice() {
        [] => Ok(None),
        [one] if one["metadata"]["name"] == managed_seed["metadata"]["name"] => Ok(None),
        [one] => {
            let text = |field| object::text(one, &["metadata", field]);
            Ok(Some(format!("{}/{}", text("namespace")?, text("name")?)))
        }
        _ => {
            let of = qualified(shoot);
            Err(messages::internal(format!(
                "could not get managed seed for shoot {of}: found more than one ManagedSeed objects for shoot {of}"
            )))
        }
    }
}

/// Makes the configuration of the gardenlet agree with the Shoot, as far as the user left it open: GPL-MSEED-003.
fn agree(
    attributes: &Attributes<'_>,
    managed_seed: &mut Value,
    shoot: &Shoot,
) -> Result<Vec<Error>, Rejection> {
    let Some(config) = object::get(managed_seed, &CONFIG)? else { return Ok(Vec::new()) };
    check_config(config).map_err(|why| messages::internal(format!("could not convert config: {why}")))?;
    if object::get(config, &["seedConfig"])?.is_none() {
        return Ok(Vec::new());
    }
    let mut spec = Value::Object(object::map_mut(managed_seed, &SEED_SPEC)?.clone());
    let errors = seed_spec::agree(attributes.objects, &mut spec, shoot)?;
    mirror_secret(managed_seed, &spec)?;
    object::set(managed_seed, &SEED_SPEC, spec)?;
    Ok(errors)
}

/// The text of the original's converter about something that is no configuration of a gardenlet.
fn check_config(config: &Value) -> Result<(), String> {
    gardenlet_configuration::read(KIND, Some(config)).map(drop).map_err(|rejection| {
        let prefix = format!("failed to read the {KIND}: ");
        rejection.message.strip_prefix(&prefix).unwrap_or(&rejection.message).to_owned()
    })
}

/// GPL-MSEED-004.
fn mirror_secret(managed_seed: &mut Value, spec: &Value) -> Result<(), Rejection> {
    if object::map(spec, &["secretRef"])?.is_none() {
        return Ok(());
    }
    for field in ["name", "namespace"] {
        let key = format!("seedmanagement.gardener.cloud/seed-secret-{field}");
        let text = object::text(spec, &["secretRef", field])?;
        object::set(managed_seed, &["metadata", "annotations", &key], text)?;
    }
    Ok(())
}

/// The spec of the Seed that a ManagedSeed has. The original's errors are no API statuses: GPL-MSEED-005.
fn spec_of(managed_seed: &Value) -> Result<Value, Rejection> {
    let name = object::text(managed_seed, &["metadata", "name"])?;
    let Some(config) = object::get(managed_seed, &CONFIG)? else {
        return Err(messages::plain(format!("no gardenlet config specified in managedseed {name}")));
    };
    check_config(config).map_err(|why| {
        messages::plain(format!("failed to convert gardenlet config for managedseed {name}: {why}"))
    })?;
    let Some(seed_config) = object::get(config, &["seedConfig"])? else {
        return Err(messages::plain(format!("no seed config found for managedseed {name}")));
    };
    let spec = object::map(seed_config, &["spec"])?.cloned();
    Ok(Value::Object(spec.unwrap_or_default()))
}

fn at_seed_spec() -> Path {
    let [first, rest @ ..] = SEED_SPEC;
    rest.iter().fold(Path::new(first), |at, name| at.child(name))
}

fn domain(shoot: &Shoot) -> &str {
    shoot.spec.dns.as_ref().and_then(|dns| dns.domain.as_deref()).unwrap_or_default()
}

/// `namespace/name`.
fn qualified(shoot: &Shoot) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    format!("{}/{}", text(&shoot.metadata.namespace), text(&shoot.metadata.name))
}

fn invalid(managed_seed: &Value, errors: &[Error]) -> Rejection {
    messages::invalid((GROUP, KIND), managed_seed, errors)
}

#[cfg(test)]
mod tests;
