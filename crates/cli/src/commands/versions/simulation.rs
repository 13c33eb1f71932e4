//! The result of `versions simulate`.

use jiff::Timestamp;
use versions::forecast::Forecast;

/// A simulated time span.
pub(super) struct Simulation {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
    /// The forecast of each Shoot, in the order of the garden.
    pub(super) shoots: Vec<SimulatedShoot>,
    /// Shoots that could not be simulated, and why.
    pub(super) skipped: Vec<(String, String)>,
}

/// The forecast of a Shoot.
pub(super) struct SimulatedShoot {
    pub(super) name: String,
    pub(super) profile: String,
    pub(super) forecast: Forecast,
}

impl Simulation {
    /// The number of Shoots that end without a version to move to.
    pub(super) fn stuck(&self) -> usize {
        self.shoots.iter().filter(|shoot| !shoot.forecast.stuck.is_empty()).count()
    }

    /// The number of Shoots that maintenance moves by force.
    pub(super) fn forced(&self) -> usize {
        self.shoots
            .iter()
            .filter(|shoot| shoot.forecast.steps.iter().any(|step| step.rule.is_forced()))
            .count()
    }

    /// The shoots that stay unchanged, and have no cause to change.
    pub(super) fn unchanged(&self) -> Vec<&SimulatedShoot> {
        let stays =
            |shoot: &&SimulatedShoot| shoot.forecast.steps.is_empty() && shoot.forecast.stuck.is_empty();
        self.shoots.iter().filter(stays).collect()
    }

    /// The forecasts by name.
    pub(super) fn forecasts(&self) -> impl Iterator<Item = (&str, &Forecast)> {
        self.shoots.iter().map(|shoot| (shoot.name.as_str(), &shoot.forecast))
    }
}
