//! Component configuration, clock, and the process around webhooks and controllers: health, readiness, metrics, log, shutdown.
//!
//! - [`config`] — configuration files, with the place of every unknown field;
//! - [`clock`] — the time of day as an argument;
//! - [`log`] — structured log lines as the original writes them;
//! - [`metrics`] — what is measured, as one value;
//! - [`probes`] — health and readiness, answered as Kubernetes expects;
//! - [`process`] — runs all of it until told to stop.

pub mod clock;
pub mod config;
pub mod log;
pub mod metrics;
pub mod probes;
pub mod process;
