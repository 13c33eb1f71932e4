//! The harness against scripted targets: what each kind of answer means, and how it is reported.

mod chosen;
mod decided;
mod differential;
mod direct;
mod embedded;
mod exit;
mod fake;
mod given;
mod image;
mod maintained;
mod objects;
mod otherwise;
mod parts;
mod proof;
mod scanned;
mod scenario;
mod shown;
mod small;
mod started;
mod versions;
