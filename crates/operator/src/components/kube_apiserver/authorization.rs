//! The webhook that decides what gardenlets may do.

use formats::{base64, yaml};
use serde_json::json;

use crate::components::error::RenderError;
use crate::components::generated::CA_GARDENER;
use crate::components::values::GardenValues;

/// Name of cluster, user and context.
const CONTEXT: &str = "authorization-webhook";
const SERVER: &str = "https://gardener-admission-controller/webhooks/auth/seed";

/// Its kubeconfig; `None` as long as it may not run. OPC-090, OPC-091.
pub(super) fn kubeconfig(values: &GardenValues<'_>) -> Result<Option<Vec<u8>>, RenderError> {
    if !values.observed.has_seed_authorizer {
        return Ok(None);
    }
    let authority = base64::encode(values.secrets.bundle_pem(CA_GARDENER)?);
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "preferences": {},
        "clusters": [{
            "name": CONTEXT,
            "cluster": { "server": SERVER, "certificate-authority-data": authority },
        }],
        "users": [{ "name": CONTEXT, "user": {} }],
        "contexts": [{ "name": CONTEXT, "context": { "cluster": CONTEXT, "user": CONTEXT } }],
        "current-context": CONTEXT,
    });
    let text = yaml::to_string(&config).map_err(RenderError::yaml(CONTEXT))?;
    Ok(Some(text.into_bytes()))
}
