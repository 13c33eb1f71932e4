//! Values and errors compared with Go's, and round trips.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::*;

fn value(text: &str) -> Value {
    documents(text).expect(text).pop().unwrap_or(Value::Null)
}

fn parse_error(text: &str) -> String {
    parse(text).expect_err(text).to_string()
}

/// A chain of lists of 200 levels; each contains an alias of the previous one in its innermost list.
fn chained(links: usize) -> String {
    let (open, close) = ("[".repeat(200), "]".repeat(200));
    (0..links).fold(String::new(), |text, link| {
        let bottom = link.checked_sub(1).map(|before| format!("*a{before} ")).unwrap_or_default();
        text + &format!("- &a{link} {open}{bottom}{close}\n")
    })
}

#[test]
fn levels_of_alias_targets_count() {
    let read = |text: String| {
        let read = move || {
            let node = parse(&text).err().map(|error| error.message);
            (node, first_document(text.as_bytes()).err().map(|error| error.message))
        };
        std::thread::Builder::new().stack_size(128 << 20).spawn(read).unwrap().join().unwrap()
    };
    assert_eq!(read(chained(49)), (None, None), "9,801 levels");
    let too_deep = Some("exceeded max depth of 10000".to_owned());
    assert_eq!(read(chained(50)), (too_deep.clone(), too_deep), "10,001 levels");
}

#[test]
fn unquoted_scalars_have_the_values_of_go() {
    let table = [
        ("yes", json!(true)),
        ("On", json!(true)),
        ("y", json!(true)),
        ("n", json!(false)),
        ("off", json!(false)),
        ("010", json!(8)),
        ("08", json!(8)),
        ("0o17", json!(15)),
        ("0x1F", json!(31)),
        ("0b11", json!(3)),
        ("1_000", json!(1000)),
        ("+5", json!(5)),
        ("-5", json!(-5)),
        ("1.10", json!(1.1)),
        ("1.0", json!(1)),
        ("1e3", json!(1000)),
        (".5", json!(0.5)),
        ("._5", json!("._5")),
        ("1_0.5", json!(10.5)),
        ("1:30", json!("1:30")),
        ("2024-06-01", json!("2024-06-01")),
        ("1.2.3", json!("1.2.3")),
        ("0755x", json!("0755x")),
        ("~", Value::Null),
        ("Null", Value::Null),
        ("\"yes\"", json!("yes")),
        ("'010'", json!("010")),
        ("!!str 010", json!("010")),
        ("!!int 10", json!(10)),
        ("!!timestamp 2024-06-01", json!("2024-06-01")),
        ("18446744073709551615", json!(u64::MAX)),
        ("-9223372036854775808", json!(i64::MIN)),
        ("-x", json!("-x")),
        ("1e", json!("1e")),
        (".", json!(".")),
        ("-.5", json!(-0.5)),
        ("e3", json!("e3")),
        ("0", json!(0)),
        ("tRUE", json!("tRUE")),
        ("<", json!("<")),
        ("1Gi", json!("1Gi")),
        ("0xzz", json!("0xzz")),
    ];
    for (text, wanted) in table {
        assert_eq!(value(&format!("k: {text}"))["k"], wanted, "{text}");
    }
}

#[test]
fn keys_of_any_type_become_strings() {
    assert_eq!(
        value("1: a\non: b\n1.50: c\n\"on\": d\n"),
        json!({"1": "a", "true": "b", "1.5": "c", "on": "d"})
    );
}

#[test]
fn anchors_aliases_and_merge_keys_are_resolved() {
    let text = "base: &b {a: 1, b: 2}\nx: {<<: *b, b: 3}\nv: *b\nz: {<<: [{a: 5}, *b]}\n";
    let wanted = json!({"base": {"a": 1, "b": 2}, "x": {"a": 1, "b": 3}, "v": {"a": 1, "b": 2}, "z": {"a": 5, "b": 2}});
    assert_eq!(value(text), wanted);
}

#[test]
fn documents_are_separated_and_empty_ones_are_omitted() {
    assert_eq!(documents("---\na: 1\n---\n---\nb: 2\n...\n"), Ok(vec![json!({"a": 1}), json!({"b": 2})]));
    assert_eq!(documents(""), Ok(vec![]));
    assert_eq!(documents("# only words\n"), Ok(vec![]));
}

#[test]
fn nodes_have_their_positions() {
    let nodes = parse("a: 1\nb:\n- {c: \"ä\", d: e}\n").expect("YAML");
    let list = nodes[0].get("b").and_then(Node::items).expect("a list");
    let entry = &list[0].entries().expect("a map")[1];
    assert_eq!(entry.start, Mark { line: 3, column: 12, offset: 20 });
    assert_eq!((entry.value.start, entry.value.end), (Mark { line: 3, column: 15, offset: 23 }, 24));
}

