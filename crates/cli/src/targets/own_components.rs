//! Our components as one target: each contract runs on the component that it is about.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use component::Component;
use conformance::gardener::{Decided, Versions};
use conformance::target::built_in::BuiltIn;
use conformance::target::{
    Configured, Identity, Needs, Observed, Running, Setup, Target, TargetError, TargetKind, Trial,
};
use contract::case::Given;
use contract::gardener::decision::Decision;
use contract::model::Form;
use contract::process::ProcessAction;

use super::Requested;
use crate::components::{self, COMPONENTS};
use crate::terminal::Failure;

/// Components of this project.
struct OwnComponents {
    /// The components of the selected contracts.
    selected: Vec<&'static Component>,
    /// The component whose controllers maintain Shoots.
    maintainer: Option<&'static Component>,
    /// The release of Gardener that the user selected.
    gardener: Option<String>,
    /// The version of Kubernetes that the user selected.
    needs: Needs,
}

/// The components with these names as a target.
///
/// # Errors
/// A usage error for a name that no component has.
pub(crate) fn own_components<'a>(
    names: impl IntoIterator<Item = &'a str>,
    requested: Requested<'_>,
) -> Result<Arc<dyn Target>, Failure> {
    let names: BTreeSet<&str> = names.into_iter().collect();
    let selected = names.into_iter().map(components::find).collect::<Result<Vec<_>, Failure>>()?;
    let maintainer = COMPONENTS.iter().copied().find(|component| component.maintains_shoots);
    let gardener = requested.gardener.map(str::to_owned);
    // They support every version.
    let needs = Needs { kubernetes: requested.kubernetes.unwrap_or_default(), ..Needs::default() };
    Ok(Arc::new(OwnComponents { selected, maintainer, gardener, needs }))
}

impl OwnComponents {
    fn component(&self, name: &str) -> Result<BuiltIn, TargetError> {
        let mut components = self.selected.iter().copied().chain(self.maintainer);
        let found = components.find(|component| component.name == name);
        found.map(with_program).ok_or_else(|| TargetError::Configuration {
            name: name.to_owned(),
            reason: "no component of this name was selected".to_owned(),
        })
    }
}

/// A component, whose program is this tool.
fn with_program(component: &'static Component) -> BuiltIn {
    let target = BuiltIn::of(component);
    match components::program_command(component) {
        Some(command) => target.with_program(component, command),
        None => target,
    }
}

#[async_trait]
impl Target for OwnComponents {
    fn identity(&self) -> Identity {
        let names: Vec<&str> = self.selected.iter().map(|component| component.program).collect();
        let versions: BTreeSet<&str> = self.selected.iter().map(|component| component.version).collect();
        Identity {
            name: names.join(", "),
            version: (versions.len() == 1).then(|| versions.into_iter().collect()),
            kind: TargetKind::BuiltIn,
            endpoint: "in process".to_owned(),
        }
    }

    fn features(&self) -> BTreeSet<String> {
        let features = self.selected.iter().flat_map(|component| component.features);
        features.map(|feature| (*feature).to_owned()).collect()
    }

    fn gardener(&self) -> Option<&str> {
        self.gardener.as_deref()
    }

    fn needs(&self) -> &Needs {
        &self.needs
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn elects_leader(&self, component: &str) -> bool {
        self.component(component).is_ok_and(|target| target.elects_leader(component))
    }

    fn supports(&self, component: &str, form: Form) -> bool {
        self.component(component).is_ok_and(|target| target.supports(component, form))
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        self.component(trial.component)?.configure(trial).await
    }

    fn has_program(&self) -> bool {
        self.selected.iter().any(|component| component.process.is_some())
    }

    async fn act(&self, setup: Setup<'_>, action: &ProcessAction) -> Result<Option<Observed>, TargetError> {
        self.component(setup.component)?.act(setup, action).await
    }

    fn versions(&self) -> Option<&dyn Versions> {
        Some(self)
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        self.component(setup.component)?.start(setup).await
    }
}

impl Versions for OwnComponents {
    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.selected.iter().find_map(|component| BuiltIn::of(component).decide(decision, given))
    }

    fn admits(&self) -> bool {
        self.selected.iter().any(|component| BuiltIn::of(component).admits())
    }

    fn maintainer(&self) -> Option<&str> {
        self.maintainer.map(|component| component.name)
    }
}
