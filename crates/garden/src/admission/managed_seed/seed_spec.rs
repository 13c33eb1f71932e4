//! The spec of a ManagedSeed's Seed: what the user leaves open is taken from the Shoot, what the user says must agree with it.

use api::garden::Shoot;
use api::garden::seed::Ingress;
use serde_json::{Value, json};
use webhook::field::{Error, Path, Shown};
use webhook::object;
use webhook::rejection::Rejection;
use webhook::strategy::ObjectReader;

use super::{at_seed_spec, dns, domain, zones};
use crate::webhooks::go_value::GoValue;
use crate::webhooks::{reading, references};

const GATE: &str = "TopologyAwareHints";

/// Changes the spec; returns what does not agree, in the original's order: GPL-MSEED-003.
///
/// # Errors
/// When a field has the wrong type, or the Secret of a default domain is broken.
pub(super) fn agree(
    objects: &dyn ObjectReader,
    spec: &mut Value,
    shoot: &Shoot,
) -> Result<Vec<Error>, Rejection> {
    let at = at_seed_spec();
    if object::map(spec, &["backup"])?.is_some() && object::text(spec, &["backup", "provider"])?.is_empty() {
        object::set(spec, &["backup", "provider"], shoot.spec.provider.type_.as_str())?;
    }
    let mut errors = ingress(objects, spec, shoot, &at)?;
    errors.extend(networks(spec, shoot, &at.child("networks"))?);
    errors.extend(provider(spec, shoot, &at.child("provider"))?);
    errors.extend(settings(spec, shoot, &at)?);
    Ok(errors)
}

/// The domain is the Shoot's, and the provider of DNS that of the Shoot. An error about the provider shows the ingress as it
/// is in the end.
fn ingress(
    objects: &dyn ObjectReader,
    spec: &mut Value,
    shoot: &Shoot,
    at: &Path,
) -> Result<Vec<Error>, Rejection> {
    if object::map(spec, &["ingress"])?.is_none() {
        object::set(spec, &["ingress"], json!({"domain": "", "controller": {"kind": ""}}))?;
    }
    let mut missing = None;
    if object::map(spec, &["dns", "provider"])?.is_none() {
        match dns::provider(objects, shoot)? {
            Ok(provider) => object::set(spec, &["dns", "provider"], provider)?,
            Err(why) => missing = Some(why),
        }
    }
    let wanted = format!("ingress.{}", domain(shoot));
    let given = object::text(spec, &["ingress", "domain"])?.to_owned();
    if given.is_empty() {
        object::set(spec, &["ingress", "domain"], wanted.as_str())?;
    }
    let at = at.child("ingress");
    let mut errors = Vec::new();
    if let Some(why) = missing {
        let ingress: Ingress = reading::read("Ingress", &spec["ingress"])?;
        errors.push(Error::invalid(&at, &shown(&ingress), &why));
    }
    if !given.is_empty() && given != wanted {
        let why = format!("seed ingress domain must be equal to shoot DNS domain {wanted}");
        errors.push(Error::invalid(&at.child("domain"), &given, &why));
    }
    Ok(errors)
}

fn shown(ingress: &Ingress) -> GoValue {
    let config = ingress.controller.provider_config.as_ref();
    let config = GoValue::pointer("runtime.RawExtension", config.map(|_| GoValue::text("")));
    let controller = vec![("Kind", GoValue::text(&ingress.controller.kind)), ("ProviderConfig", config)];
    let controller = GoValue::Struct("core.IngressController", controller);
    let fields = vec![("Domain", GoValue::text(&ingress.domain)), ("Controller", controller)];
    GoValue::Struct("core.Ingress", fields)
}

