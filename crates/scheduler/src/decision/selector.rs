//! The filter for Seeds with the labels that a CloudProfile or a Shoot selects.

use std::borrow::Cow;
use std::collections::BTreeMap;

use api::garden::reference::{LabelSelectorRequirement, SeedSelector};
use api::garden::{CloudProfile, Shoot};
use formats::name;
use webhook::field::quote;

use super::{Excluded, Filter, Seeds, Unschedulable};

/// The object that has a selector.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner<'a> {
    CloudProfile(&'a CloudProfile),
    Shoot(&'a Shoot),
}

/// The Seeds that the owner's selector selects; all without one. SCH-LBL-001 to -006.
pub(super) fn filter<'a>(
    seeds: Seeds<'a>,
    owner: Owner<'_>,
    excluded: &mut Excluded<'a>,
) -> Result<Seeds<'a>, Unschedulable> {
    let (selector, filter, kind) = match owner {
        Owner::CloudProfile(profile) => {
            (&profile.spec.seed_selector, Filter::CloudProfileSelector, "CloudProfile")
        }
        Owner::Shoot(shoot) => (&shoot.spec.seed_selector, Filter::ShootSelector, "Shoot"),
    };
    let Some(selector) = selector else { return Ok(seeds) };
    let requirements = requirements(selector)
        .map_err(|error| Unschedulable::Selector { selector: go_text(selector), error })?;
    let (number, none) = (seeds.len(), BTreeMap::new());
    let seeds = excluded.retain(seeds, filter, |seed| {
        let labels = seed.metadata.labels.as_ref().unwrap_or(&none);
        let missed = requirements.iter().find(|requirement| !requirement.matches(labels));
        missed.map(|requirement| Cow::Owned(format!("its labels do not match {requirement}")))
    });
    if seeds.is_empty() {
        let texts: Vec<String> = requirements.iter().map(ToString::to_string).collect();
        return Err(Unschedulable::Labels { seeds: number, owner: kind, selector: texts.join(",") });
    }
    Ok(seeds)
}

/// One requirement on a label.
#[derive(Debug)]
enum Requirement<'a> {
    Equals(&'a str, &'a str),
    In(&'a str, Vec<&'a str>),
    NotIn(&'a str, Vec<&'a str>),
    Exists(&'a str),
    DoesNotExist(&'a str),
}

impl Requirement<'_> {
    fn key(&self) -> &str {
        match self {
            Self::Equals(key, _)
            | Self::In(key, _)
            | Self::NotIn(key, _)
            | Self::Exists(key)
            | Self::DoesNotExist(key) => key,
        }
    }

    fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let label = labels.get(self.key()).map(String::as_str);
        match self {
            Self::Equals(_, value) => label == Some(value),
            Self::In(_, values) => label.is_some_and(|label| values.contains(&label)),
            Self::NotIn(_, values) => !label.is_some_and(|label| values.contains(&label)),
            Self::Exists(_) => label.is_some(),
            Self::DoesNotExist(_) => label.is_none(),
        }
    }
}

/// In Kubernetes' notation: `a=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`.
impl std::fmt::Display for Requirement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Equals(key, value) => write!(f, "{key}={value}"),
            Self::In(key, values) => write!(f, "{key} in ({})", values.join(",")),
            Self::NotIn(key, values) => write!(f, "{key} notin ({})", values.join(",")),
            Self::Exists(key) => f.write_str(key),
            Self::DoesNotExist(key) => write!(f, "!{key}"),
        }
    }
}

/// The requirements of a selector, ordered by key.
fn requirements(selector: &SeedSelector) -> Result<Vec<Requirement<'_>>, String> {
    let mut found = Vec::new();
    for (key, value) in &selector.match_labels {
        check(key, std::slice::from_ref(value), None)?;
        found.push(Requirement::Equals(key, value));
    }
    for expression in &selector.match_expressions {
        found.push(requirement(expression)?);
    }
    found.sort_by(|a, b| a.key().cmp(b.key()));
    Ok(found)
}

fn requirement(expression: &LabelSelectorRequirement) -> Result<Requirement<'_>, String> {
    let LabelSelectorRequirement { key, operator, values, .. } = expression;
    let sorted = || {
        let mut sorted: Vec<&str> = values.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        // client-go keeps values as a set.
        sorted.dedup();
        sorted
    };
    let empty = "for 'in', 'notin' operators, values set can't be empty";
    let filled = "values set must be empty for exists and does not exist";
    let (requirement, wrong) = match operator.as_str() {
        "In" => (Requirement::In(key, sorted()), values.is_empty().then_some(empty)),
        "NotIn" => (Requirement::NotIn(key, sorted()), values.is_empty().then_some(empty)),
        "Exists" => (Requirement::Exists(key), (!values.is_empty()).then_some(filled)),
        "DoesNotExist" => (Requirement::DoesNotExist(key), (!values.is_empty()).then_some(filled)),
        other => return Err(format!("{} is not a valid label selector operator", quote(other))),
    };
    check(key, values, wrong)?;
    Ok(requirement)
}

