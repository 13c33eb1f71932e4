//! Tests of each operator, and of keys, types, notations and paths in the comparison.

use std::collections::BTreeMap;

use schema::{Kinds, Type};
use serde_json::{Value, json};

use super::*;

fn value(value: Value) -> Expect {
    Expect::Value(value)
}

fn map<const N: usize>(fields: [(&str, Expect); N]) -> Expect {
    Expect::Map(fields.map(|(name, expect)| (name.to_owned(), expect)).into())
}

fn keyed(items: Vec<(Vec<(&str, Value)>, Expect)>) -> Expect {
    let keys = items
        .first()
        .map_or_else(Vec::new, |(key, _)| key.iter().map(|(name, _)| (*name).to_owned()).collect());
    let item = |(key, expect): (Vec<(&str, Value)>, Expect)| KeyedItem {
        key: key.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        expect,
    };
    Expect::Keyed { keys, items: items.into_iter().map(item).collect() }
}

fn op(operator: Operator) -> Expect {
    Expect::Operator(operator)
}

fn matching(regex: &str) -> Expect {
    op(Operator::Matches { regex: regex.to_owned(), not_for: None })
}

fn opened(notation: Notation, content: Expect) -> Expect {
    op(Operator::Opened(notation, Box::new(content)))
}

fn list(items: &[Value], ordered: bool) -> Expect {
    Expect::List { items: items.iter().cloned().map(Expect::Value).collect(), ordered }
}

/// Whether an answer of unknown type satisfies an expectation, with the input 1.
fn kept(expect: &Expect, answer: &Value) -> bool {
    holds(expect, Some(&json!(1)), Some(answer), &Rules::unknown())
}

fn rules_of(schema: &Value) -> Rules {
    Rules::new(Type::from_openapi(schema))
}

fn pod() -> Rules {
    Rules::new(Kinds::gardener().type_of("", "v1", "Pod").expect("Kubernetes knows pods"))
}

