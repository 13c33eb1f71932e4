//! The controllers of one instance.
//!
//! One module per controller, named as its contract, with a function `controller(&OperatorContext) -> Controller`.

pub mod care;
pub mod garden;
pub mod network_policy;
pub mod network_policy_registrar;
pub mod reference;

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use api::operator::runtime_cluster::RuntimeNetworking;
use controller::clock::Clock;
use controller::controllers::ControllersError;
use controller::probes::Probes;
use controller::{CacheOptions, CancellationToken, Cluster, Controller, Controllers, Entropy};
use formats::duration::GoDuration;
use kube::Client;
use tokio::sync::watch;

use self::care::VirtualCluster;
use self::network_policy::ApiServerHost;
use crate::config::OperatorConfiguration;

/// Maximum time of one reconciliation.
const TIMEOUT: Duration = Duration::from_mins(3);
/// How often handlers receive every object again.
const RESYNC: Duration = Duration::from_hours(10);
/// Namespace of a Garden's objects in the runtime cluster.
const GARDEN_NAMESPACE: &str = "garden";

/// The client, stores and settings of all controllers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct OperatorContext {
    /// The configuration, with defaults filled in.
    pub config: Arc<OperatorConfiguration>,
    /// The cluster that a Garden runs in.
    pub runtime: Cluster,
    /// Host name of the API server of that cluster, where it has one outside of the cluster.
    pub api_server: Option<ApiServerHost>,
    /// How the API server of the virtual cluster is reached.
    pub virtual_cluster: VirtualCluster,
    /// The networks of the runtime cluster, once a Garden contains them.
    pub networks: watch::Sender<Option<RuntimeNetworking>>,
    /// The time of day.
    pub clock: Clock,
}

impl OperatorContext {
    /// The context of the controllers; sends no request before the cluster is run.
    #[must_use]
    pub fn new(config: OperatorConfiguration, runtime: &Client, clock: Clock, entropy: Entropy) -> Self {
        let options = CacheOptions { namespaces: Vec::new(), resync: Some(RESYNC) };
        let runtime = Cluster::new("runtime", runtime.clone(), options, entropy);
        Self {
            config: Arc::new(config),
            runtime,
            api_server: None,
            virtual_cluster: VirtualCluster::Client(None),
            networks: watch::Sender::new(None),
            clock,
        }
    }

    /// The original's check of caches, by its name.
    #[must_use]
    pub fn probes(&self) -> Probes {
        let runtime = self.runtime.clone();
        Probes::new().ready("informer-sync", move || {
            ready(if runtime.is_synced() { Ok(()) } else { Err("informers are not synced".to_owned()) })
        })
    }
}

/// Runs the controllers until `stop` is cancelled, as the leader does; the cluster must run.
///
/// # Errors
/// When a cache is not filled in time, or a controller fails.
pub async fn run(
    context: OperatorContext,
    running: Controllers,
    stop: CancellationToken,
) -> Result<(), ControllersError> {
    running.run(controllers(&context), stop).await
}

/// All controllers.
#[must_use]
pub fn controllers(context: &OperatorContext) -> Vec<Controller> {
    vec![
        care::controller(context),
        network_policy::controller(context),
        network_policy_registrar::controller(context),
        reference::controller(context),
    ]
}

/// How many objects are processed at once; missing or 0 counts as 1.
fn workers(concurrent_syncs: Option<i64>) -> usize {
    concurrent_syncs.and_then(|count| usize::try_from(count).ok()).unwrap_or(1)
}

/// How often to process an object; missing or negative counts as zero, which is never.
fn period(configured: Option<GoDuration>) -> Duration {
    configured.and_then(GoDuration::to_std).unwrap_or_default()
}
