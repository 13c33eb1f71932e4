//! What the language knows of Gardener: decisions about versions, releases, their versions of Kubernetes, and providers.

pub mod decision;
pub mod kubernetes;
mod provider;
pub mod release;
