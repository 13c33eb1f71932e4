//! Parsers and printers for the notations of Kubernetes, one module each. No module depends on a Kubernetes kind.

pub mod age;
pub mod base64;
pub mod command_line;
pub mod cron;
pub mod depth;
pub mod duration;
pub mod exposition;
pub mod json;
pub mod json_patch;
pub mod name;
pub mod pattern;
pub mod quantity;
pub mod quote;
pub mod selector;
pub mod strfmt;
pub mod time;
pub mod unit;
pub mod version;
pub mod warning;
pub mod x509;
pub mod yaml;
pub mod zone;
