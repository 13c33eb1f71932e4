//! Sends the same requests to two API servers and finds differences between their answers.
//!
//! - [`request`] — requests and sequences of requests as data;
//! - [`generate`] — generates sequences from a seed;
//! - [`play`] — sends one sequence to both servers and compares the answers;
//! - [`normalize`] — removes from answers what may differ between servers, such as uids and times;
//! - [`known`] — known differences, each with a reason;
//! - [`shrink`] — finds the smallest sequence that still shows a difference;
//! - [`webhook`] — what the webhooks of a sequence answer; whoever starts the servers serves it;
//! - [`run`] — a whole run: recorded sequences, then generated ones; [`outcome`] its result.
//!
//! Invariant: knows no particular server. Everything except [`server`], [`play`] and [`run`] is pure.

mod compare;
mod exercise;
pub mod generate;
mod generated_names;
pub mod kinds;
pub mod known;
mod memory;
pub mod normalize;
pub mod outcome;
pub mod play;
pub mod recorded;
pub mod request;
pub mod run;
pub mod server;
pub mod shrink;
pub mod tally;
pub mod webhook;

pub use exercise::Exercise;
