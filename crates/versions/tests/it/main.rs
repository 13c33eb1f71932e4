//! Decisions against the tables of Gardener's documents and of the original's own tests, and laws over any profile.

#![expect(clippy::needless_pass_by_value, reason = "json!(…) is handed over where it is written")]

mod admission;
mod given;
mod images;
mod kubernetes;
mod laws;
mod maintenance;
mod windows;
