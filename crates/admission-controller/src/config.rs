//! The component configuration: `AdmissionControllerConfiguration` of
//! `admissioncontroller.config.gardener.cloud/v1alpha1`.
//!
//! A [`mod@file`] is read in two steps: [`defaults`] fills in missing fields, [`validation`] checks the result.

pub mod defaults;
pub mod file;
mod types;
pub mod validation;

pub use controller::config::{ClientConnection, Debugging, Server};
pub use types::*;

/// `apiVersion` of a configuration file.
pub const API_VERSION: &str = "admissioncontroller.config.gardener.cloud/v1alpha1";
/// `kind` of a configuration file.
pub const KIND: &str = "AdmissionControllerConfiguration";
/// The API group of users and groups.
pub const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
