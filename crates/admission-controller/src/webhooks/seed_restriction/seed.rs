//! Seeds.

use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::{Restricted, forbidden, unreadable};

const GARDEN_NAMESPACE: &str = "garden";

impl Restricted<'_> {
    /// A client works with its own Seed. The gardenlet that deployed another one deletes its Seed with it. ADM-SRE-018,
    /// ADM-SRE-019.
    pub(super) fn seed(&self) -> Result<(), Rejection> {
        let own = self.check_seed([Some(self.request.name.as_str())]);
        let Err(foreign) = own else { return Ok(()) };
        if self.request.operation != Operation::Delete {
            return Err(foreign);
        }
        let Some(managed_seed) = self.garden.managed_seed(GARDEN_NAMESPACE, &self.request.name) else {
            return Err(foreign);
        };
        if managed_seed.metadata.deletion_timestamp.is_none() {
            return Err(forbidden(
                "object can only be deleted if corresponding ManagedSeed has a deletion timestamp",
            ));
        }
        if managed_seed.spec.shoot.is_none() {
            return Err(foreign);
        }
        let shoot = self.garden.shoot_of(&managed_seed);
        let shoot = shoot.map_err(|missing| unreadable(missing.to_string()))?;
        self.check_seed([shoot.spec.seed_name.as_deref()])
    }
}
