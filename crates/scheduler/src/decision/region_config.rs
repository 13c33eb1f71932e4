//! Distances between regions, which operators configure in ConfigMaps.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::garden::CloudProfile;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Number, Value};

use super::Unschedulable;

/// Label of a ConfigMap: what it is for.
pub const PURPOSE: &str = "scheduling.gardener.cloud/purpose";
/// Value of [`PURPOSE`] for ConfigMaps with distances between regions.
pub const PURPOSE_REGION_CONFIG: &str = "region-config";
/// Annotation of such a ConfigMap: names of CloudProfiles, separated by commas. Blanks are part of a name.
pub const SCHEDULED_CLOUD_PROFILES: &str = "scheduling.gardener.cloud/cloudprofiles";

/// The first ConfigMap for a CloudProfile. SCH-RGN-010, SCH-RGN-011.
pub(super) fn of_profile<'a>(all: &'a [Arc<ConfigMap>], profile: &CloudProfile) -> Option<&'a ConfigMap> {
    let profile = profile.metadata.name.as_deref().unwrap_or_default();
    let names_it = |config: &&ConfigMap| {
        let annotations = config.metadata.annotations.as_ref();
        let names = annotations.and_then(|annotations| annotations.get(SCHEDULED_CLOUD_PROFILES));
        names.is_some_and(|names| names.split(',').any(|name| name == profile))
    };
    all.iter().map(|config| &**config).find(names_it)
}

/// The distances from a region to others; `None` if the ConfigMap says nothing about the region. A region that does not
/// name itself is at distance 0. SCH-RGN-002 to -007.
pub(super) fn distances(
    config: Option<&ConfigMap>,
    region: &str,
) -> Result<Option<BTreeMap<String, i64>>, Unschedulable> {
    let data = config.and_then(|config| Some((config, config.data.as_ref()?.get(region)?)));
    let Some((config, text)) = data.filter(|(_, text)| !text.is_empty()) else { return Ok(None) };
    let mut distances = read(text).map_err(|error| Unschedulable::RegionConfig {
        namespace: config.metadata.namespace.clone().unwrap_or_default(),
        name: config.metadata.name.clone().unwrap_or_default(),
        region: region.to_owned(),
        error,
    })?;
    distances.entry(region.to_owned()).or_insert(0);
    Ok(Some(distances))
}

/// Reads a YAML map of regions to integers as Go does: the first document alone, in the order of the keys.
fn read(text: &str) -> Result<BTreeMap<String, i64>, String> {
    let value = formats::yaml::first_document(text.as_bytes())
        .map_err(|error| format!("error converting YAML to JSON: yaml: {error}"))?;
    let unfit = |what: &str, wanted: &str| {
        format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {what} into Go value of type {wanted}"
        )
    };
    let fields = match value {
        Value::Null => return Ok(BTreeMap::new()),
        Value::Object(fields) => fields.into_iter().collect::<BTreeMap<_, _>>(),
        other => return Err(unfit(kind(&other), "map[string]int")),
    };
    let entry = |(region, value): (String, Value)| match &value {
        Value::Null => Ok((region, 0)),
        Value::Number(number) => {
            let distance = integer(number).ok_or_else(|| unfit(&format!("number {number}"), "int"))?;
            Ok((region, distance))
        }
        other => Err(unfit(kind(other), "int")),
    };
    fields.into_iter().map(entry).collect()
}

/// The integer that a number is, if Go would write it as one; `10.0` and `1e3` are integers.
fn integer(number: &Number) -> Option<i64> {
    /// From here on a float does not fit into 64 bits: 2⁶³.
    const TOO_LARGE: f64 = 9_223_372_036_854_775_808.0;
    number.as_i64().or_else(|| {
        let float = number.as_f64().filter(|_| number.is_f64())?;
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        (float.fract() == 0.0 && (-TOO_LARGE..TOO_LARGE).contains(&float)).then_some(float as i64)
    })
}

/// The kind of a JSON value, in Go's words.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::integers("a: 10\nb: -3", &[("a", 10), ("b", -3)])]
    #[case::json("{\"a\": 1}", &[("a", 1)])]
    #[case::integral("{a: 10.0, b: 1e3, c: 0x10, d: 010}", &[("a", 10), ("b", 1000), ("c", 16), ("d", 8)])]
    #[case::null_value("a: ~", &[("a", 0)])]
    #[case::null("~", &[])]
    #[case::comment("# nothing", &[])]
    #[case::yaml_1_1("{no: 1, on: 2, 3: 4, \"off\": 5}", &[("3", 4), ("false", 1), ("off", 5), ("true", 2)])]
    #[case::first_document("a: 1\n---\na: 2", &[("a", 1)])]
    #[case::last_key("a: 1\na: 2", &[("a", 2)])]
    #[case::largest("a: 9223372036854775807", &[("a", i64::MAX)])]
    fn maps_of_integers_are_read(#[case] text: &str, #[case] want: &[(&str, i64)]) {
        let want = want.iter().map(|(region, distance)| ((*region).to_owned(), *distance)).collect();
        assert_eq!(read(text), Ok(want));
    }

    #[rstest]
    #[case::fraction("a: 1.5", "number 1.5 into Go value of type int")]
    #[case::string("a: \"10\"", "string into Go value of type int")]
    #[case::boolean("a: yes", "bool into Go value of type int")]
    #[case::nested("a: {b: 1}", "object into Go value of type int")]
    #[case::nested_list("a: [1]", "array into Go value of type int")]
    #[case::too_large("a: 9223372036854775808", "number 9223372036854775808 into Go value of type int")]
    #[case::first_of_two("{b: text, a: true}", "bool into Go value of type int")]
    #[case::list("- a", "array into Go value of type map[string]int")]
    #[case::text("abc", "string into Go value of type map[string]int")]
    #[case::number("5", "number into Go value of type map[string]int")]
    fn other_values_are_refused_in_go_s_words(#[case] text: &str, #[case] want: &str) {
        let want = format!("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {want}");
        assert_eq!(read(text), Err(want));
    }

    #[test]
    fn what_is_no_yaml_is_refused() {
        let error = read("a: [").unwrap_err();
        assert!(error.starts_with("error converting YAML to JSON: yaml: line "), "{error}");
    }
}
