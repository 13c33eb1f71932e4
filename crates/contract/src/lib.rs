//! The contract language: what a contract says, where it says it, and whether an answer keeps it.
//!
//! - [`model`] — contracts and clauses as loaded: resolved, every case expanded;
//! - [`source`], [`load`] — files in, contracts out, everything that is wrong named at once;
//! - [`index`] — contracts read to clauses, expanded one by one;
//! - [`lint`] — what loads and is wrong nevertheless;
//! - [`json_schema`] — the files' shapes for editors;
//! - [`case`] — one case: what is given, what is done, what must hold;
//! - [`decision`] — what is asked about versions, and how the answer is told;
//! - [`emitted`] — what Gardener may emit, asked of the objects of a namespace;
//! - [`flags`] — which changes of a command line a table of flags speaks of;
//! - [`parameters`] — values that a target states of itself;
//! - [`release`] — of which release of Gardener a target is asked;
//! - [`scenario`] — steps over clusters, for controllers;
//! - [`document`] — the files beside contracts: targets, waivers, ledgers, attestations;
//! - [`explanations`] — why answers of two implementations differ;
//! - [`sentence`] — the hash that ties a clause to a sentence of its source;
//! - [`scaffold`], [`table_format`] — what `new contract` and `fmt` write;
//! - [`versions`] — for which versions of a target a clause holds;
//! - [`expect`] — what is asserted, as a tree over an answer, and the comparison.
//!
//! Invariant: nothing here knows a Kubernetes client, a clock or an implementation.

pub mod case;
mod certificate_request;
pub mod decision;
pub mod document;
pub mod emitted;
pub mod expect;
pub mod explanations;
pub mod flags;
pub mod index;
pub mod json_schema;
pub mod lint;
pub mod load;
pub mod model;
pub mod parameters;
pub mod process;
mod provider;
pub mod release;
pub mod scaffold;
pub mod scenario;
pub mod sentence;
pub mod source;
pub mod table_format;
pub mod versions;
