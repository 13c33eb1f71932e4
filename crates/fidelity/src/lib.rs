//! The same requests on two API servers, and where their answers differ.
//!
//! - [`request`] — sequences of requests as data: generated, recorded, shrunk;
//! - [`generate`] — sequences from a seed;
//! - [`play`] — one sequence on both servers, answer by answer;
//! - [`normal`] — what of an answer is the server's own affair, taken out;
//! - [`known`] — differences that are known, each with a reason;
//! - [`shrink`] — the smallest sequence that still shows a difference;
//! - [`run`] — a budget of requests, recorded sequences first; [`outcome`] what came out.
//!
//! Invariant: knows no server. Everything but [`server`] and [`play`] is pure.

mod compare;
mod exercise;
pub mod generate;
pub mod kinds;
pub mod known;
mod memory;
pub mod normal;
pub mod outcome;
pub mod play;
pub mod recorded;
pub mod request;
pub mod run;
pub mod server;
pub mod shrink;
pub mod tally;

pub use exercise::Exercise;
