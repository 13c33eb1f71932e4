//! Maintains Shoots in their windows (contracts/controller-manager/controllers/shoot-maintenance).
//!
//! The crate `versions` and `annotations` decide what changes, and `plan` what events and status say about it. One
//! maintenance writes at most three times: the state `Processing`, the Shoot, and the state `Succeeded`.

mod annotations;
mod plan;
mod steps;

use std::sync::Arc;
use std::time::Duration;

use api::garden::shoot::maintenance::MaintenanceTimeWindow;
use api::garden::{CloudProfile, Shoot};
use controller::clock::Clock;
use controller::events::{Recorder, recorder};
use controller::{Controller, Entropy, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
use kube::Client;
use versions::maintenance::NotMaintained;
use versions::window::Window;

use self::annotations::{Restarts, is_to_be_maintained};
use self::plan::Plan;
use super::{Context, TIMEOUT};

/// Name in log and metrics.
pub const NAME: &str = "shoot-maintenance";

/// Why a Shoot could not be maintained.
#[derive(Debug, thiserror::Error)]
pub enum MaintenanceError {
    /// The CloudProfile does not exist.
    #[error("CloudProfile.core.gardener.cloud {0:?} not found")]
    CloudProfile(String),
    /// The version of its control plane is invalid.
    #[error(transparent)]
    Version(#[from] NotMaintained),
    /// It is unknown whether the API server would accept the Shoot.
    #[error("failed to try the Shoot")]
    Try(#[source] kube::Error),
    /// The status could not be written.
    #[error("failed to write the status")]
    Status(#[source] kube::Error),
    /// The Shoot could not be written. The plan may be based on an old Shoot, so the retry plans again.
    #[error("failed to write the Shoot")]
    Update(#[source] kube::Error),
}

/// The controller of one instance.
pub fn controller(context: &Context) -> Controller {
    let garden = &context.garden;
    let component = format!("{NAME}-controller");
    let (recorder, writer) = recorder(garden.client(), &component, context.clock, context.entropy.clone());
    let shoots = garden.store::<Shoot>(Selection::all());
    let due = Watch::of(&shoots).filter(makes_due);
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
        .source(due)
        .source(writer)
}

/// GCM-MNT-002, GCM-MNT-003: a Shoot is reconciled when it is new, its annotation requests maintenance, or its window
/// changes.
fn makes_due(event: &Event<Shoot>) -> bool {
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
            return Ok(Outcome::Done); // guard: the Shoot is gone
        };
        if shoot.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::Done); // guard: the Shoot is being deleted
        }
        let (now, window) = (self.clock.now(), Window::of(shoot.spec.maintenance.as_ref()));
        // Choose the random time in the next window before anything can take time or fail.
        let next = window.until_next(now, false, |seconds| self.random_below(seconds));
        if !is_to_be_maintained(&shoot) && !window.contains(now) {
            return Ok(schedule(next)); // guard: neither requested nor in the window
        }
        tracing::info!("Maintaining Shoot");
        let profile = self.profile(&shoot)?; // guard: the CloudProfile does not exist
        let plan = Plan::of(&shoot, &profile, self.restarts, self.clock.now())?;
        plan.log_failures();
        let refusal = Box::pin(self.test_update(&shoot, &plan)).await?; // step 1
        if let Some(reason) = refusal {
            tracing::info!(reason, "Shoot maintenance failed");
            return Ok(schedule(next)); // the API server refuses the Shoot
        }
        let current = Box::pin(self.announce(&shoot, &plan)).await?; // step 2
        let updated = Box::pin(self.update(&shoot, &plan, &current)).await?; // step 3
        Box::pin(self.complete(&updated)).await?; // step 4
        self.record_events(&shoot, &plan);
        Ok(schedule(next))
    }
}

impl Reconciler {
    /// A random integer below `seconds`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a window lasts a day at most"
    )]
    fn random_below(&self, seconds: u64) -> u64 {
        (seconds as f64 * self.entropy.fraction()) as u64
    }

    /// GCM-MNT-043: the retry finds a CloudProfile that is created later.
    fn profile(&self, shoot: &Shoot) -> Result<Arc<CloudProfile>, MaintenanceError> {
        let name = &shoot.spec.cloud_profile_name;
        self.profiles.get("", name).ok_or_else(|| MaintenanceError::CloudProfile(name.clone()))
    }
}

fn schedule(next: Duration) -> Outcome {
    tracing::debug!("Scheduled next maintenance for Shoot in {next:?}");
    Outcome::RequeueAfter(next)
}
