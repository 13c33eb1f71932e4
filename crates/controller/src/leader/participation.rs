//! Takes part in an election according to a component's configuration.

use std::error::Error;
use std::future::Future;

use formats::duration::GoDuration;
use kube::Client;
use tokio_util::sync::CancellationToken;

use super::{ElectionConfig, ElectionError, Elector, host, identity};
use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::config::LeaderElection;
use crate::controllers::Controllers;
use crate::entropy::Entropy;
use crate::metrics::Registry;
use crate::process::Process;

/// Why an instance does not lead, or no longer does the leader's work.
#[derive(Debug, thiserror::Error)]
enum LeadingError<E: Error> {
    /// Another instance leads.
    #[error("{0}")]
    Election(#[from] ElectionError),
    /// The work failed.
    #[error("{0}")]
    Work(#[source] E),
}

/// Takes part in the election if it is enabled; `client` should have no rate limit, so that a busy leader can renew
/// its Lease.
///
/// # Errors
/// When the times of the configuration contradict each other.
pub fn elector(
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
        identity: identity(&host(), entropy),
        lease_duration: time(election.lease_duration),
        renew_deadline: time(election.renew_deadline),
        retry_period: time(election.retry_period),
        release_on_cancel: true,
    };
    Elector::new(config, client.clone(), clock, entropy.clone()).map(Some)
}

/// Starts the caches of the clusters now, and `run` with controllers over them when this process leads, or at once
/// without an election.
pub fn start<E, F>(
    process: &mut Process,
    registry: &mut Registry,
    elector: Option<Elector>,
    (clusters, entropy): (Vec<Cluster>, Entropy),
    run: impl FnOnce(Controllers, CancellationToken) -> F + Send + 'static,
) where
    E: Error + Send + Sync + 'static,
    F: Future<Output = Result<(), E>> + Send + 'static,
{
    for cluster in clusters.clone() {
        let stop = process.stop();
        process.spawn("caches", async move { cluster.run(stop).await });
    }
    let running = Controllers::new(clusters, entropy);
    let measured = running.clone();
    registry.register(move || measured.metrics());
    let stop = process.stop();
    match elector {
        Some(elector) => {
            registry.register(elector.metrics());
            process.spawn("controllers", async move {
                Ok::<(), LeadingError<E>>(elector.run(stop, |stop| run(running, stop)).await?)
            });
        }
        None => {
            process.spawn("controllers", async move { run(running, stop).await.map_err(LeadingError::Work) });
        }
    }
}
