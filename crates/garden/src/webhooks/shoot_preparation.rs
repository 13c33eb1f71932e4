//! What the original does to a Shoot before it validates and stores it, as far as a webhook can.
//!
//! The original also takes away an operation that it counts in `metadata.generation`. Only the API server that stores a
//! custom resource can count, so that the operation stays until it is done.

use std::collections::BTreeSet;

use api::garden::Shoot;
use api::gardener::OPERATION;
use serde_json::Value;
use webhook::object::{self, WrongType};

use super::kubernetes_version::is_from;
use super::shoot_admission_plugins::POD_SECURITY_POLICY;
use super::shoot_metadata;

const API_SERVER: [&str; 3] = ["spec", "kubernetes", "kubeAPIServer"];

/// Prepares a Shoot: GDN-SPP-001 to -004.
///
/// # Errors
/// When a field has the wrong type.
pub fn prepare(raw: &mut Value, shoot: &Shoot, old: Option<&Shoot>) -> Result<(), WrongType> {
    merge_extensions(raw)?;
    drop_issuers(raw)?;
    let rotates = shoot_metadata::value(&shoot.metadata, OPERATION) == "rotate-ssh-keypair";
    if old.is_some_and(|old| rotates && ignores_ssh(shoot, old)) {
        object::map_mut(raw, &["metadata", "annotations"])?.remove(OPERATION);
    }
    // An update to 1.25 must still show that the plugin is off.
    let from_1_25 = |shoot: &Shoot| is_from(shoot.spec.kubernetes.version.as_deref().unwrap_or_default(), 25);
    if from_1_25(shoot) && old.is_none_or(from_1_25) {
        drop_pod_security_policy(raw)?;
    }
    Ok(())
}

/// Extensions of one type are merged into one: at the first one's place, with the last one's content.
fn merge_extensions(raw: &mut Value) -> Result<(), WrongType> {
    const EXTENSIONS: [&str; 2] = ["spec", "extensions"];
    let mut merged: Vec<(String, Value)> = Vec::new();
    let all = object::list(raw, &EXTENSIONS)?;
    for extension in all {
        let kind = object::text(extension, &["type"])?;
        match merged.iter_mut().find(|(known, _)| known == kind) {
            Some((_, earlier)) => *earlier = extension.clone(),
            None => merged.push((kind.to_owned(), extension.clone())),
        }
    }
    if merged.len() < all.len() {
        let merged: Vec<Value> = merged.into_iter().map(|(_, extension)| extension).collect();
        object::set(raw, &EXTENSIONS, merged)?;
    }
    Ok(())
}

/// The issuer itself is accepted anyway, and each one once.
fn drop_issuers(raw: &mut Value) -> Result<(), WrongType> {
    const ACCOUNTS: [&str; 4] = [API_SERVER[0], API_SERVER[1], API_SERVER[2], "serviceAccountConfig"];
    let at = |field: &'static str| [ACCOUNTS[0], ACCOUNTS[1], ACCOUNTS[2], ACCOUNTS[3], field];
    let all = object::list(raw, &at("acceptedIssuers"))?;
    let mut seen = BTreeSet::from([object::text(raw, &at("issuer"))?]);
    let has_issuer = object::get(raw, &at("issuer"))?.is_some();
    if !has_issuer {
        seen.clear();
    }
    let kept: Vec<Value> =
        all.iter().filter(|issuer| issuer.as_str().is_none_or(|text| seen.insert(text))).cloned().collect();
    if kept.is_empty() && !all.is_empty() {
        object::map_mut(raw, &ACCOUNTS)?.remove("acceptedIssuers");
    } else if kept.len() < all.len() {
        object::set(raw, &at("acceptedIssuers"), kept)?;
    }
    Ok(())
}

/// Whether to remove a rotation of missing SSH keys: the Shoot was reconciled before, and its spec stays.
fn ignores_ssh(shoot: &Shoot, old: &Shoot) -> bool {
    let settings = shoot.spec.provider.workers_settings.as_ref();
    let access = settings.and_then(|settings| settings.ssh_access.as_ref());
    let has_ssh = !shoot.spec.provider.workers.is_empty() && access.is_none_or(|access| access.enabled);
    let last = old.status.last_operation.as_ref();
    !has_ssh && last.is_some_and(|last| last.state != "Failed") && shoot.spec == old.spec
}

fn drop_pod_security_policy(raw: &mut Value) -> Result<(), WrongType> {
    const PLUGINS: [&str; 4] = [API_SERVER[0], API_SERVER[1], API_SERVER[2], "admissionPlugins"];
    let all = object::list(raw, &PLUGINS)?;
    // One that is on is refused.
    let is_dropped = |plugin: &Value| {
        plugin.get("name").and_then(Value::as_str) == Some(POD_SECURITY_POLICY)
            && plugin.get("disabled") == Some(&Value::Bool(true))
    };
    let kept: Vec<Value> = all.iter().filter(|plugin| !is_dropped(plugin)).cloned().collect();
    if kept.is_empty() && !all.is_empty() {
        object::map_mut(raw, &API_SERVER)?.remove(PLUGINS[3]);
    } else if kept.len() < all.len() {
        object::set(raw, &PLUGINS, kept)?;
    }
    Ok(())
}