/// The errors of a requirement as client-go words them: of the key, of the number of values, of each value.
fn check(key: &str, values: &[String], wrong: Option<&str>) -> Result<(), String> {
    let mut errors = Vec::new();
    let invalid = |field: &str, value: &str, why: &str| format!("{field}: Invalid value: {value}: {why}");
    let of_key = name::label_key(key);
    if !of_key.is_empty() {
        errors.push(invalid("key", &quote(key), &of_key.join("; ")));
    }
    if let Some(wrong) = wrong {
        let quoted: Vec<String> = values.iter().map(|value| quote(value)).collect();
        let list = if values.is_empty() {
            "[]string(nil)".to_owned()
        } else {
            format!("[]string{{{}}}", quoted.join(", "))
        };
        errors.push(invalid("values", &list, wrong));
    }
    for (index, value) in values.iter().enumerate() {
        let of_value = name::label_value(value);
        if !of_value.is_empty() {
            errors.push(invalid(&format!("values[{index}][{key}]"), &quote(value), &of_value.join("; ")));
        }
    }
    match errors.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        several => Err(format!("[{}]", several.join(", "))),
    }
}

/// The selector as Go prints the struct with `%v`.
fn go_text(selector: &SeedSelector) -> String {
    let labels: Vec<String> =
        selector.match_labels.iter().map(|(key, value)| format!("{key}:{value}")).collect();
    let expressions = selector.match_expressions.iter().map(|expression| {
        let LabelSelectorRequirement { key, operator, values, .. } = expression;
        format!("{{{key} {operator} [{}]}}", values.join(" "))
    });
    let expressions: Vec<String> = expressions.collect();
    format!("{{map[{}] [{}]}}", labels.join(" "), expressions.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn read(selector: Value) -> SeedSelector {
        formats::yaml::from_str(&selector.to_string()).unwrap()
    }

    fn texts(selector: Value) -> Result<String, String> {
        let selector = read(selector);
        let texts: Vec<String> = requirements(&selector)?.iter().map(ToString::to_string).collect();
        Ok(texts.join(","))
    }

    #[rstest]
    #[case::empty(json!({}), "")]
    #[case::labels(json!({"matchLabels": {"b": "1", "a": ""}}), "a=,b=1")]
    #[case::sorted(json!({"matchLabels": {"m": "1"}, "matchExpressions": [{"key": "z", "operator": "Exists"}, {"key": "a", "operator": "DoesNotExist"}]}), "!a,m=1,z")]
    #[case::sets(json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["y", "x", "y"]}, {"key": "b", "operator": "NotIn", "values": ["z"]}]}), "a in (x,y),b notin (z)")]
    fn selectors_have_kubernetes_notation(#[case] selector: Value, #[case] want: &str) {
        assert_eq!(texts(selector), Ok(want.to_owned()));
    }

    #[rstest]
    #[case::operator(json!({"matchExpressions": [{"key": "a", "operator": "Foo"}]}), "\"Foo\" is not a valid label selector operator")]
    #[case::no_values(json!({"matchExpressions": [{"key": "a", "operator": "In"}]}), "values: Invalid value: []string(nil): for 'in', 'notin' operators, values set can't be empty")]
    #[case::values(json!({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["x"]}]}), "values: Invalid value: []string{\"x\"}: values set must be empty for exists and does not exist")]
    fn invalid_selectors_are_refused_with_the_library_s_words(#[case] selector: Value, #[case] want: &str) {
        assert_eq!(texts(selector), Err(want.to_owned()));
    }

    #[test]
    fn keys_and_values_are_checked_as_labels() {
        let error = texts(json!({"matchExpressions": [{"key": "a b", "operator": "In", "values": ["x y"]}]}))
            .unwrap_err();
        assert!(error.starts_with("[key: Invalid value: \"a b\": "), "{error}");
        assert!(error.contains(", values[0][a b]: Invalid value: \"x y\": "), "{error}");
    }

    #[test]
    fn a_selector_is_printed_as_go_prints_it() {
        let selector = json!({
            "matchLabels": {"b": "1", "a": "2"},
            "matchExpressions": [{"key": "k", "operator": "In", "values": ["x", "y"]}, {"key": "l", "operator": "Foo"}],
        });
        assert_eq!(go_text(&read(selector)), "{map[a:2 b:1] [{k In [x y]} {l Foo []}]}");
    }
}
