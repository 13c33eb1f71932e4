//! Webhook configurations as objects: what the server sets and what it refuses.

use serde_json::{Value, json};
use webhook::field::{Error, Path};
use webhook::registration::{WebhookConfiguration, lint};

use crate::meta;
use crate::status::Status;

const GROUP: &str = "admissionregistration.k8s.io";

/// Sets the defaults of a configuration and refuses a faulty one.
pub(crate) fn prepare(object: &mut Value) -> Result<(), Status> {
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let mutating = kind == "MutatingWebhookConfiguration";
    for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
        set_defaults(webhook, mutating);
    }
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

fn set_defaults(webhook: &mut Value, mutating: bool) {
    let defaults = [
        ("failurePolicy", json!("Fail")),
        ("matchPolicy", json!("Equivalent")),
        ("namespaceSelector", json!({})),
        ("objectSelector", json!({})),
        ("timeoutSeconds", json!(10)),
    ];
    for (field, value) in defaults {
        set(webhook, field, value);
    }
    if mutating {
        set(webhook, "reinvocationPolicy", json!("Never"));
    }
    for rule in webhook["rules"].as_array_mut().into_iter().flatten() {
        set(rule, "scope", json!("*"));
    }
    if let Some(service) = webhook.pointer_mut("/clientConfig/service").filter(|service| service.is_object())
    {
        set(service, "port", json!(443));
    }
}

fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.entry(field).or_insert(value);
    }
}
