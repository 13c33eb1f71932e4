//! Our resource-manager as a target inside a cluster: asked by its API server, and from here through the proxy of that.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use conformance::rollouts;
use conformance::target::{
    Configurable, Configured, Decided, Identity, Running, Service, Setup, Target, TargetError, TargetKind,
    Trial,
};
use contract::case::Given;
use contract::decision::Decision;
use contract::model::Contract;
use gardener_resource_manager::config::file;
use gardener_resource_manager::registrations::{self, Instance};
use gardener_resource_manager::webhooks;
use serde_json::Value;
use substrate::proxied::Proxied;
use webhook::dial::Dialer;
use webhook::registration::WebhookConfiguration;

use super::rollouts as installed;
use crate::targets;

/// The component that is installed.
const COMPONENT: &str = "resource-manager";
/// How many configurations run side by side at most.
pub(super) const ROLLOUTS: usize = 6;

/// Our resource-manager in a cluster; its controllers and its configuration file are tried in this process, as is what only
/// decides.
pub(crate) struct InCluster {
    configs: Vec<Value>,
    here: Arc<dyn Target>,
    place: OnceLock<Place>,
}

/// Where it was installed.
pub(super) struct Place {
    /// Of the cluster.
    pub(super) client: kube::Client,
    /// PEM of the authority that signed its certificate, in base64.
    pub(super) authority: String,
}

impl InCluster {
    /// With the configurations that cases of the contracts need.
    pub(super) fn of(contracts: &[Contract]) -> Self {
        let installed: Vec<Contract> =
            contracts.iter().filter(|contract| contract.component == COMPONENT).cloned().collect();
        let configs = rollouts::plan(&installed, ROLLOUTS);
        Self { configs, here: targets::ours(contracts), place: OnceLock::new() }
    }

    /// The configurations that it runs with.
    pub(super) fn configs(&self) -> &[Value] {
        &self.configs
    }

    /// Says where it is.
    pub(super) fn installed(&self, place: Place) {
        // The first one stays: a run has one cluster.
        let _ = self.place.set(place);
    }
}

#[async_trait]
impl Target for InCluster {
    fn identity(&self) -> Identity {
        let endpoint =
            format!("in namespace {} with {} configurations", installed::NAMESPACE, self.configs.len());
        Identity { kind: TargetKind::InCluster, endpoint, ..self.here.identity() }
    }

    fn features(&self) -> BTreeSet<String> {
        self.here.features()
    }

    fn configurable(&self) -> Configurable {
        Configurable::OneOf(self.configs.clone())
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn is_asked_of(&self, contract: &Contract) -> bool {
        self.here.is_asked_of(contract)
    }

    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.here.decide(decision, given)
    }

    fn admits(&self) -> bool {
        self.here.admits()
    }

    fn maintains(&self) -> bool {
        self.here.maintains()
    }

    fn is_inside(&self, component: &str) -> bool {
        component == COMPONENT
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        self.here.configure(trial).await
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        if setup.clusters.is_some() || !self.is_inside(setup.component) {
            return self.here.start(setup).await;
        }
        let wrong = |reason: String| TargetError::Configuration { name: self.identity().name, reason };
        let place = self.place.get().ok_or_else(|| wrong("it is not installed".to_owned()))?;
        let rollout = self.configs.iter().position(|rollout| rollouts::serves(rollout, setup.config));
        let rollout = rollout.ok_or_else(|| wrong(format!("no rollout serves {}", setup.config)))?;
        let instance = if setup.instance == "shoot" { Instance::Shoot } else { Instance::Seed };
        let config = file::from_partial(setup.config).map_err(|error| wrong(error.to_string()))?;
        let name = installed::name(rollout);
        let port = |port| Proxied::new(place.client.clone(), installed::NAMESPACE, &name, port);
        Ok(Box::new(Rollout {
            webhooks: Arc::new(port(("https", "server"))),
            metrics: port(("http", "metrics")),
            registrations: registrations::registrations(&config, instance, None),
            service: Service {
                namespace: installed::NAMESPACE.to_owned(),
                name: name.clone(),
                ca_bundle: place.authority.clone(),
            },
        }))
    }
}

struct Rollout {
    webhooks: Arc<Proxied>,
    metrics: Proxied,
    registrations: Vec<WebhookConfiguration>,
    service: Service,
}

#[async_trait]
impl Running for Rollout {
    fn dialer(&self) -> Arc<dyn Dialer> {
        Arc::<Proxied>::clone(&self.webhooks)
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        Some(&self.registrations)
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        let paths = webhooks::paths().into_iter().filter(|(name, _)| *name == webhook);
        paths.map(|(_, path)| path).collect()
    }

    fn service(&self) -> Option<Service> {
        Some(self.service.clone())
    }

    async fn metrics(&self) -> Option<String> {
        self.metrics.read("/metrics").await
    }

    /// It goes with its cluster.
    async fn stop(self: Box<Self>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use conformance::plan;
    use contract::model::Level;

    #[test]
    fn few_cases_need_a_configuration_that_no_rollout_has_and_no_must_clause_is_left_without_a_case() {
        let contracts = contract::load::read(&contract::source::embedded()).catalog.contracts;
        let target = InCluster::of(&contracts);
        assert!(target.configs().len() <= ROLLOUTS);
        let silent = |target: &dyn Target| -> BTreeSet<plan::CaseRef> {
            plan::plan(&contracts, target, 0, true).silent.into_iter().map(|(at, ..)| at).collect()
        };
        // What is asked nowhere is not lost here.
        let silent: BTreeSet<plan::CaseRef> = &silent(&target) - &silent(target.here.as_ref());
        let all: Vec<plan::CaseRef> = plan::all(&contracts).collect();
        assert!(silent.len() * 10 <= all.len(), "{} of {} are not asked", silent.len(), all.len());
        let clause = |at: &plan::CaseRef| plan::look(&contracts, *at).clause.id.as_str();
        let asked: BTreeSet<&str> = all.iter().filter(|at| !silent.contains(at)).map(clause).collect();
        let is_must = |at: &&plan::CaseRef| plan::look(&contracts, **at).clause.level == Level::Must;
        let lost: BTreeSet<&str> =
            silent.iter().filter(is_must).map(clause).filter(|id| !asked.contains(id)).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}
