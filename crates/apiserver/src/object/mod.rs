//! Operations on objects: decode, default, prepare, validate, remove.

pub(crate) mod allocation;
pub(crate) mod body_kind;
pub(crate) mod decode;
pub(crate) mod defaults;
pub(crate) mod effects;
pub(crate) mod fields;
pub(crate) mod go_text;
pub(crate) mod group_version;
pub(crate) mod internal;
pub(crate) mod meta;
pub(crate) mod plugins;
pub(crate) mod protobuf;
pub(crate) mod removal;
mod sections;
pub(crate) mod strategy;
pub(crate) mod structural;
pub(crate) mod type_meta;
pub(crate) mod validation;
pub(crate) mod warnings;
