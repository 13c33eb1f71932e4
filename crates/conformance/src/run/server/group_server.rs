//! The API server of a group of cases, and the registration of a target there.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use substrate::cluster::Cluster;
use substrate::embedded::{Embedded, TypedRules};
use substrate::envtest::Envtest;
use tokio::time::Instant;
use webhook::dial::Dialers;
use webhook::registration::WebhookConfiguration;

use super::endpoint::WebhookEndpoint;
use super::recorder::{Recorder, ToTarget};
use super::{in_cluster, probe, registry};
use crate::gardener::stage;
use crate::plan::Group;
use crate::run::{Aggregated, PartState, Substrate, Whole};
use crate::target::{Facts, Running};

const NOT_INSTALLED: &str = "on embedded API servers: the component is not installed in the cluster";
const OTHER_TIME: &str =
    "on embedded API servers: the row depends on the exact time, or its answer contains a date";
/// Pause between two probes of a registration.
pub(super) const PAUSE: Duration = Duration::from_millis(10);
/// How long a server may take to activate a registration.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The user of requests to kinds of an aggregated API server.
const SENDER: &str = "gardener-conformance";

/// How the requests of cases are sent.
pub(super) struct Senders {
    /// Before the target is registered; where the server answers itself, without its rules.
    pub(super) without_target: Cluster,
    /// With the target.
    pub(super) with_target: Cluster,
}

/// A server and its connection to the target.
pub(super) enum GroupServer {
    /// In this process, for this group only; registrations are active immediately.
    Embedded(Embedded),
    /// The same, with kinds of an aggregated API server.
    Aggregated(Embedded, Arc<Aggregated>),
    /// Shared with other groups; reaches the target over TLS, and activates registrations after a while.
    Envtest(Arc<Envtest>, WebhookEndpoint),
    /// Shared with other groups; the target runs in the cluster.
    Whole(Arc<Whole>),
}

impl GroupServer {
    /// Opens the server of a group.
    pub(super) async fn open(
        shared: &PartState<'_>,
        group: &Group,
        recorder: &Arc<Recorder>,
    ) -> Result<Self, String> {
        let needs = shared.target.needs();
        if let Substrate::Envtest(server) = &shared.options.substrate {
            let written = needs.write(&Cluster::new(server.shared().client.clone())).await;
            written.map_err(|error| error.to_string())?;
            let endpoint =
                WebhookEndpoint::open(Arc::clone(recorder)).await.map_err(|error| error.to_string())?;
            return Ok(Self::Envtest(Arc::clone(server), endpoint));
        }
        if let Substrate::Whole(whole) = &shared.options.substrate
            && embedded_reason(shared, group).is_none()
        {
            return Ok(Self::Whole(Arc::clone(whole)));
        }
        let dialers: Arc<dyn Dialers> = Arc::new(ToTarget(Arc::clone(recorder)));
        if let Substrate::Aggregated(aggregated) = &shared.options.substrate {
            let server = aggregated_server(shared, group, aggregated, dialers).await?;
            return Ok(Self::Aggregated(server, Arc::clone(aggregated)));
        }
        let server = shared.embedded_server(shared.target.is_outside(), Some(dialers)).await;
        server.map(Self::Embedded).map_err(|error| error.to_string())
    }

    /// The API that answers the requests of a component's cases itself, if the server has it.
    pub(super) fn answering(&self, component: &str) -> Option<&Aggregated> {
        match self {
            Self::Aggregated(_, aggregated) if aggregated.component == component => Some(aggregated),
            _ => None,
        }
    }

    /// The cluster from which the target reads facts.
    pub(super) fn facts(&self) -> Facts {
        match self {
            Self::Embedded(server) | Self::Aggregated(server, _) => Facts::in_process(server),
            Self::Envtest(server, _) => Facts::of(server.shared()),
            Self::Whole(whole) => Facts::of(&whole.cluster),
        }
    }

    /// The cluster in which the cases of the group write.
    pub(super) fn cluster(&self) -> Cluster {
        let client = self.facts().client;
        match self {
            Self::Whole(whole) => whole.cluster(),
            Self::Envtest(server, _) if !server.shared().has_controllers => {
                Cluster::without_controllers(client)
            }
            // Facts are there before the rules of kinds judge anything.
            Self::Aggregated(server, _) => Cluster::new(server.storing_client()),
            Self::Embedded(_) | Self::Envtest(..) => Cluster::new(client),
        }
    }

    /// The cluster to which the requests of cases are sent, once without the target and once with it.
    pub(super) fn senders(&self, component: &str) -> Senders {
        let Self::Aggregated(server, _) = self else {
            return Senders { without_target: self.cluster(), with_target: self.cluster() };
        };
        let under = |rules| Cluster::new(server.client_under(SENDER, rules));
        let without_target =
            if self.answering(component).is_some() { TypedRules::None } else { TypedRules::All };
        Senders { without_target: under(without_target), with_target: under(TypedRules::All) }
    }

    /// Whether the objects of a group must be removed: others would see them, or the server outlives the run.
    pub(super) fn needs_cleanup(&self, group: &Group) -> bool {
        match self {
            Self::Embedded(_) | Self::Aggregated(..) => false,
            Self::Envtest(..) => group.alone,
            Self::Whole(whole) => group.alone || whole.stays,
        }
    }

