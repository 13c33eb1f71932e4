//! Our components as a target inside a cluster: its API server calls them, and the harness reaches them over node ports.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use component::Component;
use conformance::gardener::{Decided, Versions};
use conformance::rollouts::Rollouts;
use conformance::target::{
    Configurable, Configured, Identity, Observed, Running, Service, Setup, Target, TargetError, TargetKind,
    Trial, plain,
};
use contract::case::Given;
use contract::gardener::decision::Decision;
use contract::model::{Contract, Form};
use contract::process::ProcessAction;
use webhook::dial::{DialError, Dialer, Https};
use webhook::registration::WebhookConfiguration;

use super::rollouts::{self, InstalledRollouts, PlannedRollouts};
use crate::components::COMPONENTS;
use crate::targets::{self, Requested};
use crate::terminal::Failure;

/// How many configurations of a component run at the same time at most.
pub(super) const ROLLOUTS: usize = 6;

/// Our components in a cluster. Cases about controllers, configuration files and decisions run in this process instead.
pub(crate) struct InCluster {
    /// The components that selected cases need in the cluster.
    planned: Vec<PlannedRollouts>,
    in_process: Arc<dyn Target>,
    endpoints: OnceLock<Endpoints>,
}

/// How to reach the installed rollouts.
struct Endpoints {
    /// PEM of the CA that signed their certificate, in Base64.
    ca_bundle: String,
    by_rollout: BTreeMap<String, RolloutEndpoint>,
}

/// How to reach a rollout from this process.
#[derive(Clone)]
struct RolloutEndpoint {
    /// Keeps its connections from one group of cases to the next.
    webhooks: Https,
    metrics: SocketAddr,
}

impl InCluster {
    /// Plans rollouts with the configurations that cases of the contracts need.
    ///
    /// # Errors
    /// A contract of a component that is not ours.
    pub(crate) fn of(contracts: &[Contract]) -> Result<Self, Failure> {
        let planned = COMPONENTS.iter().filter_map(|component| {
            let rollout = component.installation.rollout.as_ref()?;
            let is_own = |contract: &&Contract| contract.component == component.name;
            let own: Vec<Contract> = contracts.iter().filter(is_own).cloned().collect();
            let rollouts = Rollouts::plan(&own, rollout.combining, ROLLOUTS);
            (!rollouts.configs().is_empty()).then_some(PlannedRollouts { component, rollout, rollouts })
        });
        let planned = planned.collect();
        let in_process = targets::own_components(
            contracts.iter().map(|contract| contract.component.as_str()),
            Requested::default(),
        )?;
        Ok(Self { planned, in_process, endpoints: OnceLock::new() })
    }

    /// The rollouts to install.
    pub(super) fn to_install(&self) -> &[PlannedRollouts] {
        &self.planned
    }

    /// Whether a rollout has this configuration, or the component runs in this process, with any configuration.
    pub(super) fn serves(&self, component: &str, config: &serde_json::Value) -> bool {
        self.of_component(component).is_none_or(|planned| planned.rollouts.serving(config).is_some())
    }

    fn of_component(&self, component: &str) -> Option<&PlannedRollouts> {
        self.planned.iter().find(|planned| planned.component.name == component)
    }

    /// Sets how the installed rollouts are reached.
    pub(super) fn set_endpoints(&self, installed: &InstalledRollouts) -> Result<(), DialError> {
        let by_rollout = installed.addresses.iter().map(|(name, [webhooks, metrics])| {
            let webhooks = installed.dialer(name, *webhooks)?;
            Ok((name.clone(), RolloutEndpoint { webhooks, metrics: *metrics }))
        });
        let by_rollout = by_rollout.collect::<Result<_, DialError>>()?;
        // A run has one cluster, so this is called once.
        let ca_bundle = STANDARD.encode(&installed.authority);
        let _ = self.endpoints.set(Endpoints { ca_bundle, by_rollout });
        Ok(())
    }
}

#[async_trait]
impl Target for InCluster {
    fn identity(&self) -> Identity {
        let number: usize = self.planned.iter().map(|planned| planned.rollouts.configs().len()).sum();
        let endpoint = format!("in namespace {} with {number} configurations", rollouts::NAMESPACE);
        Identity { kind: TargetKind::InCluster, endpoint, ..self.in_process.identity() }
    }

    fn features(&self) -> BTreeSet<String> {
        self.in_process.features()
    }

