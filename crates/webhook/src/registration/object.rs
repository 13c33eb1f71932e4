//! Reads and writes webhook configurations as API objects.

use serde_json::{Value, json};

use super::{Phase, Registration, WebhookConfiguration};

const GROUP: &str = "admissionregistration.k8s.io";

/// Reason an object is not a webhook configuration.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It has another kind, or another version than v1 and v1beta1.
    #[error("failed to read a webhook configuration: {api_version:?} {kind:?} is another kind")]
    Kind {
        /// `apiVersion` of the object.
        api_version: String,
        /// `kind` of the object.
        kind: String,
    },
    /// A field of a webhook has the wrong type.
    #[error("failed to read webhooks[{index}] of {kind} {name:?}: {source}")]
    Webhook {
        /// Kind of the object.
        kind: String,
        /// Name of the object.
        name: String,
        /// Index of the webhook.
        index: usize,
        /// The error.
        source: serde_json::Error,
    },
}

impl Phase {
    /// Kind of the configurations of this phase.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Mutating => "MutatingWebhookConfiguration",
            Self::Validating => "ValidatingWebhookConfiguration",
        }
    }
}

impl WebhookConfiguration {
    /// Reads a MutatingWebhookConfiguration or ValidatingWebhookConfiguration.
    ///
    /// # Errors
    /// When it has another kind, or a field has the wrong type.
    pub fn from_object(object: &Value) -> Result<Self, ReadError> {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let known = [format!("{GROUP}/v1"), format!("{GROUP}/v1beta1")].contains(&api_version);
        let phase =
            [Phase::Mutating, Phase::Validating].into_iter().find(|phase| known && phase.kind() == kind);
        let Some(phase) = phase else { return Err(ReadError::Kind { api_version, kind }) };
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        let labels = object["metadata"]["labels"].as_object().into_iter().flatten();
        let labels =
            labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
        let webhooks = object["webhooks"].as_array().map(Vec::as_slice).unwrap_or_default();
        let webhooks = webhooks.iter().enumerate().map(|(index, webhook)| {
            serde_json::from_value::<Registration>(webhook.clone()).map_err(|source| ReadError::Webhook {
                kind: phase.kind().to_owned(),
                name: name.clone(),
                index,
                source,
            })
        });
        let webhooks = webhooks.collect::<Result<_, _>>()?;
        Ok(Self { phase, name, labels, webhooks })
    }

    /// All webhook configurations among objects; other kinds are ignored.
    ///
    /// # Errors
    /// When a webhook configuration cannot be read.
    pub fn from_objects<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Result<Vec<Self>, ReadError> {
        let read = objects.into_iter().map(Self::from_object);
        read.filter(|result| !matches!(result, Err(ReadError::Kind { .. }))).collect()
    }

    /// Writes the object as `admissionregistration.k8s.io/v1`; unset fields are omitted.
    #[must_use]
    pub fn to_object(&self) -> Value {
        let mut object = json!({
            "apiVersion": format!("{GROUP}/v1"),
            "kind": self.phase.kind(),
            "metadata": {"name": self.name},
            "webhooks": self.webhooks,
        });
        if !self.labels.is_empty() {
            object["metadata"]["labels"] = json!(self.labels);
        }
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registration::{FailurePolicy, MatchPolicy, ReinvocationPolicy};

    fn object(kind: &str, version: &str) -> Value {
        json!({
            "apiVersion": format!("{GROUP}/{version}"), "kind": kind, "metadata": {"name": "x", "labels": {"a": "b"}},
            "webhooks": [{
                "name": "a.b.c", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore", "matchPolicy": "Exact",
                "clientConfig": {"url": "https://h", "caBundle": "Y2E="}, "timeoutSeconds": 2, "sideEffects": "None",
                "reinvocationPolicy": "Never", "objectSelector": {}, "matchConditions": [],
                "rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "scope": "*"}],
            }],
        })
    }

    #[test]
    fn objects_are_written_as_they_were_read() {
        for (kind, phase) in [
            ("MutatingWebhookConfiguration", Phase::Mutating),
            ("ValidatingWebhookConfiguration", Phase::Validating),
        ] {
            for version in ["v1", "v1beta1"] {
                let read = WebhookConfiguration::from_object(&object(kind, version)).unwrap();
                assert_eq!((read.phase, read.name.as_str(), read.webhooks.len()), (phase, "x", 1));
                let webhook = &read.webhooks[0];
                assert_eq!(webhook.failure_policy, Some(FailurePolicy::Ignore));
                assert_eq!(webhook.match_policy, Some(MatchPolicy::Exact));
                assert_eq!(webhook.reinvocation_policy, Some(ReinvocationPolicy::Never));
                let mut want = object(kind, "v1");
                want["webhooks"][0].as_object_mut().unwrap().remove("matchConditions");
                assert_eq!(read.to_object(), want);
                assert_eq!(WebhookConfiguration::from_object(&read.to_object()).unwrap(), read);
            }
        }
    }

    #[test]
    fn other_kinds_are_errors_or_ignored() {
        let good = object("MutatingWebhookConfiguration", "v1");
        let others = [
            object("MutatingWebhookConfiguration", "v2"),
            object("ValidatingAdmissionPolicy", "v1"),
            json!({"apiVersion": "v1", "kind": "Service"}),
            json!(null),
        ];
        for other in &others {
            let error = WebhookConfiguration::from_object(other).unwrap_err();
            assert!(matches!(error, ReadError::Kind { .. }), "{error}");
        }
        let all = WebhookConfiguration::from_objects(others.iter().chain([&good])).unwrap();
        assert_eq!(all, [WebhookConfiguration::from_object(&good).unwrap()]);
        let mut broken = good;
        broken["webhooks"][0]["timeoutSeconds"] = json!("10");
        let error = WebhookConfiguration::from_objects([&broken]).unwrap_err().to_string();
        let want = "failed to read webhooks[0] of MutatingWebhookConfiguration \"x\": invalid type: string \"10\", \
                    expected u32";
        assert_eq!(error, want);
    }
}