/// Mismatches as `path: want, got`.
fn mismatches(expect: &Expect, input: &Value, answer: &Value, rules: &Rules) -> Vec<String> {
    let found = compare(expect, Some(input), Some(answer), rules);
    let got = |got: Option<Value>| got.unwrap_or_default();
    found.into_iter().map(|found| format!("{}: {}, {}", found.path, found.want, got(found.got))).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table, a line per operator")]
fn each_operator_keeps_and_refuses() {
    let values = |values: &[Value]| values.iter().cloned().map(Expect::Value).collect::<Vec<_>>();
    let table: Vec<(Expect, Vec<Value>, Vec<Value>)> = vec![
        (op(Operator::Absent), vec![json!(null)], vec![json!(""), json!({}), json!([]), json!(false)]),
        (op(Operator::Present), vec![json!(""), json!({}), json!(0)], vec![json!(null)]),
        (op(Operator::Changed), vec![json!(2), json!(null), json!("1")], vec![json!(1), json!(1.0)]),
        (op(Operator::Unchanged), vec![json!(1), json!(1.0)], vec![json!(2), json!(null)]),
        (op(Operator::Any), vec![json!(null), json!(2)], vec![]),
        (
            matching("a.*|b"),
            vec![json!("a"), json!("abc"), json!("b"), json!("a\nb")],
            vec![json!("cb"), json!("ba"), json!(1), json!(null)],
        ),
        (matching("("), vec![], vec![json!("("), json!("")]),
        (
            op(Operator::Contains(values(&[json!(1), json!(2)]))),
            vec![json!([2, 3, 1])],
            vec![json!([1, 1]), json!([]), json!(null), json!(12)],
        ),
        (
            op(Operator::Contains(values(&[json!("a"), json!("b")]))),
            vec![json!("b-a"), json!(["b", "a"])],
            vec![json!("a"), json!({"a": 1, "b": 1})],
        ),
        (
            op(Operator::Contains(vec![op(Operator::Any), value(json!(1))])),
            vec![json!([1, 2]), json!([2, 1])],
            vec![json!([1]), json!([2, 3])],
        ),
        (
            op(Operator::Exactly(values(&[json!(1), json!(1), json!(2)]))),
            vec![json!([1, 2, 1])],
            vec![json!([1, 2, 2]), json!([1, 2]), json!(null)],
        ),
        (op(Operator::Exactly(vec![])), vec![json!([])], vec![json!([1]), json!(null)]),
        (
            op(Operator::OneOf(vec![json!("a"), json!(1)])),
            vec![json!("a"), json!(1.0)],
            vec![json!("b"), json!("1"), json!(null)],
        ),
        (
            op(Operator::AbsentOr(Box::new(value(json!("a"))))),
            vec![json!(null), json!("a")],
            vec![json!("b"), json!({})],
        ),
        (
            op(Operator::NotMatches { regex: "a.*".to_owned(), not_for: json!("ab") }),
            vec![json!(null), json!("b"), json!("ba")],
            vec![json!("a"), json!("ab"), json!(1)],
        ),
        (
            op(Operator::AnyKey(vec!["--a-*".to_owned(), "--b".to_owned()])),
            vec![json!({"--a-x": 1}), json!({"--b": 1, "--c": 1})],
            vec![json!(null), json!({}), json!({"--a": 1, "--bc": 1}), json!("--b")],
        ),
        (
            op(Operator::NoKey(vec!["a/*".to_owned()])),
            vec![json!(null), json!({}), json!({"a": 1, "b/a/": 1})],
            vec![json!({"a/b": 1}), json!({"b": 1, "a/": 1})],
        ),
        (
            op(Operator::Filled),
            vec![json!("a"), json!([1]), json!({"a": 1})],
            vec![json!(null), json!(""), json!([]), json!({}), json!(1)],
        ),
        (op(Operator::OneOf(vec![json!("a"), json!(null)])), vec![json!("a"), json!(null)], vec![json!("b")]),
        (
            op(Operator::Count(2)),
            vec![json!([1, 2]), json!({"a": 1, "b": 2})],
            vec![json!([1]), json!(2), json!(null)],
        ),
        (op(Operator::Count(0)), vec![json!([]), json!(null)], vec![json!([1]), json!("")]),
        (
            op(Operator::Each(Box::new(matching("a+")))),
            vec![json!(["a", "aa"]), json!([])],
            vec![json!(["a", "b"]), json!(null), json!("a")],
        ),
        (
            op(Operator::Between(json!(1), json!(3))),
            vec![json!(1), json!(3), json!(2.5)],
            vec![json!(0), json!(3.1), json!("a"), json!(null)],
        ),
        (
            op(Operator::Between(json!("500m"), json!("2"))),
            vec![json!("500m"), json!(1), json!("2000m")],
            vec![json!("499m"), json!("3")],
        ),
        (
            op(Operator::Between(json!("9h35m"), json!("10h"))),
            vec![json!("580m"), json!("10h")],
            vec![json!("9h"), json!("10h1s"), json!(9)],
        ),
        (
            op(Operator::Between(json!("2024-06-01T00:00:00Z"), json!("2024-06-02T00:00:00Z"))),
            vec![json!("2024-06-01T02:00:00+02:00")],
            vec![json!("2024-06-02T00:00:01Z"), json!("1h")],
        ),
        (value(json!(null)), vec![json!(null)], vec![json!(0)]),
        (value(json!("1")), vec![json!("1")], vec![json!(1), json!("1.0")]),
        (
            value(json!(9_007_199_254_740_993_i64)),
            vec![json!(9_007_199_254_740_993_i64)],
            vec![json!(9_007_199_254_740_992_i64)],
        ),
        (map([]), vec![json!({}), json!({"a": 1})], vec![json!(null), json!([]), json!("a")]),
        (
            map([("a", op(Operator::Absent))]),
            vec![json!({}), json!({"a": null}), json!(null)],
            vec![json!({"a": 0}), json!("a")],
        ),
        (
            list(&[json!(1), json!(2)], true),
            vec![json!([1, 2])],
            vec![json!([2, 1]), json!([1]), json!([1, 2, 3]), json!(null)],
        ),
        (
            list(&[json!(1), json!(2)], false),
            vec![json!([1, 2]), json!([2, 1])],
            vec![json!([1, 1]), json!([1]), json!(null)],
        ),
        (list(&[], true), vec![json!([])], vec![json!([1]), json!(null), json!({})]),
    ];
    for (expect, keeps, refuses) in table {
        for answer in keeps {
            assert!(kept(&expect, &answer), "{} keeps {answer}", words(&expect));
        }
        for answer in refuses {
            assert!(!kept(&expect, &answer), "{} refuses {answer}", words(&expect));
        }
    }
}

#[cfg(not(feature = "cel"))]
#[test]
fn cel_is_never_passed_in_silence() {
    let expect = op(Operator::Cel { expression: "self > 0".to_owned(), not_for: Some(json!(0)) });
    let found = compare(&expect, None, Some(&json!(1)), &Rules::unknown());
    let want = "true for self > 0".to_owned();
    assert_eq!(found, vec![Mismatch { path: Path::default(), want, got: Some(json!(1)) }]);
}

#[test]
fn values_compare_by_value_if_the_type_says_so() {
    let limits =
        pod().field("spec").field("containers").item().field("resources").field("limits").field("cpu");
    let duration = rules_of(&json!({"type": "string", "format": "duration"}));
    let either = rules_of(&json!({"x-kubernetes-int-or-string": true}));
    let text = rules_of(&json!({"type": "string"}));
    let table = [
        (&limits, json!("1000m"), json!("1"), true),
        (&limits, json!(1), json!("1"), true),
        (&limits, json!("1"), json!("2"), false),
        (&duration, json!("60m"), json!("1h"), true),
        (&duration, json!("60m"), json!("1h1s"), false),
        (&either, json!("8080"), json!(8080), true),
        (&either, json!("25%"), json!(25), false),
        (&text, json!("1000m"), json!("1"), false),
        (&text, json!("60m"), json!("1h"), false),
    ];
    for (rules, a, b, wanted) in table {
        assert_eq!(holds(&value(a.clone()), None, Some(&b), rules), wanted, "{a} {b}");
        assert_eq!(same(Some(&a), Some(&b), rules), wanted, "{a} {b}");
    }
}

#[test]
fn keyed_lists_are_partial_and_compare_by_all_their_keys() {
    let ports = |protocol: Option<&str>, expect: Expect| {
        let mut key = vec![("containerPort", json!(80))];
        key.extend(protocol.map(|protocol| ("protocol", json!(protocol))));
        let mut ports = keyed(vec![(key, expect)]);
        if let Expect::Keyed { keys, .. } = &mut ports {
            *keys = vec!["containerPort".to_owned(), "protocol".to_owned()];
        }
        map([(
            "spec",
            map([("containers", keyed(vec![(vec![("name", json!("b"))], map([("ports", ports)]))]))]),
        )])
    };
    let answer = json!({"spec": {"containers": [{"name": "a"}, {"name": "b", "ports": [
        {"containerPort": 80, "protocol": "UDP", "name": "u"}, {"containerPort": 80, "name": "t"}]}]}});
    let named = |name: &str| map([("name", value(json!(name)))]);
    let table = [
        (ports(Some("UDP"), named("u")), vec![]),
        (ports(Some("TCP"), named("t")), vec![]),
        (ports(None, named("t")), vec![]),
        (
            ports(Some("TCP"), named("u")),
            vec!["spec.containers[name=b].ports[containerPort=80,protocol=TCP].name: u, \"t\""],
        ),
        (
            ports(Some("SCTP"), named("u")),
            vec!["spec.containers[name=b].ports[containerPort=80,protocol=SCTP]: {name: u}, null"],
        ),
        (ports(Some("SCTP"), op(Operator::Absent)), vec![]),
        (
            ports(Some("SCTP"), map([("name", op(Operator::Absent))])),
            vec!["spec.containers[name=b].ports[containerPort=80,protocol=SCTP]: {name: absent}, null"],
        ),
        (ports(Some("UDP"), op(Operator::Unchanged)), vec![]),
    ];
    for (expect, wanted) in table {
        assert_eq!(mismatches(&expect, &answer, &answer, &pod()), wanted, "{}", words(&expect));
    }
}

#[test]
fn unchanged_compares_elements_by_key_and_reports_each_change() {
    let containers =
        |image: &str| json!({"spec": {"containers": [{"name": "b", "image": image}, {"name": "a"}]}});
    let reordered = json!({"spec": {"containers": [{"name": "a"}, {"name": "b", "image": "x"}]}});
    let each = op(Operator::Each(Box::new(op(Operator::Unchanged))));
    let each = map([("spec", map([("containers", each)]))]);
    for expect in [op(Operator::Unchanged), each] {
        assert_eq!(mismatches(&expect, &containers("x"), &reordered, &pod()), Vec::<String>::new());
        assert_eq!(
            mismatches(&expect, &containers("y"), &reordered, &pod()),
            vec!["spec.containers[name=b].image: y, \"x\""]
        );
    }
}

#[test]
fn notations_nest() {
    let inner = map([("limit", value(json!(2)))]);
    let nested = opened(Notation::Base64, opened(Notation::Yaml, inner));
    let expect = map([("data", map([("x", nested)]))]);
    let encoded = |text: &str| json!({"data": {"x": close(Notation::Base64, &json!(text))}});
    let rules = Rules::unknown();
    assert_eq!(
        mismatches(&expect, &json!({}), &encoded("limit: 2\nother: 1\n"), &rules),
        Vec::<String>::new()
    );
    let answer = encoded("limit: 3\n");
    assert_eq!(mismatches(&expect, &json!({}), &answer, &rules), vec!["data.x<Base64><Yaml>.limit: 2, 3"]);
    let assertion = assertions(&expect, Some(&answer), &rules).remove(0);
    assert_eq!(get(&answer, &assertion.path), Some(json!(3)));
    let mut repaired = answer.clone();
    assert!(put(&mut repaired, &assertion.path, Some(json!(2))));
    assert_eq!(repaired, encoded("limit: 2\n"));
    assert!(!holds(&expect, None, Some(&encoded("limit: [")), &rules));
    assert!(!holds(&expect, None, Some(&json!({"data": {"x": "%"}})), &rules));
}

#[test]
fn objects_inside_texts_have_the_types_of_their_kind() {
    let limits = |cpu: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [
        {"name": "a", "resources": {"limits": {"cpu": cpu}}}]}})
    };
    let wanted = map([("resources", map([("limits", map([("cpu", value(json!("1000m")))]))]))]);
    let content = map([("spec", map([("containers", keyed(vec![(vec![("name", json!("a"))], wanted)]))]))]);
    let expect = opened(Notation::Yaml, content);
    let text = |cpu: &str| close(Notation::Yaml, &limits(cpu)).map(Value::from);
    assert!(holds(&expect, None, text("1").as_ref(), &Rules::unknown()));
    assert!(!holds(&expect, None, text("2").as_ref(), &Rules::unknown()));
}