/// As in the original, the error about Services shows the network of pods.
fn networks(spec: &mut Value, shoot: &Shoot, at: &Path) -> Result<Vec<Error>, Rejection> {
    let networking = shoot.spec.networking.as_ref();
    let fields = [
        ("nodes", "nodes", networking.and_then(|networking| networking.nodes.as_ref())),
        ("pods", "pods", networking.and_then(|networking| networking.pods.as_ref())),
        ("services", "pods", networking.and_then(|networking| networking.services.as_ref())),
    ];
    let mut errors = Vec::new();
    for (field, shown, of_shoot) in fields {
        let path = ["networks", field];
        let Some(of_shoot) = of_shoot else { continue };
        // That of nodes is a pointer, which may point to an empty text.
        let is_open = match field {
            "nodes" => object::get(spec, &path)?.is_none(),
            _ => object::text(spec, &path)?.is_empty(),
        };
        if is_open {
            object::set(spec, &path, of_shoot.as_str())?;
        } else if object::text(spec, &path)? != of_shoot {
            let why = format!("seed {field} CIDR must be equal to shoot {field} CIDR {of_shoot}");
            errors.push(Error::invalid(&at.child(field), object::text(spec, &["networks", shown])?, &why));
        }
    }
    Ok(errors)
}

fn provider(spec: &mut Value, shoot: &Shoot, at: &Path) -> Result<Vec<Error>, Rejection> {
    let fields =
        [("type", "provider type", &shoot.spec.provider.type_), ("region", "region", &shoot.spec.region)];
    let mut errors = Vec::new();
    for (field, what, of_shoot) in fields {
        let path = ["provider", field];
        let given = object::text(spec, &path)?.to_owned();
        if given.is_empty() {
            object::set(spec, &path, of_shoot.as_str())?;
        } else if given != *of_shoot {
            let why = format!("seed provider {field} must be equal to shoot {what} {of_shoot}");
            errors.push(Error::invalid(&at.child(field), &given, &why));
        }
    }
    let of_workers = zones::of_workers(shoot);
    if object::list(spec, &["provider", "zones"])?.is_empty() && !of_workers.is_empty() {
        object::set(spec, &["provider", "zones"], of_workers.into_iter().collect::<Vec<_>>())?;
    }
    Ok(errors)
}

/// The Seed uses the Shoot's vertical pod autoscaler, has no Secret without static token, and routes by topology only with the
/// feature gate.
fn settings(spec: &mut Value, shoot: &Shoot, at: &Path) -> Result<Vec<Error>, Rejection> {
    const VPA: [&str; 2] = ["settings", "verticalPodAutoscaler"];
    let mut errors = Vec::new();
    match object::map(spec, &VPA)? {
        None => object::set(spec, &VPA, json!({"enabled": false}))?,
        Some(vpa) if vpa.get("enabled") == Some(&Value::Bool(true)) => {
            let at = at.child("settings").child("verticalPodAutoscaler").child("enabled");
            let why = "seed VPA is not supported for managed seeds - use the shoot VPA";
            errors.push(Error::invalid(&at, true, why));
        }
        Some(_) => {}
    }
    if object::map(spec, &["secretRef"])?.is_some()
        && shoot.spec.kubernetes.enable_static_token_kubeconfig != Some(true)
    {
        let reference = reading::read("SecretReference", &spec["secretRef"])?;
        let why = "seed secretRef cannot be specified when the shoot static token kubeconfig is disabled";
        let value = references::secret(&reference);
        errors.push(Error::invalid(&at.child("secretRef"), Shown::from(&value), why));
    }
    if object::boolean(spec, &["settings", "topologyAwareRouting", "enabled"])? == Some(true) {
        let at = at.child("settings").child("topologyAwareRouting").child("enabled");
        errors.extend(without_gate(shoot).map(|component| {
            let why = format!(
                "the topology-aware routing seed setting cannot be enabled when the {GATE} feature gate is disabled for \
                 {component}"
            );
            Error::invalid(&at, true, &why)
        }));
    }
    Ok(errors)
}

/// The components of a Shoot that switch the feature gate off.
fn without_gate(shoot: &Shoot) -> impl Iterator<Item = &'static str> {
    let kubernetes = &shoot.spec.kubernetes;
    let gates = [
        ("kube-apiserver", kubernetes.kube_api_server.as_ref().map(|config| &config.feature_gates)),
        (
            "kube-controller-manager",
            kubernetes.kube_controller_manager.as_ref().map(|config| &config.feature_gates),
        ),
        ("kube-proxy", kubernetes.kube_proxy.as_ref().map(|config| &config.feature_gates)),
    ];
    let off = gates.map(|(component, gates)| {
        (gates.and_then(|gates| gates.get(GATE)) == Some(&false)).then_some(component)
    });
    off.into_iter().flatten()
}
