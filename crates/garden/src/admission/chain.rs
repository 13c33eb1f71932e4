//! The chain of gardener-apiserver: its plugins in the original's order, and which of them are on.

use std::collections::BTreeSet;

use serde_json::Value;
use webhook::admission_plugin::AdmissionPlugins;
use webhook::rejection::Rejection;

use super::{
    Attributes, Configuration, Plugin, bastion, controller_registration_resources, custom_verb_authorizer,
    deletion_confirmation, extension_labels, extension_validator, managed_seed, managed_seed_shoot,
    open_id_connect_preset, project_validator, resource_reference_manager, seed_validator, shoot_dns,
    shoot_dns_rewriting, shoot_exposure_class, shoot_managed_seed, shoot_node_local_dns,
    shoot_quota_validator, shoot_toleration_restriction, shoot_validator, shoot_vpa,
};

/// Every plugin, in the order in which each phase asks them: GPL-CHAIN-001 to -005. The order decides who answers first where several
/// would refuse: GPL-CHAIN-006.
static PLUGINS: [&Plugin; 22] = [
    &resource_reference_manager::PLUGIN,
    &extension_validator::PLUGIN,
    &extension_labels::PLUGIN,
    &shoot_toleration_restriction::PLUGIN,
    &shoot_exposure_class::PLUGIN,
    &shoot_dns::PLUGIN,
    &shoot_managed_seed::PLUGIN,
    &shoot_node_local_dns::PLUGIN,
    &shoot_dns_rewriting::PLUGIN,
    &shoot_quota_validator::PLUGIN,
    &shoot_validator::PLUGIN,
    &seed_validator::PLUGIN,
    &controller_registration_resources::PLUGIN,
    &project_validator::PLUGIN,
    &deletion_confirmation::PLUGIN,
    &open_id_connect_preset::PLUGIN,
    &open_id_connect_preset::CLUSTER_PLUGIN,
    &custom_verb_authorizer::PLUGIN,
    &shoot_vpa::PLUGIN,
    &managed_seed::PLUGIN,
    &managed_seed_shoot::PLUGIN,
    &bastion::PLUGIN,
];

/// The plugins that are on, with their configuration; what the builder of an API server takes.
#[derive(Clone, Debug)]
pub struct Chain {
    plugins: Vec<&'static Plugin>,
    configuration: Configuration,
}

/// Why a choice of plugins is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// A name that is no plugin's.
    #[error("admission plugin {name:?} is unknown; known are {}", plugin_names().join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
    /// A plugin that is to be on and off.
    #[error("admission plugin {name:?} is both enabled and disabled")]
    Overlap {
        /// Its name.
        name: String,
    },
}

impl Default for Chain {
    /// The plugins that are on by default.
    fn default() -> Self {
        Self::of(|plugin| plugin.is_on_by_default)
    }
}

impl Chain {
    /// The plugins that are on by default, with these and without those: the flags `--enable-admission-plugins` and
    /// `--disable-admission-plugins`.
    ///
    /// # Errors
    /// If a name is unknown, or in both lists.
    pub fn choose(enabled: &[String], disabled: &[String]) -> Result<Self, ChainError> {
        for name in enabled.iter().chain(disabled) {
            if !PLUGINS.iter().any(|plugin| plugin.name == name) {
                return Err(ChainError::Unknown { name: name.clone() });
            }
        }
        if let Some(name) = enabled.iter().find(|name| disabled.contains(name)) {
            return Err(ChainError::Overlap { name: name.clone() });
        }
        let set = |names: &[String]| names.iter().cloned().collect::<BTreeSet<String>>();
        let (enabled, disabled) = (set(enabled), set(disabled));
        Ok(Self::of(|plugin| {
            (plugin.is_on_by_default || enabled.contains(plugin.name)) && !disabled.contains(plugin.name)
        }))
    }

    /// These plugins alone, in the chain's order.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn only(names: &[String]) -> Result<Self, ChainError> {
        match names.iter().find(|name| !PLUGINS.iter().any(|plugin| plugin.name == name.as_str())) {
            Some(name) => Err(ChainError::Unknown { name: name.clone() }),
            None => Ok(Self::of(|plugin| names.iter().any(|name| name == plugin.name))),
        }
    }

    /// The same plugins with a configuration.
    #[must_use]
    pub fn configured(self, configuration: Configuration) -> Self {
        Self { configuration, ..self }
    }

    fn of(is_on: impl Fn(&Plugin) -> bool) -> Self {
        let plugins = PLUGINS.into_iter().filter(|plugin| is_on(plugin)).collect();
        Self { plugins, configuration: Configuration::default() }
    }
}