#[test]
fn a_unit_is_asserted_by_section_option_and_values() {
    let exec = |count| {
        map([
            ("Service", map([("ExecStart", op(Operator::Count(count)))])),
            ("Unit", map([("ExecStart", op(Operator::Absent))])),
        ])
    };
    let unit = json!("[Unit]\nAfter=a\n[Service]\nExecStart=/a \\\n --b\n");
    assert!(kept(&opened(Notation::Unit, exec(1)), &unit));
    assert!(!kept(&opened(Notation::Unit, exec(2)), &unit));
    assert!(!kept(&opened(Notation::Unit, exec(1)), &json!("ExecStart=/a")));
}

#[test]
fn changes_are_leaves_and_prefixes_cover_them() {
    let before = json!({"metadata": {"labels": {"a.b/c": "1"}}, "spec": {"containers": [{"name": "a", "image": "x"}]}});
    let after = json!({"metadata": {"labels": {"a.b/c": "2"}}, "spec": {"securityContext": {"fsGroup": 1, "runAsUser": null},
        "containers": [{"name": "a", "image": "x", "env": [{"name": "E", "value": "1"}]}, {"name": "b"}]}});
    let changes = changes(Some(&before), Some(&after), &pod());
    let outside = |prefixes: &[&str]| -> Vec<String> {
        let prefixes: Vec<String> = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
        super::outside(&prefixes, &changes).into_iter().map(Change::words).collect()
    };
    let all = [
        "metadata.labels.a.b/c: 1 → 2",
        "spec.containers[name=a].env: absent → [{\"name\":\"E\",\"value\":\"1\"}]",
        "spec.containers[name=b]: absent → {\"name\":\"b\"}",
        "spec.securityContext.fsGroup: absent → 1",
    ];
    let table: [(&[&str], &[usize]); 6] = [
        (&[], &[]),
        (&["spec.x"], &[0, 1, 2, 3]),
        (&["spec..x"], &[0, 1, 2, 3]),
        (&["spec.containers[].env", "metadata.labels[a.b/c]"], &[2, 3]),
        (&["spec.containers", "spec.securityContext.fsGroup", "metadata.labels"], &[]),
        (&["spec.containers[].env[].value"], &[0, 1, 2, 3]),
    ];
    for (prefixes, left) in table {
        assert_eq!(
            outside(prefixes),
            left.iter().map(|at| all[*at].to_owned()).collect::<Vec<_>>(),
            "{prefixes:?}"
        );
    }
}

