//! Property tests of expectations: an expectation made from an answer holds, and replaced values break it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use schema::Type;
use serde_json::{Map, Value, json};

use super::*;

/// Fields of every type; lists with one key, with two keys and a default, ordered and unordered.
fn rules() -> Rules {
    let quantity = json!({"x-kubernetes-int-or-string": true,
        "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"});
    let leaf = json!({"type": "object", "properties": {
        "quantity": quantity, "duration": {"type": "string", "format": "duration"},
        "time": {"type": "string", "format": "date-time"}, "number": {"type": "integer"},
        "text": {"type": "string"}, "flag": {"type": "boolean"}, "yaml": {"type": "string"},
        "word": {"type": "string", "enum": ["one", "two", "three"]},
        "plain": {"type": "array", "items": {"type": "string"}},
        "loose": {"type": "array", "items": {"type": "string"}},
        "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {"type": "object", "properties": {"port": {"type": "integer"},
                "protocol": {"type": "string", "default": "TCP"}, "name": {"type": "string"}}}},
    }});
    let mut root = leaf.clone();
    root["properties"]["units"] = json!({"type": "array", "items": leaf});
    let list_keys = BTreeMap::from([("units".to_owned(), "text".to_owned())]);
    let unordered = ["loose".to_owned(), "units[].loose".to_owned()];
    Rules::new(Type::from_openapi(&root)).with(&list_keys, &unordered)
}

fn fields() -> impl Strategy<Value = Map<String, Value>> {
    let texts = || prop::collection::vec("[a-c]{0,3}", 0..4);
    let ports = prop::collection::btree_map(1..5_i64, any::<(bool, bool)>(), 0..3).prop_map(|ports| {
        let port = |(port, (udp, named))| {
            let mut fields = json!({"port": port});
            if udp {
                fields["protocol"] = json!("UDP");
            }
            if named {
                fields["name"] = json!("x");
            }
            fields
        };
        ports.into_iter().map(port).collect::<Value>()
    });
    let possible: Vec<(&str, BoxedStrategy<Value>)> = vec![
        (
            "quantity",
            prop_oneof![Just(json!("1")), Just(json!("1000m")), Just(json!(1)), Just(json!("7"))].boxed(),
        ),
        ("duration", prop_oneof![Just(json!("1h")), Just(json!("60m")), Just(json!("5s"))].boxed()),
        (
            "time",
            prop_oneof![Just(json!("2024-06-01T00:00:00Z")), Just(json!("2001-01-01T00:00:00Z"))].boxed(),
        ),
        ("number", (-2..3_i64).prop_map(Value::from).boxed()),
        ("text", "[a-c~]{0,4}".prop_map(Value::from).boxed()),
        ("flag", any::<bool>().prop_map(Value::from).boxed()),
        ("word", prop_oneof![Just(json!("one")), Just(json!("two"))].boxed()),
        ("yaml", (0..3).prop_map(|number| json!(format!("a: {number}\nb: [x, y]\n"))).boxed()),
        ("plain", texts().prop_map(Value::from).boxed()),
        ("loose", texts().prop_map(Value::from).boxed()),
        ("ports", ports.boxed()),
    ];
    let optional = possible.into_iter().map(|(name, value)| {
        let value = prop_oneof![1 => Just(None), 1 => Just(Some(Value::Null)), 6 => value.prop_map(Some)];
        value.prop_map(move |value| value.map(|value| (name.to_owned(), value)))
    });
    optional.collect::<Vec<_>>().prop_map(|fields| fields.into_iter().flatten().collect())
}

fn object() -> impl Strategy<Value = Value> {
    (fields(), prop::collection::btree_map("[a-c]{1,2}", fields(), 0..3)).prop_map(|(mut root, units)| {
        let named = units.into_iter().map(|(name, mut unit)| {
            unit.insert("text".to_owned(), name.into());
            Value::Object(unit)
        });
        root.insert("units".to_owned(), named.collect());
        Value::Object(root)
    })
}

