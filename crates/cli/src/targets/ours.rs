//! Our own components as one target: each contract is asked of the one whose behaviour it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use conformance::target::built_in::BuiltIn;
use conformance::target::{Configured, Decided, Identity, Running, Setup, Target, TargetError, Trial};
use contract::case::Given;
use contract::decision::Decision;
use contract::model::Form;

use super::admission::{self, garden_admission};
use super::controller_manager::{self, controller_manager};
use super::controlplane::{self, controlplane_webhooks};
use super::garden::{self, Garden};

/// The components with webhooks and controllers, a provider's webhooks, and the garden: what it decides and what it admits.
struct Ours {
    resource_manager: BuiltIn,
    controller_manager: BuiltIn,
    garden: Garden,
    admission: BuiltIn,
    controlplane: BuiltIn,
    /// Which of them the contracts are about.
    about: BTreeSet<Member>,
    /// The release of Gardener that they are asked for.
    gardener: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Member {
    ResourceManager,
    ControllerManager,
    Garden,
    ControlPlane,
}

/// The components whose behaviour contracts of these components tell.
pub(crate) fn ours<'a>(
    components: impl IntoIterator<Item = &'a str>,
    gardener: Option<String>,
) -> Arc<dyn Target> {
    let about = components.into_iter().map(member).collect();
    Arc::new(Ours {
        resource_manager: super::resource_manager(),
        controller_manager: controller_manager(),
        garden: Garden,
        admission: garden_admission(),
        controlplane: controlplane_webhooks(),
        about,
        gardener,
    })
}

/// Whose behaviour the contracts of a component tell.
fn member(component: &str) -> Member {
    match component {
        garden::COMPONENT | admission::COMPONENT => Member::Garden,
        controller_manager::COMPONENT => Member::ControllerManager,
        controlplane::COMPONENT => Member::ControlPlane,
        _ => Member::ResourceManager,
    }
}

#[async_trait]
impl Target for Ours {
    fn identity(&self) -> Identity {
        let identity = self.resource_manager.identity();
        let told = |member: &Member| match member {
            Member::ResourceManager => self.resource_manager.identity().name,
            Member::ControllerManager => self.controller_manager.identity().name,
            Member::Garden => self.garden.identity().name,
            Member::ControlPlane => self.controlplane.identity().name,
        };
        let names: Vec<String> = self.about.iter().map(told).collect();
        let name = if names.is_empty() { identity.name } else { names.join(", ") };
        Identity { name, ..identity }
    }

    fn features(&self) -> BTreeSet<String> {
        [&self.resource_manager, &self.controlplane].into_iter().flat_map(Target::features).collect()
    }

    fn gardener(&self) -> Option<&str> {
        self.gardener.as_deref()
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn is_asked_of(&self, _component: &str, _form: Form) -> bool {
        true
    }

    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.garden.decide(decision, given)
    }

    fn admits(&self) -> bool {
        true
    }

    fn maintains(&self) -> bool {
        true
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        match member(trial.component) {
            Member::ControllerManager => self.controller_manager.configure(trial).await,
            Member::ResourceManager | Member::Garden | Member::ControlPlane => {
                self.resource_manager.configure(trial).await
            }
        }
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        match member(setup.component) {
            Member::ResourceManager => self.resource_manager.start(setup).await,
            Member::ControllerManager => self.controller_manager.start(setup).await,
            Member::Garden if setup.clusters.is_some() => self.controller_manager.start(setup).await,
            Member::Garden => self.admission.start(setup).await,
            Member::ControlPlane => self.controlplane.start(setup).await,
        }
    }
}
