//! The harness: contract × target × substrate → one report → verdict → exit code. Knows no implementation.
//!
//! What a caller needs, in order:
//! 1. [`select::select`] — the contracts and cases that are wanted, from a catalog and suites;
//! 2. [`target`] — [`target::built_in::BuiltIn`], [`target::url::UrlTarget`], [`target::command::CommandTarget`];
//! 3. [`run::run`] — asks every case; [`run::Interrupt`] ends it early, a report comes out all the same;
//! 4. [`render`] — the report as text, JSON, JUnit, Markdown, HTML, SARIF, badge; [`report::write`] puts it on disk;
//! 5. [`report::Report::exit_code`].
//!
//! Beside that: [`objects`] holds what Gardener emits against contracts; [`differential`] gives two targets the same generated inputs; [`coverage`], [`attest`], [`compare`] and [`gate`] read reports, [`render::explain`] and [`render::list`] show contracts.

pub mod attest;
pub mod compare;
pub mod coverage;
mod dates;
pub mod differential;
mod digest;
pub mod exchange;
pub mod gate;
pub mod laws;
mod loopback;
pub mod mask;
pub mod matching;
pub mod objects;
pub mod observation;
pub mod place;
pub mod plan;
pub mod recording;
pub mod render;
pub mod report;
pub mod rollouts;
pub mod route;
pub mod run;
pub mod saboteur;
pub mod select;
pub mod shard;
pub mod target;
pub mod testing;
pub mod waivers;
