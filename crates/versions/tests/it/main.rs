//! Tests with the tables of Gardener's documents and of the original's own tests, and property tests.

#![expect(clippy::needless_pass_by_value, reason = "json!(…) is passed by value for readability")]

mod admission;
mod given;
mod images;
mod kubernetes;
mod laws;
mod maintenance;
mod windows;
