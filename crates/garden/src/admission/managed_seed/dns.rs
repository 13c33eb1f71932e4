//! The provider of DNS of a ManagedSeed's Seed: that of its Shoot, or of the default domain in which the Shoot is.

use api::garden::{SecretBinding, Shoot};
use serde_json::{Value, json};
use webhook::object;
use webhook::rejection::Rejection;
use webhook::strategy::ObjectReader;

use super::{GARDEN, domain, qualified};
use crate::admission::lookup::{SECRET_BINDINGS, SECRETS};
use crate::admission::messages;
use crate::webhooks::reading;

const UNMANAGED: &str = "unmanaged";
const ROLE: &str = "gardener.cloud/role";

/// The provider, or why there is none.
///
/// # Errors
/// 500 when the Secret of a default domain is broken.
pub(super) fn provider(
    objects: &dyn ObjectReader,
    shoot: &Shoot,
) -> Result<Result<Value, String>, Rejection> {
    match of_shoot(objects, shoot)? {
        Ok(None) => Ok(of_default_domain(objects, shoot)?.ok_or_else(|| {
            format!("domain of shoot {} is neither a custom domain nor a default domain", qualified(shoot))
        })),
        Ok(Some(provider)) => Ok(Ok(provider)),
        Err(why) => Ok(Err(why)),
    }
}

/// The primary provider of a Shoot, with its own Secret or that of the Shoot's provider.
fn of_shoot(objects: &dyn ObjectReader, shoot: &Shoot) -> Result<Result<Option<Value>, String>, Rejection> {
    let mut providers = shoot.spec.dns.iter().flat_map(|dns| &dns.providers);
    let Some(primary) = providers.find(|provider| provider.primary == Some(true)) else {
        return Ok(Ok(None));
    };
    let of = qualified(shoot);
    let Some(type_) = &primary.type_ else {
        return Ok(Err(format!("primary DNS provider of shoot {of} does not have a type")));
    };
    if type_ == UNMANAGED {
        return Ok(Ok(None));
    }
    let namespace = shoot.metadata.namespace.as_deref().unwrap_or_default();
    let secret = match (&primary.secret_name, &shoot.spec.secret_binding_name) {
        (Some(name), _) => json!({"name": name, "namespace": namespace}),
        (None, None) => return Ok(Err(format!("shoot secretbindingName is nil for {of}"))),
        (None, Some(name)) => {
            let Some(binding) = objects.get(SECRET_BINDINGS.resource, namespace, name) else {
                return Ok(Err(format!("secret binding {namespace}/{name} not found")));
            };
            let binding: SecretBinding = reading::read("SecretBinding", &binding)?;
            json!({"name": binding.secret_ref.name, "namespace": binding.secret_ref.namespace})
        }
    };
    Ok(Ok(Some(json!({"type": type_, "secretRef": secret}))))
}

/// The Secrets of default domains, by name; in the original, their order is random. As in the original, a domain is any end
/// of the Shoot's, also in the middle of a label.
fn of_default_domain(objects: &dyn ObjectReader, shoot: &Shoot) -> Result<Option<Value>, Rejection> {
    for secret in objects.list(SECRETS) {
        let is_default = object::label(&secret, ROLE)? == Some("default-domain");
        if object::text(&secret, &["metadata", "namespace"])? != GARDEN || !is_default {
            continue;
        }
        let (provider, of) = of_secret(&secret)?.map_err(|why| {
            messages::internal(format!("could not get domain info from domain secret annotations: {why}"))
        })?;
        if domain(shoot).ends_with(&of) {
            let reference = json!({"name": secret["metadata"]["name"], "namespace": GARDEN});
            return Ok(Some(json!({"type": provider, "secretRef": reference})));
        }
    }
    Ok(None)
}

/// Provider and domain of a Secret, or what it lacks.
fn of_secret(secret: &Value) -> Result<Result<(String, String), &'static str>, Rejection> {
    if object::map(secret, &["metadata", "annotations"])?.is_none() {
        return Ok(Err("domain secret has no annotations"));
    }
    let text = |key| object::annotation(secret, key).map(|text| text.unwrap_or_default().to_owned());
    let (provider, domain) = (text("dns.gardener.cloud/provider")?, text("dns.gardener.cloud/domain")?);
    Ok(match (domain.is_empty(), provider.is_empty()) {
        (true, _) => Err("missing dns domain annotation on domain secret"),
        (_, true) => Err("missing dns provider annotation on domain secret"),
        _ => Ok((provider, domain)),
    })
}
