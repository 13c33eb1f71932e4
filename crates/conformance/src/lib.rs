//! The harness: contract × target × substrate → one report → verdict → exit code. It depends on no implementation.
//!
//! What a caller needs, in order:
//! 1. [`select::select`] — selects contracts and cases from a catalog and suites;
//! 2. [`target`] — [`target::built_in::BuiltIn`], [`target::url::UrlTarget`], [`target::command::CommandTarget`];
//! 3. [`run::run`] — runs every case; [`run::Interrupt`] ends it early, also with a report;
//! 4. [`render`] — the report as text, JSON, JUnit, Markdown, HTML, SARIF, badge; [`report::write`] writes it to disk;
//! 5. [`report::Report::exit_code`].
//!
//! Also: [`objects`] checks objects that Gardener emits against contracts; [`differential`] sends two targets the same generated
//! inputs; [`explore`] runs scenarios again, each time with one perturbation; [`coverage`], [`attest`], [`compare`] and
//! [`gate`] read reports; [`render::explain`] and [`render::list`] show contracts.

pub mod attest;
mod causes;
pub mod compare;
pub mod coverage;
pub mod difference;
pub mod differential;
mod digest;
pub mod exchange;
pub mod explore;
pub mod gardener;
pub mod gate;
pub mod laws;
mod loopback;
pub mod mask;
pub mod matching;
pub mod objects;
pub mod observation;
mod parallel;
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
