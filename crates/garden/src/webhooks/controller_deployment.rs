//! Validation of a created or updated ControllerDeployment.

use api::garden::ControllerDeployment;
use serde_json::Value;
use webhook::field::Path;
use webhook::rejection::Rejection;

use super::field_errors::{self, required};
use super::{metadata, names, reading};

const KIND: &str = "ControllerDeployment";

/// Validates a ControllerDeployment; its configuration is the gardenlet's to read. GDN-CDP-001 to -003.
///
/// # Errors
/// 422 with all errors; 400 when it is not a ControllerDeployment.
pub fn validate(_: Option<&Value>, new: &Value) -> Result<(), Rejection> {
    let deployment: ControllerDeployment = reading::read(KIND, new)?;
    let mut errors = metadata::validate(&deployment.metadata, names::dns_label);
    errors.extend(required(&Path::new("type"), &deployment.type_, "must provide a type"));
    field_errors::invalid(KIND, &deployment.metadata.name.unwrap_or_default(), &errors)
}