#[test]
fn contracts_add_keys_and_unordered_lists() {
    let list_keys = BTreeMap::from([("spec.units".to_owned(), "name".to_owned())]);
    let rules = Rules::unknown().with(&list_keys, &["spec.tolerations".to_owned()]);
    let object =
        |units: Value, tolerations: Value| json!({"spec": {"units": units, "tolerations": tolerations}});
    let a = object(json!([{"name": "a"}, {"name": "b"}]), json!([1, 2]));
    let table = [
        (object(json!([{"name": "b"}, {"name": "a"}]), json!([2, 1])), true),
        (object(json!([{"name": "b"}, {"name": "c"}]), json!([2, 1])), false),
        (object(json!([{"name": "b"}, {"name": "a"}]), json!([2, 2])), false),
    ];
    for (b, wanted) in table {
        assert_eq!(same(Some(&a), Some(&b), &rules), wanted, "{b}");
        assert_eq!(holds(&op(Operator::Unchanged), Some(&a), Some(&b), &rules), wanted, "{b}");
    }
    assert!(!same(
        Some(&a),
        Some(&object(json!([{"name": "a"}, {"name": "b"}]), json!([2, 1]))),
        &Rules::unknown()
    ));
}

#[test]
fn list_rules_of_a_contract_apply_only_at_their_path() {
    let rules = Rules::unknown().with(&BTreeMap::new(), &["a[].b".to_owned()]);
    assert_eq!(rules.field("a").list(), ListRule::Ordered);
    assert_eq!(rules.field("a").item().field("b").list(), ListRule::Unordered);
    assert_eq!(rules.field("a").item().field("b").item().list(), ListRule::Ordered);
    assert_eq!(rules.field("b").list(), ListRule::Ordered);
}