#[test]
fn errors_have_their_positions() {
    assert_eq!(parse_error("a: 1\nb: 2\na: 3\n"), "line 3, column 1: duplicate key \"a\", first in line 1");
    assert_eq!(parse_error("a: .inf\n"), "line 1, column 4: .inf is no JSON number");
    assert_eq!(parse_error("a: !!bool 3\n"), "line 1, column 11: \"3\" is not a valid bool");
    assert_eq!(parse_error("? [a]\n: 1\n"), "line 1, column 3: a list or map cannot be a key");
    assert_eq!(parse_error("~: 1\n"), "line 1, column 1: null cannot be a key");
    assert!(parse_error("a: *b\n").starts_with("line 1, column 4:"), "{}", parse_error("a: *b\n"));
    assert!(parse_error("a: [1\nb: 2\n").starts_with("line 2,"), "{}", parse_error("a: [1\nb: 2\n"));
}

#[test]
fn aliases_of_aliases_are_limited() {
    let mut text = "a0: &a0 x\n".to_owned();
    for level in 1..20 {
        let before = format!("*a{},", level - 1).repeat(10);
        let _ = writeln!(text, "a{level}: &a{level} [{}]", before.trim_end_matches(','));
    }
    assert_eq!(parse_error(&text), "line 8, column 10: too many nodes because of aliases");
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Sample {
    name: String,
    #[serde(default)]
    ports: Vec<u16>,
    level: Option<Level>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
}

#[test]
fn types_are_deserialized_and_errors_have_positions() {
    let sample: Sample = from_str("name: a\nports: [1, 2]\nlevel: low\n").expect("it fits");
    assert_eq!(sample, Sample { name: "a".into(), ports: vec![1, 2], level: Some(Level::Low) });
    let misfit = |text: &str| from_str::<Sample>(text).expect_err(text).to_string();
    assert_eq!(
        misfit("name: a\nports: [1, x]\n"),
        "line 2, column 12: invalid type: string \"x\", expected u16"
    );
    assert_eq!(misfit("name: 1\n"), "line 1, column 7: invalid type: integer `1`, expected a string");
    assert_eq!(
        misfit("name: a\nprots: []\n"),
        "line 2, column 1: unknown field `prots`, expected one of `name`, `ports`, `level`"
    );
    assert_eq!(misfit("level: low\n"), "line 1, column 1: missing field `name`");
    assert_eq!(misfit("name: a\n---\nname: b\n"), "line 3, column 1: more than one document");
    assert_eq!(misfit("name: a\nlevel: high\n"), "line 2, column 8: unknown variant `high`, expected `low`");
}

#[test]
fn written_yaml_looks_handwritten() {
    let value = json!({
        "kind": "Pod", "spec": {"containers": [{"name": "a", "args": ["--x=1", "-v"]}], "empty": {}, "none": []},
        "text": "one\n\ntwo\n", "cut": "one\ntwo", "yes": "yes", "number": "010", "time": "12:30", "date": "2024-06-01",
        "version": "1.30", "null": null, "odd": "a: b", "bell": "\u{7}", "nested": [[1, 2], {"a": [{}]}],
    });
    let wanted = "bell: \"\\u0007\"\ncut: |-\n  one\n  two\ndate: \"2024-06-01\"\nkind: Pod\nnested:\n- - 1\n  - 2\n\
                  - a:\n  - {}\n\"null\": null\nnumber: \"010\"\nodd: \"a: b\"\nspec:\n  containers:\n  - args:\n    - \"--x=1\"\n    \
                  - \"-v\"\n    name: a\n  empty: {}\n  none: []\ntext: |\n  one\n\n  two\ntime: \"12:30\"\nversion: \"1.30\"\n\"yes\": \"yes\"\n";
    assert_eq!(to_string(&value).expect("it is JSON"), wanted);
    assert_eq!(super::tests::value(wanted), value);
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "[ -~\\n\\t]{0,12}",
        "\\PC{0,6}",
        "[a-z0-9.:_-]{1,8}",
        prop::sample::select(vec![
            "yes",
            "~",
            "<<",
            "010",
            "1e3",
            "",
            " ",
            "\n",
            "a\n",
            "\na",
            "- a",
            "? a",
            "a\n b\n\n",
            "\u{85}",
            "\r\n",
            "\t",
            "---",
            "...",
            "%a"
        ])
        .prop_map(str::to_owned)
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e6_f64..1e6)
            .prop_filter("whole floats read back as integers", |float| float.fract() != 0.0)
            .prop_map(Value::from),
        text.clone().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(text.clone(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
        ]
    })
}

proptest! {
    #[test]
    fn written_yaml_parses_to_the_same_value(value in any_value()) {
        let text = to_string(&value).expect("it is JSON");
        let read = parse(&text).map(|nodes| nodes.first().map_or(Value::Null, Node::to_value));
        prop_assert_eq!(read, Ok(value), "{}", text);
    }

    #[test]
    fn no_text_causes_a_panic(text in "[ -~\\n]{0,40}") {
        let _ = parse(&text);
    }
}
