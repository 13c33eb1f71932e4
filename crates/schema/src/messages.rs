//! The protobuf messages of kinds from data/messages.gz, which kind/messages writes from Go's types. Unpacked on first use.
//!
//! The file has one line per message in the notation of kind/messages/table.go; `zcat` prints all of them.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{LazyLock, OnceLock};

use flate2::read::GzDecoder;

use crate::definitions;
use crate::kubernetes_version::NEWEST;

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    let packed: &[u8] = include_bytes!("../data/messages.gz");
    GzDecoder::new(packed).read_to_string(&mut text).expect("the generated file is read by a test");
    text
});
static MESSAGES: LazyLock<BTreeMap<&'static str, MessageLine>> = LazyLock::new(|| {
    let parse = |line: &'static str| {
        let (name, fields) = line.split_once(' ').unwrap_or((line, ""));
        let union = name.ends_with('|');
        (name.trim_end_matches('|'), MessageLine { union, fields, message: OnceLock::new() })
    };
    TEXT.lines().map(parse).collect()
});

struct MessageLine {
    union: bool,
    fields: &'static str,
    message: OnceLock<Message>,
}

/// A protobuf message, with its form in Go's JSON.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// Name of its OpenAPI definition: `io.k8s.api.core.v1.Pod`.
    pub name: &'static str,
    /// Whether JSON has one field only: the last one that is present, or else the first one.
    pub union: bool,
    /// Fields in the order of Go's struct.
    pub fields: Vec<MessageField>,
}

/// A field of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageField {
    /// Number on the wire.
    pub number: u32,
    /// Name in JSON; empty for an embedded field, whose fields JSON has in the object itself.
    pub name: &'static str,
    /// Name in Go, if it is not the JSON name with a capital.
    go: Option<&'static str>,
    /// Whether absence differs from zero.
    pub pointer: bool,
    /// Whether JSON has the field even if it is empty.
    pub written: bool,
    /// Number of its values.
    pub many: Many,
    /// Encoding of each value.
    pub encoding: Encoding,
}

/// Number of values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Many {
    /// A single value.
    One,
    /// A list.
    List,
    /// A map with string keys.
    Map,
}

/// Encoding of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// A varint.
    Bool,
    /// A varint, of which the lower 32 bits count.
    Int32,
    /// A varint.
    Int64,
    /// Eight bytes.
    Double,
    /// Text.
    String,
    /// Any bytes; base64 in JSON.
    Bytes,
    /// A message of seconds.
    Time,
    /// A message of seconds and nanoseconds.
    MicroTime,
    /// A message of nanoseconds.
    Duration,
    /// A message of a text.
    Quantity,
    /// A message of the type, the number and the text.
    IntOrString,
    /// A message of bytes that contain JSON.
    Json,
    /// A message of a list of texts.
    Texts,
    /// The message of this name.
    Message(&'static str),
}

impl Message {
    /// The message of an OpenAPI definition: `io.k8s.api.core.v1.Pod`.
    #[must_use]
    pub fn named(definition: &str) -> Option<&'static Self> {
        let (name, line) = MESSAGES.get_key_value(definition)?;
        let read = || Self { name, union: line.union, fields: parse_fields(name, line.fields) };
        Some(line.message.get_or_init(read))
    }

    /// The message of a built-in kind: `("", "v1", "Pod")`. Options that every group accepts are those of the core group.
    /// Also knows kinds of older releases.
    #[must_use]
    pub fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Self> {
        let name = definitions::name_of_kind(NEWEST, group, version, kind);
        Self::named(&name.or_else(|| name_of_retired_kind(group, version, kind))?)
    }

    /// The field with this number.
    #[must_use]
    pub fn field(&self, number: u32) -> Option<&MessageField> {
        self.fields.iter().find(|field| field.number == number)
    }

    /// Name of the Go type: `Pod`.
    #[must_use]
    pub fn go_name(&self) -> &'static str {
        short_name(self.name)
    }
}

impl MessageField {
    /// Name of the Go field: `UID`, `ObjectMeta`.
    #[must_use]
    pub fn go_name(&self) -> String {
        match (self.go, self.encoding) {
            (Some(name), _) => name.to_owned(),
            (None, Encoding::Message(name)) if self.name.is_empty() => short_name(name).to_owned(),
            (None, _) => {
                let mut letters = self.name.chars();
                letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
            }
        }
    }
}

/// The definition of a kind in a version that the newest release does not serve: `io.k8s.api.batch.v1beta1.CronJob`.
/// Names are regular, so that a lookup needs no data of older releases.
fn name_of_retired_kind(group: &str, version: &str, kind: &str) -> Option<String> {
    let package = group.strip_suffix(".k8s.io").unwrap_or(group).split('.').next()?;
    version.contains("beta").then(|| format!("io.k8s.api.{package}.{version}.{kind}"))
}

