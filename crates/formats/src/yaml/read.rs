//! Deserializes nodes with serde; errors have their positions.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{Data, Entry, Error, Mark, Node};

/// Deserializes a node.
pub(super) fn read<T: DeserializeOwned>(node: &Node) -> Result<T, Error> {
    T::deserialize(NodeDeserializer(node))
        .map_err(|misfit| Error { message: misfit.message, mark: misfit.mark.unwrap_or(node.start) })
}

/// A value that does not fit the type, with its position once it is known.
#[derive(Debug)]
struct Misfit {
    message: String,
    mark: Option<Mark>,
}

impl Misfit {
    fn at(mut self, mark: Mark) -> Self {
        self.mark.get_or_insert(mark);
        self
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misfit {}

impl de::Error for Misfit {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { message: message.to_string(), mark: None }
    }
}

/// Deserializes one node.
struct NodeDeserializer<'de>(&'de Node);

impl<'de> de::Deserializer<'de> for NodeDeserializer<'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let value = match &self.0.data {
            Data::Scalar(scalar) => match &scalar.value {
                Value::Null => visitor.visit_unit(),
                Value::Bool(value) => visitor.visit_bool(*value),
                Value::String(text) => visitor.visit_borrowed_str(text),
                number => number.deserialize_any(visitor).map_err(de::Error::custom),
            },
            Data::List(items) => visitor.visit_seq(ListItems(items.iter())),
            Data::Map(entries) => visitor.visit_map(MapEntries { rest: entries.iter(), value: None }),
        };
        value.map_err(|misfit| misfit.at(self.0.start))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let value = self.0.to_value().deserialize_enum(name, variants, visitor);
        value.map_err(|error| <Misfit as de::Error>::custom(error).at(self.0.start))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

struct ListItems<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for ListItems<'de> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Misfit> {
        let Some(item) = self.0.next() else { return Ok(None) };
        seed.deserialize(NodeDeserializer(item)).map(Some).map_err(|misfit| misfit.at(item.start))
    }
}

struct MapEntries<'de> {
    rest: std::slice::Iter<'de, Entry>,
    value: Option<&'de Node>,
}

impl<'de> MapAccess<'de> for MapEntries<'de> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Misfit> {
        let Some(entry) = self.rest.next() else { return Ok(None) };
        self.value = Some(&entry.value);
        let key: StrDeserializer<'_, Misfit> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|misfit| misfit.at(entry.start))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Misfit> {
        let value = self.value.take().ok_or_else(|| <Misfit as de::Error>::custom("a value without key"))?;
        seed.deserialize(NodeDeserializer(value)).map_err(|misfit| misfit.at(value.start))
    }
}
