//! The controller-manager of this project, in process.

use std::collections::BTreeSet;
use std::sync::Arc;

use conformance::target::Chance;
use conformance::target::built_in::{BuiltIn, Component, Ingredients, Loaded};
use controller::Entropy;
use gardener_controller_manager::config::file;
use gardener_controller_manager::controllers::Running;
use serde_json::Value;
use webhook::service::{Limits, service};

/// Name of the component, as contracts say it.
pub(crate) const COMPONENT: &str = "controller-manager";

/// All its controllers, over the garden that it is started with.
pub(super) fn controller_manager() -> BuiltIn {
    BuiltIn::new("gardener-controller-manager", super::STANDS_FOR, BTreeSet::new(), make)
        .about(COMPONENT)
        .loading(load)
}

fn load(config: &Value) -> Loaded {
    let (config, warnings) = file::from_value(config).map_err(|error| error.to_string())?;
    let effective = serde_json::to_value(&config).map_err(|error| error.to_string())?;
    Ok((effective, warnings.iter().map(ToString::to_string).collect()))
}

fn entropy(chance: Chance) -> Entropy {
    match chance {
        Chance::Seeded => Entropy::seeded(0),
        Chance::Least => Entropy::always(0.0),
        Chance::Greatest => Entropy::always(1.0),
    }
}

async fn make(ingredients: Ingredients) -> Result<Component, String> {
    let config = file::from_partial(&ingredients.config).map_err(|error| error.to_string())?;
    let running = ingredients.clusters.map(|clusters| {
        let garden = clusters.source;
        Arc::new(Running::at(&config, &garden.client, clusters.now, entropy(clusters.chance)))
    });
    let metrics = {
        let running = running.clone();
        move || running.as_ref().map(|running| running.exposition()).unwrap_or_default()
    };
    Ok(Component {
        service: service(Vec::new(), Limits::default()),
        registrations: Vec::new(),
        metrics: Box::new(metrics),
        guard: Box::new(running),
    })
}
