//! Admission webhooks: reads an AdmissionReview, calls a pure function, answers with a JSON patch.
//!
//! - [`review`] — reads AdmissionReviews v1 and v1beta1;
//! - [`answer`] — the answer of a webhook, and its encoding;
//! - [`mutation`], [`validation`] — answer with the result of a pure function over objects;
//! - [`rejection`], [`field`] — reasons for a rejection, with Kubernetes' messages;
//! - [`object`] — typed access to raw objects that keeps unknown fields;
//! - [`patch`] — the smallest patch between two objects;
//! - [`registration`] — which request is sent to which webhook, as in kube-apiserver;
//! - [`strategy`] — the rules of a kind for an API server that serves the kind itself;
//! - [`posting`] — subresources of such a kind that answer what is posted to them;
//! - [`admission_plugin`] — admission plugins of such a server;
//! - [`service`] — webhooks with their paths as one tower service, with limits;
//! - [`dial`] — sends reviews to a webhook, in process or over TLS;
//! - [`trust`] — verifies servers with a bundle of authorities;
//! - [`server`] — an HTTPS server that reloads its certificate;
//! - [`url`] — URLs as Go parses them.
//!
//! Invariant: this crate depends neither on a Gardener kind nor on a Kubernetes client or a clock.

pub mod admission_plugin;
pub mod answer;
pub mod dial;
pub mod field;
mod metrics;
pub mod mutation;
pub mod object;
pub mod patch;
pub mod posting;
pub mod registration;
pub mod rejection;
pub mod review;
pub mod server;
pub mod service;
pub mod strategy;
pub mod trust;
pub mod url;
pub mod validation;
