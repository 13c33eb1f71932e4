//! Whether a gardenlet may give credentials to the gardenlet of a ManagedSeed.

use api::garden::ManagedSeed;
use api::gardener::OPERATION;
use webhook::rejection::Rejection;

use super::{Restricted, forbidden, unreadable};

/// Value of the annotation [`OPERATION`]: the gardenlet gets new credentials.
const RENEW_KUBECONFIG: &str = "renew-kubeconfig";

/// Whether a ManagedSeed's gardenlet shall get new credentials.
pub(crate) fn renews_kubeconfig(managed_seed: &ManagedSeed) -> bool {
    let annotations = managed_seed.metadata.annotations.as_ref();
    annotations.and_then(|all| all.get(OPERATION)).is_some_and(|operation| operation == RENEW_KUBECONFIG)
}

impl Restricted<'_> {
    /// The Shoot of the ManagedSeed is on the client's seed, and the gardenlet has no valid certificate. ADM-SRE-013.
    pub(super) fn bootstrap(&self, namespace: &str, name: &str) -> Result<(), Rejection> {
        let managed_seed = self.garden.find_managed_seed(namespace, name);
        let managed_seed = managed_seed.map_err(|missing| forbidden(missing.to_string()))?;
        let shoot = self.garden.shoot_of(&managed_seed);
        let shoot = shoot.map_err(|missing| unreadable(missing.to_string()))?;
        self.check_seed([shoot.spec.seed_name.as_deref()])?;
        let Some(seed) = self.garden.seed(name) else { return Ok(()) };
        let expiry = seed.status.client_certificate_expiration_timestamp.as_ref();
        if expiry.is_some_and(|expiry| expiry.0 < self.now) || renews_kubeconfig(&managed_seed) {
            return Ok(());
        }
        Err(Rejection::errored(400, format!("managed seed {namespace}/{name} is already bootstrapped")))
    }
}
