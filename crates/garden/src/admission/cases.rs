//! The plugins that the configuration of a contract's cases turns on.
//!
//! ```yaml
//! config:
//!   admission:
//!     plugins: [ShootDNSRewriting]                # these alone; `default`: those that are on by default
//!     configuration: {ShootDNSRewriting: {apiVersion: …, kind: Configuration, commonSuffixes: [a.b]}}
//! ```
//!
//! A contract about one plugin turns on that plugin alone, as one may with the original's flags: what it refuses is then its own
//! word, and not that of another plugin which asks the same earlier.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};
use webhook::admission_plugin::AdmissionPlugins;

use super::configuration_file::{CONFIGURED, configure};
use super::{Chain, Configuration};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Admission {
    plugins: Chosen,
    #[serde(default)]
    configuration: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Chosen {
    Only(Vec<String>),
    Named(String),
}

/// The plugins of cases with a configuration; `None` if it does not speak of plugins.
///
/// # Errors
/// If it names an unknown plugin, or the configuration of a plugin is wrong.
pub fn of_cases(config: &Value) -> Result<Option<Arc<dyn AdmissionPlugins>>, String> {
    match chain(config)? {
        Some(chain) => Ok(Some(Arc::new(chain))),
        None => Ok(None),
    }
}

fn chain(config: &Value) -> Result<Option<Chain>, String> {
    let Some(admission) = config.get("admission") else { return Ok(None) };
    let admission: Admission =
        serde_json::from_value(admission.clone()).map_err(|error| format!("config.admission: {error}"))?;
    let chain = match &admission.plugins {
        Chosen::Only(names) => Chain::only(names).map_err(|error| error.to_string())?,
        Chosen::Named(name) if name == "default" => Chain::default(),
        Chosen::Named(name) => {
            return Err(format!("config.admission.plugins: want `default` or a list, got {name:?}"));
        }
    };
    let mut configuration = Configuration::default();
    for (plugin, document) in &admission.configuration {
        if !CONFIGURED.contains(&plugin.as_str()) {
            return Err(format!("the admission plugin {plugin} has no configuration"));
        }
        configure(&mut configuration, plugin, document)?;
    }
    Ok(Some(chain.configured(configuration)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(config: &Value) -> Result<Option<String>, String> {
        chain(config).map(|chain| chain.map(|chain| format!("{chain:?}")))
    }

    #[test]
    fn a_configuration_turns_on_plugins_by_name() {
        for config in [json!(null), json!({}), json!({"other": 1})] {
            assert_eq!(shown(&config), Ok(None), "{config}");
        }
        let of = |admission: Value| shown(&json!({"admission": admission}));
        assert_eq!(of(json!({"plugins": "default"})), Ok(Some(format!("{:?}", Chain::default()))));
        let bastion = Chain::only(&["Bastion".to_owned()]).unwrap();
        assert_eq!(of(json!({"plugins": ["Bastion"]})), Ok(Some(format!("{bastion:?}"))));
        let suffixes = json!({
            "apiVersion": "shootdnsrewriting.admission.gardener.cloud/v1alpha1", "kind": "Configuration", "commonSuffixes": ["a.b"],
        });
        let configured = of(json!({"plugins": [], "configuration": {"ShootDNSRewriting": suffixes}}));
        assert!(configured.unwrap().unwrap().contains("a.b"));
    }

    #[test]
    fn what_turns_on_nothing_is_an_error() {
        for (admission, want) in [
            (json!({"plugins": ["X"]}), "admission plugin \"X\" is unknown"),
            (json!({"plugins": "all"}), "config.admission.plugins: want `default` or a list, got \"all\""),
            (json!({"plugins": [], "other": 1}), "config.admission: unknown field `other`"),
            (
                json!({"plugins": [], "configuration": {"Bastion": {}}}),
                "the admission plugin Bastion has no configuration",
            ),
            (json!({"plugins": [], "configuration": {"ShootDNSRewriting": {}}}), ""),
        ] {
            let error = shown(&json!({"admission": admission})).unwrap_err();
            assert!(error.starts_with(want), "{error}");
        }
    }
}
