//! Kubeconfigs with a cluster and a context for each address, and one user: GSH-S-045.

use serde_json::{Value, json};
use webhook::url::Url;

use super::certificate::Credentials;

/// An address of the Shoot's API server.
pub(super) struct AdvertisedAddress {
    /// The name of cluster and context: `garden-dev--app-external`.
    pub(super) name: String,
    /// `https://api.app.example.com`.
    pub(super) server: String,
}

impl AdvertisedAddress {
    /// An address in the status of a Shoot; of its URL, host and port count.
    pub(super) fn of(cluster: &str, address: &Value) -> Result<Self, String> {
        let text = |field: &str| address[field].as_str().unwrap_or_default();
        let url = Url::parse(text("url")).map_err(|error| error.to_string())?;
        Ok(Self { name: format!("{cluster}-{}", text("name")), server: format!("https://{}", url.host) })
    }
}

/// The kubeconfig, whose current context is that of the first address.
pub(super) fn of(
    addresses: &[AdvertisedAddress],
    bundle: &[u8],
    credentials: &Credentials,
) -> Result<String, serde_json::Error> {
    let encode = |text: &str| formats::base64::encode(text.as_bytes());
    let user = addresses.first().map(|address| address.name.as_str()).unwrap_or_default();
    let bundle = formats::base64::encode(bundle);
    let clusters: Vec<Value> = addresses
        .iter()
        .map(|address| {
            let cluster = json!({"certificate-authority-data": bundle, "server": address.server});
            json!({"name": address.name, "cluster": cluster})
        })
        .collect();
    let contexts: Vec<Value> = addresses
        .iter()
        .map(|address| json!({"name": address.name, "context": {"cluster": address.name, "user": user}}))
        .collect();
    let own = json!({
        "client-certificate-data": encode(&credentials.certificate),
        "client-key-data": encode(&credentials.key),
    });
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "preferences": {},
        "clusters": clusters, "contexts": contexts, "current-context": user,
        "users": [{"name": user, "user": own}],
    });
    formats::yaml::to_string(&config)
}
