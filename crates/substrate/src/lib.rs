//! Where cases run: embedded, or any cluster behind a kubeconfig.
//!
//! - [`cluster`] — one cluster behind a client, asked in plain JSON;
//! - [`kubeconfig`] — a client for a kubeconfig file;
//! - [`facts`] — objects that stand before a request.
//!
//! Invariant: knows no component and no contract.

pub mod cluster;
pub mod embedded;
pub mod facts;
pub mod kubeconfig;
