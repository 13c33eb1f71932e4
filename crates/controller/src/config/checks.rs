//! Checks of what the configurations of components share, with the original's error texts.

use std::collections::BTreeMap;

use webhook::field::{Error, Path};

use super::ConfigError;

const LOG_LEVELS: [&str; 3] = ["debug", "info", "error"];
const LOG_FORMATS: [&str; 2] = ["json", "text"];
/// Feature gates that every component has.
const FEATURES: [&str; 2] = ["AllAlpha", "AllBeta"];

/// Checks level and format of the log.
pub fn log(level: &str, format: &str, errors: &mut Vec<Error>) {
    supported(level, &LOG_LEVELS, &Path::new("logLevel"), errors);
    supported(format, &LOG_FORMATS, &Path::new("logFormat"), errors);
}

/// Checks that a text is one of `values`.
pub fn supported(text: &str, values: &[&str], at: &Path, errors: &mut Vec<Error>) {
    if !values.contains(&text) {
        errors.push(Error::not_supported(at, text, values));
    }
}

/// Checks that a number is not negative.
pub fn not_negative(number: i64, at: &Path, errors: &mut Vec<Error>) {
    if number < 0 {
        errors.push(Error::invalid(at, number, "must be greater than or equal to 0"));
    }
}

/// Checks the feature gates of a program without any: like the original, it does not start with an unknown one.
///
/// # Errors
/// The first that is unknown.
pub fn features(program: &'static str, gates: &BTreeMap<String, bool>) -> Result<(), ConfigError> {
    match gates.keys().find(|feature| !FEATURES.contains(&feature.as_str())) {
        Some(feature) => Err(ConfigError::Feature { feature: feature.clone(), program }),
        None => Ok(()),
    }
}

/// Checks the feature gates of a program that has some.
///
/// # Errors
/// The first that is unknown.
pub fn own_features(
    program: &'static str,
    own: &'static [&'static str],
    gates: &BTreeMap<String, bool>,
) -> Result<(), ConfigError> {
    let is_known = |feature: &str| own.contains(&feature) || FEATURES.contains(&feature);
    match gates.keys().find(|feature| !is_known(feature)) {
        Some(feature) => Err(ConfigError::OwnFeature { feature: feature.clone(), program, own }),
        None => Ok(()),
    }
}
