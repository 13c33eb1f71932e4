//! What the language knows of Gardener: decisions about versions, releases and providers.

pub mod decision;
mod provider;
pub mod release;
