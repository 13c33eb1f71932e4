//! The Seed that a ManagedSeed's gardenlet will register, from the gardenlet's configuration.

use api::garden::ManagedSeed;
use api::garden::seed::SeedTemplate;
use serde_json::Value;

const API_VERSION: &str = "gardenlet.config.gardener.cloud/v1alpha1";
const KIND: &str = "GardenletConfiguration";

/// Why the Seed of a ManagedSeed is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SeedTemplateError {
    /// It has no gardenlet.
    #[error("no gardenlet specified in managedseed: {}", webhook::field::quote(.0))]
    NoGardenlet(String),
    /// The configuration of its gardenlet is missing or malformed.
    #[error("could not decode gardenlet configuration: {0}")]
    Undecodable(String),
    /// The configuration of its gardenlet has no Seed.
    #[error("no seed config found for managedseed {0}")]
    NoSeedConfig(String),
}

/// The Seed that a ManagedSeed will be.
pub(crate) fn seed_template(managed_seed: &ManagedSeed) -> Result<SeedTemplate, SeedTemplateError> {
    let name = || managed_seed.metadata.name.clone().unwrap_or_default();
    let gardenlet =
        managed_seed.spec.gardenlet.as_ref().ok_or_else(|| SeedTemplateError::NoGardenlet(name()))?;
    let config = gardenlet.config.as_ref().unwrap_or(&Value::Null);
    check_kind(config).map_err(SeedTemplateError::Undecodable)?;
    match config.get("seedConfig") {
        None | Some(Value::Null) => Err(SeedTemplateError::NoSeedConfig(name())),
        Some(template) => serde_json::from_value(template.clone())
            .map_err(|error| SeedTemplateError::Undecodable(error.to_string())),
    }
}

fn check_kind(config: &Value) -> Result<(), String> {
    let text = |field: &str| config.get(field).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    if kind.is_empty() {
        return Err(format!("Object 'Kind' is missing in '{config}'"));
    }
    if version.is_empty() {
        return Err(format!("Object 'apiVersion' is missing in '{config}'"));
    }
    if (version, kind) == (API_VERSION, KIND) {
        return Ok(());
    }
    Err(format!("no kind {kind:?} is registered for version {version:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn template(spec: &Value) -> Result<SeedTemplate, String> {
        let managed_seed: ManagedSeed =
            serde_json::from_value(json!({"metadata": {"name": "m"}, "spec": spec})).unwrap();
        seed_template(&managed_seed).map_err(|error| error.to_string())
    }

    #[test]
    fn the_seed_stands_in_the_configuration_of_the_gardenlet() {
        let config = |seed: &Value| {
            let config = json!({"apiVersion": API_VERSION, "kind": KIND, "seedConfig": seed});
            json!({"gardenlet": {"config": config}})
        };
        let found =
            template(&config(&json!({"spec": {"secretRef": {"name": "a", "namespace": "b"}}}))).unwrap();
        assert_eq!(found.spec.secret_ref.unwrap().name.as_deref(), Some("a"));
        let missing = Err("no seed config found for managedseed m".to_owned());
        assert_eq!(template(&config(&Value::Null)), missing);
        assert_eq!(template(&json!({})), Err("no gardenlet specified in managedseed: \"m\"".to_owned()));
        for (spec, want) in [
            (json!({"gardenlet": {}}), "Object 'Kind' is missing"),
            (json!({"gardenlet": {"config": {"kind": KIND}}}), "Object 'apiVersion' is missing"),
            (
                json!({"gardenlet": {"config": {"kind": "A", "apiVersion": "b/v1"}}}),
                "no kind \"A\" is registered",
            ),
            (config(&json!({"spec": 5})), "invalid type"),
        ] {
            let error = template(&spec).unwrap_err();
            assert!(error.starts_with("could not decode gardenlet configuration: "), "{error}");
            assert!(error.contains(want), "{error}");
        }
    }
}