/// The choices of a test case, one after the other.
struct Choices(Vec<u8>, usize);

impl Choices {
    fn of(&mut self, count: usize) -> usize {
        self.1 += 1;
        usize::from(self.0[self.1 % self.0.len()]) % count
    }
}

/// Some expectation that the answer satisfies.
fn expectation(
    input: Option<&Value>,
    answer: Option<&Value>,
    rules: &Rules,
    choices: &mut Choices,
) -> Expect {
    let unchanged = if same(input, answer, rules) { Operator::Unchanged } else { Operator::Changed };
    let general = |operator| Expect::Operator(operator);
    match (compare::present(answer), choices.of(6)) {
        (_, 0) => general(unchanged),
        (None, 1) => general(Operator::Any),
        (None, 2) => Expect::Value(Value::Null),
        (None, 3) => general(Operator::OneOf(vec![json!("q"), Value::Null])),
        (None, _) => general(Operator::Absent),
        (Some(_), 1) => general(Operator::Present),
        (Some(Value::Object(fields)), _) => map(input, fields, rules, choices),
        (Some(Value::Array(items)), _) => list(input, items, rules, choices),
        (Some(Value::String(text)), choice @ (2 | 3)) => text_expectation(input, text, choice, choices),
        (Some(value), 4) => general(Operator::OneOf(vec![json!("q"), value.clone(), json!(4)])),
        (Some(value), 5) if scalar::shifted(value, 1, rules).is_some() => {
            let high = scalar::shifted(value, 1, rules).expect("just shifted");
            general(Operator::Between(value.clone(), high))
        }
        (Some(value), _) => Expect::Value(value.clone()),
    }
}

fn map(input: Option<&Value>, fields: &Map<String, Value>, rules: &Rules, choices: &mut Choices) -> Expect {
    let names = rules.ty().fields().into_iter().map(|field| field.name).chain(fields.keys().cloned());
    let names: std::collections::BTreeSet<String> = names.collect();
    let mut wanted = BTreeMap::new();
    for name in names {
        if choices.of(3) > 0 {
            let before = input.and_then(|input| input.get(&name));
            let expect = expectation(before, fields.get(&name), &rules.field(&name), choices);
            wanted.insert(name, expect);
        }
    }
    Expect::Map(wanted)
}

fn text_expectation(input: Option<&Value>, text: &str, choice: usize, choices: &mut Choices) -> Expect {
    match open(Notation::Yaml, text) {
        Some(content @ Value::Object(_)) if choice == 2 => {
            let before = input.and_then(Value::as_str).and_then(|text| open(Notation::Yaml, text));
            let content = expectation(before.as_ref(), Some(&content), &Rules::unknown(), choices);
            Expect::Operator(Operator::Opened(Notation::Yaml, Box::new(content)))
        }
        _ if choice == 2 => Expect::Operator(Operator::Matches { regex: regex::escape(text), not_for: None }),
        _ => {
            let part = text.chars().take(1).collect::<String>();
            Expect::Operator(Operator::Contains(vec![Expect::Value(part.into())]))
        }
    }
}

