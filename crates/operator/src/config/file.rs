//! Configuration files: read, defaulted, validated.

use controller::config::{ConfigError, Configuration, Format, checks, validated};

use super::{API_VERSION, KIND, OperatorConfiguration, defaults, validation};
use crate::command::PROGRAM;

/// Feature gates of the operator.
const FEATURES: [&str; 2] = ["DefaultSeccompProfile", "HVPA"];

/// OPR-CFG-010.
impl Configuration for OperatorConfiguration {
    const FORMAT: Format =
        Format { api_version: API_VERSION, kind: KIND, normalize: |_| {}, misspellings: &MISSPELLINGS };

    fn complete(mut self) -> Result<Self, ConfigError> {
        defaults::set(&mut self);
        checks::own_features(PROGRAM.name, &FEATURES, &self.feature_gates)?;
        let errors = validation::validate(&self);
        validated(self, errors)
    }
}

/// Names of the same fields in configurations of other components.
const MISSPELLINGS: [(&str, &str); 2] = [
    ("clientConnection", "runtimeClientConnection"),
    (
        "controllers.networkPolicy.namespaceSelectors",
        "controllers.networkPolicy.additionalNamespaceSelectors",
    ),
];

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn file(fields: Value) -> Value {
        let mut file = json!({"controllers": {"networkPolicy": {"concurrentSyncs": 5}}});
        if let (Value::Object(file), Value::Object(fields)) = (&mut file, fields) {
            file.extend(fields);
        }
        file
    }

    #[test]
    fn an_unknown_field_is_a_warning_and_an_error_where_files_are_read_strictly() {
        let file = file(json!({"clientConnection": {}, "newField": 1}));
        let (_, warnings) = OperatorConfiguration::from_value(&file).unwrap();
        let suggested: Vec<_> =
            warnings.iter().map(|warning| (warning.field.as_str(), warning.suggestion.as_deref())).collect();
        assert!(suggested.contains(&("clientConnection", Some("runtimeClientConnection"))), "{suggested:?}");
        assert!(suggested.iter().any(|(field, _)| *field == "newField"), "{suggested:?}");
        assert!(matches!(OperatorConfiguration::from_partial(&file), Err(ConfigError::Unknown(_))));
    }

    #[test]
    fn an_unknown_feature_gate_is_named_with_those_that_there_are() {
        let file = file(json!({"featureGates": {"HVPA": true, "Foo": true}}));
        let error = OperatorConfiguration::from_value(&file).unwrap_err().to_string();
        let want = "unrecognized feature gate: Foo; gardener-operator has DefaultSeccompProfile, HVPA, AllAlpha and AllBeta";
        assert_eq!(error, want);
    }
}
