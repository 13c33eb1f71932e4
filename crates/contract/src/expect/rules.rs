//! What is known of the values in one object: types, which lists go by key, whose order does not matter.

use std::collections::{BTreeMap, BTreeSet};

use schema::{Kinds, ListKind, Shape, Type};
use serde_json::Value;

/// The rules at one place of an object. Cheap to clone and to step down with.
#[derive(Clone, Debug)]
pub struct Rules {
    ty: Type,
    /// Path of this place as the contract writes list paths: `spec.pools[].taints`.
    at: String,
    list_keys: BTreeMap<String, Vec<String>>,
    unordered: BTreeSet<String>,
}

/// How the elements of a list are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListRule {
    /// By these fields.
    Keyed(Vec<String>),
    /// Whole, order ignored.
    Unordered,
    /// Whole, in order.
    Ordered,
}

impl Rules {
    /// Rules of which nothing is known but the type.
    #[must_use]
    pub fn new(ty: Type) -> Self {
        Self { ty, at: String::new(), list_keys: BTreeMap::new(), unordered: BTreeSet::new() }
    }

    /// Nothing is known: maps are maps, lists go in order.
    #[must_use]
    pub fn unknown() -> Self {
        Self::new(Type::any())
    }

    /// The rules of the kind that an object says it is.
    #[must_use]
    pub fn of_object(object: &Value) -> Self {
        Self::new(type_of(object).unwrap_or_else(Type::any))
    }

    /// The same with what a contract adds: keys of lists (path → field, or fields with commas) and unordered lists.
    #[must_use]
    pub fn with(mut self, list_keys: &BTreeMap<String, String>, unordered: &[String]) -> Self {
        let fields = |keys: &String| keys.split(',').map(|key| key.trim().to_owned()).collect();
        self.list_keys = list_keys.iter().map(|(path, keys)| (path.clone(), fields(keys))).collect();
        self.unordered = unordered.iter().cloned().collect();
        self
    }

    /// The type at this place.
    #[must_use]
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    /// The rules of a field or of a map's value.
    #[must_use]
    pub fn field(&self, name: &str) -> Self {
        let ty =
            self.ty.field(name).map(|field| field.ty).or_else(|| self.ty.values()).unwrap_or_else(Type::any);
        let dot = if self.at.is_empty() { "" } else { "." };
        self.down(ty, &format!("{dot}{name}"))
    }

    /// The rules of a list's elements.
    #[must_use]
    pub fn item(&self) -> Self {
        self.down(self.ty.items().unwrap_or_else(Type::any), "[]")
    }

    /// The rules of what a string holds, once opened.
    #[must_use]
    pub fn opened(content: &Value) -> Self {
        Self::of_object(content)
    }

    /// How a list at this place is compared.
    #[must_use]
    pub fn list(&self) -> ListRule {
        if self.unordered.contains(&self.at) {
            return ListRule::Unordered;
        }
        match self.ty.list_kind() {
            Some(ListKind::Map(keys)) => ListRule::Keyed(keys),
            _ if self.list_keys.contains_key(&self.at) => ListRule::Keyed(self.list_keys[&self.at].clone()),
            Some(ListKind::Set) => ListRule::Unordered,
            _ => ListRule::Ordered,
        }
    }

    /// The key of an element: its own fields, and the schema's default where one is missing; absent where an element
    /// has no key.
    #[must_use]
    pub fn key_of(&self, keys: &[String], element: &Value) -> Option<Vec<(String, Value)>> {
        let of = |name: &String| {
            let own = element.get(name).filter(|value| !value.is_null()).cloned();
            Some((name.clone(), own.or_else(|| self.default_key(name))?))
        };
        keys.iter().map(of).collect()
    }

    /// What a key field of an element means where it is left out.
    #[must_use]
    pub fn default_key(&self, name: &str) -> Option<Value> {
        self.ty.items()?.field(name)?.default().cloned()
    }

    fn down(&self, ty: Type, step: &str) -> Self {
        let known = !self.list_keys.is_empty() || !self.unordered.is_empty();
        // The path matters only to what the contract adds.
        let at = if known { format!("{}{step}", self.at) } else { String::new() };
        Self { ty, at, list_keys: self.list_keys.clone(), unordered: self.unordered.clone() }
    }

    /// Whether the place holds free keys, as labels do.
    #[must_use]
    pub fn is_map(&self) -> bool {
        self.ty.shape() == Shape::Map
    }
}

/// The type of the kind that an object says it is.
pub(crate) fn type_of(object: &Value) -> Option<Type> {
    let api_version = object.get("apiVersion")?.as_str()?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Kinds::gardener().type_of(group, version, object.get("kind")?.as_str()?)
}
