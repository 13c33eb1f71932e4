//! The controllers of one instance.

pub mod shoot_scheduling;

use std::time::Duration;

use controller::Controller;
use controller::garden::GardenContext;

use crate::config::SchedulerConfiguration;

/// Maximum time of one reconciliation.
const TIMEOUT: Duration = Duration::from_mins(3);
/// Namespace of the garden's own objects.
const GARDEN_NAMESPACE: &str = "garden";

/// The client, stores and settings of all controllers.
pub type Context = GardenContext<SchedulerConfiguration>;

/// All controllers.
#[must_use]
pub fn controllers(context: &Context) -> Vec<Controller> {
    vec![shoot_scheduling::controller(context)]
}
