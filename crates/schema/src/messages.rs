//! How kinds lie in protobuf: data/messages.gz, read off Go's types by kind/messages, unpacked when first asked for.
//!
//! One line per message; kind/messages/table.go has the notation, `zcat` prints them all.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{LazyLock, OnceLock};

use flate2::read::GzDecoder;

use crate::definitions;

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    let packed: &[u8] = include_bytes!("../data/messages.gz");
    GzDecoder::new(packed).read_to_string(&mut text).expect("the generated file is read by a test");
    text
});
static MESSAGES: LazyLock<BTreeMap<&'static str, Line>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let (name, fields) = line.split_once(' ').unwrap_or((line, ""));
        let union = name.ends_with('|');
        (name.trim_end_matches('|'), Line { union, fields, message: OnceLock::new() })
    };
    TEXT.lines().map(line).collect()
});

struct Line {
    union: bool,
    fields: &'static str,
    message: OnceLock<Message>,
}

/// A message of protobuf, with what Go makes of it in JSON.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// `io.k8s.api.core.v1.Pod`: its definition in OpenAPI.
    pub name: &'static str,
    /// Whether JSON shows one field only: the last that is there, or else the first.
    pub union: bool,
    /// In the order of Go's struct.
    pub fields: Vec<MessageField>,
}

/// A field of a message.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageField {
    /// By which it is known on the wire.
    pub number: u32,
    /// In JSON; empty where its own fields stand in the object itself.
    pub name: &'static str,
    /// In Go, where it is not JSON's with a capital.
    go: Option<&'static str>,
    /// Whether absence is told apart from zero.
    pub pointer: bool,
    /// Whether JSON has the field even if it is empty.
    pub written: bool,
    /// How many values it holds.
    pub many: Many,
    /// How each of them lies on the wire.
    pub encoding: Encoding,
}

/// How many values a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Many {
    /// One.
    One,
    /// A list.
    List,
    /// A map with texts as keys.
    Map,
}

/// How a value lies on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// A varint.
    Bool,
    /// A varint, of which the lower half counts.
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
    /// A message of which it is, number and text.
    IntOrString,
    /// A message of bytes that are JSON.
    Json,
    /// A message that is a list of texts.
    Texts,
    /// A message of this name.
    Message(&'static str),
}

impl Message {
    /// The message of this definition: `io.k8s.api.core.v1.Pod`.
    #[must_use]
    pub fn named(definition: &str) -> Option<&'static Self> {
        let (name, line) = MESSAGES.get_key_value(definition)?;
        let read = || Self { name, union: line.union, fields: fields(name, line.fields) };
        Some(line.message.get_or_init(read))
    }

    /// The message of a built-in kind; of options that every group takes, that of the core group: `("", "v1", "Pod")`.
    #[must_use]
    pub fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Self> {
        Self::named(&definitions::name_of_kind(group, version, kind)?)
    }

    /// Its field of this number.
    #[must_use]
    pub fn field(&self, number: u32) -> Option<&MessageField> {
        self.fields.iter().find(|field| field.number == number)
    }

    /// `Pod`, as Go calls it.
    #[must_use]
    pub fn go_name(&self) -> &'static str {
        short(self.name)
    }
}

impl MessageField {
    /// `UID`, `ObjectMeta`: as Go calls it.
    #[must_use]
    pub fn go_name(&self) -> String {
        match (self.go, self.encoding) {
            (Some(name), _) => name.to_owned(),
            (None, Encoding::Message(name)) if self.name.is_empty() => short(name).to_owned(),
            (None, _) => {
                let mut letters = self.name.chars();
                letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
            }
        }
    }
}

fn short(definition: &str) -> &str {
    definition.rsplit('.').next().unwrap_or(definition)
}

fn fields(message: &'static str, text: &'static str) -> Vec<MessageField> {
    let package = message.rsplit_once('.').map_or("", |(package, _)| package);
    let field = |text| field(package, text).expect("every field is read by a test");
    text.split(' ').filter(|text| !text.is_empty()).map(field).collect()
}

fn field(package: &str, text: &'static str) -> Option<MessageField> {
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
    Some(MessageField { number, name, go, pointer, written, many, encoding: encoding(package, word)? })
}

fn encoding(package: &str, word: &'static str) -> Option<Encoding> {
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
    fn every_message_is_read_and_every_kind_that_is_served_has_one() {
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
    fn the_fields_of_json_are_those_of_openapi() {
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
    fn fields_say_number_names_and_form() {
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
