//! Admission webhooks: an AdmissionReview comes in, a pure function decides, a JSON patch goes out.
//!
//! - [`review`] — the wire: AdmissionReview v1 and v1beta1 as it arrives;
//! - [`answer`] — what a webhook says, and how it is written;
//! - [`mutation`], [`validation`] — pure functions over objects made into answers;
//! - [`rejection`], [`field`] — why not, in the words of Kubernetes;
//! - [`object`] — typed access to raw objects that loses no field;
//! - [`patch`] — the smallest patch between two objects;
//! - [`registration`] — which request is sent to which webhook, evaluated as kube-apiserver does;
//! - [`service`] — webhooks behind paths as one tower service, with limits;
//! - [`dial`] — how a webhook is reached: in process, or over TLS;
//! - [`trust`] — whom a bundle of authorities trusts;
//! - [`server`] — HTTPS with certificates that are reloaded while it runs;
//! - [`url`] — addresses as Go reads them.
//!
//! Invariants: nothing here knows a Gardener kind, a Kubernetes client or a clock.

pub mod answer;
pub mod dial;
pub mod field;
mod metrics;
pub mod mutation;
pub mod object;
pub mod patch;
pub mod registration;
pub mod rejection;
pub mod review;
pub mod server;
pub mod service;
pub mod trust;
pub mod url;
pub mod validation;
