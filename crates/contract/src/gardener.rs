//! What the language knows of Gardener: decisions about versions, releases, providers and namespaces of control planes.

pub mod decision;
mod provider;
pub mod release;
mod surroundings;