#[test]
fn each_operator_knows_values_that_it_must_reject() {
    let refusals = |expect: &Expect, input: Value, answer: Value| {
        let rules = Rules::unknown();
        let found = assertions(expect, Some(&answer), &rules);
        let refused = |assertion| {
            super::refused(assertion, Some(&answer), Some(&input).filter(|input| !input.is_null()))
        };
        found.iter().flat_map(refused).collect::<Vec<_>>()
    };
    let put = Replacement::Value;
    let not_for = Operator::Matches { regex: ".*".to_owned(), not_for: Some(json!("n")) };
    let between = Operator::Between(json!("1h"), json!("2h"));
    let table = [
        (value(json!(1)), json!(null), json!(1), vec![put(json!(2)), Replacement::Nothing]),
        (value(json!(true)), json!(null), json!(true), vec![put(json!(false)), Replacement::Nothing]),
        (op(Operator::Absent), json!("i"), json!(null), vec![put(json!("i")), put(json!("x"))]),
        (op(Operator::Changed), json!(1), json!(2), vec![put(json!(1))]),
        (op(Operator::Changed), json!(null), json!(2), vec![Replacement::Nothing]),
        (op(Operator::Unchanged), json!("a"), json!("a"), vec![put(json!("a-x")), Replacement::Nothing]),
        (matching("a+"), json!(null), json!("a"), vec![put(json!("a~")), Replacement::Nothing]),
        (matching(".*"), json!(null), json!("a"), vec![]),
        (op(not_for), json!(null), json!("a"), vec![put(json!("n")), Replacement::Nothing]),
        (
            op(between),
            json!(null),
            json!("1h"),
            vec![put(json!("59m59s")), put(json!("2h0m1s")), Replacement::Nothing],
        ),
        (
            op(Operator::Contains(vec![value(json!("ab"))])),
            json!(null),
            json!("aabbc"),
            vec![Replacement::Nothing, put(json!("c"))],
        ),
        (op(Operator::Any), json!(null), json!(1), vec![]),
    ];
    for (expect, input, answer, wanted) in table {
        assert_eq!(refusals(&expect, input, answer), wanted, "{}", words(&expect));
    }
}

