//! The webhook that both servers call. The path of a call contains the reply, so that a sequence of requests also determines
//! what its webhooks answer, and one server without state serves all sequences.
//!
//! In a sequence, `{"$webhook": REPLY}` stands for the URL of a [`WebhookReply`], `${bundle}` for the authorities to trust, and
//! `{"$base64": VALUE}` for the JSON of a value in base64, as a patch is sent.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Stands for the uid of the review in a reply.
pub(crate) const UID: &str = "<uid>";
/// Stands for the apiVersion of the review in a reply.
pub(crate) const VERSION: &str = "<version>";
/// The key of an object that stands for the URL of a reply.
pub(crate) const URL: &str = "$webhook";
/// The key of an object that stands for its value in base64.
pub(crate) const BASE64: &str = "$base64";

/// Where both servers reach the webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookServer {
    /// `https://127.0.0.1:8443`, without a path.
    pub url: String,
    /// The authorities of its certificate: PEM in base64.
    pub bundle: String,
}

/// What a webhook replies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebhookReply {
    /// HTTP status.
    pub code: u16,
    /// The media type; `application/json` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    /// The header `Location`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The body.
    #[serde(default)]
    pub text: String,
    /// The body as JSON, in place of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Value>,
}

impl WebhookReply {
    /// The reply that the path of a call contains, for this review; `None` if it contains none.
    #[must_use]
    pub fn of(path: &str, review: &[u8]) -> Option<Self> {
        let path = path.split('?').next()?.strip_prefix('/')?;
        let reply = URL_SAFE_NO_PAD.decode(path).ok()?;
        let mut reply: Self = formats::json::exact(&reply).ok()?;
        if let Some(json) = reply.json.take() {
            reply.text = json.to_string();
        }
        let review: Value = formats::json::exact(review).unwrap_or_default();
        let text = |pointer: &str| review.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        reply.text = reply.text.replace(UID, text("/request/uid")).replace(VERSION, text("/apiVersion"));
        Some(reply)
    }
}

/// Replaces an object that stands for a text; `server` is where the webhook is reached.
pub(crate) fn directive(map: &Map<String, Value>, server: &WebhookServer) -> Option<Value> {
    let (key, value) = map.iter().next().filter(|_| map.len() == 1)?;
    match key.as_str() {
        URL => {
            let reply = URL_SAFE_NO_PAD.encode(value.to_string());
            Some(format!("{}/{reply}", server.url).into())
        }
        BASE64 => Some(STANDARD.encode(value.to_string()).into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_url_contains_the_reply() {
        let server = WebhookServer { url: "https://h:1".to_owned(), bundle: String::new() };
        let reply = json!({"code": 200, "json": {"uid": "<uid>", "apiVersion": "<version>"}});
        let url = directive(json!({"$webhook": reply}).as_object().unwrap(), &server).unwrap();
        let path = url.as_str().unwrap().strip_prefix("https://h:1").unwrap();
        let review = json!({"apiVersion": "v", "request": {"uid": "u"}}).to_string();
        let want = WebhookReply {
            code: 200,
            text: "{\"apiVersion\":\"v\",\"uid\":\"u\"}".to_owned(),
            ..WebhookReply::default()
        };
        assert_eq!(WebhookReply::of(&format!("{path}?timeout=5s"), review.as_bytes()), Some(want.clone()));
        let deep =
            review.replace("\"u\"", &format!("\"u\",\"object\":{}{}", "[".repeat(300), "]".repeat(300)));
        assert_eq!(WebhookReply::of(path, deep.as_bytes()), Some(want));
        assert_eq!(WebhookReply::of("/other", b""), None);
        let encoded = directive(json!({"$base64": [1]}).as_object().unwrap(), &server);
        assert_eq!(encoded, Some(json!("WzFd")));
        assert_eq!(directive(json!({"$base64": 1, "b": 2}).as_object().unwrap(), &server), None);
    }
}
