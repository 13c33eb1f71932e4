//! Validation of webhook configurations.

use serde_json::Value;
use webhook::field::{Error, Path};
use webhook::registration::{WebhookConfiguration, lint};

use crate::http::status::Status;
use crate::object::meta;

const GROUP: &str = "admissionregistration.k8s.io";

/// Refuses an invalid configuration.
pub(crate) fn prepare(object: &Value) -> Result<(), Status> {
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let configuration =
        WebhookConfiguration::from_object(object).map_err(|error| Status::bad_request(error.to_string()))?;
    let mut errors = lint(&configuration);
    for (index, webhook) in object["webhooks"].as_array().into_iter().flatten().enumerate() {
        if webhook["matchConditions"].as_array().is_some_and(|conditions| !conditions.is_empty()) {
            let at = Path::new("webhooks").index(index).child("matchConditions");
            errors.push(Error::forbidden(&at, "this server does not evaluate match conditions"));
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Status::invalid(GROUP, &kind, meta::name(object), &errors)) }
}
