//! Random changes of an object, at a place where the contract's cases differ or at any place of the kind's type.

use contract::expect::{self, Path, Step};
use fastrand::Rng;
use schema::{Kinds, Shape, Type};
use serde_json::{Value, json};

use super::dictionary::{Dictionary, PathPart, is_fixed};
use super::grow;

/// Changes objects, with the types of their kinds and the values of the contract's cases.
pub(super) struct Mutator<'a> {
    pub(super) dictionary: &'a Dictionary,
    pub(super) rng: &'a mut Rng,
}

/// A place of an object that can be changed.
struct MutablePlace {
    path: Path,
    place: Vec<PathPart>,
    ty: Type,
}

impl Mutator<'_> {
    /// Changes the object this many times.
    pub(super) fn times(&mut self, object: &mut Value, changes: usize) {
        for _ in 0..changes {
            // Half of the changes are at places on which something depends by the contract.
            if !(self.rng.bool() && self.change_varied_place(object)) {
                self.change_any_place(object);
            }
        }
    }

    /// Sets or removes a value at a place where the contract's objects differ; false if this object has no such place.
    fn change_varied_place(&mut self, object: &mut Value) -> bool {
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        let varied = self.dictionary.varied(&kind);
        let Some(place) = self.rng.choice(varied).map(<[PathPart]>::to_vec) else { return false };
        let Some(path) = self.path(object, &place) else { return false };
        let value = if self.rng.u8(..) < 40 { None } else { self.dictionary_value(&kind, &place) };
        expect::put(object, &path, value)
    }

    /// A path to the place through random list elements; `None` if a list on the way is empty.
    fn path(&mut self, object: &Value, place: &[PathPart]) -> Option<Path> {
        let (mut at, mut path) = (Some(object), Path::default());
        for part in place {
            match part {
                PathPart::Field(name) => {
                    at = at.and_then(|value| value.get(name));
                    path.0.push(Step::Field(name.clone()));
                }
                PathPart::Each => {
                    let items = at?.as_array().filter(|items| !items.is_empty())?;
                    let index = self.rng.usize(..items.len());
                    at = items.get(index);
                    path.0.push(Step::Index(index));
                }
            }
        }
        Some(path)
    }

    fn dictionary_value(&mut self, kind: &str, place: &[PathPart]) -> Option<Value> {
        self.rng.choice(self.dictionary.at(kind, place)).cloned()
    }

    /// Changes a random place.
    fn change_any_place(&mut self, object: &mut Value) {
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        let mut spots = Vec::new();
        gather(
            &mut spots,
            &MutablePlace { path: Path::default(), place: Vec::new(), ty: type_of(object) },
            object,
        );
        let Some(spot) = self.rng.choice(spots) else { return };
        let before = expect::get(object, &spot.path).unwrap_or_default();
        let may_go = spot.place.len() > 1;
        let after = match self.rng.u8(..8) {
            0 | 1 if may_go => None,
            _ => Some(self.altered(&kind, &spot, before)),
        };
        expect::put(object, &spot.path, after);
    }

    fn altered(&mut self, kind: &str, spot: &MutablePlace, before: Value) -> Value {
        match before {
            Value::Object(fields) => self.add_entry(kind, spot, fields),
            Value::Array(items) => self.change_list(kind, spot, items),
            before => self.new_value(kind, &spot.place, &infer_type(&spot.ty, &before)),
        }
    }

    /// A value for a place: one from the contract's cases, or a generated one.
    fn new_value(&mut self, kind: &str, place: &[PathPart], ty: &Type) -> Value {
        let known = if self.rng.u8(..) < 150 { self.dictionary_value(kind, place) } else { None };
        known.unwrap_or_else(|| grow::value(ty, self.rng))
    }

    /// Adds an entry to a map or object.
    fn add_entry(
        &mut self,
        kind: &str,
        spot: &MutablePlace,
        mut fields: serde_json::Map<String, Value>,
    ) -> Value {
        let mut candidates: Vec<(String, Type)> = match spot.ty.shape() {
            Shape::Map => {
                let values = spot.ty.values().unwrap_or_else(Type::any);
                let known = self.dictionary.at(kind, &spot.place);
                let names =
                    known.iter().filter_map(|value| value.as_object()).flat_map(serde_json::Map::keys);
                let names = names.map(String::as_str).chain(["example.com/made-up"]);
                names.map(|name| (name.to_owned(), values.clone())).collect()
            }
            _ => spot.ty.fields().into_iter().map(|field| (field.name, field.ty)).collect(),
        };
        let at = |name: &str| {
            let mut place = spot.place.clone();
            place.push(PathPart::Field(name.to_owned()));
            place
        };
        let is_whole = spot.place.is_empty();
        candidates.retain(|(name, _)| {
            let is_head = is_whole && matches!(name.as_str(), "apiVersion" | "kind" | "status");
            !is_head && !fields.contains_key(name) && !is_fixed(&at(name))
        });
        if let Some((name, ty)) = self.rng.choice(candidates) {
            let value = self.new_value(kind, &at(&name), &ty);
            fields.insert(name, value);
        }
        Value::Object(fields)
    }

    /// Adds or removes an element of a list, or reverses it.
    fn change_list(&mut self, kind: &str, spot: &MutablePlace, mut items: Vec<Value>) -> Value {
        let ty = spot.ty.items().unwrap_or_else(Type::any);
        let mut place = spot.place.clone();
        place.push(PathPart::Each);
        match (self.rng.u8(..6), items.len()) {
            (0, 2..) => items.reverse(),
            (1, 1..) => drop(items.remove(self.rng.usize(..items.len()))),
            (2, 1..) => {
                let mut twin = items[self.rng.usize(..items.len())].clone();
                if let Some(name) = twin.get_mut("name") {
                    *name =
                        Value::from(format!("{}-{}", name.as_str().unwrap_or_default(), self.rng.u8(..10)));
                }
                items.push(twin);
            }
            _ => {
                let at = self.rng.usize(..=items.len());
                items.insert(at, self.new_value(kind, &place, &ty));
            }
        }
        Value::Array(items)
    }
}

