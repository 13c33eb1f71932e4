//! The webhooks by path; reads the facts that they need.

use std::sync::Arc;

use api::operator::Garden;
use async_trait::async_trait;
use controller::describe_error;
use kube::Client;
use kube::api::{Api, ListParams};
use webhook::answer::Answer;
use webhook::mutation;
use webhook::rejection::Rejection;
use webhook::review::{AdmissionRequest, Operation};
use webhook::service::{self, Limits, Route, Webhook, WebhookService};

use crate::webhooks::garden::{DEFAULTING_PATH, NAME, VALIDATION_PATH, defaulting, new, old, validation};

/// Serves the webhooks; reads facts through the client.
#[must_use]
pub fn webhooks(client: Client) -> WebhookService {
    let route = |path: &str, webhook: Arc<dyn Webhook>| Route { name: NAME, path: path.to_owned(), webhook };
    let routes = vec![
        route(DEFAULTING_PATH, Arc::new(Defaulting)),
        route(VALIDATION_PATH, Arc::new(Validation(client))),
    ];
    service::service(routes, Limits::default())
}

struct Defaulting;
struct Validation(Client);

#[async_trait]
impl Webhook for Defaulting {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        mutation::answer(request, defaulting::mutate)
    }
}

#[async_trait]
impl Webhook for Validation {
    async fn answer(&self, request: &AdmissionRequest<'_>) -> Answer {
        self.judge(request).await.map_or_else(Answer::from, |()| Answer::allowed(""))
    }
}

impl Validation {
    async fn judge(&self, request: &AdmissionRequest<'_>) -> Result<(), Rejection> {
        match request.operation {
            Operation::Create => {
                let garden = new(request)?;
                let exists = self.has_garden().await.map_err(|error| validation::unknown(&error))?;
                validation::validate_create(&garden, !exists)
            }
            Operation::Update => {
                let garden = new(request)?;
                validation::validate_update(&old(request)?, &garden)
            }
            Operation::Delete => validation::validate_delete(&old(request)?),
            Operation::Connect => Ok(()),
        }
    }

    /// Whether a Garden exists now; the error is the reason why that is unknown.
    async fn has_garden(&self) -> Result<bool, String> {
        let gardens: Api<Garden> = Api::all(self.0.clone());
        let listed = gardens.list_metadata(&ListParams::default().limit(1)).await;
        listed.map(|list| !list.items.is_empty()).map_err(|error| describe_error(&error))
    }
}
