//! ShootExposureClass: where the ExposureClass of a new Shoot wants it.

use std::collections::BTreeSet;

use api::garden::reference::{SeedSelector, Toleration};
use api::garden::{ExposureClass, Shoot};
use schema::admission_plugins;
use serde_json::Value;
use webhook::field::quote;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::shoot_support::{EXPOSURE_CLASSES, NO_SHOOT, forbidden, is_shoot, read_shoot, write_changes};
use super::{Admit, Attributes, Plugin};

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SHOOT_EXPOSURE_CLASS,
    is_on_by_default: true,
    admit: Some(Admit::Plain(admit)),
    validate: None,
};

/// Unites selector and tolerations of a new Shoot with those of its class: GPL-EXPCL-001.
fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) -> Result<(), Rejection> {
    let is_new = attributes.operation == Operation::Create && attributes.subresource.is_empty();
    if !is_shoot(attributes) || !is_new {
        return Ok(());
    }
    let shoot = read_shoot(object.as_deref(), NO_SHOOT)?;
    let Some(name) = &shoot.spec.exposure_class_name else { return Ok(()) };
    let class = EXPOSURE_CLASSES.get(attributes.objects, "", name);
    let united = class.and_then(|class| unite(&shoot, class));
    let united = united.map_err(|why| forbidden(attributes, object.as_deref(), &why))?;
    object.map_or(Ok(()), |object| write_changes(object, &shoot, &united))
}

fn unite(shoot: &Shoot, class: ExposureClass) -> Result<Shoot, String> {
    let mut united = shoot.clone();
    let Some(scheduling) = class.scheduling else { return Ok(united) };
    if let Some(selector) = scheduling.seed_selector {
        unite_selectors(united.spec.seed_selector.get_or_insert_default(), selector)?;
    }
    unite_tolerations(&mut united.spec.tolerations, scheduling.tolerations)?;
    Ok(united)
}

/// Labels of both, unless they differ, expressions of both, and the sorted provider types of both: GPL-EXPCL-002.
fn unite_selectors(own: &mut SeedSelector, of_class: SeedSelector) -> Result<(), String> {
    let is_other =
        |(key, value): (&String, &String)| own.match_labels.get(key).is_some_and(|own| own != value);
    if of_class.match_labels.iter().any(is_other) {
        let why = "matching labels of the seed selector conflicts with the ones of referenced exposureclass";
        return Err(why.to_owned());
    }
    own.match_labels.extend(of_class.match_labels);
    own.match_expressions.extend(of_class.match_expressions);
    let types: BTreeSet<String> = own.provider_types.drain(..).chain(of_class.provider_types).collect();
    own.provider_types = types.into_iter().collect();
    Ok(())
}

/// The class's tolerations come last; the Shoot has none of their keys, whatever its value: GPL-EXPCL-003.
fn unite_tolerations(own: &mut Vec<Toleration>, of_class: Vec<Toleration>) -> Result<(), String> {
    let keys: BTreeSet<&str> = own.iter().map(|toleration| toleration.key.as_str()).collect();
    if let Some(twice) = of_class.iter().find(|toleration| keys.contains(toleration.key.as_str())) {
        let key = quote(&twice.key);
        return Err(format!("toleration with key {key} conflicts with the ones of referenced exposureclass"));
    }
    own.extend(of_class);
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::shoot_testing::{Stored, merged, outcome};

    fn admitted(scheduling: &Value, spec: &Value) -> (String, Value) {
        let class = json!({"metadata": {"name": "x"}, "scheduling": scheduling});
        let stored = Stored::default().with("exposureclasses.core.gardener.cloud", class);
        let mut object = json!({"metadata": {"name": "app"}, "spec": spec});
        let message = outcome(admit(&stored.attributes(Operation::Create), Some(&mut object))).1;
        (message, object["spec"].clone())
    }

    #[rstest]
    #[case::no_scheduling(Value::Null, json!({"purpose": "p"}), json!({"purpose": "p"}))]
    #[case::into_nothing(
        json!({"seedSelector": {"matchLabels": {"a": "b"}}, "tolerations": [{"key": "k"}]}),
        json!({}),
        json!({"seedSelector": {"matchLabels": {"a": "b"}}, "tolerations": [{"key": "k"}]}),
    )]
    #[case::from_nothing(
        json!({}),
        json!({"seedSelector": {"providerTypes": ["z", "a"]}, "tolerations": [{"key": "k"}]}),
        json!({"seedSelector": {"providerTypes": ["z", "a"]}, "tolerations": [{"key": "k"}]}),
    )]
    #[case::united(
        json!({
            "seedSelector": {
                "matchLabels": {"a": "b", "c": "d"}, "matchExpressions": [{"key": "y", "operator": "Exists"}],
                "providerTypes": ["b", "a"],
            },
            "tolerations": [{"key": "y"}, {"key": "w"}],
        }),
        json!({
            "seedSelector": {
                "matchLabels": {"a": "b", "e": "f"}, "matchExpressions": [{"key": "x", "operator": "Exists"}],
                "providerTypes": ["c", "b"],
            },
            "tolerations": [{"key": "x"}],
        }),
        json!({
            "seedSelector": {
                "matchLabels": {"a": "b", "c": "d", "e": "f"},
                "matchExpressions": [{"key": "x", "operator": "Exists"}, {"key": "y", "operator": "Exists"}],
                "providerTypes": ["a", "b", "c"],
            },
            "tolerations": [{"key": "x"}, {"key": "y"}, {"key": "w"}],
        }),
    )]
    fn selectors_and_tolerations_are_united(
        #[case] scheduling: Value,
        #[case] spec: Value,
        #[case] want: Value,
    ) {
        let class = json!({"exposureClassName": "x"});
        let (message, found) = admitted(&scheduling, &merged(&class, &spec));
        assert_eq!((message, found), (String::new(), merged(&class, &want)));
    }

    #[rstest]
    #[case::unknown(json!({"exposureClassName": "y"}), "exposureclass.core.gardener.cloud \"y\" not found")]
    #[case::label(
        json!({"exposureClassName": "x", "seedSelector": {"matchLabels": {"a": "c"}}}),
        "matching labels of the seed selector conflicts with the ones of referenced exposureclass",
    )]
    #[case::toleration(
        json!({"exposureClassName": "x", "tolerations": [{"key": "k", "value": "v"}]}),
        "toleration with key \"k\" conflicts with the ones of referenced exposureclass",
    )]
    fn conflicts_are_refused(#[case] spec: Value, #[case] want: &str) {
        let scheduling = json!({"seedSelector": {"matchLabels": {"a": "b"}}, "tolerations": [{"key": "k"}]});
        let message = format!("shoots.core.gardener.cloud \"app\" is forbidden: {want}");
        assert_eq!(admitted(&scheduling, &spec), (message, spec));
    }

    #[test]
    fn a_shoot_without_class_stays_as_it_is() {
        assert_eq!(admitted(&json!({}), &json!({"purpose": "p"})), (String::new(), json!({"purpose": "p"})));
    }
}
