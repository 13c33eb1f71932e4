//! Our components as a target inside a cluster: asked by its API server, and from here over ports of its nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use component::Component;
use conformance::rollouts::Rollouts;
use conformance::target::{
    Configurable, Configured, Decided, Identity, Observed, Running, Service, Setup, Target, TargetError,
    TargetKind, Trial, plain,
};
use contract::case::Given;
use contract::decision::Decision;
use contract::model::{Contract, Form};
use contract::process::ProcessAction;
use webhook::dial::{DialError, Dialer, Https};
use webhook::registration::WebhookConfiguration;

use super::rollouts::{self, Installed, Stand};
use crate::components::COMPONENTS;
use crate::targets;
use crate::terminal::Failure;

/// How many configurations of a component run side by side at most.
pub(super) const ROLLOUTS: usize = 6;

/// Our components in a cluster; their controllers and configuration files are tried in this process, as is what only decides.
pub(crate) struct InCluster {
    /// Those that a case is asked of.
    installed: Vec<Installed>,
    here: Arc<dyn Target>,
    place: OnceLock<Place>,
}

/// Where it was installed.
struct Place {
    /// PEM of the authority that signed its certificate, in base64.
    ca_bundle: String,
    reached: BTreeMap<String, Reached>,
}

/// How a rollout is reached from here.
#[derive(Clone)]
struct Reached {
    /// Its connections stay from one group of cases to the next.
    webhooks: Https,
    metrics: SocketAddr,
}

impl InCluster {
    /// With the configurations that cases of the contracts need.
    ///
    /// # Errors
    /// A contract of a component that is not ours.
    pub(crate) fn of(contracts: &[Contract]) -> Result<Self, Failure> {
        let installed = COMPONENTS.iter().filter_map(|component| {
            let rollout = component.installation.rollout.as_ref()?;
            let is_own = |contract: &&Contract| contract.component == component.name;
            let own: Vec<Contract> = contracts.iter().filter(is_own).cloned().collect();
            let rollouts = Rollouts::plan(&own, rollout.combining, ROLLOUTS);
            (!rollouts.configs().is_empty()).then_some(Installed { component, rollout, rollouts })
        });
        let installed = installed.collect();
        let here = targets::ours(contracts.iter().map(|contract| contract.component.as_str()), None)?;
        Ok(Self { installed, here, place: OnceLock::new() })
    }

    /// What is to be installed.
    pub(super) fn to_install(&self) -> &[Installed] {
        &self.installed
    }

    /// Whether a configuration is one of those that run in the cluster, or the component is started elsewhere with any.
    pub(super) fn serves(&self, component: &str, config: &serde_json::Value) -> bool {
        self.of_component(component).is_none_or(|installed| installed.rollouts.serving(config).is_some())
    }

    fn of_component(&self, component: &str) -> Option<&Installed> {
        self.installed.iter().find(|installed| installed.component.name == component)
    }

    /// Says where it is reached.
    pub(super) fn installed(&self, stand: &Stand) -> Result<(), DialError> {
        let reached = stand.addresses.iter().map(|(name, [webhooks, metrics])| {
            let webhooks = stand.dialer(name, *webhooks)?;
            Ok((name.clone(), Reached { webhooks, metrics: *metrics }))
        });
        let reached = reached.collect::<Result<_, DialError>>()?;
        // The first one stays: a run has one cluster.
        let _ = self.place.set(Place { ca_bundle: STANDARD.encode(&stand.authority), reached });
        Ok(())
    }
}

#[async_trait]
impl Target for InCluster {
    fn identity(&self) -> Identity {
        let number: usize = self.installed.iter().map(|installed| installed.rollouts.configs().len()).sum();
        let endpoint = format!("in namespace {} with {number} configurations", rollouts::NAMESPACE);
        Identity { kind: TargetKind::InCluster, endpoint, ..self.here.identity() }
    }

    fn features(&self) -> BTreeSet<String> {
        self.here.features()
    }

    fn configurable(&self, component: &str) -> Configurable {
        // Whoever is not installed is started elsewhere, with any configuration.
        self.of_component(component)
            .map_or(Configurable::Any, |installed| Configurable::OneOf(installed.rollouts.clone()))
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn is_asked_of(&self, component: &str, form: Form) -> bool {
        self.here.is_asked_of(component, form)
    }

    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.here.decide(decision, given)
    }

    fn admits(&self) -> bool {
        self.here.admits()
    }

    fn maintainer(&self) -> Option<&str> {
        self.here.maintainer()
    }

    fn is_inside(&self, component: &str) -> bool {
        self.of_component(component).is_some()
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        self.here.configure(trial).await
    }

    async fn act(&self, setup: Setup<'_>, action: &ProcessAction) -> Result<Option<Observed>, TargetError> {
        self.here.act(setup, action).await
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        let installed = self.of_component(setup.component);
        let Some(Installed { component, rollout: how, rollouts }) =
            installed.filter(|_| setup.clusters.is_none() && setup.now.is_none())
        else {
            return self.here.start(setup).await;
        };
        let wrong = |reason: String| TargetError::Configuration { name: self.identity().name, reason };
        let place = self.place.get().ok_or_else(|| wrong("it is not installed".to_owned()))?;
        let rollout = rollouts.serving(setup.config);
        let rollout = rollout.ok_or_else(|| wrong(format!("no rollout serves {}", setup.config)))?;
        let name = rollouts::name(component, rollout);
        let reached = place.reached.get(&name).cloned();
        let Reached { webhooks, metrics } =
            reached.ok_or_else(|| wrong(format!("no rollout {name} was installed")))?;
        Ok(Box::new(Rollout {
            component,
            webhooks: Arc::new(webhooks),
            metrics: format!("http://{metrics}/metrics"),
            registrations: (how.registrations)(setup.config, setup.instance).map_err(wrong)?,
            service: Service {
                namespace: rollouts::NAMESPACE.to_owned(),
                name,
                ca_bundle: place.ca_bundle.clone(),
            },
        }))
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

    /// It goes with its cluster.
    async fn stop(self: Box<Self>) {}
}

#[cfg(test)]
impl InCluster {
    /// The configurations that a component of this name runs with.
    pub(crate) fn configs_of(&self, name: &str) -> &[serde_json::Value] {
        let found = self.installed.iter().find(|installed| installed.component.name == name);
        found.map_or(&[], |installed| installed.rollouts.configs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conformance::plan;
    use contract::model::Level;

    #[test]
    fn few_cases_need_a_configuration_that_no_rollout_has_and_no_must_clause_is_left_without_a_case() {
        let contracts = contracts::all().unwrap();
        let target = InCluster::of(&contracts).unwrap();
        let asked = COMPONENTS.iter().filter(|component| component.installation.rollout.is_some()).count();
        assert_eq!(target.to_install().len(), asked);
        let few = |installed: &Installed| installed.rollouts.configs().len() <= ROLLOUTS;
        assert!(target.to_install().iter().all(few));
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
