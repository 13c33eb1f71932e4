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

use serde_json::Value;
use webhook::rejection::Rejection;

pub use self::cases::of_cases;
pub use self::chain::{Chain, ChainError, plugin_names};
pub use webhook::admission_plugin::{Action, Attributes, Authorizer, User};

/// What a plugin does to a request before the object is validated; a deletion has no object.
#[derive(Clone, Copy, Debug)]
pub enum Admit {
    /// Without a configuration.
    Plain(fn(&Attributes<'_>, Option<&mut Value>) -> Result<(), Rejection>),
    /// With the configuration.
    Configured(fn(&Configuration, &Attributes<'_>, Option<&mut Value>) -> Result<(), Rejection>),
}

impl Admit {
    /// Asks the plugin about a request, whose object it may change.
    pub(crate) fn ask(
        self,
        configuration: &Configuration,
        attributes: &Attributes<'_>,
        object: Option<&mut Value>,
    ) -> Result<(), Rejection> {
        match self {
            Self::Plain(admit) => admit(attributes, object),
            Self::Configured(admit) => admit(configuration, attributes, object),
        }
    }
}

/// What a plugin refuses once the object is valid; a deletion has no object.
#[derive(Clone, Copy, Debug)]
pub enum Validate {
    /// Without a configuration.
    Plain(fn(&Attributes<'_>, Option<&Value>) -> Result<(), Rejection>),
    /// With the configuration.
    Configured(fn(&Configuration, &Attributes<'_>, Option<&Value>) -> Result<(), Rejection>),
}

impl Validate {
    /// Asks the plugin about a request.
    pub(crate) fn ask(
        self,
        configuration: &Configuration,
        attributes: &Attributes<'_>,
        object: Option<&Value>,
    ) -> Result<(), Rejection> {
        match self {
            Self::Plain(validate) => validate(attributes, object),
            Self::Configured(validate) => validate(configuration, attributes, object),
        }
    }
}

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
