//! The notations Kubernetes speaks, each in a module of its own; nothing here knows a kind.

pub mod name;
pub mod selector;
