//! Annotations of a Service that allow access to its Pods.

use std::collections::BTreeMap;

use api::networking::{
    FROM_POLICY_ALLOWED_PORTS, FROM_POLICY_POD_LABEL_SELECTOR, FROM_POLICY_PREFIX, FROM_POLICY_SUFFIX,
    FROM_WORLD_TO_PORTS, NAMESPACE_SELECTORS,
};
use formats::selector::LabelSelector;
use k8s_openapi::api::networking::v1::NetworkPolicyPort;
use serde::de::DeserializeOwned;

/// Why an annotation is invalid; GRM-NPC-025.
#[derive(Debug, thiserror::Error)]
pub enum AnnotationError {
    /// It is not a list of the expected type.
    #[error("failed unmarshaling {text}: {source}")]
    Unmarshal {
        /// Its value.
        text: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// The API server would reject a selector.
    #[error("failed parsing {text} to labels.Selector: {reason}")]
    Selector {
        /// Its value.
        text: String,
        /// What is wrong.
        reason: String,
    },
}

/// Annotations of an object.
pub(super) type Annotations = BTreeMap<String, String>;

/// GRM-NPC-010: selectors of further namespaces that may access the Pods.
pub(super) fn namespace_selectors(annotations: &Annotations) -> Result<Vec<LabelSelector>, AnnotationError> {
    let Some(text) = annotations.get(NAMESPACE_SELECTORS) else { return Ok(Vec::new()) };
    let selectors: Vec<LabelSelector> = list(text)?;
    match selectors.iter().flat_map(LabelSelector::validate).next() {
        None => Ok(selectors),
        Some(wrong) => {
            let reason = format!("{}: {}", wrong.field, wrong.message);
            Err(AnnotationError::Selector { text: text.clone(), reason })
        }
    }
}

/// GRM-NPC-013 and GRM-NPC-014: pod labels by policy name, and the ports that Pods with such a label may access.
pub(super) fn from_policies(
    annotations: &Annotations,
) -> Result<Vec<(String, NetworkPolicyPort)>, AnnotationError> {
    let value = |key: &str| annotations.get(key).filter(|text| !text.is_empty());
    let deprecated = value(FROM_POLICY_POD_LABEL_SELECTOR).zip(value(FROM_POLICY_ALLOWED_PORTS));
    let deprecated = deprecated.map(|(selector, ports)| (selector.as_str(), ports));
    let named = annotations.iter().filter_map(|(key, ports)| Some((policy_name(key)?, ports)));
    let mut found = Vec::new();
    for (selector, text) in deprecated.into_iter().chain(named) {
        let ports: Vec<NetworkPolicyPort> = list(text)?;
        found.extend(ports.into_iter().map(|port| (selector.to_owned(), port)));
    }
    Ok(found)
}

/// GRM-NPC-016: ports that are accessible from everywhere; `None` without the annotation.
pub(super) fn from_everywhere(
    annotations: &Annotations,
) -> Result<Option<Vec<NetworkPolicyPort>>, AnnotationError> {
    annotations.get(FROM_WORLD_TO_PORTS).map(|text| list(text)).transpose()
}

/// The policy name in the key of an annotation that lists ports for Pods with their own label.
pub(super) fn policy_name(key: &str) -> Option<&str> {
    let (_, rest) = key.split_once(FROM_POLICY_PREFIX)?;
    rest.rfind(FROM_POLICY_SUFFIX).map(|end| &rest[..end])
}

/// Parses a list as Go does: null is empty.
fn list<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, AnnotationError> {
    let read: Result<Option<Vec<T>>, _> = serde_json::from_str(text);
    let list = read.map_err(|source| AnnotationError::Unmarshal { text: text.to_owned(), source })?;
    Ok(list.unwrap_or_default())
}
