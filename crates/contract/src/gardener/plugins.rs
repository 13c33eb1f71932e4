//! Admission plugins of gardener-apiserver, which the configuration of a contract's cases turns on.

use serde_json::Value;

/// Their names, in the order of the chain.
pub use schema::admission_plugins::NAMES;

/// The component whose contracts turn them on: `config: {admission: {plugins: [Bastion]}}`.
pub const COMPONENT: &str = "garden";
/// The only substrate that has them.
pub const SUBSTRATE: &str = "garden";
/// Instead of a list of names: the plugins that are on by default.
pub const DEFAULT: &str = "default";

/// Whether the configuration of a component's case turns on plugins, and the substrate has none.
#[must_use]
pub fn are_missing(component: &str, config: &Value, substrate: &str) -> bool {
    substrate != SUBSTRATE && component == COMPONENT && config.get("admission").is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::SUBSTRATES;

    #[test]
    fn plugins_are_missing_where_a_garden_s_case_turns_them_on_and_no_server_has_them() {
        let (bastion, other) = (json!({"admission": {"plugins": ["Bastion"]}}), json!({"server": {}}));
        for (component, config, substrate, missing) in [
            ("garden", &bastion, "garden", false),
            ("garden", &bastion, "direct", true),
            ("garden", &bastion, "kind", true),
            ("garden", &other, "direct", false),
            ("garden", &Value::Null, "direct", false),
            ("operator", &bastion, "direct", false),
        ] {
            assert_eq!(
                are_missing(component, config, substrate),
                missing,
                "{component} {config} {substrate}"
            );
        }
        assert!(SUBSTRATES.contains(&SUBSTRATE));
    }
}
