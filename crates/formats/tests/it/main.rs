//! Inputs with the outcome that Go's libraries have for them.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod certificate_requests;
mod yaml;
