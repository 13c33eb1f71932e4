//! What the steps of the flows deploy and take down, and who renders it.

use std::collections::BTreeMap;

use api::operator::Garden;

use super::error::StepError;
use super::lifecycles;
use crate::components::{GardenComponent, GardenValues, Lifecycle, RenderError, Rendering, RequestedSecret};

/// A part of a Garden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowComponent {
    /// One that nothing renders yet.
    Unwritten(UnwrittenComponent),
    /// One that is rendered.
    Written(GardenComponent),
}

/// Parts of a Garden that nothing renders yet, in the order in which they are deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnwrittenComponent {
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

/// Who renders the components: these functions, else [`GardenComponent`].
#[derive(Clone, Debug, Default)]
pub struct ComponentTable(BTreeMap<FlowComponent, ComponentFunctions>);

impl FlowComponent {
    /// All of them, in the order of their deployment as far as one needs another's Secrets.
    pub fn all() -> impl Iterator<Item = Self> {
        let unwritten = UnwrittenComponent::ALL.into_iter().map(Self::Unwritten);
        unwritten.chain(GardenComponent::ALL.into_iter().map(Self::Written))
    }

    /// How it is awaited and taken down.
    pub(super) fn lifecycle(self) -> Lifecycle {
        match self {
            Self::Unwritten(component) => lifecycles::of(component),
            Self::Written(component) => component.lifecycle(),
        }
    }
}

impl UnwrittenComponent {
    /// All of them.
    pub const ALL: [Self; 17] = [
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
        Self::Plutono,
    ];
}

impl ComponentTable {
    /// A table with functions for these components.
    #[must_use]
    pub fn new(components: impl IntoIterator<Item = (FlowComponent, ComponentFunctions)>) -> Self {
        Self(components.into_iter().collect())
    }

    /// The components that nothing renders: with any, no Garden can be reconciled.
    #[must_use]
    pub fn missing(&self) -> Vec<FlowComponent> {
        let is_missing = |component: &FlowComponent| {
            matches!(component, FlowComponent::Unwritten(_)) && !self.0.contains_key(component)
        };
        FlowComponent::all().filter(is_missing).collect()
    }

    /// What all components need from the secrets manager.
    pub(super) fn requests(&self, garden: &Garden) -> Vec<RequestedSecret> {
        let of_one = |component: FlowComponent| match (self.0.get(&component), component) {
            (Some(functions), _) => (functions.requests)(garden),
            (None, FlowComponent::Written(component)) => component.requests(garden),
            (None, FlowComponent::Unwritten(_)) => Vec::new(),
        };
        FlowComponent::all().flat_map(of_one).collect()
    }

    /// The objects of a component.
    ///
    /// # Errors
    /// If it has none for these values, or nothing renders it.
    pub(super) fn render(
        &self,
        component: FlowComponent,
        values: &GardenValues<'_>,
    ) -> Result<Rendering, StepError> {
        match (self.0.get(&component), component) {
            (Some(functions), _) => Ok((functions.render)(values)?),
            (None, FlowComponent::Written(component)) => Ok(component.render(values)?),
            (None, FlowComponent::Unwritten(component)) => Err(StepError::Unwritten(component)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::components::fixture::Fixture;

    const VALI: FlowComponent = FlowComponent::Unwritten(UnwrittenComponent::Vali);
    const NOTHING: ComponentFunctions =
        ComponentFunctions { requests: |_| Vec::new(), render: |_| Ok(Rendering::default()) };

    #[test]
    fn what_is_missing_is_named() {
        assert!(ComponentTable::default().missing().contains(&VALI));
        assert!(!ComponentTable::new([(VALI, NOTHING)]).missing().contains(&VALI));
        let all = FlowComponent::all().map(|component| (component, NOTHING));
        assert!(ComponentTable::new(all).missing().is_empty());
    }

    #[test]
    fn what_nothing_renders_is_an_error() {
        let fixture = Fixture::default();
        let table = ComponentTable::new([(VALI, NOTHING)]);
        assert!(table.render(VALI, &fixture.values()).is_ok());
        let error =
            table.render(FlowComponent::Unwritten(UnwrittenComponent::Istio), &fixture.values()).unwrap_err();
        assert_eq!(error.text(), "nothing renders the component Istio: add it to the table of components");
        let written = FlowComponent::Written(GardenComponent::KubeStateMetrics);
        assert!(table.render(written, &fixture.values()).is_ok());
    }
}
