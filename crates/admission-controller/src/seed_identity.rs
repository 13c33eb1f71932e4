//! The seed that a client acts for, determined by its user name and its groups alone.

/// The group of all gardenlets, and the one organization of their certificates.
pub const SEEDS_GROUP: &str = "gardener.cloud:system:seeds";
/// Prefix of the user names of gardenlets, which are the common names of their certificates.
pub const SEED_USER_PREFIX: &str = "gardener.cloud:system:seed:";
/// Prefix of the namespace of a seed in the garden.
pub const SEED_NAMESPACE_PREFIX: &str = "seed-";

const SERVICE_ACCOUNTS_GROUP: &str = "system:serviceaccounts";
const SERVICE_ACCOUNTS_GROUP_PREFIX: &str = "system:serviceaccounts:";
const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";
const EXTENSION_PREFIX: &str = "extension-";

/// A client that acts for a seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedClient {
    /// Name of the seed.
    pub seed: String,
    /// What acts for it.
    pub kind: ClientKind,
}

/// What acts for a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientKind {
    /// Its gardenlet.
    Gardenlet,
    /// An extension that runs in it.
    Extension,
}

impl SeedClient {
    /// Whether it is an extension.
    #[must_use]
    pub fn is_extension(&self) -> bool {
        self.kind == ClientKind::Extension
    }

    /// The namespace of its seed in the garden.
    #[must_use]
    pub fn namespace(&self) -> String {
        namespace_of_seed(&self.seed)
    }
}

/// The namespace of a seed in the garden.
#[must_use]
pub fn namespace_of_seed(seed: &str) -> String {
    format!("{SEED_NAMESPACE_PREFIX}{seed}")
}

/// The seed whose namespace this is.
#[must_use]
pub fn seed_of_namespace(namespace: &str) -> Option<&str> {
    namespace.strip_prefix(SEED_NAMESPACE_PREFIX).filter(|seed| !seed.is_empty())
}

/// The seed that a user acts for; `None` for users that act for no seed.
#[must_use]
pub fn identify<G: AsRef<str>>(user: &str, groups: &[G]) -> Option<SeedClient> {
    let is_in = |wanted: &str| groups.iter().any(|group| group.as_ref() == wanted);
    if is_in(SEEDS_GROUP) {
        let seed = user.strip_prefix(SEED_USER_PREFIX).filter(|seed| !seed.is_empty())?;
        return Some(SeedClient { seed: seed.to_owned(), kind: ClientKind::Gardenlet });
    }
    if !is_in(SERVICE_ACCOUNTS_GROUP) {
        return None;
    }
    let namespace =
        groups.iter().find_map(|group| group.as_ref().strip_prefix(SERVICE_ACCOUNTS_GROUP_PREFIX))?;
    let seed = seed_of_namespace(namespace)?;
    let prefix = format!("{SERVICE_ACCOUNT_PREFIX}{namespace}:");
    let name = user.strip_prefix(&prefix).unwrap_or(user);
    name.starts_with(EXTENSION_PREFIX)
        .then(|| SeedClient { seed: seed.to_owned(), kind: ClientKind::Extension })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// User, groups, and the Seed for which they act.
    type Row<'a> = (&'a str, &'a [&'a str], Option<(&'a str, ClientKind)>);

    #[test]
    fn users_act_for_seeds_as_the_original_says() {
        let accounts = "system:serviceaccounts";
        let table: [Row<'_>; 16] = [
            ("gardener.cloud:system:seed:foo", &[SEEDS_GROUP], Some(("foo", ClientKind::Gardenlet))),
            ("gardener.cloud:system:seed:foo", &["bar", SEEDS_GROUP], Some(("foo", ClientKind::Gardenlet))),
            (
                "gardener.cloud:system:seed:<ambiguous>",
                &[SEEDS_GROUP],
                Some(("<ambiguous>", ClientKind::Gardenlet)),
            ),
            ("gardener.cloud:system:seed:foo", &[], None),
            ("gardener.cloud:system:seed:foo", &["bar"], None),
            ("gardener.cloud:system:seed:", &[SEEDS_GROUP], None),
            ("foo", &[SEEDS_GROUP], None),
            // Only the group of gardenlets counts.
            (
                "system:serviceaccount:seed-foo:extension-bar",
                &[SEEDS_GROUP, accounts, "system:serviceaccounts:seed-foo"],
                None,
            ),
            (
                "system:serviceaccount:seed-foo:extension-bar",
                &[accounts, "system:serviceaccounts:seed-foo"],
                Some(("foo", ClientKind::Extension)),
            ),
            ("system:serviceaccount:seed-foo:extension-bar", &[accounts], None),
            ("system:serviceaccount:seed-foo:extension-bar", &["system:serviceaccounts:seed-foo"], None),
            ("system:serviceaccount:foo:extension-bar", &[accounts, "system:serviceaccounts:foo"], None),
            ("system:serviceaccount:seed-:extension-bar", &[accounts, "system:serviceaccounts:seed-"], None),
            ("system:serviceaccount:seed-foo:bar", &[accounts, "system:serviceaccounts:seed-foo"], None),
            // Of several namespaces the first counts.
            (
                "system:serviceaccount:seed-foo:extension-bar",
                &[accounts, "system:serviceaccounts:other", "system:serviceaccounts:seed-foo"],
                None,
            ),
            // A name without the prefix is compared as it is.
            (
                "extension-bar",
                &["system:serviceaccounts:seed-foo", accounts],
                Some(("foo", ClientKind::Extension)),
            ),
        ];
        for (user, groups, want) in table {
            let want = want.map(|(seed, kind)| SeedClient { seed: seed.to_owned(), kind });
            assert_eq!(identify(user, groups), want, "{user} {groups:?}");
        }
    }
}
