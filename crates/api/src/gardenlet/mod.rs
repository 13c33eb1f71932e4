//! The configuration of a gardenlet, every field of v1.82: `gardenlet.config.gardener.cloud/v1alpha1`.
//!
//! Objects are read and written as those of [`garden`](crate::garden).

pub mod connections;
pub mod controllers;
pub mod deployments;

use std::collections::BTreeMap;

use self::connections::{Connection, GardenConnection, LeaderElection, Server};
use self::controllers::Controllers;
use self::deployments::{Etcd, ExposureClassHandler, Logging, Monitoring, NodeToleration, Sni};
use crate::garden::Quantity;
use crate::garden::seed::SeedTemplate;

/// The group of its configuration.
pub const GROUP: &str = "gardenlet.config.gardener.cloud";
/// Its version.
pub const VERSION: &str = "v1alpha1";
/// Group and version, as in `apiVersion`.
pub const API_VERSION: &str = "gardenlet.config.gardener.cloud/v1alpha1";
/// Its kind.
pub const KIND: &str = "GardenletConfiguration";

object! {
    /// The configuration of a gardenlet.
    GardenletConfiguration {
        /// Group and version.
        api_version: Option<String>,
        /// Its kind.
        kind: Option<String>,
        /// How it reaches the garden.
        garden_client_connection: Option<GardenConnection>,
        /// How it reaches its seed.
        seed_client_connection: Option<Connection>,
        /// How it reaches shoots.
        shoot_client_connection: Option<Connection>,
        /// Its controllers.
        controllers: Option<Controllers>,
        /// Capacity of the seed.
        resources: Option<Resources>,
        /// Its leader election.
        leader_election: Option<LeaderElection>,
        /// `debug`, `info` or `error`.
        log_level: Option<String>,
        /// `json` or `text`.
        log_format: Option<String>,
        /// Its servers.
        server: Option<Server>,
        /// Its profiling settings.
        debugging: Option<Debugging>,
        /// Its feature gates.
        feature_gates: BTreeMap<String, bool>,
        /// The Seed that it registers.
        seed_config: Option<SeedTemplate>,
        /// Logging in the seed and its shoots.
        logging: Option<Logging>,
        /// How shoots' API servers are reached by their names.
        sni: Option<Sni>,
        /// Controllers of etcd.
        etcd_config: Option<Etcd>,
        /// What ExposureClasses mean in this seed.
        exposure_class_handlers: Vec<ExposureClassHandler>,
        /// Monitoring of shoots.
        monitoring: Option<Monitoring>,
        /// How long pods of control planes stay on failing nodes.
        node_toleration: Option<NodeToleration>,
    }

    /// Capacity of a seed.
    Resources {
        /// All of it: `shoots`.
        capacity: BTreeMap<String, Quantity>,
        /// The part that is not for shoots.
        reserved: BTreeMap<String, Quantity>,
    }

    /// Profiling settings of a program.
    Debugging {
        /// Whether it serves profiles.
        enable_profiling: Option<bool>,
        /// Whether profiles have locks.
        enable_contention_profiling: Option<bool>,
    }
}
