//! A provider's webhooks for control planes, in process.

use std::collections::BTreeSet;
use std::sync::Arc;

use conformance::target::built_in::{BuiltIn, Component, Ingredients};
use controlplane_webhooks::config::file;
use controlplane_webhooks::registrations::{Address, registration};
use controlplane_webhooks::serving::webhooks;

/// The component that its contracts are about.
pub(crate) const COMPONENT: &str = "controlplane";

/// Ours, of a provider with CSI plugins unless a case says otherwise.
pub(crate) fn controlplane_webhooks() -> BuiltIn {
    let features = BTreeSet::from(["csi".to_owned()]);
    BuiltIn::new("controlplane-webhooks", super::STANDS_FOR, features, make).about(COMPONENT)
}

async fn make(ingredients: Ingredients) -> Result<Component, String> {
    let (config, warnings) = file::from_value(&ingredients.config).map_err(|error| error.to_string())?;
    if let Some(warning) = warnings.first() {
        return Err(warning.to_string());
    }
    let facts = ingredients.facts.ok_or("no API server to read Clusters from")?;
    let registrations = registration(&config, &Address::service_of(&config.provider), None);
    Ok(Component {
        service: webhooks(&Arc::new(config), &facts.client),
        registrations: registrations.into_iter().collect(),
        metrics: Box::new(String::new),
        guard: Box::new(()),
    })
}
