//! Records reviews of a live cluster as cases: the request without secrets, and the webhook's answer.
//!
//! 1. [`Tap`] receives the reviews of a registration, allows all of them, and passes them on;
//! 2. [`seen`] reads one, and removes secrets and volatile fields;
//! 3. the caller sends the result to the webhook as a dry run, so that request and answer match;
//! 4. [`Recorded::files`] writes both as a contract and its fixtures, and [`suite`] includes all contracts.

mod difference;
mod files;
mod kept;
mod tap;

pub use files::{File, Recorded, SUITE, suite};
pub use kept::{LeftOut, kept, seen};
pub use tap::{Taken, Tap};
