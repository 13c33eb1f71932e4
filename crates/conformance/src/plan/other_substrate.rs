//! Cases that do not run because of the substrate.

use contract::gardener::plugins;

use super::{LocatedCase, PlannedOn};
use crate::report::{Reason, ReasonCode, Status};

/// Why cases about admission plugins do not run where the API server has none.
pub const NO_PLUGINS: &str = "the substrate has no admission plugins; `--substrate garden` has them";

/// Why a clause holds only on other substrates, if it declares a reason; else what the substrate lacks for the case.
pub(super) fn elsewhere(located: LocatedCase<'_>, on: PlannedOn<'_>) -> Option<(Status, Reason)> {
    if let Some(reason) = located.clause.not_on.get(on.substrate) {
        return Some((Status::Skipped, Reason::new(ReasonCode::Substrate, reason)));
    }
    plugins::are_missing(&located.contract.component, &located.case.config, on.substrate)
        .then(|| (Status::NotSupported, Reason::new(ReasonCode::Substrate, NO_PLUGINS)))
}
