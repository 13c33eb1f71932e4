//! Serves pure validations as webhooks, and reads the lists that one of them needs.

use std::sync::Arc;
use std::time::Duration;

use api::gardener::CONFIRMATION_DELETION;
use async_trait::async_trait;
use kube::api::{Api, DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt as _};
use webhook::answer::Answer;
use webhook::review::AdmissionRequest;
use webhook::service::{Route, Webhook};
use webhook::validation;

use crate::config::WebhooksConfiguration;
use crate::webhooks::crd_deletion_protection::{self as deletion, Collection, DeletionDecision};
use crate::webhooks::extension_validation::{self, ExtensionKind};

/// The enabled validating webhooks; `source` is the cluster whose deletions are reviewed.
pub(super) fn routes(config: &WebhooksConfiguration, source: &Client) -> Vec<Route> {
    let mut routes = Vec::new();
    if config.crd_deletion_protection.enabled {
        let webhook = Arc::new(DeletionProtection { source: source.clone() });
        routes.push(Route { name: deletion::NAME, path: deletion::PATH.to_owned(), webhook });
    }
    if config.extension_validation.enabled {
        routes.extend(extension_validation::KINDS.iter().map(|kind| Route {
            name: extension_validation::NAME,
            path: kind.path(),
            webhook: Arc::new(ExtensionValidation(kind)),
        }));
    }
    routes
}

struct ExtensionValidation(&'static ExtensionKind);

#[async_trait]
impl Webhook for ExtensionValidation {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        validation::answer(request, |old, new| self.0.validate(old, new))
    }
}

struct DeletionProtection {
    source: Client,
}

#[async_trait]
impl Webhook for DeletionProtection {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        match deletion::decide(request) {
            DeletionDecision::Answer(answer) => answer,
            DeletionDecision::List(collection) => {
                let limit = Duration::from_secs(deletion::TIMEOUT_SECONDS);
                let listing = tokio::time::timeout(limit, self.decide_collection(&collection));
                listing.await.unwrap_or_else(|_| {
                    let message = format!("failed to list {} within {limit:?}", collection.resource);
                    Answer::errored(500, &message)
                })
            }
        }
    }
}

impl DeletionProtection {
    /// Lists from the API server: a cache might miss new objects that need protection.
    async fn decide_collection(&self, collection: &Collection) -> Answer {
        match list(&self.source, collection).await {
            Ok(objects) => deletion::decide_collection(
                objects
                    .iter()
                    .map(|object| object.annotations().get(CONFIRMATION_DELETION).map(String::as_str)),
            ),
            Err(kube::Error::Api(status)) if status.code == 404 => Answer::allowed("object was not found"),
            Err(error) => Answer::errored(
                500,
                &format!("failed to list {}: {}", collection.resource, controller::describe_error(&error)),
            ),
        }
    }
}

async fn list(client: &Client, collection: &Collection) -> Result<Vec<DynamicObject>, kube::Error> {
    let Collection { kind, resource, .. } = collection;
    let kind = GroupVersionKind::gvk(&kind.group, &kind.version, &kind.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, resource);
    let api: Api<DynamicObject> = if collection.namespace.is_empty() {
        Api::all_with(client.clone(), &resource)
    } else {
        Api::namespaced_with(client.clone(), &collection.namespace, &resource)
    };
    Ok(api.list(&ListParams::default().labels(&collection.labels)).await?.items)
}

#[cfg(test)]
mod tests {
    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use webhook::review::Review;

    use super::*;

    const REVIEW: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u",
        "operation":"DELETE","namespace":"shoot--a--b",
        "resource":{"group":"extensions.gardener.cloud","version":"v1alpha1","resource":"workers"},
        "kind":{"group":"extensions.gardener.cloud","version":"v1alpha1","kind":"Worker"}}}"#;

    /// The answer to the deletion of all workers of a namespace when the server answers the list with this error.
    async fn answered(code: u16, reason: &'static str) -> Answer {
        let server = tower::service_fn(move |request: Request<Body>| async move {
            let path = "/apis/extensions.gardener.cloud/v1alpha1/namespaces/shoot--a--b/workers";
            assert_eq!(request.uri().path(), path);
            let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": "no", "reason": reason, "code": code});
            Response::builder().status(code).body(Body::from(status.to_string().into_bytes()))
        });
        let webhook = DeletionProtection { source: Client::new(server, "default") };
        let review = Review::read(REVIEW.as_bytes()).unwrap();
        webhook.answer(review.request.as_ref().unwrap()).await
    }

    #[tokio::test]
    async fn a_missing_collection_may_be_deleted() {
        assert_eq!(answered(404, "NotFound").await, Answer::allowed("object was not found"));
    }

    #[tokio::test]
    async fn a_collection_that_cannot_be_listed_is_an_error() {
        let answer = answered(403, "Forbidden").await;
        assert_eq!((answer.allowed, answer.code()), (false, 500));
        assert!(answer.message().starts_with("failed to list workers: "), "{}", answer.message());
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_takes_too_long_is_an_error() {
        let server = tower::service_fn(|_: Request<Body>| {
            std::future::pending::<Result<Response<Body>, kube::Error>>()
        });
        let webhook = DeletionProtection { source: Client::new(server, "default") };
        let review = Review::read(REVIEW.as_bytes()).unwrap();
        let answer = webhook.answer(review.request.as_ref().unwrap()).await;
        assert_eq!(answer, Answer::errored(500, "failed to list workers within 10s"));
    }
}