fn short_name(definition: &str) -> &str {
    definition.rsplit('.').next().unwrap_or(definition)
}

fn parse_fields(message: &'static str, text: &'static str) -> Vec<MessageField> {
    let package = message.rsplit_once('.').map_or("", |(package, _)| package);
    let field = |text| parse_field(package, text).expect("every field is parsed by a test");
    text.split(' ').filter(|text| !text.is_empty()).map(field).collect()
}

fn parse_field(package: &str, text: &'static str) -> Option<MessageField> {
    let mut parts = text.splitn(3, ':');
    let (number, name, word) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
    let bare = name.trim_end_matches(['*', '!']);
    let flags = &name[bare.len()..];
    let (name, go) = bare.split_once('=').map_or((bare, None), |(name, go)| (name, Some(go)));
    let (many, word) = match (word.strip_prefix("[]"), word.strip_prefix("{}")) {
        (Some(word), _) => (Many::List, word),
        (_, Some(word)) => (Many::Map, word),
        _ => (Many::One, word),
    };
    let (pointer, written) = (flags.contains('*'), flags.contains('!'));
    Some(MessageField { number, name, go, pointer, written, many, encoding: parse_encoding(package, word)? })
}

fn parse_encoding(package: &str, word: &'static str) -> Option<Encoding> {
    Some(match word {
        "bool" => Encoding::Bool,
        "int32" => Encoding::Int32,
        "int64" => Encoding::Int64,
        "double" => Encoding::Double,
        "string" => Encoding::String,
        "bytes" => Encoding::Bytes,
        "time" => Encoding::Time,
        "microTime" => Encoding::MicroTime,
        "duration" => Encoding::Duration,
        "quantity" => Encoding::Quantity,
        "intOrString" => Encoding::IntOrString,
        "json" => Encoding::Json,
        "texts" => Encoding::Texts,
        name => {
            let full = if name.starts_with('.') { format!("{package}{name}") } else { name.to_owned() };
            Encoding::Message(MESSAGES.get_key_value(full.as_str())?.0)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kinds, discovery};

    #[test]
    fn every_message_can_be_parsed_and_every_kind_has_one() {
        for name in MESSAGES.keys() {
            let message = Message::named(name).expect("it was just listed");
            let mut numbers: Vec<u32> = message.fields.iter().map(|field| field.number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), message.fields.len(), "{name}");
        }
        let without = |key: &&String| {
            let parts: Vec<&str> = key.splitn(3, '/').collect();
            Message::of_kind(parts[0], parts[1], parts[2]).is_none()
        };
        assert_eq!(discovery::data().kinds.keys().filter(without).collect::<Vec<_>>(), [] as [&String; 0]);
    }

    #[test]
    fn the_json_fields_are_those_of_openapi() {
        for resource in Kinds::kubernetes().resources() {
            let (group, version, kind) = (&resource.group, &resource.version, &resource.kind);
            let ty = Kinds::kubernetes().type_of(group, version, kind).expect("served");
            let message = Message::of_kind(group, version, kind).expect("served");
            for field in &message.fields {
                assert!(ty.field(field.name).is_some(), "{kind}.{}", field.name);
            }
            let wanted = ty.fields().into_iter().map(|field| field.name);
            for name in wanted.filter(|name| !matches!(name.as_str(), "apiVersion" | "kind")) {
                assert!(message.fields.iter().any(|field| field.name == name), "{kind}.{name}");
            }
        }
    }

    #[test]
    fn fields_have_number_names_and_encoding() {
        let meta = Message::named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").expect("known");
        let [uid, labels, deleted, owners] = [5, 11, 9, 13].map(|number| meta.field(number).expect("known"));
        assert_eq!((uid.name, uid.go_name().as_str(), uid.encoding), ("uid", "UID", Encoding::String));
        assert_eq!((labels.many, labels.go_name().as_str()), (Many::Map, "Labels"));
        assert_eq!((deleted.pointer, deleted.written, deleted.encoding), (true, false, Encoding::Time));
        let owner = Encoding::Message("io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference");
        assert_eq!((owners.many, owners.encoding), (Many::List, owner));
        let reference = Message::named("io.k8s.api.core.v1.SecretKeySelector").expect("known");
        let name = reference.field(1).expect("known");
        assert_eq!((name.name, name.go_name().as_str()), ("", "LocalObjectReference"));
        assert_eq!(reference.go_name(), "SecretKeySelector");
        assert_eq!(meta.field(15), None);
        assert_eq!(Message::of_kind("example.com", "v1", "Widget"), None);
    }
}