fn list(input: Option<&Value>, items: &[Value], rules: &Rules, choices: &mut Choices) -> Expect {
    let item_rules = rules.item();
    let choice = choices.of(5);
    let each = Operator::Each(Box::new(Expect::Operator(Operator::Present)));
    match (rules.list(), choice) {
        (_, 0) => Expect::Operator(Operator::Count(items.len())),
        (_, 1) => Expect::Operator(each),
        (_, 2) => {
            let part = items.iter().take(1).map(|item| Expect::Value(item.clone())).collect();
            Expect::Operator(Operator::Contains(part))
        }
        (ListRule::Keyed(keys), _) => {
            let keyed = items.iter().map(|item| {
                let key = rules.key_of(&keys, item).expect("every element has its key");
                let before = input.and_then(Value::as_array).into_iter().flatten();
                let before =
                    before.into_iter().find(|other| rules.key_of(&keys, other).as_ref() == Some(&key));
                let expect = expectation(before, Some(item), &item_rules, choices);
                KeyedItem { key, expect }
            });
            let mut wanted: Vec<KeyedItem> = keyed.collect();
            let missing =
                keys.iter().map(|key| (key.clone(), if key == "port" { json!(99) } else { json!("zz") }));
            wanted.push(KeyedItem { key: missing.collect(), expect: Expect::Operator(Operator::Absent) });
            Expect::Keyed { keys, items: wanted }
        }
        (rule, choice) => {
            let ordered = rule == ListRule::Ordered;
            let mut wanted: Vec<Expect> = items
                .iter()
                .enumerate()
                .map(|(at, item)| {
                    let before = input.and_then(|input| input.get(at)).filter(|_| ordered);
                    expectation(before, Some(item), &item_rules, choices)
                })
                .collect();
            if !ordered {
                wanted.reverse();
            }
            match choice {
                3 if !ordered => Expect::Operator(Operator::Exactly(wanted)),
                _ => Expect::List { items: wanted, ordered },
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_replacement_is_refused_and_differs(
        input in object(), answer in object(), choices in prop::collection::vec(any::<u8>(), 1..60)
    ) {
        let rules = rules();
        let expect = expectation(Some(&input), Some(&answer), &rules, &mut Choices(choices, 0));
        prop_assert_eq!(compare(&expect, Some(&input), Some(&answer), &rules), vec![]);
        for assertion in assertions(&expect, Some(&answer), &rules) {
            let got = get(&answer, &assertion.path);
            let before = get(&input, &assertion.path);
            for replacement in refused(&assertion, got.as_ref(), before.as_ref()) {
                let value = match &replacement {
                    Replacement::Value(value) => Some(value.clone()),
                    Replacement::Nothing => None,
                };
                let mut damaged = answer.clone();
                let context = format!("{} {:?} {replacement:?}", assertion.path, assertion.expect);
                prop_assert!(put(&mut damaged, &assertion.path, value), "not put: {context}");
                prop_assert!(!same(Some(&answer), Some(&damaged), &rules), "no damage: {context}");
                prop_assert!(!holds(&expect, Some(&input), Some(&damaged), &rules), "kept: {context}");
            }
        }
    }

    #[test]
    fn changes_put_into_the_one_make_the_other(before in object(), after in object()) {
        let rules = rules();
        let mut made = before.clone();
        let changes_to = changes(Some(&before), Some(&after), &rules);
        // First removals, from the end, so that positions of other removals stay valid; then additions, from the start.
        let (gone, put_in): (Vec<_>, Vec<_>) = changes_to.iter().partition(|change| change.after.is_none());
        for change in gone.into_iter().rev().chain(put_in) {
            prop_assert!(put(&mut made, &change.path, change.after.clone()));
        }
        prop_assert_eq!(changes(Some(&made), Some(&after), &rules), vec![]);
    }

    #[test]
    fn sameness_ignores_the_order_of_keyed_and_unordered_lists(object in object()) {
        let mut other = object.clone();
        for list in ["units", "ports", "loose"] {
            if let Some(Value::Array(items)) = other.get_mut(list) {
                items.reverse();
            }
        }
        prop_assert!(same(Some(&object), Some(&other), &rules()));
    }

    #[test]
    fn a_diff_shows_nothing_where_all_is_kept(
        input in object(), answer in object(), choices in prop::collection::vec(any::<u8>(), 1..60)
    ) {
        let rules = rules();
        let expect = expectation(Some(&input), Some(&answer), &rules, &mut Choices(choices, 0));
        let shown = pruned(&expect, Some(&input), Some(&answer), &rules);
        prop_assert_eq!(shown.wanted, shown.got);
    }
}
