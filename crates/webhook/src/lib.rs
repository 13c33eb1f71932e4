//! Admission webhooks: an AdmissionReview comes in, a pure function decides, a JSON patch goes out.
//!
//! - [`review`] — the wire: AdmissionReview v1 and v1beta1, read and answered;
//! - [`object`] — typed access to raw objects that loses no field;
//! - [`patch`] — the smallest patch between two objects;
//! - [`registration`] — which request is sent to which webhook, evaluated as kube-apiserver does;
//! - [`service`] — webhooks behind paths as one tower service, with limits;
//! - [`dial`] — how a webhook is reached: in process, or over TLS;
//! - [`server`] — HTTPS with certificates that are reloaded while it runs.
//!
//! Invariants: nothing here knows a Gardener kind, a Kubernetes client or a clock.

pub mod dial;
pub mod object;
pub mod registration;
pub mod review;
