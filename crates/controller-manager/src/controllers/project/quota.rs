//! The ResourceQuota of a project's namespace, from the first configuration that selects the Project.

use std::collections::BTreeMap;

use formats::selector::LabelSelector;
use k8s_openapi::api::core::v1::{ResourceQuota, ResourceQuotaSpec};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::ResourceExt as _;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::config::QuotaConfiguration;

/// Name of the ResourceQuota.
const NAME: &str = "gardener";
/// Selects it.
pub(super) const SELECTION: &str = "metadata.name=gardener";

/// Why a Project does not get its ResourceQuota.
#[derive(Debug, thiserror::Error)]
pub enum QuotaError {
    /// A selector of the configuration is invalid.
    #[error("invalid projectSelector")]
    Selector(#[source] serde_json::Error),
    /// A quota of the configuration is no ResourceQuota.
    #[error("failure while reading ResourceQuota from configuration")]
    Template(#[source] serde_json::Error),
    /// The ResourceQuota could not be written.
    #[error(transparent)]
    Write(kube::Error),
}

/// GCM-PRJ-010: the ResourceQuota of the first configuration that selects these labels. Without a selector a
/// configuration selects nothing.
///
/// # Errors
/// If the configuration is invalid; the program does not start with such a one.
pub(super) fn select(
    configurations: &[QuotaConfiguration],
    labels: &BTreeMap<String, String>,
) -> Result<Option<ResourceQuota>, QuotaError> {
    for QuotaConfiguration { config, project_selector } in configurations {
        let Some(selector) = project_selector else { continue };
        let selector = serde_json::to_value(selector).and_then(LabelSelector::deserialize);
        if selector.map_err(QuotaError::Selector)?.matches(labels) {
            let template = serde_json::from_value(config.clone().unwrap_or_default());
            return template.map(Some).map_err(QuotaError::Template);
        }
    }
    Ok(None)
}

/// GCM-PRJ-011: a new ResourceQuota.
pub(super) fn create(template: &ResourceQuota, namespace: &str, owner: &OwnerReference) -> ResourceQuota {
    let metadata = ObjectMeta {
        name: Some(NAME.to_owned()),
        namespace: Some(namespace.to_owned()),
        labels: template.metadata.labels.clone(),
        annotations: template.metadata.annotations.clone(),
        owner_references: Some(vec![owner.clone()]),
        ..ObjectMeta::default()
    };
    let spec = ResourceQuotaSpec { hard: Some(hard(template).clone()), ..ResourceQuotaSpec::default() };
    ResourceQuota { metadata, spec: Some(spec), status: None }
}

/// GCM-PRJ-012, GCM-PRJ-013: limits that exist keep their value, those that are not configured go, and new ones come.
pub(super) fn patch(
    found: &ResourceQuota,
    template: &ResourceQuota,
    owner: &OwnerReference,
) -> Option<Value> {
    let (mut metadata, mut limits) = (Map::new(), Map::new());
    let missing =
        |wanted: &BTreeMap<String, String>, found: &BTreeMap<String, String>| -> Map<String, Value> {
            let missing = wanted.iter().filter(|(key, value)| found.get(*key) != Some(*value));
            missing.map(|(key, value)| (key.clone(), json!(value))).collect()
        };
    for (field, missing) in [
        ("labels", missing(template.labels(), found.labels())),
        ("annotations", missing(template.annotations(), found.annotations())),
    ] {
        if !missing.is_empty() {
            metadata.insert(field.to_owned(), Value::Object(missing));
        }
    }
    if found.owner_references().iter().all(|existing| existing.uid != owner.uid) {
        let owners: Vec<_> = found.owner_references().iter().chain([owner]).collect();
        metadata.insert("ownerReferences".to_owned(), json!(owners));
    }
    let (wanted, existing) = (hard(template), hard(found));
    limits.extend(
        existing.keys().filter(|name| !wanted.contains_key(*name)).map(|name| (name.clone(), Value::Null)),
    );
    let new = wanted.iter().filter(|(name, _)| !existing.contains_key(*name));
    limits.extend(new.map(|(name, limit)| (name.clone(), json!(limit))));
    if metadata.is_empty() && limits.is_empty() {
        return None;
    }
    // Owners are written as a whole, so nobody else may have changed them.
    metadata.insert("resourceVersion".to_owned(), json!(found.metadata.resource_version));
    Some(json!({"metadata": metadata, "spec": {"hard": limits}}))
}

fn hard(quota: &ResourceQuota) -> &BTreeMap<String, Quantity> {
    static NONE: BTreeMap<String, Quantity> = BTreeMap::new();
    quota.spec.as_ref().and_then(|spec| spec.hard.as_ref()).unwrap_or(&NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(selector: &Value, config: &Value) -> QuotaConfiguration {
        serde_json::from_value(json!({"projectSelector": selector, "config": config})).unwrap()
    }

    #[test]
    fn a_configuration_without_selector_selects_nothing_and_an_empty_selector_everything() {
        let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}});
        let [none, all] = [Value::Null, json!({})].map(|selector| configuration(&selector, &quota));
        let select = |configurations: &[QuotaConfiguration]| {
            let selected = select(configurations, &BTreeMap::new()).unwrap();
            selected.and_then(|quota| quota.metadata.name)
        };
        assert_eq!(select(std::slice::from_ref(&none)), None);
        assert_eq!(select(&[none, all]), Some("q".to_owned()));
    }

    #[test]
    fn an_invalid_configuration_is_an_error_that_says_which_part() {
        let operator = json!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
        let select =
            |selector: Value, config: Value| select(&[configuration(&selector, &config)], &BTreeMap::new());
        assert!(matches!(select(operator, json!({})), Err(QuotaError::Selector(_))));
        let kind = json!({"apiVersion": "v1", "kind": "Secret"});
        assert!(matches!(select(json!({}), kind), Err(QuotaError::Template(_))));
    }
}
