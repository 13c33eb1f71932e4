//! What nodes mean.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Number, Value};

use super::super::build::fail;
use super::super::{Error, Mark, resolve, scalar};
use super::key;
use super::tree::{Data, Id, Node, Scalar, Tree};

/// Base64 as Go reads it: padded, the last bits whatever they are.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// The value of a document.
pub(super) fn value(tree: &Tree) -> Result<Value, Error> {
    let mut decoder = Decoder { tree, followed: BTreeSet::new(), decoded: 0, by_alias: 0 };
    if tree.nodes.is_empty() { Ok(Value::Null) } else { decoder.value(0) }
}

struct Decoder<'a> {
    tree: &'a Tree,
    /// Aliases that are being followed.
    followed: BTreeSet<Id>,
    /// How many nodes were decoded, and how many of them behind an alias.
    decoded: u32,
    by_alias: u32,
}

impl<'a> Decoder<'a> {
    fn node(&self, id: Id) -> &'a Node {
        &self.tree.nodes[id]
    }

    fn value(&mut self, id: Id) -> Result<Value, Error> {
        let node = self.count(id)?;
        match &node.data {
            Data::Scalar(scalar) => meaning(scalar, node.start)?.map_err(|text| no_number(&text, node.start)),
            Data::List(items) => items.iter().map(|item| self.value(*item)).collect(),
            Data::Map(fields) => {
                let mut map = Map::new();
                self.fields(fields, &mut map)?;
                Ok(Value::Object(map))
            }
            Data::Alias(anchor) => self.follow(id, |decoder| decoder.value(*anchor)),
        }
    }

    /// A node is decoded; most of a document must not come from aliases, the less the larger it is.
    fn count(&mut self, id: Id) -> Result<&'a Node, Error> {
        let node = self.node(id);
        self.decoded += 1;
        self.by_alias += u32::from(!self.followed.is_empty());
        let share = f64::from(self.by_alias) / f64::from(self.decoded);
        if self.by_alias > 100 && self.decoded > 1000 && share > allowed_share(self.decoded) {
            let alias = self.followed.last().map_or(node, |alias| self.node(*alias));
            return Err(fail("document contains excessive aliasing", alias.start));
        }
        Ok(node)
    }

    fn follow<T>(&mut self, alias: Id, then: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if !self.followed.insert(alias) {
            return Err(fail("an alias inside its own anchor", self.node(alias).start));
        }
        let value = then(self);
        self.followed.remove(&alias);
        value
    }

    fn fields(&mut self, fields: &[Id], map: &mut Map<String, Value>) -> Result<(), Error> {
        let (pairs, _) = fields.as_chunks::<2>();
        for [key, value] in pairs {
            if self.node(*key).is_merge() {
                self.merge(*value, map)?;
            } else {
                let key = self.key(*key)?;
                let value = self.value(*value)?;
                map.insert(key, value);
            }
        }
        Ok(())
    }

    fn key(&mut self, id: Id) -> Result<String, Error> {
        let start = self.node(id).start;
        let node = self.target(id);
        if let Data::Scalar(scalar) = &self.node(node).data {
            let special = match meaning(scalar, start)? {
                Err(text) => Some(key::infinite(&text)),
                Ok(Value::Number(number)) if is_float(scalar) => number.as_f64().map(key::float),
                Ok(_) => None,
            };
            if let Some(key) = special {
                self.count(id)?;
                return Ok(key);
            }
        }
        let value = self.value(id)?;
        key::text(&value).ok_or_else(|| {
            let what = match value {
                Value::Null => "null",
                Value::Number(_) => "a number above 9223372036854775807",
                _ => "a list or map",
            };
            fail(&format!("{what} cannot be a key"), start)
        })
    }

    /// The node that an alias stands for, or the node itself.
    fn target(&self, id: Id) -> Id {
        match self.node(id).data {
            Data::Alias(anchor) => anchor,
            _ => id,
        }
    }

    /// What is merged counts over what stands before it and under what follows; of several maps the first counts.
    fn merge(&mut self, id: Id, map: &mut Map<String, Value>) -> Result<(), Error> {
        match &self.node(id).data {
            Data::List(bases) => bases.iter().rev().try_for_each(|base| self.merge_one(*base, map)),
            _ => self.merge_one(id, map),
        }
    }

    fn merge_one(&mut self, id: Id, map: &mut Map<String, Value>) -> Result<(), Error> {
        let start = self.node(id).start;
        let Data::Map(fields) = &self.node(self.target(id)).data else {
            return Err(fail("map merge requires map or sequence of maps as the value", start));
        };
        self.count(id)?;
        if self.target(id) == id {
            return self.fields(fields, map);
        }
        self.follow(id, |decoder| {
            decoder.count(decoder.target(id))?;
            decoder.fields(fields, map)
        })
    }
}

