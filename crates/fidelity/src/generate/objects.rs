//! Generates objects: valid ones, and ones with random changes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::RequestBuilder;
use crate::request::set;

/// Values to set, by JSON pointer.
type Changes = BTreeMap<String, Vec<Value>>;

static METADATA: LazyLock<Changes> = LazyLock::new(|| {
    formats::yaml::from_str(include_str!("../../data/metadata.yaml")).expect("a test reads this file")
});

impl RequestBuilder<'_> {
    /// An object of the kind with up to two changes.
    pub(super) fn object(&mut self) -> Value {
        let mut object = self.kind.object(self.name);
        if self.dice.percent(40) {
            set(&mut object, "/metadata/labels/app", &json!(self.dice.pick(&["a", "b"])));
        }
        for _ in 0..self.dice.weigh(&[(45, 0), (35, 1), (20, 2)]) {
            let (pointer, value) = self.change("", &object);
            set(&mut object, &pointer, &value);
        }
        object
    }

    /// An object with a status and up to two changes of it.
    pub(super) fn object_with_status(&mut self) -> Value {
        let mut object = self.kind.object(self.name);
        object["status"] = self.kind.status.clone().unwrap_or_else(|| json!({}));
        for _ in 0..self.dice.weigh(&[(45, 0), (40, 1), (15, 2)]) {
            let (pointer, value) = self.change("status", &object);
            set(&mut object, &pointer, &value);
        }
        object
    }

    /// A Scale object for the subresource `scale`.
    pub(super) fn scale(&mut self) -> Value {
        let mut metadata = json!({"name": self.kind.object_name(self.name), "namespace": "${ns}"});
        if self.dice.percent(40) {
            let revision = *self.dice.pick(&["rv", "stale"]);
            metadata["resourceVersion"] = self.placeholder(revision).into();
        }
        let replicas = self.dice.pick(&[json!(3), json!(0), json!(-1), json!("2"), Value::Null]).clone();
        let mut scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata});
        scale["spec"] = json!({"replicas": replicas});
        if self.dice.percent(10) {
            let (pointer, value) = self.pick(&METADATA);
            set(&mut scale, &pointer, &value);
        }
        scale
    }

    /// A random change of an object: of a field that its kind lists, of its metadata, or of any field.
    pub(super) fn change(&mut self, subresource: &str, object: &Value) -> (String, Value) {
        let status = subresource == "status" && !self.kind.status_changes.is_empty();
        match self.dice.weigh(&[(55, 0), (27, 1), (18, 2)]) {
            0 if status && self.dice.percent(85) => self.pick(&self.kind.status_changes),
            0 if !self.kind.more_changes.is_empty() && self.dice.percent(30) => {
                self.pick(&self.kind.more_changes)
            }
            0 => self.pick(&self.kind.changes),
            1 => self.pick(&METADATA),
            _ => self.structure(object),
        }
    }

    /// A change of a field that the kind lists.
    pub(super) fn listed_change(&mut self) -> (String, Value) {
        self.pick(&self.kind.changes)
    }

    /// `${rv configmaps/a}`.
    pub(super) fn placeholder(&self, what: &str) -> String {
        format!("${{{what} {}}}", self.kind.key(self.name))
    }

    /// A number at the border of a Go type, or a float that is whole.
    fn border(&mut self) -> Value {
        let numbers = [
            json!(i32::MAX),
            json!(i64::from(i32::MAX) + 1),
            json!(i32::MIN),
            json!(i64::from(i32::MIN) - 1),
            json!(i64::MAX),
            json!(i64::MAX - 1),
            json!(i64::MIN),
            json!(0),
            json!(-1),
            json!(65_535),
            json!(65_536),
            json!(1.5),
            json!(1e-7),
        ];
        self.dice.pick(&numbers).clone()
    }

    fn pick(&mut self, changes: &Changes) -> (String, Value) {
        let pointers: Vec<&String> = changes.keys().collect();
        let pointer = *self.dice.pick(&pointers);
        (pointer.clone(), self.dice.pick(&changes[pointer]).clone())
    }

    /// A value of another type at a random place, or an unknown field.
    fn structure(&mut self, object: &Value) -> (String, Value) {
        let mut places = Vec::new();
        collect(object, "", &mut places);
        let (pointer, is_map) = self.dice.pick(&places).clone();
        if is_map && self.dice.percent(50) {
            return (format!("{pointer}/unknownField"), json!(1));
        }
        let found = object.pointer(&pointer);
        if found.is_some_and(Value::is_number) && self.dice.percent(60) {
            return (pointer, self.border());
        }
        let others =
            [json!("text"), json!(7), json!(true), json!([]), json!({}), Value::Null, json!([1]), json!(1.5)];
        (pointer, self.dice.pick(&others).clone())
    }
}

/// Collects the pointers of all values below the root, and whether they are maps.
fn collect(value: &Value, at: &str, places: &mut Vec<(String, bool)>) {
    let mut child = |step: &str, value: &Value| {
        let pointer = format!("{at}/{}", step.replace('~', "~0").replace('/', "~1"));
        places.push((pointer.clone(), value.is_object()));
        collect(value, &pointer, places);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| child(key, value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| child(&index.to_string(), value));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pointers_are_collected() {
        let mut places = Vec::new();
        collect(&json!({"a": {"b": [1]}, "c/d": 2}), "", &mut places);
        let want = [("/a", true), ("/a/b", false), ("/a/b/0", false), ("/c~1d", false)];
        assert_eq!(places, want.map(|(place, map)| (place.to_owned(), map)));
    }

    #[test]
    fn the_changes_of_metadata_are_valid() {
        assert!(METADATA.len() > 15 && METADATA.values().all(|values| !values.is_empty()));
    }
}
