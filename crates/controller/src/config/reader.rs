//! A serde deserializer of JSON values that tracks the path and collects unknown fields.

use std::cell::RefCell;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde_json::Value;

/// One segment of the path from the root of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathSegment {
    Field(String),
    Index(usize),
}

/// A field that the type does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    pub(super) path: Vec<PathSegment>,
    pub(super) known: &'static [&'static str],
}

/// A value of the wrong type for its field.
#[derive(Debug)]
pub(super) struct WrongTypeError {
    pub(super) path: Vec<PathSegment>,
    pub(super) message: String,
    placed: bool,
}

/// Deserializes the value, and returns it with the unknown fields.
pub(super) fn read<T: DeserializeOwned>(value: &Value) -> Result<(T, Vec<Unknown>), WrongTypeError> {
    let unknown = RefCell::new(Vec::new());
    let read = T::deserialize(ValueDeserializer { value, path: Vec::new(), unknown: &unknown })?;
    Ok((read, unknown.into_inner()))
}

impl WrongTypeError {
    /// Sets the path unless a nested value has set it already.
    fn at(mut self, path: &[PathSegment]) -> Self {
        if !self.placed {
            (self.path, self.placed) = (path.to_vec(), true);
        }
        self
    }
}

impl fmt::Display for WrongTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WrongTypeError {}

impl de::Error for WrongTypeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { path: Vec::new(), message: message.to_string(), placed: false }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        // The message must not show the value, which may be a secret.
        match found {
            Unexpected::Str(_) => Self::custom(format_args!("invalid type: string, expected {expected}")),
            found => Self::custom(format_args!("invalid type: {found}, expected {expected}")),
        }
    }
}

struct ValueDeserializer<'de, 'u> {
    value: &'de Value,
    path: Vec<PathSegment>,
    unknown: &'u RefCell<Vec<Unknown>>,
}

impl<'de> ValueDeserializer<'de, '_> {
    fn below(&self, step: PathSegment, value: &'de Value) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self { value, path, unknown: self.unknown }
    }

    /// Deserializes a nested value. An error that has no path yet, such as that of a conversion, gets the value's.
    fn read_below<S: DeserializeSeed<'de>>(
        &self,
        step: PathSegment,
        value: &'de Value,
        seed: S,
    ) -> Result<S::Value, WrongTypeError> {
        let reader = self.below(step, value);
        let path = reader.path.clone();
        seed.deserialize(reader).map_err(|mismatch| mismatch.at(&path))
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de, '_> {
    type Error = WrongTypeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongTypeError> {
        let path = self.path.clone();
        let value = match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Number(number) => number.deserialize_any(visitor).map_err(de::Error::custom),
            Value::Array(items) => {
                visitor.visit_seq(ListItems { rest: items.iter().enumerate(), list: self })
            }
            Value::Object(fields) => {
                visitor.visit_map(MapFields { rest: fields.iter(), value: None, map: self })
            }
        };
        value.map_err(|mismatch| mismatch.at(&path))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WrongTypeError> {
        let names = self.value.as_object().into_iter().flat_map(serde_json::Map::keys);
        for name in names.filter(|name| !known.contains(&name.as_str())) {
            let path = self.below(PathSegment::Field(name.clone()), self.value).path;
            self.unknown.borrow_mut().push(Unknown { path, known });
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WrongTypeError> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, WrongTypeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WrongTypeError> {
        let value = self.value.deserialize_enum(name, variants, visitor);
        value.map_err(|error| <WrongTypeError as de::Error>::custom(error).at(&self.path))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}

struct ListItems<'de, 'u> {
    rest: std::iter::Enumerate<std::slice::Iter<'de, Value>>,
    list: ValueDeserializer<'de, 'u>,
}

impl<'de> SeqAccess<'de> for ListItems<'de, '_> {
    type Error = WrongTypeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, WrongTypeError> {
        let next = self.rest.next();
        next.map(|(index, item)| self.list.read_below(PathSegment::Index(index), item, seed)).transpose()
    }
}

struct MapFields<'de, 'u> {
    rest: serde_json::map::Iter<'de>,
    value: Option<(&'de String, &'de Value)>,
    map: ValueDeserializer<'de, 'u>,
}

impl<'de> MapAccess<'de> for MapFields<'de, '_> {
    type Error = WrongTypeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, WrongTypeError> {
        // A null counts as absent, whatever the type.
        let Some((name, value)) = self.rest.by_ref().find(|(_, value)| !value.is_null()) else {
            return Ok(None);
        };
        self.value = Some((name, value));
        let key: StrDeserializer<'_, WrongTypeError> = name.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, WrongTypeError> {
        let (name, value) =
            self.value.take().ok_or_else(|| <WrongTypeError as de::Error>::custom("a value without key"))?;
        self.map.read_below(PathSegment::Field(name.clone()), value, seed)
    }
}
