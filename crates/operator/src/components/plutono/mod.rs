//! Plutono, which shows metrics and logs.
//!
//! Dashboards have the original's files and titles, but a few panels of our own instead of the original's; those of extensions are
//! theirs. Names of ConfigMaps contain checksums of their data, so they are others than the original's. Prometheus is not deployed by
//! this operator: Plutono looks for it where the user puts it.

mod configuration;
mod dashboard_table;
mod dashboards;
mod deployment;
mod ingress;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use api::operator::Garden;
use secrets::{AuthorityChoice, Content, GenerateOptions, SecretRequest};
use serde_json::Value;

use super::error::RenderError;
use super::generated::{CA_RUNTIME, RequestedSecret};
use super::managed::ManagedObjects;
use super::objects::{entries, metadata, service, service_port, with};
use super::rendering::{DirectStep, Rendering, name_of};
use super::values::{GardenValues, ObservedState};

/// Name of its Deployment and of the ManagedResource.
pub const NAME: &str = "plutono";

/// Name of the request of the password with which people open it.
const CREDENTIALS: &str = "observability-ingress";
/// Name of the request of its certificate.
const CERTIFICATE: &str = "plutono-tls";
/// How long its certificate is valid: 730 days.
const VALIDITY: Duration = Duration::from_hours(730 * 24);
const PORT: u16 = 3000;

/// What it needs from the secrets manager: no certificate of its own if there is one for all names of the domain. OPC-135.
#[must_use]
pub fn requests(garden: &Garden, observed: &ObservedState) -> Vec<RequestedSecret> {
    let mut requested = vec![credentials()];
    if observed.wildcard_certificate.is_none() {
        requested.push(certificate(garden));
    }
    requested
}

/// What must be written; dashboards by the operator itself, as a Secret would not hold them. OPC-134 to -136.
///
/// # Errors
/// If there is no image, a Secret was not generated, or dashboards of extensions cannot be read.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let [providers, sources] = configuration::config_maps()?;
    let (garden, global) =
        (dashboards::of_garden(&values.observed.extension_dashboards)?, dashboards::global());
    let names = [&sources, &providers, &garden, &global].map(name_of);
    let deployment = deployment::deployment(&values.image(NAME)?, names);
    let objects = vec![providers, sources, deployment, web_service(), ingress::ingress(values)?];
    Ok(Rendering {
        steps: [garden, global].map(DirectStep::CreateOrLabel).into(),
        managed: vec![ManagedObjects::in_runtime(NAME, objects)],
        awaited_service: None,
    })
}

/// Labels by which its Pods are selected.
fn labels() -> BTreeMap<String, String> {
    entries([("component", NAME)])
}

/// Labels of its Deployment and its Service.
fn monitoring_labels() -> BTreeMap<String, String> {
    with(labels(), entries([("role", "monitoring")]))
}

/// The name by which people reach it.
fn host(garden: &Garden) -> String {
    format!("plutono-garden.{}", garden.spec.runtime_cluster.ingress.domain)
}

fn credentials() -> RequestedSecret {
    let content = Content::BasicAuth { user: "admin".to_owned(), password_length: 32 };
    let options = GenerateOptions { persist: true, ..GenerateOptions::default() };
    RequestedSecret { request: SecretRequest::new(CREDENTIALS, content), options }
}

fn certificate(garden: &Garden) -> RequestedSecret {
    let names = vec![host(garden)];
    let mut requested =
        RequestedSecret::server(CERTIFICATE, NAME, names, CA_RUNTIME, AuthorityChoice::ByKind);
    if let Content::Certificate(content) = &mut requested.request.content {
        content.organizations = vec!["gardener.cloud:monitoring:ingress".to_owned()];
        content.validity = Some(VALIDITY);
    }
    requested
}

fn web_service() -> Value {
    let mut service = service(NAME, &labels(), &[service_port("web", PORT, PORT)]);
    service["metadata"] = metadata(NAME, &monitoring_labels());
    service
}
