//! The features of `--feature-gates` that gardener-apiserver v1.82 knows: its own, and those of the library for Kubernetes'
//! API servers.

use std::collections::BTreeMap;

use formats::quote::quote;

/// What a value of a feature does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Only this value is built.
    Only(bool),
    /// The original refuses any other value.
    Locked(bool),
    /// None.
    None,
}

/// All features that the original knows.
static KNOWN: [(&str, Effect); 33] = [
    ("AllAlpha", Effect::Only(false)),
    // Without them there are no Shoots without workers.
    ("AllBeta", Effect::Only(true)),
    ("IPv6SingleStack", Effect::Only(false)),
    ("MutableShootSpecNetworkingNodes", Effect::Only(false)),
    ("ShootForceDeletion", Effect::Only(false)),
    ("WorkerlessShoots", Effect::Only(true)),
    ("APIListChunking", Effect::None),
    ("APIPriorityAndFairness", Effect::None),
    ("APIResponseCompression", Effect::None),
    ("APIServerIdentity", Effect::None),
    ("APIServerTracing", Effect::None),
    ("AdmissionWebhookMatchConditions", Effect::None),
    ("AggregatedDiscoveryEndpoint", Effect::None),
    ("ComponentSLIs", Effect::None),
    ("ConsistentListFromCache", Effect::None),
    ("CustomResourceValidationExpressions", Effect::None),
    ("EfficientWatchResumption", Effect::Locked(true)),
    ("InPlacePodVerticalScaling", Effect::None),
    ("KMSv1", Effect::None),
    ("KMSv2", Effect::None),
    ("KMSv2KDF", Effect::None),
    ("OpenAPIEnums", Effect::None),
    ("OpenAPIV3", Effect::Locked(true)),
    ("RemainingItemCount", Effect::None),
    ("RemoveSelfLink", Effect::Locked(true)),
    ("ServerSideApply", Effect::Locked(true)),
    ("ServerSideFieldValidation", Effect::Locked(true)),
    ("StorageVersionAPI", Effect::None),
    ("StorageVersionHash", Effect::None),
    ("UnauthenticatedHTTP2DOSMitigation", Effect::None),
    ("ValidatingAdmissionPolicy", Effect::None),
    ("WatchBookmark", Effect::Locked(true)),
    ("WatchList", Effect::None),
];

/// Why the value of the flag is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeatureError {
    /// A name without a value.
    #[error("missing bool value for {0}")]
    NoValue(String),
    /// A value that is none.
    #[error("invalid value of {name}={value}, err: strconv.ParseBool: parsing {}: invalid syntax", quote(.value))]
    Value {
        /// The feature.
        name: String,
        /// Its value.
        value: String,
    },
    /// The original does not know the feature.
    #[error("unrecognized feature gate: {0}")]
    Unknown(String),
    /// A value that the original does not allow.
    #[error("cannot set feature gate {name} to {value}, feature is locked to {locked}")]
    Locked {
        /// The feature.
        name: String,
        /// Its value.
        value: bool,
        /// The only value that the original allows.
        locked: bool,
    },
    /// A value that is not built.
    #[error("{name}={value} is not built: leave it out, or write {name}={built}")]
    NotBuilt {
        /// The feature.
        name: String,
        /// Its value.
        value: bool,
        /// The only value that is built.
        built: bool,
    },
}

/// Checks the pairs `NAME=VALUE` of the flag; returns the features that the original knows and whose values have no effect here.
///
/// # Errors
/// The first pair that cannot be read, else the first one in the order of the names that cannot be kept.
pub fn check(pairs: &[String]) -> Result<Vec<&'static str>, FeatureError> {
    let mut given: BTreeMap<&str, bool> = BTreeMap::new();
    for pair in pairs {
        let (name, value) = read(pair)?;
        given.insert(name, value);
    }
    let mut without_effect = Vec::new();
    for (name, value) in given {
        let known = KNOWN.iter().find(|(known, _)| *known == name);
        let &(known, effect) = known.ok_or_else(|| FeatureError::Unknown(name.to_owned()))?;
        let name = name.to_owned();
        match effect {
            Effect::Only(built) if built != value => {
                return Err(FeatureError::NotBuilt { name, value, built });
            }
            Effect::Locked(locked) if locked != value => {
                return Err(FeatureError::Locked { name, value, locked });
            }
            Effect::Only(_) | Effect::Locked(_) => {}
            Effect::None => without_effect.push(known),
        }
    }
    Ok(without_effect)
}

fn read(pair: &str) -> Result<(&str, bool), FeatureError> {
    let (name, value) = pair.split_once('=').map_or((pair, None), |(name, value)| (name, Some(value)));
    let name = name.trim();
    let value = value.ok_or_else(|| FeatureError::NoValue(name.to_owned()))?.trim();
    match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok((name, true)),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok((name, false)),
        other => Err(FeatureError::Value { name: name.to_owned(), value: other.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<Vec<&'static str>, String> {
        let pairs: Vec<String> = text.split(',').map(str::to_owned).collect();
        check(&pairs).map_err(|error| error.to_string())
    }

    #[test]
    fn known_features_may_have_their_defaults_and_those_without_effect_any_value() {
        assert_eq!(checked("WorkerlessShoots=true,IPv6SingleStack = F,AllAlpha=false"), Ok(Vec::new()));
        assert_eq!(
            checked("WatchList=true,ServerSideApply=1,APIPriorityAndFairness=false"),
            Ok(vec!["APIPriorityAndFairness", "WatchList"])
        );
        // The last value counts.
        assert_eq!(checked("WorkerlessShoots=false,WorkerlessShoots=true"), Ok(Vec::new()));
    }

    #[rstest::rstest]
    #[case("X=true", "unrecognized feature gate: X")]
    #[case("HVPA=true", "unrecognized feature gate: HVPA")]
    #[case("WatchList", "missing bool value for WatchList")]
    #[case("X=1,WatchList", "missing bool value for WatchList")]
    #[case("X=yes", "invalid value of X=yes, err: strconv.ParseBool: parsing \"yes\": invalid syntax")]
    #[case("OpenAPIV3=false", "cannot set feature gate OpenAPIV3 to false, feature is locked to true")]
    #[case(
        "ShootForceDeletion=true",
        "ShootForceDeletion=true is not built: leave it out, or write ShootForceDeletion=false"
    )]
    #[case("AllBeta=false", "AllBeta=false is not built: leave it out, or write AllBeta=true")]
    fn others_are_refused_with_the_original_s_words(#[case] text: &str, #[case] want: &str) {
        assert_eq!(checked(text), Err(want.to_owned()));
    }
}
