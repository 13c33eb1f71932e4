//! Inputs with the results of Go's libraries.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod certificate_requests;
mod yaml;
