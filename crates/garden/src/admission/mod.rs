//! The admission plugins of gardener-apiserver, as pure functions in the order of the original's chain. What the original's
//! informers, clock, authorizer and random numbers give is an argument.

mod bastion;
mod cases;
mod chain;
pub mod configuration_file;
mod controller_registration_resources;
mod custom_verb_authorizer;
mod deletion_confirmation;
mod discovery;
mod extension_labels;
mod extension_validator;
mod lookup;
mod managed_seed;
mod managed_seed_shoot;
pub(crate) mod messages;
mod open_id_connect_preset;
mod project_validator;
mod resource_reference_manager;
mod seed_validator;
mod shoot_dns;
mod shoot_dns_rewriting;
mod shoot_exposure_class;
mod shoot_managed_seed;
mod shoot_node_local_dns;
mod shoot_quota_validator;
mod shoot_support;
#[cfg(test)]
mod shoot_testing;
mod shoot_toleration_restriction;
pub(crate) mod shoot_validator;
mod shoot_vpa;
#[cfg(test)]
mod testing;

use jiff::Timestamp;
use serde_json::Value;
use webhook::rejection::Rejection;
use webhook::review::Operation;
use webhook::strategy::ObjectReader;

pub use self::cases::of_cases;
pub use self::chain::{Chain, ChainError, plugin_names};
pub use webhook::admission_plugin::{Action, Authorizer, User};

/// A request that a plugin judges.
#[derive(Clone, Copy)]
pub struct Attributes<'a> {
    /// What the request does; a deletion of a collection is a deletion of each object, without a name.
    pub operation: Operation,
    /// `shoots.core.gardener.cloud`.
    pub resource: &'a str,
    /// The kind of the body: `Shoot`.
    pub kind: &'a str,
    /// `status`, `binding`; empty for the object itself.
    pub subresource: &'a str,
    /// Empty for a cluster-scoped object.
    pub namespace: &'a str,
    /// Empty if the server generates it, or for a deletion of a collection.
    pub name: &'a str,
    /// The stored object, for updates and deletions.
    pub old: Option<&'a Value>,
    /// Who asks.
    pub user: &'a User,
    /// The server's time.
    pub now: Timestamp,
    /// The objects of the garden.
    pub objects: &'a dyn ObjectReader,
    /// Who may do what.
    pub authorizer: &'a dyn Authorizer,
    /// A random number below its argument.
    pub random: &'a dyn Fn(u64) -> u64,
    /// The plugins' configuration.
    pub configuration: &'a Configuration,
}

/// What a plugin does to a request before the object is validated; a deletion has no object.
pub type Admit = fn(&Attributes<'_>, Option<&mut Value>) -> Result<(), Rejection>;
/// What a plugin refuses once the object is valid; a deletion has no object.
pub type Validate = fn(&Attributes<'_>, Option<&Value>) -> Result<(), Rejection>;

/// A plugin.
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    /// Its name in flags: `ShootDNS`.
    pub name: &'static str,
    /// Whether it is on unless a flag turns it off.
    pub is_on_by_default: bool,
    /// Its part in the mutating phase.
    pub admit: Option<Admit>,
    /// Its part in the validating phase.
    pub validate: Option<Validate>,
}

/// The configuration of the plugins that have one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// Of ShootTolerationRestriction: tolerations that Shoots get, and may have.
    pub default_tolerations: Vec<Value>,
    /// Of ShootTolerationRestriction.
    pub toleration_whitelist: Vec<Value>,
    /// Of ShootDNSRewriting: suffixes of common names.
    pub common_suffixes: Vec<String>,
}
