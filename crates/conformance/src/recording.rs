//! Reviews of a live cluster kept as cases: what was asked, without its secrets, and what the webhook answers to that.
//!
//! 1. [`Tap`] takes the reviews of a registration, has nothing against any of them, and hands them on;
//! 2. [`seen`] reads one, and takes out of it what is secret and what is of that moment only;
//! 3. whoever records asks the webhook what is left, in a dry run, so that question and answer fit each other;
//! 4. [`Recorded::files`] writes both as a contract with the objects that it names, and [`suite`] names them all.

mod difference;
mod files;
mod kept;
mod tap;

pub use files::{File, Recorded, SUITE, suite};
pub use kept::{LeftOut, kept, seen};
pub use tap::{Taken, Tap};
