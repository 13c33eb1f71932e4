//! The notations Kubernetes speaks, each in a module of its own; nothing here knows a kind.

pub mod age;
pub mod command_line;
pub mod depth;
pub mod duration;
pub mod exposition;
pub mod json;
pub mod json_patch;
pub mod name;
pub mod pattern;
pub mod quantity;
pub mod selector;
pub mod time;
pub mod unit;
pub mod version;
pub mod warning;
pub mod x509;
pub mod yaml;
