//! Configuration files: read, defaulted, validated.

use controller::config::{ConfigError, Configuration, Format, validated};
use serde_json::Value;

use super::{API_VERSION, AdmissionControllerConfiguration, KIND, defaults, validation};

impl Configuration for AdmissionControllerConfiguration {
    const FORMAT: Format =
        Format { api_version: API_VERSION, kind: KIND, normalize: |_| {}, misspellings: &MISSPELLINGS };

    fn complete(mut self) -> Result<Self, ConfigError> {
        defaults::set(&mut self);
        let errors = validation::validate(&self);
        validated(self, errors)
    }

    /// There is no leader to elect, so that nothing is added to what tests write.
    fn from_partial(partial: &Value) -> Result<Self, ConfigError> {
        let (config, warnings) = Self::from_value(partial)?;
        if warnings.is_empty() { Ok(config) } else { Err(ConfigError::Unknown(warnings)) }
    }
}

/// Names that the error messages of the original suggest.
const MISSPELLINGS: [(&str, &str); 1] =
    [("server.resourceAdmissionConfiguration.mode", "server.resourceAdmissionConfiguration.operationMode")];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_unknown_field_is_a_warning_and_misspellings_are_known() {
        let file = json!({"server": {"resourceAdmissionConfiguration": {"mode": "log"}}, "featureGates": {}});
        let (_, warnings) = AdmissionControllerConfiguration::from_value(&file).unwrap();
        let suggested: Vec<_> =
            warnings.iter().map(|warning| (warning.field.as_str(), warning.suggestion.as_deref())).collect();
        assert!(suggested.contains(&(MISSPELLINGS[0].0, Some(MISSPELLINGS[0].1))), "{suggested:?}");
        assert!(suggested.iter().any(|(field, _)| *field == "featureGates"), "{suggested:?}");
    }

    #[test]
    fn a_size_is_a_quantity() {
        let file = |size: serde_json::Value| {
            json!({"server": {"resourceAdmissionConfiguration": {"limits": [
                {"apiGroups": ["a"], "apiVersions": ["b"], "resources": ["c"], "size": size}]}}})
        };
        for (size, printed) in [(json!("100k"), "100k"), (json!(100_000), "100k"), (json!("1Mi"), "1Mi")] {
            let config = AdmissionControllerConfiguration::from_partial(&file(size)).unwrap();
            let limits = config.server.resource_admission_configuration.unwrap().limits;
            assert_eq!(limits[0].size.0.to_string(), printed);
        }
        assert!(AdmissionControllerConfiguration::from_partial(&file(json!("big"))).is_err());
    }
}
