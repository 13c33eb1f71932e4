//! Our own components as one target: each contract is asked of the one whose behaviour it is.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use conformance::target::built_in::BuiltIn;
use conformance::target::{Configured, Decided, Identity, Running, Setup, Target, TargetError, Trial};
use contract::case::Given;
use contract::decision::Decision;
use contract::model::Contract;

use super::garden::Garden;

/// The component with webhooks and controllers, and the garden that decides.
struct Ours {
    component: BuiltIn,
    garden: Garden,
}

/// The components that these contracts are about.
pub(crate) fn ours(contracts: &[Contract]) -> Arc<dyn Target> {
    let decided = contracts.iter().filter(|contract| Garden.is_asked_of(contract)).count();
    let component = super::resource_manager();
    if decided == 0 {
        Arc::new(component)
    } else if decided == contracts.len() {
        Arc::new(Garden)
    } else {
        Arc::new(Ours { component, garden: Garden })
    }
}

#[async_trait]
impl Target for Ours {
    fn identity(&self) -> Identity {
        let Identity { name, version, kind, endpoint } = self.component.identity();
        let name = format!("{name}, {}", self.garden.identity().name);
        Identity { name, version, kind, endpoint }
    }

    fn features(&self) -> BTreeSet<String> {
        self.component.features()
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn is_asked_of(&self, contract: &Contract) -> bool {
        self.component.is_asked_of(contract) || self.garden.is_asked_of(contract)
    }

    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        self.garden.decide(decision, given)
    }

    async fn configure(&self, trial: Trial<'_>) -> Result<Option<Configured>, TargetError> {
        self.component.configure(trial).await
    }

    async fn start(&self, setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        self.component.start(setup).await
    }
}
