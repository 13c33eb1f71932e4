//! What only the leader does: the controllers.

use controller::clock::Clock;
use controller::leader::{self, ElectionConfig, ElectionError, Elector};
use controller::limit::RequestLimit;
use controller::metrics::Registry;
use controller::process::Process;
use controller::{Controllers, Entropy};
use formats::duration::GoDuration;
use kube::Client;

use crate::config::{ClientConnection, LeaderElection, ResourceManagerConfiguration};
use crate::controllers::{self, Context, RunError};
use crate::serving::Clients;

/// Why the controllers do not run, or not any more.
#[derive(Debug, thiserror::Error)]
enum LeadingError {
    /// Somebody else leads.
    #[error("{0}")]
    Election(#[from] ElectionError),
    /// They cannot work.
    #[error("{0}")]
    Controllers(#[from] RunError),
}

/// The clients as the configuration limits them, source and target each for itself.
pub(super) fn limited(config: &ResourceManagerConfiguration, clients: &Clients) -> Clients {
    let source = limit(&config.source_client_connection).over(&clients.source);
    let target = match &config.target_client_connection {
        Some(connection) => limit(connection).over(&clients.target),
        None => source.clone(),
    };
    Clients { source, target }
}

/// Takes part in the election, unless there is none; `client` is limited by nothing, so that a busy leader stays one.
///
/// # Errors
/// When the times of the configuration do not fit each other.
pub(super) fn elector(
    election: &LeaderElection,
    client: &Client,
    clock: Clock,
    entropy: &Entropy,
) -> Result<Option<Elector>, ElectionError> {
    if election.leader_elect != Some(true) {
        return Ok(None);
    }
    let time = |duration: GoDuration| duration.to_std().unwrap_or_default();
    let config = ElectionConfig {
        namespace: election.resource_namespace.clone(),
        name: election.resource_name.clone(),
        identity: leader::identity(&leader::host(), entropy),
        lease_duration: time(election.lease_duration),
        renew_deadline: time(election.renew_deadline),
        retry_period: time(election.retry_period),
        release_on_cancel: true,
    };
    Elector::new(config, client.clone(), clock, entropy.clone()).map(Some)
}

/// Starts the caches now and the controllers when this process leads.
pub(super) fn start(
    process: &mut Process,
    registry: &mut Registry,
    context: Context,
    elector: Option<Elector>,
) {
    for cluster in context.clusters() {
        let stop = process.stop();
        process.spawn("caches", async move { cluster.run(stop).await });
    }
    let running = Controllers::new(context.clusters(), context.entropy.clone());
    let measured = running.clone();
    registry.register(move || measured.metrics());
    let stop = process.stop();
    match elector {
        Some(elector) => {
            registry.register(elector.metrics());
            process.spawn("controllers", async move {
                let work = |stop| controllers::run(context, running, stop);
                Ok::<(), LeadingError>(elector.run(stop, work).await?)
            });
        }
        None => process.spawn("controllers", async move {
            Ok::<(), LeadingError>(controllers::run(context, running, stop).await?)
        }),
    }
}

fn limit(connection: &ClientConnection) -> RequestLimit {
    RequestLimit::new(connection.qps, u32::try_from(connection.burst).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
