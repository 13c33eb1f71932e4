//! The contract language: what a contract says, where it says it, and whether an answer keeps it.
//!
//! - [`model`] — contracts and clauses as loaded: resolved, every case expanded;
//! - [`case`] — one case: what is given, what is done, what must hold;
//! - [`expect`] — what is asserted, as a tree over an answer, and the comparison.
//!
//! Invariant: nothing here knows a Kubernetes client, a clock or an implementation.

pub mod case;
pub mod expect;
pub mod model;
