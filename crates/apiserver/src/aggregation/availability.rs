//! The condition `Available` of an APIService: whether its API server responds.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request};
use serde_json::{Value, json};
use webhook::registration::ServiceReference;

use super::{Backend, TABLE, transport};
use crate::aggregation::resolve;
use crate::call::User;
use crate::clock::rfc3339;
use crate::object::meta;
use crate::state::ServerState;
use crate::store::{Expect, Object};

/// The label of an EndpointSlice with the name of its Service.
const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// The timeout of a discovery request.
const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(5);

/// Requests discovery from another API server and writes the condition of its APIService; returns whether it is
/// available.
pub(crate) async fn check_availability(shared: &ServerState, name: &str) -> bool {
    let Some(service) = shared.store.get(TABLE, name) else { return false };
    let (status, reason, message) = match Backend::read(service.value()) {
        None => ("True", "Local", "Local APIServices are always available".to_owned()),
        Some(backend) => match check_backend(shared, &backend).await {
            Ok(()) => ("True", "Passed", "all checks passed".to_owned()),
            Err((reason, message)) => ("False", reason, message),
        },
    };
    let condition = json!({"type": "Available", "status": status, "reason": reason, "message": message});
    write_condition(shared, name, &condition);
    status == "True"
}

/// The discovery document of the version that another API server serves.
///
/// # Errors
/// When the server does not respond in time, or not with a discovery document.
pub(super) async fn resources(shared: &ServerState, backend: &Backend) -> Result<Value, String> {
    let path = format!("/apis/{}", backend.api_version());
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = path.parse().unwrap_or_default();
    *request.headers_mut() = transport::headers(&HeaderMap::new(), &aggregator_user());
    let discovery = async {
        let answer = transport::send(shared, backend, request).await?;
        let code = answer.status().as_u16();
        let body = http_body_util::BodyExt::collect(answer.into_body()).await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        if code != 200 {
            return Err(format!("bad status from {}: {code}", backend_url(backend)));
        }
        formats::json::document(&body)
    };
    let timed_out = |_| format!("Get \"{}\": context deadline exceeded", backend_url(backend));
    tokio::time::timeout(DISCOVERY_TIMEOUT, discovery).await.map_err(timed_out)?
}

/// The user of the server's own requests to other API servers.
pub(super) fn aggregator_user() -> User {
    User {
        name: "system:kube-aggregator".to_owned(),
        groups: vec!["system:masters".to_owned()],
        ..User::default()
    }
}

async fn check_backend(shared: &ServerState, backend: &Backend) -> Result<(), (&'static str, String)> {
    // A backend that the dialer reaches directly needs no Service.
    if transport::dialer(shared, backend).is_err()
        && let Some(service) = &backend.client.service
    {
        check_service(shared, service)?;
    }
    let failed = |why| {
        ("FailedDiscoveryCheck", format!("failing or missing response from {}: {why}", backend_url(backend)))
    };
    resources(shared, backend).await.map(drop).map_err(failed)
}

/// Whether a Service exists and has ready endpoints.
fn check_service(shared: &ServerState, reference: &ServiceReference) -> Result<(), (&'static str, String)> {
    let ServiceReference { namespace, name, .. } = reference;
    let at = format!("service/{name} in {namespace:?}");
    let Some(service) = resolve::service(shared, reference) else {
        return Err(("ServiceNotFound", format!("{at} is not present")));
    };
    let spec = &service.value()["spec"];
    if spec["type"] != "ClusterIP" {
        return Ok(());
    }
    let port = u64::from(reference.port.unwrap_or(443));
    let Some(port_name) = resolve::port_name(spec, port) else {
        return Err(("ServicePortError", format!("{at} is not listening on port {port}")));
    };
    let slices = shared.store.snapshot("endpointslices.discovery.k8s.io");
    let of_service = |slice: &&Arc<Object>| {
        meta::namespace(slice.value()) == *namespace
            && meta::of(slice.value()).get("labels").is_some_and(|labels| labels[SERVICE_NAME] == *name)
    };
    let mut slices = slices.objects.values().filter(of_service).peekable();
    if slices.peek().is_none() {
        return Err(("EndpointsNotFound", format!("cannot find endpointslices for {at}")));
    }
    if slices.any(|slice| has_ready_endpoint(slice.value(), port_name)) {
        return Ok(());
    }
    let why = format!("endpointslices for {at} have no addresses with port name {port_name:?}");
    Err(("MissingEndpoints", why))
}

/// Whether an EndpointSlice has a ready endpoint at a port of this name.
fn has_ready_endpoint(slice: &Value, port_name: &str) -> bool {
    let list = |field: &str| slice[field].as_array().into_iter().flatten();
    let named = list("ports").any(|port| port["name"].as_str().unwrap_or_default() == port_name);
    named && list("endpoints").any(|endpoint| endpoint["conditions"]["ready"] != false)
}

fn backend_url(backend: &Backend) -> String {
    let service = backend.client.service.clone().unwrap_or_default();
    let port = service.port.unwrap_or(443);
    format!("https://{}.{}.svc:{port}/apis/{}", service.name, service.namespace, backend.api_version())
}

/// Writes the condition if it changed.
fn write_condition(shared: &ServerState, name: &str, condition: &Value) {
    while let Some(service) = shared.store.get(TABLE, name) {
        let mut value = service.value().clone();
        let before = value.pointer("/status/conditions/0").cloned().unwrap_or_default();
        let same = |field: &str| before[field] == condition[field];
        if ["status", "reason", "message"].into_iter().all(same) {
            return;
        }
        let mut condition = condition.clone();
        condition["lastTransitionTime"] =
            match before["lastTransitionTime"].as_str().filter(|_| same("status")) {
                Some(since) => since.into(),
                None => rfc3339(shared.clock.now()).into(),
            };
        value["status"]["conditions"] = json!([condition]);
        if shared.store.put(TABLE, name, Expect::Revision(service.revision()), value).is_ok() {
            return;
        }
    }
}
