//! What a Garden consists of, and who renders it.

use std::collections::BTreeMap;

use api::operator::Garden;

use super::error::StepError;
use crate::components::{GardenValues, RenderError, Rendering, RequestedSecret};

/// A part of a Garden, in the order in which they are deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GardenComponent {
    /// Kinds of etcd-druid.
    EtcdDefinitions,
    /// Kinds of the vertical pod autoscaler.
    VpaDefinitions,
    /// The kind Hvpa.
    HvpaDefinitions,
    /// Kinds of Istio.
    IstioDefinitions,
    /// Kinds of fluent-operator.
    FluentDefinitions,
    /// gardener-resource-manager of the runtime cluster.
    ResourceManager,
    /// nginx-ingress.
    NginxIngress,
    /// What all components of the runtime cluster need.
    RuntimeSystem,
    /// The vertical pod autoscaler.
    Vpa,
    /// The controller of Hvpas.
    Hvpa,
    /// etcd-druid.
    EtcdDruid,
    /// Istio, and its gateway to the virtual cluster.
    Istio,
    /// fluent-operator.
    FluentOperator,
    /// The objects from which fluent-operator configures fluent-bit.
    FluentObjects,
    /// fluent-bit.
    FluentBit,
    /// Vali.
    Vali,
    /// The etcd of most resources of the virtual cluster.
    EtcdMain,
    /// The etcd of the virtual cluster's events.
    EtcdEvents,
    /// The Service of kube-apiserver.
    KubeApiserverService,
    /// How Istio's gateway finds kube-apiserver.
    KubeApiserverSni,
    /// kube-apiserver of the virtual cluster.
    KubeApiserver,
    /// kube-controller-manager of the virtual cluster.
    KubeControllerManager,
    /// gardener-resource-manager of the virtual cluster.
    VirtualResourceManager,
    /// gardener-apiserver.
    GardenerApiserver,
    /// gardener-admission-controller.
    GardenerAdmissionController,
    /// gardener-controller-manager.
    GardenerControllerManager,
    /// gardener-scheduler.
    GardenerScheduler,
    /// Roles and the namespace `garden` of the virtual cluster.
    VirtualSystem,
    /// The operator's own access to the virtual cluster.
    GardenerAccess,
    /// kube-state-metrics.
    KubeStateMetrics,
    /// gardener-metrics-exporter.
    GardenerMetricsExporter,
    /// Plutono.
    Plutono,
}

/// The functions of a component.
#[derive(Clone, Copy, Debug)]
pub struct ComponentFunctions {
    /// What it needs from the secrets manager.
    pub requests: fn(&Garden) -> Vec<RequestedSecret>,
    /// Its objects.
    pub render: fn(&GardenValues<'_>) -> Result<Rendering, RenderError>,
}

/// Which components can be rendered.
#[derive(Clone, Debug, Default)]
pub struct ComponentTable(BTreeMap<GardenComponent, ComponentFunctions>);

impl GardenComponent {
    /// All of them.
    pub const ALL: [Self; 32] = [
        Self::EtcdDefinitions,
        Self::VpaDefinitions,
        Self::HvpaDefinitions,
        Self::IstioDefinitions,
        Self::FluentDefinitions,
        Self::ResourceManager,
        Self::NginxIngress,
        Self::RuntimeSystem,
        Self::Vpa,
        Self::Hvpa,
        Self::EtcdDruid,
        Self::Istio,
        Self::FluentOperator,
        Self::FluentObjects,
        Self::FluentBit,
        Self::Vali,
        Self::EtcdMain,
        Self::EtcdEvents,
        Self::KubeApiserverService,
        Self::KubeApiserverSni,
        Self::KubeApiserver,
        Self::KubeControllerManager,
        Self::VirtualResourceManager,
        Self::GardenerApiserver,
        Self::GardenerAdmissionController,
        Self::GardenerControllerManager,
        Self::GardenerScheduler,
        Self::VirtualSystem,
        Self::GardenerAccess,
        Self::KubeStateMetrics,
        Self::GardenerMetricsExporter,
        Self::Plutono,
    ];
}

impl ComponentTable {
    /// A table of these components.
    #[must_use]
    pub fn new(components: impl IntoIterator<Item = (GardenComponent, ComponentFunctions)>) -> Self {
        Self(components.into_iter().collect())
    }

    /// The components that nothing renders: with any, no Garden can be reconciled.
    #[must_use]
    pub fn missing(&self) -> Vec<GardenComponent> {
        GardenComponent::ALL.into_iter().filter(|component| !self.0.contains_key(component)).collect()
    }

    /// What all components need from the secrets manager, in the order of their deployment.
    pub(super) fn requests(&self, garden: &Garden) -> Vec<RequestedSecret> {
        self.0.values().flat_map(|functions| (functions.requests)(garden)).collect()
    }

    /// The objects of a component.
    ///
    /// # Errors
    /// If it has none for these values, or nothing renders it.
    pub(super) fn render(
        &self,
        component: GardenComponent,
        values: &GardenValues<'_>,
    ) -> Result<Rendering, StepError> {
        let functions = self.0.get(&component).ok_or(StepError::Unwritten(component))?;
        Ok((functions.render)(values)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::fixture::Fixture;

    const NOTHING: ComponentFunctions =
        ComponentFunctions { requests: |_| Vec::new(), render: |_| Ok(Rendering::default()) };

    #[test]
    fn what_is_missing_is_named() {
        let all = GardenComponent::ALL.map(|component| (component, NOTHING));
        assert!(ComponentTable::new(all).missing().is_empty());
        assert_eq!(ComponentTable::new(all[1..].to_vec()).missing(), [GardenComponent::EtcdDefinitions]);
    }

    #[test]
    fn what_nothing_renders_is_an_error() {
        let fixture = Fixture::default();
        let table = ComponentTable::new([(GardenComponent::Vali, NOTHING)]);
        assert!(table.render(GardenComponent::Vali, &fixture.values()).is_ok());
        let error = table.render(GardenComponent::Istio, &fixture.values()).unwrap_err();
        assert_eq!(error.text(), "nothing renders the component Istio: add it to the table of components");
    }
}
