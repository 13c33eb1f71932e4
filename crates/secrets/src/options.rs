//! How a Secret is signed, rotated and stored.

use std::time::Duration;

/// Options of one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GenerateOptions {
    /// What happens to the old Secret when a new one is made.
    pub rotation: RotationStrategy,
    /// Drops the old Secret, whatever [`GenerateOptions::rotation`] says.
    pub ignore_old: bool,
    /// Drops the old Secret once the current one has this age.
    pub ignore_old_after: Option<Duration>,
    /// How long data is valid that is no certificate; unlimited if absent.
    pub validity: Option<Duration>,
    /// Who signs the certificate.
    pub signer: Option<Signer>,
    /// Marks the Secret as one that is stored outside of the cluster, too.
    pub persist: bool,
    /// Leaves the checksum out of the name of an authority's Secret.
    pub keeps_authority_name: bool,
}

/// What happens to the old Secret when a new one is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RotationStrategy {
    /// The new one replaces it.
    #[default]
    InPlace,
    /// It stays beside the new one.
    KeepOld,
}

/// Who signs a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// Name of the authority's request, which was generated before.
    pub authority: String,
    /// Which of its Secrets signs.
    pub choice: AuthorityChoice,
}

/// Which Secret of an authority signs while there are two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuthorityChoice {
    /// The current one for clients, the old one for servers: clients trust both authorities before servers change.
    #[default]
    ByKind,
    /// The current one.
    Current,
    /// The old one.
    Old,
}

impl Signer {
    /// An authority, whose Secret is chosen by the kind of the certificate.
    #[must_use]
    pub fn new(authority: &str) -> Self {
        Self { authority: authority.to_owned(), choice: AuthorityChoice::ByKind }
    }

    /// The same authority with another choice.
    #[must_use]
    pub fn choosing(self, choice: AuthorityChoice) -> Self {
        Self { choice, ..self }
    }
}
