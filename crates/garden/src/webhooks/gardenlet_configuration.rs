//! The configuration of a gardenlet, as a ManagedSeed or a ManagedSeedSet has it: without the gardenlet's own defaults.

use std::net::IpAddr;

use api::gardenlet::deployments::{NodeToleration, Sni};
use api::gardenlet::{API_VERSION, GardenletConfiguration, KIND};
use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::object;
use webhook::rejection::Rejection;

use super::field_errors::{FieldErrors, each_invalid, supported};
use super::{
    bounds, gardenlet_connection, gardenlet_controllers, gardenlet_notation, gardenlet_resources,
    gardenlet_seed, names, reading,
};

/// How the original calls what knows its kinds.
const SCHEME: &str = "pkg/runtime/scheme.go:100";

/// Reads the configuration that an object of this kind has; an absent one is empty. It need not name its version and kind:
/// GDN-GLC-001, GDN-GLC-002.
///
/// # Errors
/// 400 when it is no such configuration.
pub(crate) fn read(kind: &str, config: Option<&Value>) -> Result<GardenletConfiguration, Rejection> {
    let Some(config) = config else { return Ok(GardenletConfiguration::default()) };
    let or = |field, value| {
        object::text(config, &[field]).map(|found: &str| if found.is_empty() { value } else { found })
    };
    let named = (or("apiVersion", API_VERSION)?, or("kind", KIND)?);
    if named != (API_VERSION, KIND) {
        let (version, found) = named;
        let text =
            format!("no kind \"{found}\" is registered for version \"{version}\" in scheme \"{SCHEME}\"");
        return Err(Rejection::undecodable(format!("failed to read the {kind}: {text}")));
    }
    let read = reading::read(kind, config)?;
    gardenlet_notation::validate(kind, config)?;
    Ok(read)
}

/// The errors of a configuration, in the original's order. As in the original, those of the kubeconfig's validity and of the
/// log do not say where the configuration is: GDN-GLC-003 to -010.
///
/// # Errors
/// 400 when an amount is no quantity.
pub(super) fn validate(
    kind: &str,
    config: &GardenletConfiguration,
    at: &Path,
) -> Result<FieldErrors, Rejection> {
    let mut errors = FieldErrors::new();
    let validity = config.garden_client_connection.as_ref();
    if let Some(validity) = validity.and_then(|connection| connection.kubeconfig_validity.as_ref()) {
        let at = Path::new("gardenClientConnection").child("kubeconfigValidity");
        errors.extend(gardenlet_connection::validate_validity(validity, &at));
    }
    if let Some(controllers) = &config.controllers {
        errors.extend(gardenlet_controllers::validate(controllers, &at.child("controllers")));
    }
    let logs: [(&str, &Option<String>, &[&str]); 2] = [
        ("logLevel", &config.log_level, &["debug", "info", "error"]),
        ("logFormat", &config.log_format, &["json", "text"]),
    ];
    for (name, value, known) in logs {
        let value = value.as_ref().filter(|value| !value.is_empty());
        errors.extend(value.and_then(|value| supported(&Path::new(name), value, known)));
    }
    if let Some(seed) = &config.seed_config {
        errors.extend(gardenlet_seed::validate(seed, &at.child("seedConfig"))?);
    }
    if let Some(resources) = &config.resources {
        errors.extend(gardenlet_resources::validate(kind, resources, &at.child("resources"))?);
    }
    errors.extend(config.sni.as_ref().and_then(|sni| validate_sni(sni, &at.child("sni"))));
    for (index, handler) in config.exposure_class_handlers.iter().enumerate() {
        let at = at.child("exposureClassHandlers").index(index);
        errors.extend(each_invalid(&at.child("name"), &handler.name, &names::dns_label(&handler.name)));
        errors.extend(handler.sni.as_ref().and_then(|sni| validate_sni(sni, &at.child("sni"))));
    }
    if let Some(toleration) = &config.node_toleration {
        errors.extend(validate_toleration(toleration, &at.child("nodeToleration")));
    }
    Ok(errors)
}

fn validate_sni(sni: &Sni, at: &Path) -> Option<Error> {
    let address = sni.ingress.as_ref()?.service_external_ip.as_ref()?;
    let at = at.child("ingress").child("serviceExternalIP");
    let is_wrong = address.parse::<IpAddr>().is_err();
    is_wrong.then(|| Error::invalid(&at, address, "external service ip is invalid"))
}

fn validate_toleration(toleration: &NodeToleration, at: &Path) -> FieldErrors {
    let fields = [
        ("defaultNotReadyTolerationSeconds", toleration.default_not_ready_toleration_seconds),
        ("defaultUnreachableTolerationSeconds", toleration.default_unreachable_toleration_seconds),
    ];
    fields.into_iter().filter_map(|(name, seconds)| bounds::non_negative(&at.child(name), seconds)).collect()
}
