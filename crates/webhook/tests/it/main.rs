//! Tests of the public interface: requests over HTTP, certificates, dialers.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what fails here fails the test")]

mod certificates;
mod dial;
mod hooks;
mod server;
mod service;
mod silence;
mod trust;
