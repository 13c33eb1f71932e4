//! OpenIDConnectPreset and ClusterOpenIDConnectPreset: settings of OpenID Connect for new Shoots without their own.

use std::collections::BTreeMap;

use api::garden::open_id_connect_preset::{KubeApiServerOpenIdConnect, OpenIdConnectClientAuthentication};
use api::garden::reference::LabelSelector;
use api::garden::shoot::api_server::{OidcConfig, OpenIdConnectClientAuthentication as ShootAuthentication};
use api::garden::{ClusterOpenIdConnectPreset, OpenIdConnectPreset, Project, Shoot};
use schema::admission_plugins;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::shoot_support::{NO_SHOOT, internal, is_shoot, list, read_shoot, write_changes};
use super::{Admit, Attributes, Plugin};
use crate::webhooks::selection;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::OPEN_ID_CONNECT_PRESET,
    is_on_by_default: true,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};
/// The presets of all namespaces come after those of the Shoot's own.
pub(super) static CLUSTER_PLUGIN: Plugin = Plugin {
    name: admission_plugins::CLUSTER_OPEN_ID_CONNECT_PRESET,
    is_on_by_default: true,
    admit: Some(Admit::Plain(admit_cluster)),
    validate: None,
};

/// A preset whose selectors select the Shoot.
struct Match {
    weight: i32,
    name: String,
    server: KubeApiServerOpenIdConnect,
    client: Option<OpenIdConnectClientAuthentication>,
}

/// Applies the best of the presets of the Shoot's namespace: GPL-OIDC-001, GPL-OIDC-002.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    let Some(shoot) = without_settings(attributes, object.as_deref())? else { return Ok(()) };
    let presets: Vec<OpenIdConnectPreset> =
        list(attributes.objects, "openidconnectpresets.settings.gardener.cloud")
            .map_err(|why| internal(&format!("could not list existing openidconnectpresets: {why}")))?;
    let own = presets
        .into_iter()
        .filter(|preset| preset.metadata.namespace.as_deref() == Some(attributes.namespace));
    let labels = shoot.metadata.labels.clone().unwrap_or_default();
    let mut matches = Vec::new();
    for preset in own {
        let spec = preset.spec;
        if selects(spec.shoot_selector.as_ref(), &labels, "shootSelector", spec.shoot_selector.as_ref())? {
            let name = preset.metadata.name.unwrap_or_default();
            matches.push(Match { weight: spec.weight, name, server: spec.server, client: spec.client });
        }
    }
    apply(object, &shoot, matches)
}

/// Applies the best of the cluster's presets, if the Project of the Shoot's namespace is ready: GPL-COIDC-001,
/// GPL-COIDC-002.
fn admit_cluster(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    let Some(shoot) = without_settings(attributes, object.as_deref())? else { return Ok(()) };
    let presets: Vec<ClusterOpenIdConnectPreset> =
        list(attributes.objects, "clusteropenidconnectpresets.settings.gardener.cloud").map_err(|why| {
            internal(&format!("could not list existing clusteropenidconnectpresets: {why}"))
        })?;
    let projects: Vec<Project> = list(attributes.objects, "projects.core.gardener.cloud")
        .map_err(|why| internal(&format!("could not list existing projects: {why}")))?;
    let is_ready = |project: &Project| {
        project.spec.namespace.as_deref() == Some(attributes.namespace)
            && project.status.phase.as_deref() == Some("Ready")
    };
    let Some(project) = projects.into_iter().find(is_ready) else { return Ok(()) };
    let of_project = project.metadata.labels.unwrap_or_default();
    let labels = shoot.metadata.labels.clone().unwrap_or_default();
    let mut matches = Vec::new();
    for preset in presets {
        let spec = preset.spec;
        let shown = spec.shoot_selector.as_ref();
        let is_of_project = selects(spec.project_selector.as_ref(), &of_project, "projectSelector", shown)?;
        if selects(shown, &labels, "shootSelector", shown)? && is_of_project {
            let name = preset.metadata.name.unwrap_or_default();
            matches.push(Match { weight: spec.weight, name, server: spec.server, client: spec.client });
        }
    }
    apply(object, &shoot, matches)
}

/// A new Shoot that has no settings of its own.
fn without_settings(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<Option<Shoot>, Rejection> {
    let is_new = attributes.operation == Operation::Create && attributes.subresource.is_empty();
    if !is_shoot(attributes) || !is_new {
        return Ok(None);
    }
    let shoot = read_shoot(object, NO_SHOOT)?;
    let server = shoot.spec.kubernetes.kube_api_server.as_ref();
    let has_own = server.is_some_and(|server| server.oidc_config.is_some());
    Ok((!has_own).then_some(shoot))
}

/// Whether a selector selects labels; an absent one selects nothing. The original's error shows the selector of Shoots,
/// whichever is wrong.
fn selects(
    selector: Option<&LabelSelector>,
    labels: &BTreeMap<String, String>,
    field: &str,
    shown: Option<&LabelSelector>,
) -> Result<bool, Rejection> {
    let Some(selector) = selector else { return Ok(false) };
    let none = LabelSelector::default();
    let selector =
        selection::converted(selector, shown.unwrap_or(&none), field).map_err(|why| internal(&why))?;
    Ok(selector.matches(labels))
}

/// Applies the preset of the highest weight, of several the one with the greatest name: GPL-OIDC-003.
fn apply(object: Option<&mut Value>, shoot: &Shoot, matches: Vec<Match>) -> Result<(), Rejection> {
    let best = matches
        .into_iter()
        .max_by(|one, other| one.weight.cmp(&other.weight).then_with(|| one.name.cmp(&other.name)));
    let (Some(object), Some(best)) = (object, best) else { return Ok(()) };
    let mut completed = shoot.clone();
    let server = completed.spec.kubernetes.kube_api_server.get_or_insert_default();
    server.oidc_config = Some(settings(best.server, best.client));
    write_changes(object, shoot, &completed)
}

fn settings(
    server: KubeApiServerOpenIdConnect,
    client: Option<OpenIdConnectClientAuthentication>,
) -> OidcConfig {
    let authentication = |client: OpenIdConnectClientAuthentication| ShootAuthentication {
        extra_config: client.extra_config,
        secret: client.secret,
        ..ShootAuthentication::default()
    };
    OidcConfig {
        ca_bundle: server.ca_bundle,
        client_authentication: client.map(authentication),
        client_id: Some(server.client_id),
        groups_claim: server.groups_claim,
        groups_prefix: server.groups_prefix,
        issuer_url: Some(server.issuer_url),
        required_claims: server.required_claims,
        signing_algs: server.signing_algs,
        username_claim: server.username_claim,
        username_prefix: server.username_prefix,
        ..OidcConfig::default()
    }
}

#[cfg(test)]
mod tests;
