//! What is known of the values in one object: types, which lists go by key, whose order does not matter.

use std::collections::BTreeMap;
use std::sync::Arc;

use schema::{Kinds, ListKind, Segment, Shape, Type, segments};
use serde_json::Value;

/// The rules at one place of an object. Cheap to clone and to step down with.
#[derive(Clone, Debug)]
pub struct Rules {
    ty: Type,
    /// What the contract adds for lists at this place or below it.
    added: Vec<Added>,
}

/// A list path that the contract says something of, and how many of its steps lead to this place.
#[derive(Clone, Debug)]
struct Added {
    path: Arc<[Segment]>,
    walked: usize,
    rule: Arc<ListRule>,
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
        Self { ty, added: Vec::new() }
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
    /// What is no path adds nothing.
    #[must_use]
    pub fn with(mut self, list_keys: &BTreeMap<String, String>, unordered: &[String]) -> Self {
        let fields = |keys: &String| keys.split(',').map(|key| key.trim().to_owned()).collect();
        let unordered = unordered.iter().map(|path| (path, ListRule::Unordered));
        let keyed = list_keys.iter().map(|(path, keys)| (path, ListRule::Keyed(fields(keys))));
        let added = |(path, rule): (&String, ListRule)| {
            Some(Added { path: segments(path).ok()?.into(), walked: 0, rule: Arc::new(rule) })
        };
        self.added = unordered.chain(keyed).filter_map(added).collect();
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
        let ty = self.ty.field(name).map(|field| field.ty).or_else(|| self.ty.values());
        self.down(ty, |segment| match segment {
            Segment::Key(key) => key == name,
            Segment::Index(index) => *name == index.to_string(),
            Segment::Each => true,
        })
    }

    /// The rules of a list's elements.
    #[must_use]
    pub fn item(&self) -> Self {
        self.down(self.ty.items(), |segment| *segment == Segment::Each)
    }

    /// The rules of what a string holds, once opened.
    #[must_use]
    pub fn opened(content: &Value) -> Self {
        Self::of_object(content)
    }

    /// How a list at this place is compared: as the contract adds, else by the keys of the schema, else in order.
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

    /// Whether the place holds free keys, as labels do.
    #[must_use]
    pub fn is_map(&self) -> bool {
        self.ty.shape() == Shape::Map
    }

    fn down(&self, ty: Option<Type>, leads: impl Fn(&Segment) -> bool) -> Self {
        let here = |added: &&Added| added.path.get(added.walked).is_some_and(&leads);
        let walked = |added: &Added| Added { walked: added.walked + 1, ..added.clone() };
        Self { ty: ty.unwrap_or_else(Type::any), added: self.added.iter().filter(here).map(walked).collect() }
    }
}

/// The type of the kind that an object says it is.
pub(crate) fn type_of(object: &Value) -> Option<Type> {
    let api_version = object.get("apiVersion")?.as_str()?;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    Kinds::gardener().type_of(group, version, object.get("kind")?.as_str()?)
}
