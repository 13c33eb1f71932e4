//! The audit policy of a Shoot is a valid one, in a ConfigMap of its namespace
//! (contracts/admission-controller/webhooks/audit-policy).

mod policy;

use std::sync::Arc;

use api::garden::Shoot;
use k8s_openapi::api::core::v1::ConfigMap;
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, Operation};

use super::typed;
use crate::graph::audit_policy as policy_of;

/// Its name.
pub const NAME: &str = "audit-policy";
/// Its path.
pub const PATH: &str = "/webhooks/audit-policies";

/// Message for other resources. ADM-AUD-001.
pub const OTHER: &str = "resource is not *core.gardener.cloud/v1beta1.Shoot or *corev1.ConfigMap";

/// What to do about a Shoot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShootCheck {
    /// It is allowed, for this reason.
    Allowed(&'static str),
    /// The webhook must validate the policy in the ConfigMap of this namespace and name.
    Policy {
        /// Namespace of the Shoot.
        namespace: String,
        /// Name of the ConfigMap.
        name: String,
    },
}

/// Decides whether the webhook must validate the policy of a Shoot. ADM-AUD-002 to -006.
///
/// # Errors
/// 500 if the Shoot, or the one before, is malformed.
pub fn check_shoot(request: &AdmissionRequest<'_>) -> Result<ShootCheck, Rejection> {
    let shoot: Shoot = read(request.object)?;
    if shoot.metadata.deletion_timestamp.is_some() {
        return Ok(ShootCheck::Allowed("shoot is already marked for deletion"));
    }
    let old: Option<Shoot> = match request.operation {
        Operation::Update => Some(read(request.old_object)?),
        _ => None,
    };
    if old.as_ref().is_some_and(|old| old.spec == shoot.spec) {
        return Ok(ShootCheck::Allowed("shoot spec was not changed"));
    }
    let name = policy_of(&shoot).unwrap_or_default();
    if name.is_empty() {
        return Ok(ShootCheck::Allowed("shoot resource is not specifying any audit policy"));
    }
    let version = |shoot: &Shoot| shoot.spec.kubernetes.version.clone().unwrap_or_default();
    let old_name = old.as_ref().and_then(policy_of).unwrap_or_default();
    let old_version = old.as_ref().map(version).unwrap_or_default();
    // Another version of Kubernetes may not know the version of the policy.
    if old_name == name && old_version == version(&shoot) {
        return Ok(ShootCheck::Allowed("audit policy configmap was not changed"));
    }
    let namespace = shoot.metadata.namespace.clone().unwrap_or_default();
    Ok(ShootCheck::Policy { namespace, name: name.to_owned() })
}

/// Judges the policy that a Shoot refers to; `None` if there is no such ConfigMap. ADM-AUD-007 to -013.
///
/// # Errors
/// 422 if it cannot be used, 500 if it is another object of the same group.
pub fn validate_shoot(
    namespace: &str,
    name: &str,
    config_map: Option<&ConfigMap>,
) -> Result<&'static str, Rejection> {
    let Some(config_map) = config_map else {
        let text = format!("referenced audit policy does not exist: namespace: {namespace}, name: {name}");
        return Err(Rejection::errored(422, text));
    };
    let text = policy_text(config_map).map_err(|error| {
        let text = format!("error getting auditlog policy from ConfigMap {namespace}/{name}: {error}");
        Rejection::errored(422, text)
    })?;
    policy::validate(text)?;
    Ok("referenced audit policy is valid")
}

/// Judges a change of a ConfigMap, given the Shoots of its namespace. ADM-AUD-014 to -019.
///
/// # Errors
/// 422 if a Shoot refers to it and it can no longer be used, 500 if it is malformed.
pub fn validate_config_map(
    request: &AdmissionRequest<'_>,
    shoots: impl FnOnce() -> Vec<Arc<Shoot>>,
) -> Result<&'static str, Rejection> {
    if request.operation != Operation::Update {
        return Ok("operation is not update");
    }
    let new: ConfigMap = read(request.object)?;
    if !shoots().iter().any(|shoot| policy_of(shoot).unwrap_or_default() == request.name) {
        return Ok("configmap is not referenced by a Shoot");
    }
    let text = policy_text(&new).map_err(|error| Rejection::errored(422, error))?;
    if request.old_object.is_none() {
        return Err(Rejection::errored(500, "could not find old object"));
    }
    let old: ConfigMap = read(request.old_object)?;
    if policy_text(&old) == Ok(text) {
        return Ok("audit policy not changed");
    }
    policy::validate(text)?;
    Ok("configmap change is valid")
}

/// Here, whoever sends a malformed object is not told that it is their mistake.
fn read<K: serde::de::DeserializeOwned>(raw: Option<&serde_json::value::RawValue>) -> Result<K, Rejection> {
    let object = webhook::mutation::decode(raw).and_then(typed);
    object.map_err(|rejection| Rejection::errored(500, rejection.message))
}

fn policy_text(config_map: &ConfigMap) -> Result<&str, &'static str> {
    let text = config_map.data.as_ref().and_then(|data| data.get("policy"));
    match text.map(String::as_str) {
        None => Err("missing '.data.policy' in audit policy configmap"),
        Some("") => Err("empty audit policy. Provide non-empty audit policy"),
        Some(text) => Ok(text),
    }
}
