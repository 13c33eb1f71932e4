//! Rules for comparing the values of one object: types, key fields of lists, unordered lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use schema::{Kinds, ListKind, Segment, Shape, Type, segments};
use serde_json::Value;

/// The rules for one value of an object. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Rules {
    ty: Type,
    /// Rules that the contract adds for lists at this path or below it.
    added: Vec<AddedRule>,
}

/// A rule of the contract for a list, and how many segments of its path lead to this value.
#[derive(Clone, Debug)]
struct AddedRule {
    path: Arc<[Segment]>,
    walked: usize,
    rule: Arc<ListRule>,
}

/// How the elements of a list are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListRule {
    /// By these key fields.
    Keyed(Vec<String>),
    /// Whole, order ignored.
    Unordered,
    /// Whole, in order.
    Ordered,
}

impl Rules {
    /// Rules for a value of this type.
    #[must_use]
    pub fn new(ty: Type) -> Self {
        Self { ty, added: Vec::new() }
    }

    /// Rules for a value of unknown type: lists are ordered.
    #[must_use]
    pub fn unknown() -> Self {
        Self::new(Type::any())
    }

    /// The rules for the kind of an object.
    #[must_use]
    pub fn of_object(object: &Value) -> Self {
        Self::new(type_of(object).unwrap_or_else(Type::any))
    }

    /// Adds rules of a contract: keys of lists (path → field, or fields separated by commas) and unordered lists.
    /// Invalid paths are ignored.
    #[must_use]
    pub fn with(mut self, list_keys: &BTreeMap<String, String>, unordered: &[String]) -> Self {
        let fields = |keys: &String| keys.split(',').map(|key| key.trim().to_owned()).collect();
        let unordered = unordered.iter().map(|path| (path, ListRule::Unordered));
        let keyed = list_keys.iter().map(|(path, keys)| (path, ListRule::Keyed(fields(keys))));
        let added = |(path, rule): (&String, ListRule)| {
            Some(AddedRule { path: segments(path).ok()?.into(), walked: 0, rule: Arc::new(rule) })
        };
        self.added = unordered.chain(keyed).filter_map(added).collect();
        self
    }

    /// The type.
    #[must_use]
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The rules for a field, or for a value of a map.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        let ty = self.ty.field(name).map(|field| field.ty).or_else(|| self.ty.values());
        self.step_into(ty, |segment| match segment {
            Segment::Key(key) => key == name,
            Segment::Index(index) => *name == index.to_string(),
            Segment::Each => true,
        })
    }

    /// The rules for the elements of a list.
    #[must_use]
    pub fn item(&self) -> Self {
        self.step_into(self.ty.items(), |segment| *segment == Segment::Each)
    }

    /// The rules for the parsed content of a string.
    #[must_use]
    pub fn opened(content: &Value) -> Self {
        Self::of_object(content)
    }

    /// How a list is compared: unordered if the contract says so, else by keys of the schema or of the contract, else
    /// in order.
    #[must_use]
    pub fn list(&self) -> ListRule {
        let added = || self.added.iter().filter(|added| added.walked == added.path.len());
        if added().any(|added| *added.rule == ListRule::Unordered) {
            return ListRule::Unordered;
        }
        match self.ty.list_kind() {
            Some(ListKind::Map(keys)) => ListRule::Keyed(keys),
            _ => added().next().map_or(ListRule::Ordered, |added| added.rule.as_ref().clone()),
        }
    }

    /// The key of an element, with the schema's defaults for missing fields; `None` if the element
    /// has no key.
    #[must_use]
    pub fn key_of(&self, keys: &[String], element: &Value) -> Option<Vec<(String, Value)>> {
        let of = |name: &String| {
            let own = element.get(name).filter(|value| !value.is_null()).cloned();
            Some((name.clone(), own.or_else(|| self.default_key(name))?))
        };
        keys.iter().map(of).collect()
    }

    /// The default of a key field.
    #[must_use]
    pub fn default_key(&self, name: &str) -> Option<Value> {
        self.ty.items()?.field(name)?.default().cloned()
    }

    /// Whether the value is a map with free keys, such as labels.
    #[must_use]
    pub fn is_map(&self) -> bool {
        self.ty.shape() == Shape::Map
    }

    fn step_into(&self, ty: Option<Type>, leads: impl Fn(&Segment) -> bool) -> Self {
        let here = |added: &&AddedRule| added.path.get(added.walked).is_some_and(&leads);
        let walked = |added: &AddedRule| AddedRule { walked: added.walked + 1, ..added.clone() };
        Self { ty: ty.unwrap_or_else(Type::any), added: self.added.iter().filter(here).map(walked).collect() }
    }
}

/// The type of an object's kind.
pub(crate) fn type_of(object: &Value) -> Option<Type> {
    let api_version = object.get("apiVersion")?.as_str()?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Kinds::gardener().type_of(group, version, object.get("kind")?.as_str()?)
}
