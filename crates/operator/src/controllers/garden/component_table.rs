//! What the steps of the flows deploy and take down, and who renders it.

use std::collections::BTreeMap;

use api::operator::Garden;

use super::error::StepError;
use super::lifecycles;
use crate::components::{
    GardenComponent, GardenValues, GeneratedSecrets, Lifecycle, ObservedState, RenderError, Rendering,
    RequestedSecret,
};

/// A part of a Garden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowComponent {
    /// One that nothing renders yet.
    Unwritten(UnwrittenComponent),
    /// One that is rendered.
    Written(GardenComponent),
}

/// Parts of a Garden that nothing renders yet, in the order in which they are deployed: definitions of kinds.
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
}

/// Says what a component needs from the secrets manager, as [`GardenComponent::requests`] does.
pub type RequestFunction =
    fn(&Garden, &GeneratedSecrets, &ObservedState) -> Result<Vec<RequestedSecret>, RenderError>;

/// The functions of a component.
#[derive(Clone, Copy, Debug)]
pub struct ComponentFunctions {
    /// What it needs from the secrets manager.
    pub requests: RequestFunction,
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
    pub const ALL: [Self; 5] = [
        Self::EtcdDefinitions,
        Self::VpaDefinitions,
        Self::HvpaDefinitions,
        Self::IstioDefinitions,
        Self::FluentDefinitions,
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

    /// What all components need from the secrets manager, in the order of their deployment, after it has generated `authorities`.
    ///
    /// # Errors
    /// If an authority was not generated whose certificates are part of a request.
    pub(super) fn requests(
        &self,
        garden: &Garden,
        authorities: &GeneratedSecrets,
        observed: &ObservedState,
    ) -> Result<Vec<RequestedSecret>, RenderError> {
        let mut requests = Vec::new();
        for component in FlowComponent::all() {
            requests.extend(match (self.0.get(&component), component) {
                (Some(functions), _) => (functions.requests)(garden, authorities, observed)?,
                (None, FlowComponent::Written(component)) => {
                    component.requests(garden, authorities, observed)?
                }
                (None, FlowComponent::Unwritten(_)) => Vec::new(),
            });
        }
        Ok(requests)
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

    const ISTIO: FlowComponent = FlowComponent::Unwritten(UnwrittenComponent::IstioDefinitions);
    const NOTHING: ComponentFunctions =
        ComponentFunctions { requests: |_, _, _| Ok(Vec::new()), render: |_| Ok(Rendering::default()) };

    #[test]
    fn what_is_missing_is_named() {
        let missing = ComponentTable::default().missing();
        assert_eq!(missing, UnwrittenComponent::ALL.map(FlowComponent::Unwritten));
        assert!(!ComponentTable::new([(ISTIO, NOTHING)]).missing().contains(&ISTIO));
        let all = FlowComponent::all().map(|component| (component, NOTHING));
        assert!(ComponentTable::new(all).missing().is_empty());
    }

    #[test]
    fn what_nothing_renders_is_an_error() {
        let fixture = Fixture::default();
        let table = ComponentTable::new([(ISTIO, NOTHING)]);
        assert!(table.render(ISTIO, &fixture.values()).is_ok());
        let fluent = FlowComponent::Unwritten(UnwrittenComponent::FluentDefinitions);
        let error = table.render(fluent, &fixture.values()).unwrap_err().text();
        assert_eq!(
            error,
            "nothing renders the component FluentDefinitions: add it to the table of components"
        );
        let written = FlowComponent::Written(GardenComponent::KubeStateMetrics);
        assert!(table.render(written, &fixture.values()).is_ok());
    }

    #[test]
    fn components_request_secrets_when_there_are_authorities() {
        let mut fixture = Fixture::default();
        let names = |fixture: &Fixture| -> Vec<String> {
            let table = ComponentTable::default();
            let requests = table.requests(&fixture.garden, &fixture.secrets, &fixture.observed).unwrap();
            requests.into_iter().map(|requested| requested.request.name).collect()
        };
        let requested = names(&fixture);
        assert_eq!(requested.first().map(String::as_str), Some("generic-token-kubeconfig"));
        assert_eq!(requested.last().map(String::as_str), Some("plutono-tls"));
        fixture.observed.wildcard_certificate = Some("wildcard".to_owned());
        assert_eq!(names(&fixture), requested[..requested.len() - 1]);
        let none = GeneratedSecrets::default();
        let error = ComponentTable::default().requests(&fixture.garden, &none, &fixture.observed);
        assert_eq!(error.unwrap_err().to_string(), r#"secret "ca" not found"#);
    }
}