#[test]
fn a_diff_shows_only_what_is_asserted() {
    let expect = map([
        ("kept", value(json!("x"))),
        ("gone", op(Operator::Absent)),
        (
            "list",
            keyed(vec![
                (vec![("name", json!("a"))], map([("image", matching("v.*"))])),
                (vec![("name", json!("b"))], map([])),
            ]),
        ),
    ]);
    let answer = json!({"kept": "x", "gone": 1, "noise": 2, "list": [{"name": "z"}, {"name": "a", "image": "w", "noise": 3}]});
    let shown = pruned(&expect, None, Some(&answer), &Rules::unknown());
    assert_eq!(shown.wanted, "kept: x\nlist:\n- image: \"<matches \\\"v.*\\\">\"\n  name: a\n- name: b\n");
    assert_eq!(shown.got, "gone: 1\nkept: x\nlist:\n- image: w\n  name: a\n");
}

#[test]
fn removing_a_value_does_not_break_an_optional_assertion() {
    let text = Expect::Operator(Operator::Opened(
        Notation::Base64,
        Box::new(Expect::Operator(Operator::Matches { regex: "a.*".to_owned(), not_for: Some(json!("b")) })),
    ));
    let answer = json!("YWJj");
    let optional = Expect::Operator(Operator::AbsentOr(Box::new(text.clone())));
    let damages = |expect: &Expect| -> Vec<Replacement> {
        let found = assertions(expect, Some(&answer), &Rules::unknown());
        found.iter().flat_map(|assertion| refused(assertion, Some(&answer), None)).collect()
    };
    assert!(damages(&text).contains(&Replacement::Nothing));
    assert!(!damages(&optional).contains(&Replacement::Nothing));
    assert!(!damages(&optional).is_empty());
}
