//! Labels and annotations of the garden that controllers read and write.

/// Label of an object: its role in the garden.
pub(super) const ROLE: &str = "gardener.cloud/role";
/// Label of a Namespace or of RBAC objects: the project that it belongs to.
pub(super) const PROJECT_NAME: &str = "project.gardener.cloud/name";
/// Label of a Secret or Quota: with the value `true`, SecretBindings refer to it.
pub(super) const SECRET_BINDING_REFERENCE: &str = "reference.gardener.cloud/secretbinding";
/// Prefix of a label of a Secret; the type of a provider for which it has credentials follows.
pub(super) const SHOOT_PROVIDER_PREFIX: &str = "provider.shoot.gardener.cloud/";

/// Whether a value is true for Go's `strconv.ParseBool`.
pub(super) fn is_true(value: Option<&String>) -> bool {
    matches!(value.map(String::as_str), Some("1" | "t" | "T" | "true" | "TRUE" | "True"))
}
