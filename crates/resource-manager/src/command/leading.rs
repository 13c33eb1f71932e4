//! What only the leader does: the controllers.

use controller::leader::{self, Elector};
use controller::limit::RequestLimit;
use controller::metrics::Registry;
use controller::process::Process;

use crate::config::{ClientConnection, ResourceManagerConfiguration};
use crate::controllers::{self, Context};
use crate::serving::Clients;

/// The clients as the configuration limits them, source and target each for itself.
pub(super) fn limited(config: &ResourceManagerConfiguration, clients: &Clients) -> Clients {
    let source = limit(&config.source_client_connection).over(&clients.source);
    let target = match &config.target_client_connection {
        Some(connection) => limit(connection).over(&clients.target),
        None => source.clone(),
    };
    Clients { source, target }
}

/// Starts the caches now and the controllers when this process leads.
pub(super) fn start(
    process: &mut Process,
    registry: &mut Registry,
    context: Context,
    elector: Option<Elector>,
) {
    let read = (context.clusters().into_iter().collect(), context.entropy.clone());
    leader::start(process, registry, elector, read, |running, stop| controllers::run(context, running, stop));
}

fn limit(connection: &ClientConnection) -> RequestLimit {
    RequestLimit::new(connection.qps, u32::try_from(connection.burst).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
