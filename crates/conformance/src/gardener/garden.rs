//! A running garden whose API server serves Gardener's kinds itself, reached through its kubeconfig.
//!
//! Its admission is no webhook, so it takes no reviews. Instead, the objects that a request needs are written to the garden
//! (`scene`), the request is sent as a dry run, and its result is converted to a webhook's answer (`dialer`).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use contract::case::Given;
use contract::gardener::decision::Decision;
use contract::model::Form;
use serde_json::{Value, json};
use substrate::cluster::Cluster;
use tokio::sync::Mutex;
use webhook::dial::Dialer;
use webhook::registration::WebhookConfiguration;

use self::dialer::GardenDialer;
use self::scene::Scene;
use self::surroundings::Surroundings;
use super::{Decided, Versions};
use crate::target::url::TargetDescription;
use crate::target::{Configurable, Identity, Running, Setup, Target, TargetError, TargetKind};

mod dialer;
mod profile;
mod scene;
mod surroundings;

/// The component whose contracts apply to a garden's API server.
const COMPONENT: &str = "garden";
/// The APIService of the API server for Gardener's kinds.
const SERVED_BY: &str = "v1beta1.core.gardener.cloud";

/// A running garden.
pub struct Garden {
    /// Its description, without paths and registrations.
    pub known: TargetDescription,
    /// A kubeconfig with all permissions.
    pub kubeconfig: PathBuf,
    /// Finds rows about versions that mean the same at another time.
    pub decisions: Arc<dyn Target>,
    /// Objects in the garden; requests are sent one after the other, since they would see each other's objects.
    state: Arc<Mutex<GardenState>>,
}

/// Objects that were written to the garden.
#[derive(Default)]
struct GardenState {
    garden: Option<Cluster>,
    surroundings: Surroundings,
    scene: Scene,
}

impl Garden {
    /// A garden behind a kubeconfig.
    #[must_use]
    pub fn new(known: TargetDescription, kubeconfig: PathBuf, decisions: Arc<dyn Target>) -> Self {
        Self { known, kubeconfig, decisions, state: Arc::default() }
    }

    /// Checks that it is a garden, and writes the objects that every Shoot needs.
    async fn check_and_prepare(&self) -> Result<(), TargetError> {
        let mut state = self.state.lock().await;
        if state.garden.is_some() {
            return Ok(());
        }
        let reached = substrate::kubeconfig::client(&self.kubeconfig).await;
        let cluster = Cluster::new(reached.map_err(|error| garden_error(&error.to_string()))?);
        is_garden(&cluster).await?;
        let mut surroundings = Surroundings::default();
        if let Err(error) = surroundings.make(&cluster).await {
            let left = surroundings.take_back(&cluster).await;
            return Err(garden_error(&[vec![error.to_string()], left].concat().join("; left behind: ")));
        }
        *state = GardenState { garden: Some(cluster), surroundings, scene: Scene::default() };
        Ok(())
    }
}

#[async_trait]
impl Target for Garden {
    fn identity(&self) -> Identity {
        self.known.identity(TargetKind::Garden, &self.kubeconfig.display().to_string())
    }

    fn features(&self) -> BTreeSet<String> {
        self.known.features.clone()
    }

    fn extras(&self) -> Vec<String> {
        self.known.extras.clone()
    }

    fn configurable(&self, _component: &str) -> Configurable {
        Configurable::Fixed(json!({}))
    }

    fn supports(&self, component: &str, form: Form) -> bool {
        component == COMPONENT && !matches!(form, Form::Configuration | Form::Process)
    }

    fn asks_in_turn(&self) -> bool {
        true
    }

    fn versions(&self) -> Option<&dyn Versions> {
        Some(self)
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        self.check_and_prepare().await?;
        let facts = setup.facts.map(|facts| Cluster::new(facts.client));
        let facts = facts.ok_or_else(|| garden_error("there is no cluster with the objects of the case"))?;
        Ok(Box::new(RunningGarden {
            dialer: Arc::new(GardenDialer { state: Arc::clone(&self.state), facts }),
        }))
    }

    async fn leave(&self) -> Vec<String> {
        let mut state = self.state.lock().await;
        let Some(garden) = state.garden.take() else { return Vec::new() };
        // A Shoot cannot be deleted without the objects that it needs.
        if let Err(error) = state.scene.clear(&garden).await {
            return vec![
                error.to_string(),
                "objects that Shoots need: Project conform, Seed local and others".to_owned(),
            ];
        }
        std::mem::take(&mut state.surroundings).take_back(&garden).await
    }
}

impl Versions for Garden {
    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.decisions.versions()?.decide(decision, given)
    }

    fn runs_decisions(&self) -> bool {
        false
    }

    fn admits(&self) -> bool {
        true
    }
}

/// Checks that an API server of its own serves Gardener's kinds: if they are custom resources, webhooks admit them.
async fn is_garden(cluster: &Cluster) -> Result<(), TargetError> {
    let service = json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": SERVED_BY},
    });
    let found = cluster.get(&service).await.map_err(|error| garden_error(&error.to_string()))?;
    if found.body["spec"]["service"].is_object() {
        return Ok(());
    }
    Err(garden_error(&format!(
        "no API server of its own serves Gardener's kinds there (APIService {SERVED_BY}); if they are custom resources, set \
         `url` or `command` of the webhooks in the target file"
    )))
}

fn garden_error(reason: &str) -> TargetError {
    TargetError::Garden { reason: reason.to_owned() }
}

struct RunningGarden {
    dialer: Arc<GardenDialer>,
}

#[async_trait]
impl Running for RunningGarden {
    fn dialer(&self) -> Arc<dyn Dialer> {
        Arc::<GardenDialer>::clone(&self.dialer)
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        None
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        vec![format!("/{webhook}")]
    }

    async fn stop(self: Box<Self>) {}
}

/// The text at a JSON pointer; empty if there is none.
fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use substrate::embedded::Embedded;

    #[tokio::test]
    async fn a_cluster_whose_shoots_are_custom_resources_is_no_garden() {
        let server = Embedded::start(false, None).await.unwrap();
        let error = is_garden(&Cluster::new(server.client())).await.unwrap_err().to_string();
        assert!(error.contains("no API server of its own serves Gardener's kinds"), "{error}");
        assert!(error.contains("url"), "{error}");
    }
}