/// The type of a value, inferred from the value if its type is unknown.
fn infer_type(ty: &Type, value: &Value) -> Type {
    let name = match value {
        Value::String(_) => "string",
        Value::Number(_) => "integer",
        Value::Bool(_) => "boolean",
        Value::Null | Value::Array(_) | Value::Object(_) => return ty.clone(),
    };
    if ty.shape() == Shape::Any { Type::from_openapi(&json!({"type": name})) } else { ty.clone() }
}

/// The type of an object; if its version is unknown, the type of another version.
fn type_of(object: &Value) -> Type {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let kinds = Kinds::gardener();
    let other = || {
        let other = kinds.resources().find(|other| other.group == group && other.kind == kind)?;
        kinds.type_of(group, &other.version, kind)
    };
    kinds.type_of(group, version, kind).or_else(other).unwrap_or_else(Type::any)
}

/// Collects the place and all places below it that may be changed.
fn gather(spots: &mut Vec<MutablePlace>, spot: &MutablePlace, value: &Value) {
    let is_head = matches!(spot.place.as_slice(), [PathPart::Field(name)] if matches!(name.as_str(), "apiVersion" | "kind" | "status"));
    if is_head || is_fixed(&spot.place) {
        return;
    }
    spots.push(MutablePlace { path: spot.path.clone(), place: spot.place.clone(), ty: spot.ty.clone() });
    let below = |step: Step, part: PathPart, ty: Option<Type>| {
        let (mut path, mut place) = (spot.path.clone(), spot.place.clone());
        path.0.push(step);
        place.push(part);
        MutablePlace { path, place, ty: ty.unwrap_or_else(Type::any) }
    };
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let ty = spot.ty.field(name).map(|field| field.ty).or_else(|| spot.ty.values());
                gather(spots, &below(Step::Field(name.clone()), PathPart::Field(name.clone()), ty), value);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                gather(spots, &below(Step::Index(index), PathPart::Each, spot.ty.items()), value);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "a", "namespace": "n", "uid": "u", "labels": {"app": "a"}},
            "spec": {"containers": [{"name": "a"}], "schedulerName": "x"},
        })
    }

    #[test]
    fn changes_come_from_the_seed_and_leave_the_identity_alone() {
        let dictionary = Dictionary::default();
        let mutated = |seed: u64| {
            let mut object = pod();
            Mutator { dictionary: &dictionary, rng: &mut Rng::with_seed(seed) }.times(&mut object, 5);
            object
        };
        let all: Vec<Value> = (0..200).map(mutated).collect();
        assert_eq!(all, (0..200).map(mutated).collect::<Vec<_>>());
        let identity = |object: &Value| {
            ["/apiVersion", "/kind", "/metadata/name", "/metadata/namespace", "/metadata/uid"]
                .map(|place| object.pointer(place).cloned())
        };
        assert!(all.iter().all(|object| identity(object) == identity(&pod())));
        let changed = all.iter().filter(|object| **object != pod()).count();
        assert!(changed > 190, "{changed}");
        for (what, place) in [
            ("added", "/spec/containers/1"),
            ("added", "/metadata/annotations"),
            ("added", "/spec/tolerations"),
        ] {
            assert!(all.iter().any(|object| object.pointer(place).is_some()), "{what} {place}");
        }
        assert!(all.iter().any(|object| object.pointer("/spec/schedulerName").is_none()));
    }
}
