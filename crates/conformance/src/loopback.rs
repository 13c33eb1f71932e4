//! The certificate of what this process serves for one start.

use substrate::identity::Identity;

/// Makes one for the loopback addresses.
pub(crate) fn certificate() -> Result<Identity, rcgen::Error> {
    Identity::made("target", ["localhost", "127.0.0.1", "::1"].map(str::to_owned))
}
