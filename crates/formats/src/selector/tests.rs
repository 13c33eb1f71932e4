//! Tests of selectors by table and by property.

use proptest::prelude::*;

use super::*;

fn selector(requirements: &[(&str, Operator, &[&str])]) -> LabelSelector {
    let requirement = |(key, operator, values): &(&str, Operator, &[&str])| Requirement {
        key: (*key).to_owned(),
        operator: *operator,
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    LabelSelector { match_expressions: requirements.iter().map(requirement).collect(), ..Default::default() }
}

fn violation(field: &str, kind: ViolationKind, message: &str) -> Violation {
    Violation { field: field.to_owned(), kind, message: message.to_owned() }
}

#[test]
fn selectors_are_validated_as_by_an_api_server() {
    let required = "must be specified when `operator` is 'In' or 'NotIn'";
    let forbidden = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    let values = "matchExpressions[0].values";
    let table = [
        (selector(&[]), Vec::new()),
        (selector(&[("a", Operator::In, &["b"]), ("a", Operator::Exists, &[])]), Vec::new()),
        (selector(&[("a", Operator::In, &[])]), vec![violation(values, ViolationKind::Required, required)]),
        (
            selector(&[("a", Operator::NotIn, &[])]),
            vec![violation(values, ViolationKind::Required, required)],
        ),
        (
            selector(&[("a", Operator::Exists, &["b"])]),
            vec![violation(values, ViolationKind::Forbidden, forbidden)],
        ),
        (
            selector(&[("a", Operator::Gt, &["1"])]),
            vec![violation(
                "matchExpressions[0].operator",
                ViolationKind::Invalid("Gt".to_owned()),
                "not a valid selector operator",
            )],
        ),
    ];
    for (selector, violations) in table {
        assert_eq!(selector.validate(), violations, "{selector:?}");
    }
    let labels = BTreeMap::from([("a b".to_owned(), "-".to_owned())]);
    let fields: Vec<String> = LabelSelector {
        match_labels: labels,
        match_expressions: selector(&[("-", Operator::In, &["-"])]).match_expressions,
    }
    .validate()
    .into_iter()
    .map(|violation| violation.field)
    .collect();
    assert_eq!(
        fields,
        ["matchLabels", "matchLabels", "matchExpressions[0].key", "matchExpressions[0].values[0]"]
    );
}

#[test]
fn nulls_are_empty_and_unknown_operators_are_rejected() {
    let read = |text: &str| serde_json::from_str::<LabelSelector>(text);
    let everything = read(r#"{"matchLabels": null, "matchExpressions": null}"#).unwrap();
    assert!(everything.is_empty() && everything.matches(&BTreeMap::new()));
    assert_eq!(serde_json::to_string(&everything).unwrap(), "{}");
    assert!(read(r#"{"matchExpressions": [{"key": "a", "operator": "Is"}]}"#).is_err());
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("in"), Just("notin"), Just("x.y/z"), Just("A-1_b")].prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![Just(""), Just("a"), Just("in"), Just("7")].prop_map(str::to_owned)
}

fn requirement() -> impl Strategy<Value = Requirement> {
    let listed = prop_oneof![Just(Operator::In), Just(Operator::NotIn)];
    let bare = prop_oneof![Just(Operator::Exists), Just(Operator::DoesNotExist)];
    let bound = prop_oneof![Just(Operator::Gt), Just(Operator::Lt)];
    let values =
        prop::collection::btree_set(value(), 1..4).prop_map(|values| values.into_iter().collect::<Vec<_>>());
    let number =
        (-3_i64..9).prop_filter("a label value", |number| *number >= 0).prop_map(|n| vec![n.to_string()]);
    prop_oneof![
        (name(), listed, values).prop_map(|(key, operator, values)| Requirement { key, operator, values }),
        (name(), bare).prop_map(|(key, operator)| Requirement { key, operator, values: Vec::new() }),
        (name(), bound, number).prop_map(|(key, operator, values)| Requirement { key, operator, values }),
    ]
}

fn any_selector() -> impl Strategy<Value = LabelSelector> {
    let labels = prop::collection::btree_map(name(), value(), 0..3);
    (labels, prop::collection::vec(requirement(), 0..4)).prop_map(|(match_labels, mut match_expressions)| {
        match_expressions.sort_by(|a, b| a.key.cmp(&b.key));
        LabelSelector { match_labels, match_expressions }
    })
}

proptest! {
    #[test]
    fn a_printed_selector_parses_to_itself(selector in any_selector()) {
        let text = selector.to_string();
        prop_assert_eq!(text.parse::<LabelSelector>().unwrap(), selector, "{}", text);
    }

    #[test]
    fn a_selector_matches_if_every_requirement_matches(
        selector in any_selector(),
        labels in prop::collection::btree_map(name(), value(), 0..4),
    ) {
        let equal = selector.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value));
        let rest = selector.match_expressions.iter().all(|requirement| {
            let label = labels.get(&requirement.key);
            let listed = label.is_some_and(|label| requirement.values.contains(label));
            let number = |text: &String| text.parse::<i64>().ok();
            let compared = label.and_then(number).zip(requirement.values.first().and_then(number));
            match requirement.operator {
                Operator::In => listed,
                Operator::NotIn => !listed,
                Operator::Exists => label.is_some(),
                Operator::DoesNotExist => label.is_none(),
                Operator::Gt => compared.is_some_and(|(label, bound)| label > bound),
                Operator::Lt => compared.is_some_and(|(label, bound)| label < bound),
            }
        });
        prop_assert_eq!(selector.matches(&labels), equal && rest);
    }

    #[test]
    fn no_text_causes_a_panic(text in "[a-c!=<>(), \\\\\\\\in]{0,12}") {
        if let Ok(selector) = text.parse::<LabelSelector>() {
            prop_assert_eq!(selector.to_string().parse::<LabelSelector>().unwrap(), selector);
        }
        if let Ok(selector) = text.parse::<FieldSelector>() {
            prop_assert_eq!(selector.to_string().parse::<FieldSelector>().unwrap(), selector);
        }
    }
}
