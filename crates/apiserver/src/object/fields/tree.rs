//! What the check of types walks: a value, or JSON in the order of its text.

use std::borrow::Cow;

use formats::json::Ordered;
use serde_json::{Map, Value};

/// JSON with a view of each of its values.
pub(super) trait Tree: Sized {
    /// Iterates over the fields of an object.
    type Fields<'a>: Iterator<Item = (&'a String, &'a Self)>
    where
        Self: 'a;

    /// The fields, if this is an object.
    fn fields(&self) -> Option<Self::Fields<'_>>;

    /// The elements, if this is a list.
    fn items(&self) -> Option<&[Self]>;

    /// The value.
    fn value(&self) -> Cow<'_, Value>;
}

impl Tree for Value {
    type Fields<'a>
        = serde_json::map::Iter<'a>
    where
        Self: 'a;

    fn fields(&self) -> Option<Self::Fields<'_>> {
        self.as_object().map(Map::iter)
    }

    fn items(&self) -> Option<&[Self]> {
        self.as_array().map(Vec::as_slice)
    }

    fn value(&self) -> Cow<'_, Value> {
        Cow::Borrowed(self)
    }
}

impl Tree for Ordered {
    type Fields<'a>
        = Box<dyn Iterator<Item = (&'a String, &'a Self)> + 'a>
    where
        Self: 'a;

    fn fields(&self) -> Option<Self::Fields<'_>> {
        let Self::Object(fields) = self else { return None };
        Some(Box::new(fields.iter().map(|(name, below)| (name, below))))
    }

    fn items(&self) -> Option<&[Self]> {
        if let Self::List(items) = self { Some(items) } else { None }
    }

    fn value(&self) -> Cow<'_, Value> {
        match self {
            Self::Scalar(value) => Cow::Borrowed(value),
            other => Cow::Owned(other.to_value()),
        }
    }
}
