//! The contract language: reads contract files, expands them to cases, and compares answers with what cases assert.
//!
//! - [`model`] — contracts and clauses as loaded: fixtures merged, every case expanded;
//! - [`source`], [`load`] — read files, return contracts, report all errors at once;
//! - [`index`] — outlines of contracts, each expanded to cases when needed;
//! - [`lint`] — checks of contracts that load;
//! - [`manifest`] — fields of users' own objects that their kinds do not have;
//! - [`json_schema`] — JSON Schemas of the files, for editors;
//! - [`case`] — one case: what is given, what is done, what must hold;
//! - [`gardener::decision`] — decisions about versions: the question and the document with the result;
//! - [`emitted`] — rules for objects that Gardener emits, evaluated on the objects of a namespace;
//! - [`flags`] — which changes of a command line a table of flags explains;
//! - [`parameters`] — values that a target states about itself;
//! - [`gardener::release`] — the release of Gardener that a target is tested with;
//! - [`gardener::kubernetes`] — the newest version of Kubernetes that a release supports;
//! - [`gardener::plugins`] — the admission plugins of gardener-apiserver;
//! - [`scenario`] — steps over clusters, for controllers;
//! - [`document`] — the files beside contracts: targets, waivers, ledgers, attestations;
//! - [`explanations`] — why answers of two implementations differ;
//! - [`sentence`] — the hash that ties a clause to a sentence of its source;
//! - [`scaffold`], [`table_format`] — what `new contract` and `fmt` write;
//! - [`versions`] — for which versions of a target a clause holds;
//! - [`expect`] — assertions as a tree over an answer, and the comparison.
//!
//! Invariant: this crate uses no Kubernetes client, no clock and no implementation of a component.

pub mod case;
mod certificate_request;
pub mod document;
pub mod emitted;
pub mod expect;
pub mod explanations;
pub mod flags;
pub mod gardener;
pub mod index;
pub mod json_schema;
pub mod lint;
pub mod load;
pub mod manifest;
pub mod model;
pub mod parameters;
pub mod process;
pub mod scaffold;
pub mod scenario;
pub mod sentence;
pub mod source;
pub mod table_format;
pub mod versions;
