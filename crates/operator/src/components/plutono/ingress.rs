//! How people reach Plutono: with a password.

use serde_json::{Value, json};

use super::{CERTIFICATE, CREDENTIALS, NAME, PORT, host};
use crate::components::NAMESPACE;
use crate::components::error::RenderError;
use crate::components::values::GardenValues;

/// The Ingress with the certificate for all names of the domain, or else its own. OPC-135.
pub(super) fn ingress(values: &GardenValues<'_>) -> Result<Value, RenderError> {
    let its_host = host(values.garden);
    let wildcard = values.observed.wildcard_certificate.as_deref();
    let certificate = wildcard.map_or_else(|| values.secrets.name(CERTIFICATE), Ok)?;
    let path = json!({
        "path": "/",
        "pathType": "ImplementationSpecific",
        "backend": { "service": { "name": NAME, "port": { "number": PORT } } },
    });
    Ok(json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {
            "name": NAME,
            "namespace": NAMESPACE,
            "annotations": {
                "nginx.ingress.kubernetes.io/auth-realm": "Authentication Required",
                "nginx.ingress.kubernetes.io/auth-secret": values.secrets.name(CREDENTIALS)?,
                "nginx.ingress.kubernetes.io/auth-type": "basic",
            },
        },
        "spec": {
            "ingressClassName": "nginx-ingress-gardener",
            "tls": [{ "secretName": certificate, "hosts": [its_host] }],
            "rules": [{ "host": its_host, "http": { "paths": [path] } }],
        },
    }))
}
