//! How the objects of a definition are converted, where a webhook does it.

use serde::Deserialize;
use serde_json::Value;
use webhook::registration::ClientConfig;

/// The webhook that converts.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Conversion {
    /// Where it is.
    #[serde(rename = "clientConfig")]
    pub(crate) client: ClientConfig,
    /// The versions of reviews that it reads, the one it likes best first.
    #[serde(rename = "conversionReviewVersions", default)]
    reviews: Vec<String>,
}

impl Conversion {
    /// That of a definition; absent where objects differ in what they say of themselves only.
    pub(crate) fn of(definition: &Value) -> Option<Self> {
        let conversion = definition.pointer("/spec/conversion")?;
        let webhook = conversion.get("webhook").filter(|_| conversion["strategy"] == "Webhook")?;
        Self::deserialize(webhook).ok()
    }

    /// The version of the reviews that are sent.
    pub(crate) fn version(&self) -> Option<&str> {
        self.reviews.iter().map(String::as_str).find(|version| matches!(*version, "v1" | "v1beta1"))
    }
}