    /// Whether the target runs in the cluster and is reached only through its Service.
    pub(super) fn is_real_cluster(&self) -> bool {
        matches!(self, Self::Whole(_))
    }

    /// Whether registrations can be limited to the requests of one user group, so that they may stay for the run.
    pub(super) fn supports_match_conditions(&self) -> bool {
        matches!(self, Self::Whole(whole) if whole.supports_match_conditions())
    }

    /// The configurations with the addresses at which this server reaches the target.
    pub(super) fn configurations_for(
        &self,
        running: &dyn Running,
        configurations: &[WebhookConfiguration],
    ) -> Result<Vec<Value>, String> {
        let each = configurations.iter().enumerate();
        let redirected = each.map(|(at, configuration)| match self {
            Self::Embedded(_) | Self::Aggregated(..) => Ok(configuration.to_object()),
            Self::Envtest(_, endpoint) => Ok(endpoint.redirected(configuration, at).to_object()),
            Self::Whole(_) => {
                let service = running.service().ok_or("the target has no Service in the cluster")?;
                Ok(in_cluster::redirected(configuration, at, &service).to_object())
            }
        });
        redirected.collect()
    }

    /// Registers a target and waits until the registration is active; adds the objects to `written`, also on failure.
    pub(super) async fn register(
        &self,
        cluster: &Cluster,
        configurations: &[Value],
        written: &mut Vec<Value>,
    ) -> Result<(), String> {
        for object in configurations {
            registry::create(cluster, object).await?;
            written.push(object.clone());
        }
        self.wait_for_probes(cluster, written.len(), written.len()).await
    }

    /// Deletes the registration, as much of it as possible, and waits until it is inactive.
    pub(super) async fn deregister(&self, cluster: &Cluster, written: &[Value]) -> Result<(), String> {
        let mut failed = None;
        for configuration in written {
            match cluster.delete(configuration, "").await {
                Ok(reply) if reply.is_success() || reply.code == 404 => {}
                Ok(reply) => {
                    failed = Some(format!("failed to delete a webhook configuration: {}", reply.message()));
                }
                Err(error) => failed = Some(error.to_string()),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        self.wait_for_probes(cluster, written.len(), 0).await
    }

    /// Sends probes until this many configurations are active.
    async fn wait_for_probes(&self, cluster: &Cluster, of: usize, wanted: usize) -> Result<(), String> {
        let endpoint = match self {
            Self::Envtest(_, endpoint) if of > 0 => endpoint,
            Self::Whole(_) => return in_cluster::wait_until_registered(cluster, of, wanted > 0).await,
            _ => return Ok(()),
        };
        let probe = probe::object("");
        let deadline = Instant::now() + PATIENCE;
        loop {
            endpoint.reset_probes();
            cluster.create(&probe, "dryRun=All").await.map_err(|error| error.to_string())?;
            let active = endpoint.probe_count();
            if active == wanted {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(format!(
                    "kube-apiserver uses {active} of {of} webhook configurations after {PATIENCE:?}, expected {wanted}"
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// A server with kinds of an aggregated API server. It has admission plugins only for cases whose configuration turns them on: the
/// others are about one object, and plugins would ask for the whole garden around it. If it answers the group's cases itself, it
/// has what their objects refer to, and the time of their rows.
async fn aggregated_server(
    shared: &PartState<'_>,
    group: &Group,
    aggregated: &Aggregated,
    dialers: Arc<dyn Dialers>,
) -> Result<Embedded, String> {
    let (needs, outside) = (shared.target.needs(), shared.target.is_outside());
    let is_answering = aggregated.component == group.component;
    let admitting = if is_answering { aggregated.admitting(&group.config)? } else { None };
    if let Some(api) = admitting {
        // Plugins look at objects of many kinds, so these cases have all of them among their facts.
        let server = needs.embedded(Some(&api), outside, Some(dialers)).await;
        return server.map_err(|error| error.to_string());
    }
    let server = if let Some(time) = group.now.filter(|_| is_answering && !outside) {
        let server = Embedded::still_at(needs.served_api(Some(&aggregated.api)), time, Some(dialers));
        let written = needs.write(&Cluster::new(server.storing_client())).await;
        written.map(|()| server).map_err(|error| error.to_string())?
    } else {
        shared.embedded_server(outside, Some(dialers)).await.map_err(|error| error.to_string())?
    };
    if is_answering {
        let written = stage::write(&Cluster::new(server.storing_client()), &aggregated.api).await;
        written.map_err(|error| error.to_string())?;
    }
    Ok(server)
}

/// Why a group runs on an embedded server though the run has a whole cluster.
pub(super) fn embedded_reason(shared: &PartState<'_>, group: &Group) -> Option<&'static str> {
    if !matches!(shared.options.substrate, Substrate::Whole(_)) {
        return None;
    }
    let is_inside = shared.target.is_inside(&group.component);
    let reason = if is_inside { OTHER_TIME } else { NOT_INSTALLED };
    (!is_inside || group.now.is_some()).then_some(reason)
}
