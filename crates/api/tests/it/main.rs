//! The garden's kinds against the fields that v1.82 has, and against manifests as people write them.

mod fields;
mod manifests;
