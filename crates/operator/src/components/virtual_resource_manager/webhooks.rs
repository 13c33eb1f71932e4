//! The webhooks that the resource-manager of the virtual cluster serves, and three that it does not serve: no namespace of the virtual
//! cluster has the label that they select. The original registers them nevertheless.

use api::resources::SYSTEM_COMPONENTS_SKIP;
use serde_json::{Value, json};

use super::{NAME, PROGRAM};
use crate::components::NAMESPACE;
use crate::components::error::RenderError;
use crate::components::generated::CA_RUNTIME;
use crate::components::objects::metadata;
use crate::components::resource_manager_program::webhooks::{ServedWebhook, WebhookScope, new_pods};
use crate::components::values::GardenValues;

const SCOPE: WebhookScope = WebhookScope { app: NAME, system_components: true };

/// The configuration. It has a namespace, although its kind has none: the original does so, and the key in the ManagedResource tells.
pub(super) fn configuration(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let authority = values.secrets.bundle_base64(CA_RUNTIME)?;
    let client = |path: &str| {
        json!({
            "url": format!("https://{NAME}.{NAMESPACE}:443{path}"),
            "caBundle": authority,
        })
    };
    let served = [
        SCOPE.token_invalidator(),
        SCOPE.projected_token_mount(),
        SCOPE.high_availability_config(),
        system_components_config(),
    ];
    let webhooks: Vec<Value> = served.iter().map(|webhook| webhook.registration(client)).collect();
    Ok(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": metadata(&format!("{NAME}-shoot"), &PROGRAM.app()),
        "webhooks": webhooks,
    }))
}

fn system_components_config() -> ServedWebhook {
    let name = "system-components-config";
    ServedWebhook::new(name, name, vec![new_pods()], SCOPE.namespaces())
        .of_objects(SCOPE.without(SYSTEM_COMPONENTS_SKIP))
}
