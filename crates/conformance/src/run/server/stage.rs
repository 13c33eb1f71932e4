//! The server that a group of cases is asked on, and how a target is registered there so that it is asked at once.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use substrate::cluster::Cluster;
use substrate::embedded::Embedded;
use substrate::envtest::Envtest;
use tokio::time::Instant;
use webhook::registration::WebhookConfiguration;

use super::door::Door;
use super::recorder::{Recorder, ToTarget};
use super::{inside, probe, registry};
use crate::plan::Group;
use crate::run::{Ground, Shared, Whole};
use crate::target::{Facts, Running};

const NOT_INSTALLED: &str = "on embedded API servers: the component is not installed in the cluster";
const OTHER_TIME: &str =
    "on embedded API servers: the row is about its very moment, or its answer says a date";
/// Between two looks whether a registration has been taken up.
pub(super) const PAUSE: Duration = Duration::from_millis(10);
/// How long a server may take to take up a registration.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A server and the way from it to the target.
pub(super) enum Stage {
    /// In this process, for this group alone; a registration counts from the next request on.
    Embedded(Embedded),
    /// Shared with other groups, reaches the target over TLS, takes up registrations when it comes to it.
    Envtest(Arc<Envtest>, Door),
    /// Shared with other groups; the target runs inside.
    Whole(Arc<Whole>),
}

impl Stage {
    /// The server that the run wants for a group; an error is why there is none.
    pub(super) async fn open(
        shared: &Shared<'_>,
        group: &Group,
        recorder: &Arc<Recorder>,
    ) -> Result<Self, String> {
        let needs = shared.target.needs();
        if let Ground::Envtest(server) = &shared.options.ground {
            let written = needs.write(&Cluster::new(server.shared().client.clone())).await;
            written.map_err(|error| error.to_string())?;
            let door = Door::open(Arc::clone(recorder)).await.map_err(|error| error.to_string())?;
            return Ok(Self::Envtest(Arc::clone(server), door));
        }
        if let Ground::Whole(whole) = &shared.options.ground
            && elsewhere(shared, group).is_none()
        {
            return Ok(Self::Whole(Arc::clone(whole)));
        }
        let dialers = Arc::new(ToTarget(Arc::clone(recorder)));
        let server = needs.embedded(shared.target.is_outside(), Some(dialers)).await;
        server.map(Self::Embedded).map_err(|error| error.to_string())
    }

    /// What a target is given to read its facts.
    pub(super) fn facts(&self) -> Facts {
        match self {
            Self::Embedded(server) => Facts::in_process(server),
            Self::Envtest(server, _) => Facts::of(server.shared()),
            Self::Whole(whole) => Facts::of(&whole.cluster),
        }
    }

    /// Where the cases of the group write.
    pub(super) fn cluster(&self) -> Cluster {
        let client = self.facts().client;
        match self {
            Self::Whole(whole) => whole.cluster(),
            Self::Envtest(server, _) if !server.shared().has_controllers => {
                Cluster::without_controllers(client)
            }
            Self::Embedded(_) | Self::Envtest(..) => Cluster::new(client),
        }
    }

    /// Whether what is written for a group must go with it: others see it, or the server outlives the run.
    pub(super) fn takes_back(&self, group: &Group) -> bool {
        match self {
            Self::Embedded(_) => false,
            Self::Envtest(..) => group.alone,
            Self::Whole(whole) => group.alone || whole.stays,
        }
    }

    /// Whether the target runs in the cluster and is reached by its Service alone.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
    }

    /// Whether registrations count for requests of their own alone, and so may stay.
    pub(super) fn tells_askers_apart(&self) -> bool {
        matches!(self, Self::Whole(whole) if whole.tells_askers_apart())
    }

    /// The configurations as this server reaches the target; an error is why it cannot.
    pub(super) fn leading(
        &self,
        running: &dyn Running,
        configurations: &[WebhookConfiguration],
    ) -> Result<Vec<Value>, String> {
        let each = configurations.iter().enumerate();
        let leading = each.map(|(at, configuration)| match self {
            Self::Embedded(_) => Ok(configuration.to_object()),
            Self::Envtest(_, door) => Ok(door.leading(configuration, at).to_object()),
            Self::Whole(_) => {
                let service = running.service().ok_or("the target has no Service in the cluster")?;
                Ok(inside::leading(configuration, at, &service).to_object())
            }
        });
        leading.collect()
    }

    /// Registers a target and waits until it would be asked; `written` gets the objects, also where it fails.
    pub(super) async fn register(
        &self,
        cluster: &Cluster,
        leading: &[Value],
        written: &mut Vec<Value>,
    ) -> Result<(), String> {
        for object in leading {
            registry::create(cluster, object).await?;
            written.push(object.clone());
        }
        self.await_probes(cluster, written.len(), written.len()).await
    }

    /// Takes the registration back, as much of it as possible, and waits until nobody would be asked.
    pub(super) async fn deregister(&self, cluster: &Cluster, written: &[Value]) -> Result<(), String> {
        let mut failed = None;
        for configuration in written {
            match cluster.delete(configuration, "").await {
                Ok(reply) if reply.is_success() || reply.code == 404 => {}
                Ok(reply) => {
                    failed = Some(format!("the API server keeps a registration: {}", reply.message()));
                }
                Err(error) => failed = Some(error.to_string()),
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        self.await_probes(cluster, written.len(), 0).await
    }

    /// Sends probes until so many of the configurations are asked about one.
    async fn await_probes(&self, cluster: &Cluster, of: usize, wanted: usize) -> Result<(), String> {
        let door = match self {
            Self::Envtest(_, door) if of > 0 => door,
            Self::Whole(_) => return inside::await_heed(cluster, of, wanted > 0).await,
            _ => return Ok(()),
        };
        let probe = probe::object("");
        let deadline = Instant::now() + PATIENCE;
        loop {
            door.forget();
            cluster.create(&probe, "dryRun=All").await.map_err(|error| error.to_string())?;
            let seen = door.seen();
            if seen == wanted {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(format!(
                    "kube-apiserver heeds {seen} of {of} webhook configurations {PATIENCE:?} after {wanted} were wanted"
                ));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Why a group is asked elsewhere than in the whole cluster of the run, where there is one.
pub(super) fn elsewhere(shared: &Shared<'_>, group: &Group) -> Option<&'static str> {
    if !matches!(shared.options.ground, Ground::Whole(_)) {
        return None;
    }
    let is_inside = shared.target.is_inside(&group.component);
    let reason = if is_inside { OTHER_TIME } else { NOT_INSTALLED };
    (!is_inside || group.now.is_some()).then_some(reason)
}
