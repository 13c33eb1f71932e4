//! Inputs with the outcome that Go's libraries have for them.

mod certificate_requests;
