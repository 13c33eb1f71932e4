//! `gardener-conformance`.
fn main() {}
