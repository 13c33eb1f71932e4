//! A component whose controllers work with one garden, in this process.

use std::future::ready;
use std::sync::Arc;

use controller::clock::Clock;
use controller::controllers::Running;
use controller::garden::{GardenContext, GardenProgram, lead};
use serde::Serialize;
use serde_json::Value;
use webhook::service::{Limits, service};

use crate::{Clusters, Loaded, StartOptions, Started, Starting, to_load_result};

/// Reads a configuration.
///
/// # Errors
/// Why the component refuses it.
pub fn load<C: GardenProgram + Serialize>(config: &Value) -> Loaded {
    to_load_result(C::from_value(config))
}

/// Starts a component on the clusters of the options, if there are any.
#[must_use]
pub fn start<C: GardenProgram>(options: StartOptions) -> Starting {
    Box::pin(ready(started::<C>(options)))
}

/// Starts its controllers over a garden, on tokio's current runtime. The same clock and entropy lead to the same requests in
/// each run.
#[must_use]
pub fn run<C: GardenProgram>(config: C, garden: Clusters) -> Running {
    run_with(config, garden, None)
}

/// Starts its controllers, and the task of this name if it has one.
fn run_with<C: GardenProgram>(config: C, garden: Clusters, task: Option<String>) -> Running {
    let Clusters { source, now, entropy, elector, .. } = garden;
    let context = GardenContext::new(config, &source, Clock::starting_at(now), entropy);
    let (clusters, entropy) = (vec![context.garden.clone()], context.entropy.clone());
    let wanted = move |name: &str| task.as_deref() == Some(name);
    Running::start_elected(clusters, entropy, elector, |running, stop| lead(context, wanted, running, stop))
}

fn started<C: GardenProgram>(options: StartOptions) -> Result<Started, String> {
    let config = C::from_partial(&options.config).map_err(|error| error.to_string())?;
    let running = options.clusters.map(|garden| Arc::new(run_with(config, garden, options.controller)));
    let metrics = {
        let running = running.clone();
        move || running.as_ref().map(|running| running.exposition()).unwrap_or_default()
    };
    let failure = {
        let running = running.clone();
        move || running.as_ref()?.failure()
    };
    Ok(Started {
        service: service(Vec::new(), Limits::default()),
        registrations: Vec::new(),
        metrics: Box::new(metrics),
        failure: Box::new(failure),
        guard: Box::new(running),
    })
}
