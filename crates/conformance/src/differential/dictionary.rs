//! The values at each place of the objects in a contract's cases: values that its author considers different.

use std::collections::BTreeMap;

use contract::case::Case;
use serde_json::Value;

/// Metadata that only a server sets or that identifies an object.
pub(super) const FIXED: [&str; 10] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "generateName",
    "managedFields",
    "selfLink",
    "namespace",
    "deletionGracePeriodSeconds",
    "name",
];

/// One step of a place; list elements are not distinguished.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathPart {
    /// A field, or a key of a map.
    Field(String),
    /// Any element of a list.
    Each,
}

/// Values by kind and place; all kinds share metadata.
#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary {
    values: BTreeMap<(String, Vec<PathPart>), BTreeMap<String, Value>>,
}

impl Dictionary {
    /// Collects the values of the objects of these cases.
    pub(super) fn of<'a>(cases: impl IntoIterator<Item = &'a Case>) -> Self {
        let mut dictionary = Self::default();
        for case in cases {
            let given = &case.given;
            let objects = given.cluster.iter().chain(&given.namespace).chain(&given.old).chain(&given.object);
            objects.for_each(|object| dictionary.learn(object));
        }
        dictionary
    }

    /// The values at a place, ordered; empty if no case has one.
    pub(super) fn at(&self, kind: &str, place: &[PathPart]) -> Vec<&Value> {
        let key = (owner(kind, place), place.to_vec());
        self.values.get(&key).into_iter().flat_map(BTreeMap::values).collect()
    }

    /// The places at which objects of a kind differ from each other.
    pub(super) fn varied(&self, kind: &str) -> Vec<&[PathPart]> {
        let of_kind = |owner: &str| owner.is_empty() || owner == kind;
        let varied = self.values.iter().filter(|((owner, _), values)| of_kind(owner) && values.len() > 1);
        varied.map(|((_, place), _)| place.as_slice()).collect()
    }

    fn learn(&mut self, object: &Value) {
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        let Some(fields) = object.as_object() else { return };
        for (name, value) in
            fields.iter().filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind" | "status"))
        {
            self.walk(&kind, vec![PathPart::Field(name.clone())], value);
        }
    }

    fn walk(&mut self, kind: &str, place: Vec<PathPart>, value: &Value) {
        if is_fixed(&place) || value.is_null() {
            return;
        }
        let below = |part: PathPart| {
            let mut below = place.clone();
            below.push(part);
            below
        };
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.walk(kind, below(PathPart::Field(name.clone())), value);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.walk(kind, below(PathPart::Each), item);
                }
            }
            _ => {}
        }
        // The complete metadata would include names and fields that only a server sets.
        if place.len() > 1 || place != [PathPart::Field("metadata".to_owned())] {
            let values = self.values.entry((owner(kind, &place), place)).or_default();
            values.insert(value.to_string(), value.clone());
        }
    }
}

/// Whether only a server, or nobody, changes a place.
pub(super) fn is_fixed(place: &[PathPart]) -> bool {
    matches!(place, [PathPart::Field(metadata), PathPart::Field(name), ..]
        if metadata == "metadata" && FIXED.contains(&name.as_str()))
}

fn owner(kind: &str, place: &[PathPart]) -> String {
    let shared = place.first() == Some(&PathPart::Field("metadata".to_owned()));
    if shared { String::new() } else { kind.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_stored_by_kind_and_place_and_metadata_by_place() {
        let mut dictionary = Dictionary::default();
        for (kind, label, names) in [("Pod", "a", ["x", "y"]), ("Job", "b", ["x", "x"])] {
            let containers: Vec<Value> = names.map(|name| json!({"name": name})).to_vec();
            dictionary.learn(&json!({
                "kind": kind,
                "metadata": {"uid": kind, "labels": {"l": label}},
                "spec": {"containers": containers},
            }));
        }
        let place = |names: &[&str]| -> Vec<PathPart> {
            names
                .iter()
                .map(
                    |name| if name.is_empty() { PathPart::Each } else { PathPart::Field((*name).to_owned()) },
                )
                .collect()
        };
        let name = place(&["spec", "containers", "", "name"]);
        assert_eq!(dictionary.at("Pod", &name), [&json!("x"), &json!("y")]);
        assert_eq!(dictionary.at("Job", &name), [&json!("x")]);
        assert_eq!(dictionary.at("Pod", &place(&["metadata", "labels", "l"])), [&json!("a"), &json!("b")]);
        assert!(dictionary.at("Pod", &place(&["metadata", "uid"])).is_empty());
        let varied = [&["metadata", "labels"][..], &["metadata", "labels", "l"]];
        assert_eq!(dictionary.varied("Job"), varied.map(place));
        assert!(dictionary.varied("Pod").contains(&name.as_slice()));
    }
}
