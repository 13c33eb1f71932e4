//! Tests of the public interface.

mod documents;
mod lookups;
mod types;