impl AdmissionPlugins for Chain {
    fn admit(&self, attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
        let mut object = object;
        self.plugins
            .iter()
            .filter_map(|plugin| plugin.admit)
            .try_for_each(|part| part.ask(&self.configuration, attributes, object.as_deref_mut()))
    }

    fn validate(&self, attributes: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection> {
        self.plugins
            .iter()
            .filter_map(|plugin| plugin.validate)
            .try_for_each(|part| part.ask(&self.configuration, attributes, object))
    }
}

/// The names of all plugins, in the chain's order.
#[must_use]
pub fn plugin_names() -> Vec<&'static str> {
    PLUGINS.iter().map(|plugin| plugin.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(chain: &Chain) -> Vec<&'static str> {
        chain.plugins.iter().map(|plugin| plugin.name).collect()
    }

    #[test]
    fn plugins_have_the_original_s_order_and_phases() {
        let phases = |plugin: &Plugin| match (plugin.admit, plugin.validate) {
            (Some(_), Some(_)) => "both",
            (Some(_), None) => "mutating",
            (None, Some(_)) => "validating",
            (None, None) => "none",
        };
        let lines: Vec<_> =
            PLUGINS.iter().map(|plugin| (plugin.name, phases(plugin), plugin.is_on_by_default)).collect();
        let want = [
            ("ResourceReferenceManager", "mutating", true),
            ("ExtensionValidator", "validating", true),
            ("ExtensionLabels", "mutating", true),
            ("ShootTolerationRestriction", "both", true),
            ("ShootExposureClass", "mutating", true),
            ("ShootDNS", "mutating", true),
            ("ShootManagedSeed", "validating", true),
            ("ShootNodeLocalDNSEnabledByDefault", "mutating", false),
            ("ShootDNSRewriting", "mutating", false),
            ("ShootQuotaValidator", "validating", true),
            ("ShootValidator", "mutating", true),
            ("SeedValidator", "validating", true),
            ("ControllerRegistrationResources", "validating", true),
            ("ProjectValidator", "validating", true),
            ("DeletionConfirmation", "validating", true),
            ("OpenIDConnectPreset", "mutating", true),
            ("ClusterOpenIDConnectPreset", "mutating", true),
            ("CustomVerbAuthorizer", "validating", true),
            ("ShootVPAEnabledByDefault", "mutating", false),
            ("ManagedSeed", "mutating", true),
            ("ManagedSeedShoot", "validating", true),
            ("Bastion", "mutating", true),
        ];
        assert_eq!(lines, want);
        let on: Vec<_> =
            PLUGINS.iter().filter(|plugin| plugin.is_on_by_default).map(|plugin| plugin.name).collect();
        assert_eq!(names(&Chain::default()), on);
    }

    #[test]
    fn flags_choose_plugins_by_name() {
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        let chosen = Chain::choose(&list(&["Bastion"]), &list(&["ManagedSeed", "SeedValidator"])).unwrap();
        let mut want = names(&Chain::default());
        want.retain(|name| !matches!(*name, "ManagedSeed" | "SeedValidator"));
        assert_eq!(names(&chosen), want);
        let rewriting = Chain::choose(&list(&["ShootDNSRewriting"]), &[]).unwrap();
        assert!(names(&rewriting).contains(&"ShootDNSRewriting"));
        let unknown = Chain::choose(&[], &list(&["X"])).unwrap_err();
        assert!(
            unknown
                .to_string()
                .starts_with("admission plugin \"X\" is unknown; known are ResourceReferenceManager, "),
            "{unknown}"
        );
        let only = Chain::only(&list(&["ShootDNS", "ResourceReferenceManager"])).unwrap();
        assert_eq!(names(&only), ["ResourceReferenceManager", "ShootDNS"]);
        assert!(Chain::only(&list(&["X"])).is_err());
        let both = Chain::choose(&list(&["Bastion"]), &list(&["Bastion"])).unwrap_err();
        assert_eq!(both.to_string(), "admission plugin \"Bastion\" is both enabled and disabled");
    }
}
