//! The garden's admission of this project, in process.

use std::collections::BTreeSet;
use std::sync::Arc;

use conformance::target::built_in::{BuiltIn, Component, Ingredients};
use garden_admission::{registrations, serving};
use jiff::Timestamp;

/// Name of the component, as contracts say it.
pub(crate) const COMPONENT: &str = "garden-admission";

/// Webhooks for Shoots and CloudProfiles, at the time that they are started with.
pub(super) fn garden_admission() -> BuiltIn {
    BuiltIn::new(COMPONENT, super::STANDS_FOR, BTreeSet::new(), make).about(COMPONENT)
}

async fn make(ingredients: Ingredients) -> Result<Component, String> {
    let facts = ingredients.facts.ok_or("no API server to read facts from")?;
    let shown = ingredients.now;
    let now = Arc::new(move || shown.unwrap_or_else(Timestamp::now));
    Ok(Component {
        service: serving::webhooks(facts.client, now),
        registrations: registrations::registrations(None),
        metrics: Box::new(String::new),
        guard: Box::new(()),
    })
}
