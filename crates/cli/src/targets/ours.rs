//! Our own components as one target: each contract is asked of the one whose behaviour it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use conformance::target::built_in::BuiltIn;
use conformance::target::{Configured, Decided, Identity, Running, Setup, Target, TargetError, Trial};
use contract::case::Given;
use contract::decision::Decision;
use contract::model::Contract;

use super::admission::{self, garden_admission};
use super::garden::{self, Garden};

/// The component with webhooks and controllers, and the garden: what it decides and what it admits.
struct Ours {
    resource_manager: BuiltIn,
    garden: Garden,
    admission: BuiltIn,
    /// Which of them the contracts are about.
    about: BTreeSet<Member>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Member {
    ResourceManager,
    Garden,
}

/// The components that these contracts are about.
pub(crate) fn ours(contracts: &[Contract]) -> Arc<dyn Target> {
    let about = contracts.iter().map(|contract| member(&contract.component)).collect();
    Arc::new(Ours {
        resource_manager: super::resource_manager(),
        garden: Garden,
        admission: garden_admission(),
        about,
    })
}

/// Whose behaviour the contracts of a component tell.
fn member(component: &str) -> Member {
    match component {
        garden::COMPONENT | admission::COMPONENT => Member::Garden,
        _ => Member::ResourceManager,
    }
}

#[async_trait]
impl Target for Ours {
    fn identity(&self) -> Identity {
        let identity = self.resource_manager.identity();
        let garden = self.garden.identity().name;
        let name = match (self.about.contains(&Member::ResourceManager), self.about.contains(&Member::Garden))
        {
            (true, true) => format!("{}, {garden}", identity.name),
            (false, true) => garden,
            (_, false) => identity.name,
        };
        Identity { name, ..identity }
    }

    fn features(&self) -> BTreeSet<String> {
        self.resource_manager.features()
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn is_asked_of(&self, _contract: &Contract) -> bool {
        true
    }

    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.garden.decide(decision, given)
    }

    fn admits(&self) -> bool {
        true
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        self.resource_manager.configure(trial).await
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        match member(setup.component) {
            Member::ResourceManager => self.resource_manager.start(setup).await,
            Member::Garden => self.admission.start(setup).await,
        }
    }
}
