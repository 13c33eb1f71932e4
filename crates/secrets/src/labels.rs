//! Labels of the secrets manager's Secrets.

/// Name of the request that the Secret belongs to.
pub const NAME: &str = "name";
/// Who manages it: [`MANAGER`].
pub const MANAGED_BY: &str = "managed-by";
/// Which manager manages it, such as `gardener-operator`.
pub const IDENTITY: &str = "manager-identity";
/// Checksum of the request, a decimal number.
pub const CHECKSUM_OF_CONFIG: &str = "checksum-of-config";
/// The first 63 digits of the checksum of the signing authority's data.
pub const CHECKSUM_OF_AUTHORITY: &str = "checksum-of-signing-ca";
/// Name of the request that a bundle is for.
pub const BUNDLE_FOR: &str = "bundle-for";
/// `true` for Secrets that are stored outside of the cluster, too.
pub const PERSIST: &str = "persist";
/// When the rotation began that made the Secret, in seconds since 1970; empty without one.
pub const ROTATION: &str = "last-rotation-initiation-time";
/// When its data was made, in seconds since 1970.
pub const ISSUED_AT: &str = "issued-at-time";
/// How long its data is valid, in seconds since 1970.
pub const VALID_UNTIL: &str = "valid-until-time";
/// On a Secret that is not managed: name of the request whose Secret, once it has to be made, takes over the data.
pub const USE_DATA_FOR: &str = "secrets-manager-use-data-for-name";

/// Value of [`MANAGED_BY`].
pub const MANAGER: &str = "secrets-manager";
/// End of the name of a bundle's request.
pub(crate) const BUNDLE_SUFFIX: &str = "-bundle";
