//! Names of the objects by which a gardenlet that is being deployed gets its first credentials.

use sha2::{Digest as _, Sha256};

/// The ClusterRole of a gardenlet that has no credentials yet, and the beginning of the names of its bindings.
pub(crate) const BOOTSTRAPPER: &str = "gardener.cloud:system:seed-bootstrapper";
/// Prefix of the names of bindings of that role.
pub(crate) const BINDING_PREFIX: &str = "gardener.cloud:system:seed-bootstrapper:";
/// Prefix of the names of its ServiceAccounts.
pub(crate) const SERVICE_ACCOUNT_PREFIX: &str = "gardenlet-bootstrap-";
/// Prefix of the names of Secrets that are tokens.
pub(crate) const TOKEN_PREFIX: &str = "bootstrap-token-";
/// Namespace of these Secrets.
pub(crate) const TOKEN_NAMESPACE: &str = "kube-system";
/// How the description of a token begins; namespace and name of the ManagedSeed follow.
const DESCRIPTION: &str = "A bootstrap token for the Gardenlet for managed seed ";

/// The name of the token Secret of a ManagedSeed.
pub(crate) fn token_secret(namespace: &str, name: &str) -> String {
    let digest = if namespace.is_empty() {
        Sha256::digest(name)
    } else {
        Sha256::digest(format!("{name}{namespace}--{name}"))
    };
    let [first, second, third, ..]: [u8; 32] = digest.into();
    format!("{TOKEN_PREFIX}{first:02x}{second:02x}{third:02x}")
}

/// The name of the ServiceAccount of a ManagedSeed.
pub(crate) fn service_account(name: &str) -> String {
    format!("{SERVICE_ACCOUNT_PREFIX}{name}")
}

/// The name of the binding of a ManagedSeed's ServiceAccount.
pub(crate) fn binding(namespace: &str, name: &str) -> String {
    format!("{BINDING_PREFIX}{namespace}:{}", service_account(name))
}

/// Namespace (may be empty) and name of the ManagedSeed that a binding is for.
pub(crate) fn managed_seed_of_binding(binding: &str) -> (&str, &str) {
    let parts = binding.strip_prefix(BINDING_PREFIX).unwrap_or(binding);
    let (namespace, name) = first_two(parts, ':');
    (namespace, name.strip_prefix(SERVICE_ACCOUNT_PREFIX).unwrap_or(name))
}

/// Namespace (may be empty) and name of the ManagedSeed that the description of a token names.
pub(crate) fn managed_seed_of_description(description: &str) -> (&str, &str) {
    let named = description.strip_suffix('.').unwrap_or(description);
    first_two(named.strip_prefix(DESCRIPTION).unwrap_or(named), '/')
}

/// The first two of several parts; a single part is the second.
fn first_two(text: &str, separator: char) -> (&str, &str) {
    let mut parts = text.split(separator);
    let first = parts.next().unwrap_or_default();
    parts.next().map_or(("", first), |second| (first, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_token_is_the_beginning_of_a_digest() {
        // The digest of `seedgarden--seed`, by sha256sum.
        assert_eq!(token_secret("garden", "seed"), "bootstrap-token-d6c1db");
        assert_eq!(token_secret("", "seed").len(), TOKEN_PREFIX.len() + 6);
        assert_ne!(token_secret("", "seed"), token_secret("garden", "seed"));
    }

    #[test]
    fn bindings_and_descriptions_name_managed_seeds() {
        assert_eq!(
            binding("garden", "s"),
            "gardener.cloud:system:seed-bootstrapper:garden:gardenlet-bootstrap-s"
        );
        for (rest, want) in [
            ("garden:gardenlet-bootstrap-s", ("garden", "s")),
            ("garden:s", ("garden", "s")),
            ("garden:s:more", ("garden", "s")),
            ("gardenlet-bootstrap-s", ("", "s")),
            ("", ("", "")),
        ] {
            assert_eq!(managed_seed_of_binding(&format!("{BINDING_PREFIX}{rest}")), want, "{rest}");
        }
        for (description, want) in [
            ("A bootstrap token for the Gardenlet for managed seed garden/s.", ("garden", "s")),
            ("A bootstrap token for the Gardenlet for managed seed garden/s", ("garden", "s")),
            ("A bootstrap token for the Gardenlet for managed seed garden/s/t.", ("garden", "s")),
            ("A bootstrap token for the Gardenlet for managed seed s.", ("", "s")),
            ("something else", ("", "something else")),
            ("", ("", "")),
        ] {
            assert_eq!(managed_seed_of_description(description), want, "{description}");
        }
    }
}
