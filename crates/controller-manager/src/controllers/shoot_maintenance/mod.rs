//! Maintains Shoots in their windows (contracts/controller-manager/controllers/shoot-maintenance).
//!
//! What changes is decided by the crate `versions` and by `annotations`; what is told of it, by `plan`. One
//! maintenance writes at most three times: what is about to be done, the Shoot, and that it is done.

mod annotations;
mod plan;
mod writes;

use api::garden::shoot::maintenance::MaintenanceTimeWindow;
use api::garden::{CloudProfile, Shoot};
use controller::clock::Clock;
use controller::events::{EventType, Recorder, recorder};
use controller::{
    Controller, Entropy, Event, Outcome, Reconcile, Request, Selection, Store, Watch, describe_error,
};
use kube::{Client, ResourceExt as _};
use versions::maintenance::NotMaintained;
use versions::window::Window;

use self::annotations::{Restarts, is_to_be_maintained};
use self::plan::Plan;
use self::writes::Written;
use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "shoot-maintenance";

const FAILED: &str = "MaintenanceFailed";
const IMAGE: &str = "MachineImageVersionMaintenance";
const KUBERNETES: &str = "KubernetesVersionMaintenance";

/// Why a Shoot could not be maintained.
#[derive(Debug, thiserror::Error)]
pub enum MaintenanceError {
    /// There is no such CloudProfile.
    #[error("CloudProfile.core.gardener.cloud {0:?} not found")]
    CloudProfile(String),
    /// The version of its control plane is none.
    #[error(transparent)]
    Version(#[from] NotMaintained),
    /// Nobody can say whether the API server would take it.
    #[error("failed to try the Shoot")]
    Try(#[source] kube::Error),
    /// What was done could not be told.
    #[error("failed to write the status")]
    Status(#[source] kube::Error),
    /// What is to be changed could not be written; as it may have been decided on what is old, it is decided again.
    #[error("failed to write the Shoot")]
    Update(#[source] kube::Error),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let component = format!("{NAME}-controller");
    let (recorder, writer) = recorder(garden.client(), &component, context.clock, context.entropy.clone());
    let shoots = garden.store::<Shoot>(Selection::all());
    let asked = Watch::of(&shoots).filter(asks);
    let config = &context.config.controllers.shoot_maintenance;
    let reconciler = Reconciler {
        shoots,
        profiles: garden.store::<CloudProfile>(Selection::all()),
        restarts: Restarts {
            control_plane: config.enable_shoot_control_plane_restarter == Some(true),
            addons: config.enable_shoot_core_addon_restarter == Some(true),
        },
        client: garden.client(),
        recorder,
        clock: context.clock,
        entropy: context.entropy.clone(),
    };
    Controller::new(NAME, reconciler)
        .workers(super::workers(config.concurrent_syncs))
        .timeout(TIMEOUT)
        .source(asked)
        .source(writer)
}

/// GCM-MNT-002, GCM-MNT-003: a Shoot is looked at when it is seen first, is told to be maintained, or has another window.
fn asks(event: &Event<Shoot>) -> bool {
    let Some(old) = event.old() else { return true };
    let new = event.object();
    (is_to_be_maintained(new) && !is_to_be_maintained(old)) || time_window(old) != time_window(new)
}

fn time_window(shoot: &Shoot) -> Option<&MaintenanceTimeWindow> {
    shoot.spec.maintenance.as_ref()?.time_window.as_ref()
}

struct Reconciler {
    shoots: Store<Shoot>,
    profiles: Store<CloudProfile>,
    restarts: Restarts,
    client: Client,
    recorder: Recorder,
    clock: Clock,
    entropy: Entropy,
}

impl Reconcile for Reconciler {
    type Error = MaintenanceError;

    /// GCM-MNT-001, GCM-MNT-004 to -006.
    async fn reconcile(&self, request: Request) -> Result<Outcome, MaintenanceError> {
        let Some(shoot) = self.shoots.get(&request.namespace, &request.name) else {
            return Ok(Outcome::Done);
        };
        if shoot.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::Done);
        }
        let (now, window) = (self.clock.now(), Window::of(shoot.spec.maintenance.as_ref()));
        // Where in the next window it is, is decided before anything can take time or fail.
        let next = window.until_next(now, false, |seconds| self.below(seconds));
        if is_to_be_maintained(&shoot) || window.contains(now) {
            tracing::info!("Maintaining Shoot");
            Box::pin(self.maintain(&shoot)).await?;
        }
        tracing::debug!("Scheduled next maintenance for Shoot in {next:?}");
        Ok(Outcome::RequeueAfter(next))
    }
}

impl Reconciler {
    /// A whole number below `seconds`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a window lasts a day at most"
    )]
    fn below(&self, seconds: u64) -> u64 {
        (seconds as f64 * self.entropy.fraction()) as u64
    }

    /// GCM-MNT-043: a CloudProfile that comes later is found when the request comes back.
    async fn maintain(&self, shoot: &Shoot) -> Result<(), MaintenanceError> {
        let name = &shoot.spec.cloud_profile_name;
        let profile = self.profiles.get("", name);
        let profile = profile.ok_or_else(|| MaintenanceError::CloudProfile(name.clone()))?;
        let plan = Plan::of(shoot, &profile, self.restarts, self.clock.now())?;
        for failure in &plan.failures {
            tracing::error!("{failure}");
        }
        match Box::pin(writes::write(&self.client, shoot, &plan, self.clock.now())).await {
            Ok(Written::All) => self.tell(shoot, &plan),
            Ok(Written::Refused(reason)) => tracing::info!(reason, "Shoot maintenance failed"),
            Err(MaintenanceError::Update(error)) => {
                self.recorder.event(shoot, EventType::Warning, FAILED, &describe_error(&error));
                return Err(MaintenanceError::Update(error));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// GCM-MNT-040 to -042.
    fn tell(&self, shoot: &Shoot, plan: &Plan) {
        for image in &plan.images {
            self.recorder.event(shoot, EventType::Normal, IMAGE, &format!("Updated {image}."));
        }
        for version in &plan.kubernetes {
            self.recorder.event(shoot, EventType::Normal, KUBERNETES, version);
        }
        tracing::info!(shoot = shoot.name_any(), "Shoot maintenance completed");
    }
}
