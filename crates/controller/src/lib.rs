//! Component configuration, clock, controllers, and the process around them: health, readiness, metrics, log, shutdown.
//!
//! - [`config`], [`clock`], [`entropy`] — configuration files, the time of day, randomness: all passed as arguments;
//! - [`remote`], [`connection`], [`cluster`], [`store`] — connections to clusters, and shared caches;
//! - [`source`], [`queue`], [`reconcile`], [`controller`], [`controllers`], [`task`] — controllers, and tasks beside them;
//! - [`leader`], [`limit`], [`events`] — leader election, rate limits, events;
//! - [`command`], [`log`], [`metrics`], [`probes`], [`process`], [`webhooks`], [`garden`] — a process: start, servers, end.
//! ```
//! use controller::{Cluster, Controller, Event, Outcome, Reconcile, Request, Selection, Store, Watch};
//! use k8s_openapi::api::core::v1::Secret;
//! struct Reconciler { secrets: Store<Secret>, client: kube::Client }
//! impl Reconcile for Reconciler {
//!     type Error = kube::Error;
//!     async fn reconcile(&self, request: Request) -> Result<Outcome, kube::Error> {
//!         let Some(secret) = self.secrets.get(&request.namespace, &request.name) else { return Ok(Outcome::Done) };
//!         Ok(Outcome::RequeueAfter(std::time::Duration::from_secs(60))) // observe, plan, execute with `self.client`
//!     }
//! }
//! fn controller(source: &Cluster) -> Controller {
//!     let secrets = source.store::<Secret>(Selection::all().labels("purpose=token"));
//!     let changed = Watch::of(&secrets).filter(|event| !matches!(event, Event::Delete(_)));
//!     Controller::new("secret", Reconciler { secrets, client: source.client() }).workers(5).source(changed)
//! }
//! ```

pub mod bucket;
pub mod clock;
pub mod cluster;
pub mod command;
pub mod config;
pub mod connection;
pub mod controller;
pub mod controllers;
pub mod entropy;
pub mod events;
pub mod garden;
pub mod leader;
pub mod limit;
pub mod log;
pub mod manager;
mod measure;
pub mod metrics;
pub mod probes;
pub mod process;
pub mod queue;
pub mod reconcile;
pub mod remote;
mod request;
pub mod requests;
pub mod source;
pub mod store;
pub mod task;
pub mod webhooks;
mod worker;

pub use reconcile::{Outcome, Reconcile, describe_error};
pub use source::{Event, Source, Ticker, Watch, owners, predicate};
pub use store::{Index, Selection, Store};
pub use {cluster::CacheOptions, cluster::Cluster, controller::Controller, controller::Watches};
pub use {controllers::Controllers, entropy::Entropy, request::Request, tokio_util::sync::CancellationToken};
