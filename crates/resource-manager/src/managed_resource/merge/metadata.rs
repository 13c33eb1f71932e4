//! Metadata: the live object's, with labels and annotations merged three ways.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Rules;
use crate::managed_resource::annotation::DESCRIPTION;
use crate::managed_resource::unstructured::{annotations, at, labels, put, to_value};

type Texts = BTreeMap<String, String>;

/// GRM-MR-026, GRM-MR-028, GRM-MR-032, GRM-MR-033 and GRM-MR-034: writes the metadata of `merged`, which is the desired one so
/// far.
pub(super) fn merge(rules: &Rules<'_>, live: &Value, merged: &mut Value) {
    let labels = merged_labels(rules, merged, live);
    let annotations = merged_annotations(rules, merged, live);
    let kept = at(live, &["metadata"]).and_then(Value::as_object).filter(|metadata| !metadata.is_empty());
    if let Some(metadata) = kept {
        put(merged, &["metadata"], Some(Value::Object(metadata.clone())));
    }
    put(merged, &["metadata", "labels"], labels);
    put(merged, &["metadata", "annotations"], Some(to_value(annotations)));
}

/// `None` if there are none, but an empty map if it is enforced.
fn merged_labels(rules: &Rules<'_>, desired: &Value, live: &Value) -> Option<Value> {
    if rules.force_overwrite.labels {
        return at(desired, &["metadata", "labels"])
            .is_some_and(Value::is_object)
            .then(|| to_value(labels(desired)));
    }
    let merged = three_way(labels(desired), labels(live), &rules.applied.labels);
    (!merged.is_empty()).then(|| to_value(merged))
}

fn merged_annotations(rules: &Rules<'_>, desired: &Value, live: &Value) -> Texts {
    let wanted = annotations(desired);
    let mut merged = if rules.force_overwrite.annotations {
        wanted
    } else {
        let mut current = annotations(live);
        // Only the manifest decides about references.
        current.retain(|key, _| !key.starts_with(api::resources::REFERENCE_PREFIX));
        three_way(wanted, current, &rules.applied.annotations)
    };
    merged.insert(api::resources::DESCRIPTION.to_owned(), DESCRIPTION.to_owned());
    merged.insert(api::resources::ORIGIN.to_owned(), rules.origin.to_owned());
    merged
}

/// Desired texts over current ones, without those that were applied before, are unchanged and no longer desired.
fn three_way(desired: Texts, mut current: Texts, applied: &Texts) -> Texts {
    current.retain(|key, value| applied.get(key) != Some(value));
    current.extend(desired);
    current
}
