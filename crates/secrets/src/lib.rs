//! The secrets manager of Gardener v1.82.0 as a plan over values: no cluster, no clock.
//!
//! A component describes what a Secret is to hold ([`SecretRequest`], [`Content`]) and how it is signed and rotated
//! ([`GenerateOptions`]). [`SecretsManager::generate`] answers with the Secret and what must be written. Names, labels and data keys
//! are the original's, so that its Secrets stay as they are when a component of this project takes over, and back.
//!
//! - [`manager`] — which Secret is used, made, kept as the old one, bundled, deleted;
//! - [`request`] — what Secrets may hold, and the checksum of that;
//! - [`authority`] — authorities that sign;
//! - [`data`] — the data of new Secrets;
//! - [`material`] — what chance and keys contribute, as a trait; [`system_material`] asks the system for it;
//! - [`secret`] — a Secret as this crate sees it;
//! - [`labels`] — its labels.

pub mod authority;
pub mod data;
pub mod error;
pub mod labels;
pub mod manager;
pub mod material;
pub mod options;
pub mod request;
pub mod secret;
pub mod system_material;

mod checksum;
mod kubeconfig;
mod naming;
mod ssh;
mod structure;

#[cfg(test)]
mod fixture;

pub use error::{GenerateError, SecretsManagerError};
pub use manager::{Generated, PlannedWrite, SecretClass, SecretsManager, Setup};
pub use material::{Material, MaterialError};
pub use options::{AuthorityChoice, GenerateOptions, RotationStrategy, Signer};
pub use request::{CertificateContent, CertificateKind, Content, SecretRequest};
pub use secret::{ManagedSecret, SecretData};
pub use system_material::SystemMaterial;
