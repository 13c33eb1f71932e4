//! Whether another API server answers, as the condition of its APIService tells it.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request};
use serde_json::{Value, json};

use super::{Backend, TABLE, pass};
use crate::call::User;
use crate::clock::rfc3339;
use crate::state::Shared;
use crate::store::Expect;

/// How long it has to tell what it serves.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks another API server what it serves, and says in its APIService whether it did; whether it did.
pub(crate) async fn look(shared: &Shared, name: &str) -> bool {
    let Some(service) = shared.store.get(TABLE, name) else { return false };
    let (status, reason, message) = match Backend::read(service.value()) {
        None => ("True", "Local", "Local APIServices are always available".to_owned()),
        Some(backend) => match verdict(shared, &backend).await {
            Ok(()) => ("True", "Passed", "all checks passed".to_owned()),
            Err((reason, message)) => ("False", reason, message),
        },
    };
    let condition = json!({"type": "Available", "status": status, "reason": reason, "message": message});
    tell(shared, name, &condition);
    status == "True"
}

/// The discovery document of what another API server serves.
///
/// # Errors
/// With what is wrong, in a word and in a sentence.
pub(super) async fn resources(shared: &Shared, backend: &Backend) -> Result<Value, String> {
    let path = format!("/apis/{}", backend.api_version());
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = path.parse().unwrap_or_default();
    *request.headers_mut() = pass::headers(&HeaderMap::new(), &aggregator());
    let asked = async {
        let answer = pass::send(shared, backend, request).await?;
        let code = answer.status().as_u16();
        let body = http_body_util::BodyExt::collect(answer.into_body()).await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        if code != 200 {
            return Err(format!("bad status from {}: {code}", url(backend)));
        }
        serde_json::from_slice(&body).map_err(|error| error.to_string())
    };
    let late = |_| format!("Get \"{}\": context deadline exceeded", url(backend));
    tokio::time::timeout(PATIENCE, asked).await.map_err(late)?
}

/// Who asks in the server's own name.
pub(super) fn aggregator() -> User {
    User {
        name: "system:kube-aggregator".to_owned(),
        groups: vec!["system:masters".to_owned()],
        ..User::default()
    }
}

async fn verdict(shared: &Shared, backend: &Backend) -> Result<(), (&'static str, String)> {
    let known = shared.dialers.as_ref().is_some_and(|dialers| dialers.dialer(&backend.client).is_ok());
    if let Some(service) = backend.client.service.as_ref().filter(|_| !known) {
        let (namespace, name) = (&service.namespace, &service.name);
        if shared.store.get("services", &format!("{namespace}/{name}")).is_none() {
            return Err(("ServiceNotFound", format!("service/{name} in {namespace:?} is not present")));
        }
    }
    let failed =
        |why| ("FailedDiscoveryCheck", format!("failing or missing response from {}: {why}", url(backend)));
    resources(shared, backend).await.map(drop).map_err(failed)
}

fn url(backend: &Backend) -> String {
    let service = backend.client.service.clone().unwrap_or_default();
    let port = service.port.unwrap_or(443);
    format!("https://{}.{}.svc:{port}/apis/{}", service.name, service.namespace, backend.api_version())
}

/// Writes the condition where it says something new.
fn tell(shared: &Shared, name: &str, condition: &Value) {
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
