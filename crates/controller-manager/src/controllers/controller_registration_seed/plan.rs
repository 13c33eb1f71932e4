//! Which ControllerInstallations of a Seed are written and deleted.

use std::collections::BTreeMap;

use api::garden::controller_installation::ControllerInstallationSpec;
use api::garden::reference::ObjectReference;
use api::garden::{ControllerDeployment, ControllerInstallation, ControllerRegistration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, ResourceExt as _};
use serde_json::{Value, json};

use super::wanted::{self, WantedError};
use super::{State, hash, required};

const SEED_HASH: &str = "seed-spec-hash";
const REGISTRATION_HASH: &str = "registration-spec-hash";
const DEPLOYMENT_HASH: &str = "deployment-hash";
/// Annotation of a ControllerRegistration, and of its installations: how strictly the namespace of its pods is checked.
const POD_SECURITY: &str = "security.gardener.cloud/pod-security-enforce";

/// What to do with an installation.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    Create {
        registration: String,
        installation: Box<ControllerInstallation>,
    },
    /// A merge patch of the installation.
    Patch {
        registration: String,
        installation: String,
        patch: Value,
    },
    /// Report why an extension cannot be installed now.
    Refuse(String),
    Delete(String),
}

/// GCM-CRS-060 to -068. Installations are written first; if one of them cannot be, none is deleted.
pub(super) fn plan(state: &State) -> Result<Vec<Action>, WantedError> {
    let wanted = wanted::names(state, &required::all(state))?;
    let installed = wanted::installed(state)?;
    let mut actions = Vec::new();
    let mut refused = None;
    for name in &wanted {
        let registration = &state.registrations[name];
        if registration.metadata.deletion_timestamp.is_some() {
            continue;
        }
        match deploy(state, registration, installed.get(name).copied()) {
            Ok(action) => actions.extend(action),
            Err(reason) => refused = refused.or(Some(reason)),
        }
    }
    if let Some(reason) = refused {
        actions.push(Action::Refuse(reason));
        return Ok(actions);
    }
    let unwanted = installed.into_iter().filter(|(name, installation)| {
        !wanted.contains(name) && installation.metadata.deletion_timestamp.is_none()
    });
    actions.extend(unwanted.map(|(_, installation)| Action::Delete(installation.name_any())));
    Ok(actions)
}

/// Installs a registration, or brings its installation up to date.
fn deploy(
    state: &State,
    registration: &ControllerRegistration,
    installed: Option<&ControllerInstallation>,
) -> Result<Option<Action>, String> {
    let name = registration.name_any();
    let deployment = deployment(state, registration)?;
    if installed.is_some_and(|installation| installation.metadata.deletion_timestamp.is_some()) {
        return Err(format!(
            "cannot deploy new ControllerInstallation for {name:?} because the deletion of the old ControllerInstallation is still pending"
        ));
    }
    let spec = ControllerInstallationSpec {
        seed_ref: reference(&*state.seed),
        registration_ref: reference(registration),
        deployment_ref: deployment.map(reference),
        ..ControllerInstallationSpec::default()
    };
    let labels = labels(state, registration, deployment);
    let pod_security = registration.annotations().get(POD_SECURITY);
    let Some(old) = installed else {
        let metadata = ObjectMeta {
            generate_name: Some(format!("{name}-")),
            labels: Some(labels),
            annotations: pod_security.map(|value| BTreeMap::from([(POD_SECURITY.to_owned(), value.clone())])),
            ..ObjectMeta::default()
        };
        let installation = ControllerInstallation { metadata, spec, ..ControllerInstallation::default() };
        return Ok(Some(Action::Create { registration: name, installation: Box::new(installation) }));
    };
    let is_current = old.spec == spec
        && labels.iter().all(|(key, value)| old.labels().get(key) == Some(value))
        && old.annotations().get(POD_SECURITY) == pod_security;
    let patch = || {
        let references = json!({
            "seedRef": full(&spec.seed_ref),
            "registrationRef": full(&spec.registration_ref),
            "deploymentRef": spec.deployment_ref.as_ref().map(full),
        });
        json!({"metadata": {"labels": labels, "annotations": {POD_SECURITY: pod_security}}, "spec": references})
    };
    let installation = old.name_any();
    Ok((!is_current).then(|| Action::Patch { registration: name, installation, patch: patch() }))
}

/// The first ControllerDeployment of a registration, if it has one.
fn deployment<'a>(
    state: &'a State,
    registration: &ControllerRegistration,
) -> Result<Option<&'a ControllerDeployment>, String> {
    let references = registration.spec.deployment.as_ref().map(|deployment| &deployment.deployment_refs);
    let Some(reference) = references.and_then(|references| references.first()) else { return Ok(None) };
    let name = &reference.name;
    let deployment = state.deployments.get(name).map(|deployment| &**deployment);
    let missing = || {
        format!(
            "cannot deploy ControllerInstallation because the referenced ControllerDeployment cannot be retrieved: ControllerDeployment.core.gardener.cloud {name:?} not found"
        )
    };
    deployment.map(Some).ok_or_else(missing)
}

fn reference<K: Resource>(object: &K) -> ObjectReference {
    ObjectReference {
        name: Some(object.name_any()),
        resource_version: object.resource_version(),
        ..ObjectReference::default()
    }
}

/// A reference that leaves nothing of the one before.
fn full(reference: &ObjectReference) -> Value {
    let ObjectReference { name, resource_version, .. } = reference;
    json!({
        "apiVersion": null, "kind": null, "namespace": null, "uid": null, "fieldPath": null,
        "name": name, "resourceVersion": resource_version,
    })
}

fn labels(
    state: &State,
    registration: &ControllerRegistration,
    deployment: Option<&ControllerDeployment>,
) -> BTreeMap<String, String> {
    let hashes = [
        (SEED_HASH, Some(hash::of_seed(&state.seed))),
        (REGISTRATION_HASH, Some(hash::of_registration(registration))),
        (DEPLOYMENT_HASH, deployment.map(hash::of_deployment)),
    ];
    hashes.into_iter().filter_map(|(label, hash)| Some((label.to_owned(), hash?))).collect()
}