/// From 99 % for documents of up to 400,000 nodes down to 10 % for those of 4,000,000.
fn allowed_share(decoded: u32) -> f64 {
    let (low, high) = (400_000.0, 4_000_000.0);
    let decoded = f64::from(decoded).clamp(low, high);
    0.99 - 0.89 * ((decoded - low) / (high - low))
}

/// What a scalar means; the text of an infinity, which a key may be and a value not.
fn meaning(scalar: &Scalar, start: Mark) -> Result<Result<Value, String>, Error> {
    let text = &scalar.text;
    let string = || Ok(Value::String(text.clone()));
    let Some(tag) = &scalar.tag else {
        return Ok(if scalar.plain { resolve(text) } else { string() });
    };
    let name = tag.strip_prefix("tag:yaml.org,2002:");
    let fits: fn(&Value) -> bool = match name {
        Some("int") => |value| value.is_i64() || value.is_u64(),
        Some("float") => Value::is_number,
        Some("bool") => Value::is_boolean,
        Some("null") => Value::is_null,
        Some("timestamp") if scalar::is_timestamp(text) => return Ok(string()),
        Some("timestamp") => |_| false,
        Some("binary") => return binary(text, start).map(Ok),
        _ => return Ok(string()),
    };
    let unfit = || fail(&format!("cannot decode `{text}` as a !!{}", name.unwrap_or_default()), start);
    match resolve(text) {
        Ok(value) if fits(&value) => match (name, &value) {
            (Some("int"), Value::Number(_)) if scalar::is_float(text) => Err(unfit()),
            (Some("float"), Value::Number(number)) => as_float(number).map(Ok).ok_or_else(unfit),
            _ => Ok(Ok(value)),
        },
        Err(text) if name == Some("float") => Ok(Err(text)),
        _ => Err(unfit()),
    }
}

/// Whether a scalar that is a number is a float to Go.
fn is_float(scalar: &Scalar) -> bool {
    let tagged = scalar.tag.as_deref() == Some("tag:yaml.org,2002:float");
    tagged || (scalar.plain && scalar::is_float(&scalar.text))
}

/// A whole number as Go prints it once it is a float; none above `i64`.
#[expect(clippy::cast_precision_loss, reason = "it is to be a float")]
fn as_float(number: &Number) -> Option<Value> {
    match number.as_i64() {
        Some(whole) => crate::json::number(whole as f64).map(Value::Number),
        None if number.is_u64() => None,
        None => Some(Value::Number(number.clone())),
    }
}

/// The text that is encoded; each byte that is no UTF-8 is replaced, as JSON cannot hold it.
fn binary(text: &str, start: Mark) -> Result<Value, Error> {
    let text: String = text.chars().filter(|letter| !matches!(letter, '\r' | '\n')).collect();
    let bytes =
        BASE64.decode(text).map_err(|_| fail("!!binary value contains invalid base64 data", start))?;
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Ok(Value::String(text))
}

fn no_number(text: &str, start: Mark) -> Error {
    fail(&format!("{text} is no JSON number"), start)
}
