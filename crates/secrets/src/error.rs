//! Reasons the secrets manager cannot answer. Messages are the original's; causes follow in the chain.

use crate::authority::AuthorityError;
use crate::data::DataError;

/// Existing Secrets cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("Secret {namespace}/{name}")]
pub struct SecretsManagerError {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The label.
    pub source: LabelTimeError,
}

/// A label does not hold the time that it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("label {label}: strconv.ParseInt: parsing {value:?}: invalid syntax")]
pub struct LabelTimeError {
    /// The label.
    pub label: &'static str,
    /// Its value.
    pub value: String,
}

/// A request cannot be answered.
#[derive(Debug, thiserror::Error)]
#[error("{step}")]
pub struct GenerateError {
    /// What was done, with the names of the request and its Secret.
    pub step: String,
    /// Why it failed.
    pub source: GenerateCause,
}

/// Why a request cannot be answered.
#[derive(Debug, thiserror::Error)]
pub enum GenerateCause {
    /// A signer is named for something that is not signed.
    #[error("only a certificate is signed: leave the signer out of the options, or request a certificate")]
    NotSigned,
    /// The signer was not generated before.
    #[error("secrets for name {0:?} not found in internal store")]
    UnknownAuthority(String),
    /// The signer's Secret has no authority.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// Several Secrets want to be taken over.
    #[error(
        "failed taking over data from existing secret when needed: found more than one existing secret with \
         \"secrets-manager-use-data-for-name\" label for config {0:?}"
    )]
    SeveralToTakeOver(String),
    /// There is no data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The data has no certificate where it should.
    #[error("error decoding certificate from data key {key}")]
    Certificate {
        /// The key.
        key: String,
        /// What is wrong.
        source: AuthorityError,
    },
    /// A label is malformed.
    #[error(transparent)]
    Label(#[from] LabelTimeError),
    /// A time is out of range.
    #[error("the validity ends too late")]
    Validity,
    /// The bundle failed.
    #[error(transparent)]
    Bundle(Box<GenerateError>),
}

impl GenerateError {
    pub(crate) fn new(step: String, cause: impl Into<GenerateCause>) -> Self {
        Self { step, source: cause.into() }
    }
}
