//! Decodes nodes to JSON values.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Number, Value};

use super::super::{Error, Mark, fail, resolve, scalar};
use super::key;
use super::tree::{Id, Tree, TreeData, TreeNode, TreeScalar};

/// Base64 as Go reads it: padding is required, the unused last bits may have any value.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// Decodes a document; returns also the keys that a map has twice, each with the line of its later value.
pub(super) fn value(tree: &Tree) -> Result<(Value, Vec<(usize, String)>), Error> {
    let mut decoder =
        Decoder { tree, followed: BTreeSet::new(), decoded: 0, by_alias: 0, duplicates: Vec::new() };
    let value = if tree.nodes.is_empty() { Value::Null } else { decoder.value(0)? };
    Ok((value, decoder.duplicates))
}

struct Decoder<'a> {
    tree: &'a Tree,
    /// Aliases whose targets are being decoded.
    followed: BTreeSet<Id>,
    /// Number of nodes decoded, and number of those decoded through an alias.
    decoded: u32,
    by_alias: u32,
    duplicates: Vec<(usize, String)>,
}

impl<'a> Decoder<'a> {
    fn node(&self, id: Id) -> &'a TreeNode {
        &self.tree.nodes[id]
    }

    fn value(&mut self, id: Id) -> Result<Value, Error> {
        let node = self.count(id)?;
        match &node.data {
            TreeData::Scalar(scalar) => {
                resolve_scalar(scalar, node.start)?.map_err(|text| no_number(&text, node.start))
            }
            TreeData::List(items) => items.iter().map(|item| self.value(*item)).collect(),
            TreeData::Map(fields) => {
                let mut map = Map::new();
                self.fields(fields, &mut map)?;
                Ok(Value::Object(map))
            }
            TreeData::Alias(anchor) => self.follow(id, |decoder| decoder.value(*anchor)),
        }
    }

    /// Counts a node. Only a share of the nodes may come from aliases, a smaller one for larger documents.
    fn count(&mut self, id: Id) -> Result<&'a TreeNode, Error> {
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
                let line = self.node(*value).start.line;
                let key = self.key(*key)?;
                let value = self.value(*value)?;
                if map.contains_key(&key) {
                    self.duplicates.push((line, key.clone()));
                }
                map.insert(key, value);
            }
        }
        Ok(())
    }

    fn key(&mut self, id: Id) -> Result<String, Error> {
        let start = self.node(id).start;
        let node = self.target(id);
        if let TreeData::Scalar(scalar) = &self.node(node).data {
            let special = match resolve_scalar(scalar, start)? {
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

    /// The target of an alias, or the node itself.
    fn target(&self, id: Id) -> Id {
        match self.node(id).data {
            TreeData::Alias(anchor) => anchor,
            _ => id,
        }
    }

    /// Merges into `map`: merged entries override earlier entries, and later entries override them. The first of several
    /// maps has precedence.
    fn merge(&mut self, id: Id, map: &mut Map<String, Value>) -> Result<(), Error> {
        match &self.node(id).data {
            TreeData::List(bases) => bases.iter().rev().try_for_each(|base| self.merge_one(*base, map)),
            _ => self.merge_one(id, map),
        }
    }

    fn merge_one(&mut self, id: Id, map: &mut Map<String, Value>) -> Result<(), Error> {
        let start = self.node(id).start;
        let TreeData::Map(fields) = &self.node(self.target(id)).data else {
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

/// The share of nodes that may come from aliases: 99 % for up to 400,000 nodes, down to 10 % for 4,000,000.
fn allowed_share(decoded: u32) -> f64 {
    let (low, high) = (400_000.0, 4_000_000.0);
    let decoded = f64::from(decoded).clamp(low, high);
    0.99 - 0.89 * ((decoded - low) / (high - low))
}

/// The value of a scalar; the inner error is the text of an infinity or NaN, which only a key may be.
fn resolve_scalar(scalar: &TreeScalar, start: Mark) -> Result<Result<Value, String>, Error> {
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

/// Whether Go reads the scalar of a number as a float.
fn is_float(scalar: &TreeScalar) -> bool {
    let tagged = scalar.tag.as_deref() == Some("tag:yaml.org,2002:float");
    tagged || (scalar.plain && scalar::is_float(&scalar.text))
}

/// An integer as Go prints it after conversion to a float; `None` above `i64`.
#[expect(clippy::cast_precision_loss, reason = "Go converts it to a float, too")]
fn as_float(number: &Number) -> Option<Value> {
    match number.as_i64() {
        Some(whole) => crate::json::number(whole as f64).map(Value::Number),
        None if number.is_u64() => None,
        None => Some(Value::Number(number.clone())),
    }
}

/// Decodes `!!binary`; invalid UTF-8 bytes are replaced, because JSON cannot represent them.
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
