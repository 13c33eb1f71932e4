//! Fields of users' own objects that their kinds do not have, such as a misspelt `expirationDate`.

use std::collections::BTreeMap;

use formats::yaml::{Mark, Node};
use schema::{Shape, Type};
use serde_json::Value;

use crate::expect::type_of;
use crate::gardener::GARDEN_GROUP;
use crate::load::{closest, nearest};

/// Groups whose kinds have all their fields in our schemas. Of others our schemas have those that Gardener reads.
const COMPLETE: [&str; 5] = ["", "apps", "batch", "policy", GARDEN_GROUP];

/// A field that the kind of an object does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// Its path, such as `spec.kubernetes.versions[2].expiratonDate`.
    pub path: String,
    /// The known name that was probably intended, or the known names.
    pub remedy: String,
    /// Names and indices that lead to it.
    steps: Vec<FieldStep>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldStep {
    Field(String),
    Index(usize),
}

/// The fields that the kind does not have, in the order of the object. Of kinds of which we know only a part, those that look like
/// a slip; of unknown kinds none.
#[must_use]
pub fn unknown_fields(object: &Value) -> Vec<UnknownField> {
    let Some(ty) = type_of(object) else { return Vec::new() };
    let version = object["apiVersion"].as_str().unwrap_or_default();
    let group = version.split_once('/').map_or("", |(group, _)| group);
    let mut walk = Walk { is_complete: COMPLETE.contains(&group), steps: Vec::new(), found: Vec::new() };
    walk.value(&ty, object);
    walk.found
}

/// One field for each place, whatever the indices, and how often it is there.
#[must_use]
pub fn by_place(fields: Vec<UnknownField>) -> Vec<(UnknownField, usize)> {
    let mut places: BTreeMap<String, (UnknownField, usize)> = BTreeMap::new();
    for field in fields {
        let place: Vec<&str> = field.steps.iter().map(FieldStep::name).collect();
        places.entry(place.join(".")).or_insert((field, 0)).1 += 1;
    }
    places.into_values().collect()
}

impl UnknownField {
    /// Where its key is in the document of the object; `None` if the document has other fields.
    #[must_use]
    pub fn position(&self, document: &Node) -> Option<Mark> {
        let (last, before) = self.steps.split_last()?;
        let mut node = document;
        for step in before {
            node = match step {
                FieldStep::Field(name) => node.get(name)?,
                FieldStep::Index(index) => node.items()?.get(*index)?,
            };
        }
        let entry = node.entries()?.iter().find(|entry| entry.key == last.name())?;
        Some(entry.start)
    }
}

impl FieldStep {
    fn name(&self) -> &str {
        match self {
            Self::Field(name) => name,
            Self::Index(_) => "[]",
        }
    }
}

struct Walk {
    is_complete: bool,
    steps: Vec<FieldStep>,
    found: Vec<UnknownField>,
}

impl Walk {
    fn value(&mut self, ty: &Type, value: &Value) {
        match (ty.shape(), value) {
            (Shape::Object, Value::Object(fields)) => {
                for (name, value) in fields {
                    self.steps.push(FieldStep::Field(name.clone()));
                    match ty.field(name) {
                        Some(field) => self.value(&field.ty, value),
                        None => self.unknown(ty, name),
                    }
                    self.steps.pop();
                }
            }
            (Shape::Map, Value::Object(values)) => {
                let Some(ty) = ty.values() else { return };
                for (name, value) in values {
                    self.steps.push(FieldStep::Field(name.clone()));
                    self.value(&ty, value);
                    self.steps.pop();
                }
            }
            (Shape::List, Value::Array(items)) => {
                let Some(ty) = ty.items() else { return };
                for (index, item) in items.iter().enumerate() {
                    self.steps.push(FieldStep::Index(index));
                    self.value(&ty, item);
                    self.steps.pop();
                }
            }
            _ => {}
        }
    }

    fn unknown(&mut self, ty: &Type, name: &str) {
        let fields = ty.fields();
        let known = || fields.iter().map(|field| field.name.as_str());
        if fields.is_empty() || !(self.is_complete || closest(name, known()).is_some()) {
            return;
        }
        let remedy = nearest(name, known());
        self.found.push(UnknownField { path: self.path(), remedy, steps: self.steps.clone() });
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                FieldStep::Field(name) if path.is_empty() => path.push_str(name),
                FieldStep::Field(name) => path.extend([".", name]),
                FieldStep::Index(index) => path.extend(["[", &index.to_string(), "]"]),
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(object: &Value) -> Vec<(String, String)> {
        unknown_fields(object).into_iter().map(|field| (field.path, field.remedy)).collect()
    }

    #[test]
    fn a_misspelt_field_is_found_with_the_name_that_was_meant() {
        let profile = json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "metadata": {"name": "a"},
            "spec": {"kubernetes": {"versions": [
                {"version": "1.27.4", "expirationDate": "2027-01-01T00:00:00Z"},
                {"version": "1.27.3", "expiratonDate": "2027-01-01T00:00:00Z"},
            ]}, "providerConfig": {"anything": 1}},
        });
        let place = "spec.kubernetes.versions[1].expiratonDate".to_owned();
        assert_eq!(found(&profile), [(place, "did you mean `expirationDate`?".to_owned())]);
        let text = "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nspec:\n  kubernetes:\n    \
                    versions:\n    - version: 1.27.4\n    - version: 1.27.3\n      expiratonDate: x\n";
        let nodes = formats::yaml::parse(text).unwrap();
        let fields = unknown_fields(&formats::yaml::from_str(text).unwrap());
        let mark = fields[0].position(&nodes[0]).unwrap();
        assert_eq!((mark.line, mark.column), (8, 7));
    }

    #[test]
    fn fields_that_we_do_not_know_of_other_kinds_are_no_slips() {
        let mut worker = json!({
            "apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Worker", "metadata": {"name": "a"},
            "spec": {"somethingNew": 1},
        });
        assert_eq!(found(&worker), []);
        worker["apiVersion"] = json!("example.com/v1");
        assert_eq!(found(&worker), []);
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "a", "imagee": "b"}]}});
        assert_eq!(found(&pod)[0].0, "spec.containers[0].imagee");
    }

    #[test]
    fn the_same_slip_in_many_elements_is_one_place() {
        let version = json!({"version": "1.27.4", "clasification": "preview"});
        let profile = json!({
            "apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile",
            "spec": {"kubernetes": {"versions": vec![version; 3]}},
        });
        let places = by_place(unknown_fields(&profile));
        assert_eq!(places.len(), 1);
        assert_eq!(
            (places[0].1, places[0].0.path.as_str()),
            (3, "spec.kubernetes.versions[0].clasification")
        );
    }
}
