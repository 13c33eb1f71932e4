//! The conversion webhook of a CRD.

use serde::Deserialize;
use serde_json::Value;
use webhook::registration::ClientConfig;

/// A conversion webhook.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConversionWebhook {
    /// How to reach it.
    #[serde(rename = "clientConfig")]
    pub(crate) client: ClientConfig,
    /// The versions of ConversionReview that it accepts, in order of preference.
    #[serde(rename = "conversionReviewVersions", default)]
    reviews: Vec<String>,
}

impl ConversionWebhook {
    /// The webhook of a definition; `None` if conversion only changes `apiVersion`.
    pub(crate) fn of(definition: &Value) -> Option<Self> {
        let conversion = definition.pointer("/spec/conversion")?;
        let webhook = conversion.get("webhook").filter(|_| conversion["strategy"] == "Webhook")?;
        Self::deserialize(webhook).ok()
    }

    /// The version of ConversionReview to send.
    pub(crate) fn version(&self) -> Option<&str> {
        self.reviews.iter().map(String::as_str).find(|version| matches!(*version, "v1" | "v1beta1"))
    }
}