    fn configurable(&self, component: &str) -> Configurable {
        // A component that is not installed runs in this process, with any configuration.
        self.of_component(component)
            .map_or(Configurable::Any, |planned| Configurable::OneOf(planned.rollouts.clone()))
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn supports(&self, component: &str, form: Form) -> bool {
        self.in_process.supports(component, form)
    }

    fn is_inside(&self, component: &str) -> bool {
        self.of_component(component).is_some()
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        self.in_process.configure(trial).await
    }

    fn has_program(&self) -> bool {
        self.in_process.has_program()
    }

    async fn act(&self, setup: Setup<'_>, action: &ProcessAction) -> Result<Option<Observed>, TargetError> {
        self.in_process.act(setup, action).await
    }

    fn versions(&self) -> Option<&dyn Versions> {
        Some(self)
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        let planned = self.of_component(setup.component);
        let Some(PlannedRollouts { component, rollout: definition, rollouts }) =
            planned.filter(|_| setup.clusters.is_none() && setup.now.is_none())
        else {
            return self.in_process.start(setup).await;
        };
        let wrong = |reason: String| TargetError::Configuration { name: self.identity().name, reason };
        let endpoints = self.endpoints.get().ok_or_else(|| wrong("it is not installed".to_owned()))?;
        let rollout = rollouts.serving(setup.config);
        let rollout =
            rollout.ok_or_else(|| wrong(format!("no rollout has the configuration {}", setup.config)))?;
        let name = rollouts::name(component, rollout);
        let endpoint = endpoints.by_rollout.get(&name).cloned();
        let RolloutEndpoint { webhooks, metrics } =
            endpoint.ok_or_else(|| wrong(format!("no rollout {name} was installed")))?;
        Ok(Box::new(Rollout {
            component,
            webhooks: Arc::new(webhooks),
            metrics: format!("http://{metrics}/metrics"),
            registrations: (definition.registrations)(setup.config, setup.instance).map_err(wrong)?,
            service: Service {
                namespace: rollouts::NAMESPACE.to_owned(),
                name,
                ca_bundle: endpoints.ca_bundle.clone(),
            },
        }))
    }
}

impl Versions for InCluster {
    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.in_process.versions()?.decide(decision, given)
    }

    fn admits(&self) -> bool {
        self.in_process.versions().is_some_and(Versions::admits)
    }

    fn maintainer(&self) -> Option<&str> {
        self.in_process.versions()?.maintainer()
    }
}

struct Rollout {
    component: &'static Component,
    webhooks: Arc<Https>,
    metrics: String,
    registrations: Vec<WebhookConfiguration>,
    service: Service,
}

#[async_trait]
impl Running for Rollout {
    fn dialer(&self) -> Arc<dyn Dialer> {
        Arc::<Https>::clone(&self.webhooks)
    }

    fn registrations(&self) -> Option<&[WebhookConfiguration]> {
        Some(&self.registrations)
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        let paths = (self.component.paths)().into_iter().filter(|(name, _)| *name == webhook);
        paths.map(|(_, path)| path).collect()
    }

    fn service(&self) -> Option<Service> {
        Some(self.service.clone())
    }

    async fn metrics(&self) -> Option<String> {
        plain::read(&self.metrics).await
    }

    /// The rollout ends with its cluster.
    async fn stop(self: Box<Self>) {}
}

#[cfg(test)]
impl InCluster {
    /// The planned configurations of the component with this name.
    pub(crate) fn configs_of(&self, name: &str) -> &[serde_json::Value] {
        self.of_component(name).map_or(&[], |planned| planned.rollouts.configs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conformance::plan::{self, PlannedOn};
    use contract::model::Level;

    #[test]
    fn few_cases_need_a_configuration_that_no_rollout_has_and_no_must_clause_is_left_without_a_case() {
        let contracts = contracts::all().unwrap();
        let target = InCluster::of(&contracts).unwrap();
        let expected = COMPONENTS.iter().filter(|component| component.installation.rollout.is_some()).count();
        assert_eq!(target.to_install().len(), expected);
        let few = |planned: &PlannedRollouts| planned.rollouts.configs().len() <= ROLLOUTS;
        assert!(target.to_install().iter().all(few));
        let silent = |target: &dyn Target| -> BTreeSet<plan::CaseRef> {
            let on = PlannedOn { substrate: "kind", is_server: true };
            plan::plan(&contracts, target, 0, on).silent.into_iter().map(|(at, ..)| at).collect()
        };
        // Ignore cases that run on no substrate.
        let silent: BTreeSet<plan::CaseRef> = &silent(&target) - &silent(target.in_process.as_ref());
        let all: Vec<plan::CaseRef> = plan::all(&contracts).collect();
        assert!(silent.len() * 10 <= all.len(), "{} of {} do not run", silent.len(), all.len());
        let clause = |at: &plan::CaseRef| plan::locate(&contracts, *at).clause.id.as_str();
        let covered: BTreeSet<&str> = all.iter().filter(|at| !silent.contains(at)).map(clause).collect();
        let is_must = |at: &&plan::CaseRef| plan::locate(&contracts, **at).clause.level == Level::Must;
        let lost: BTreeSet<&str> =
            silent.iter().filter(is_must).map(clause).filter(|id| !covered.contains(id)).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}
