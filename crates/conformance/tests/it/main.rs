//! The harness against scripted targets: what each kind of answer means, and how it is reported.

mod direct;
mod embedded;
mod fake;
mod small;
