//! Cases 01 to 06: manifests and kubeconfigs as read by `sigs.k8s.io/yaml` 1.3 with go-yaml 2.4. The other vectors are
//! differences that a fuzzer found between that parser and this one.

use std::fmt::Write as _;

use formats::yaml::first_document;
use serde_json::{Value, json};

fn read(text: &str) -> Result<Value, String> {
    first_document(text.as_bytes()).map_err(|error| error.to_string())
}

fn assert_values(table: &[(&str, Value)]) {
    for (text, want) in table {
        assert_eq!(read(text).as_ref(), Ok(want), "{text:?}");
    }
}

#[test]
fn case_01_quoted_texts_ignore_indentation() {
    let manifest = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: note
  namespace: default
data:
  text: "one line
and another

and one after a gap"
"#;
    assert_eq!(read(manifest).unwrap()["data"]["text"], "one line and another\nand one after a gap");
    let token = "a:\n- b: \"QUJD\\\nREVG\"\n  c: 'x\ny'\n";
    assert_values(&[(token, json!({"a": [{"b": "QUJDREVG", "c": "x y"}]}))]);
    assert!(read("a: \"b\n---\nc\"").is_err(), "a separator of documents stays one");
}

#[test]
fn case_02_tabs_are_blanks_in_brackets_and_a_comment_may_follow_a_bracket() {
    let manifest = r#"apiVersion: v1
kind: ConfigMap
metadata:
  name: tabs
  namespace: default
  annotations: {
	"example.com/owner": "me",
	"example.com/tier": "gold"
  }
data:
  key: value
"#;
    let annotations = json!({"example.com/owner": "me", "example.com/tier": "gold"});
    assert_eq!(read(manifest).unwrap()["metadata"]["annotations"], annotations);
    assert_values(&[
        ("a: \"x\"#y", json!({"a": "x"})),
        ("a: [x]#y", json!({"a": ["x"]})),
        ("a:\tb", json!({"a": "b"})),
    ]);
    assert!(read("a:\n\tb: c").is_err(), "a tab is no indentation");
}

#[test]
fn case_03_a_merge_key_may_have_its_tag() {
    let manifest = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.example.net
spec:
  group: example.net
  scope: Namespaced
  names: {kind: Gadget, listKind: GadgetList, plural: gadgets, singular: gadget}
  versions:
  - &version
    name: v1alpha1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - !!merge <<: *version
    name: v1beta1
    storage: true
";
    let versions = &read(manifest).unwrap()["spec"]["versions"];
    let version = |name: &str, storage: bool| {
        let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
        json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema}})
    };
    assert_eq!(versions, &json!([version("v1alpha1", false), version("v1beta1", true)]));
    assert_values(&[
        ("a: {!!merge <<: {b: 1}}", json!({"a": {"b": 1}})),
        ("a: {! <<: {b: 1}}", json!({"a": {"b": 1}})),
        ("a: {\"<<\": 1, !!str <<: 2}", json!({"a": {"<<": 2}})),
        ("a: {!!merge b: 1}", json!({"a": {"b": 1}})),
    ]);
}

#[test]
fn case_04_ten_thousand_levels_are_read_if_the_stack_allows() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let deep = |levels: usize, stack: usize| {
        let text = nested(levels);
        let thread = std::thread::Builder::new().stack_size(stack).spawn(move || {
            read(&text).map(|mut value| {
                let mut levels = 0;
                while let Some(inner) = value.as_array_mut().map(|items| items.pop().unwrap_or_default()) {
                    (value, levels) = (inner, levels + 1);
                }
                levels
            })
        });
        thread.unwrap().join().unwrap()
    };
    assert_eq!(deep(150, 2 << 20), Ok(150));
    assert_eq!(deep(10_000, 128 << 20), Ok(10_000));
    let too_deep = deep(10_001, 128 << 20).unwrap_err();
    assert!(too_deep.ends_with("exceeded max depth of 10000"), "{too_deep}");
    assert!(deep(10_000, 256 << 10).is_err(), "a small stack does not overflow");
    let blocks: String = (0..150).map(|level| " ".repeat(level) + "k:\n").collect();
    assert!(read(&blocks).is_ok());
}

#[test]
fn case_05_floats_keep_their_digits() {
    for text in ["117.63331139400017", "123456789.12345679", "1234.5678901234567", "0.9215686321258545"] {
        assert_eq!(read(text).unwrap().to_string(), text);
    }
}

#[test]
fn case_06_the_last_of_equal_keys_counts() {
    let kubeconfig = r#"apiVersion: v1
kind: Config
current-context: shoot
clusters:
- {name: shoot, cluster: {server: "https://api.example.com"}}
contexts:
- {name: shoot, context: {cluster: shoot, user: u}}
kind: Config
users:
- {name: u, user: {token: ""}}
"#;
    let read = read(kubeconfig).unwrap();
    assert_eq!((&read["kind"], &read["users"][0]["name"]), (&json!("Config"), &json!("u")));
}

#[test]
fn scalars_have_the_values_of_go() {
    assert_values(&[
        ("! 1", json!("1")),
        ("&a ! 1", json!("1")),
        ("&a 1", json!(1)),
        ("! ~", json!("~")),
        ("!!timestamp 2001-1-1 1:2:3", json!("2001-1-1 1:2:3")),
        ("!!timestamp 2001-01-01T00:00:00Z", json!("2001-01-01T00:00:00Z")),
        ("!!float 5", json!(5)),
        ("!!binary \"/w==\"", json!("\u{fffd}")),
        ("!!set a", json!("a")),
        ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
        ("1e400", json!("1e400")),
        (".5_1", json!(0.51)),
        ("._5", json!("._5")),
        ("? k\n? !!x y", json!({"k": null, "y": null})),
        ("\n\u{feff}k", json!("\u{feff}k")),
        (
            "{1e6: a, .inf: b, 1.5: c, 1000000: d}",
            json!({"1e+06": "a", ".inf": "b", "1.5": "c", "1000000": "d"}),
        ),
        ("a: |\n  x", json!({"a": "x"})),
        ("a: |+\n  x", json!({"a": "x"})),
        ("a: |\n  x\n  ", json!({"a": "x\n"})),
        ("a: |2\n    x\n      ", json!({"a": "  x\n    "})),
        ("a: |\n  x \n  ", json!({"a": "x \n"})),
        ("a: |+\n  x\n  ", json!({"a": "x\n"})),
        (">+\n k\r", json!("k\n")),
        ("{a: b:, c: [d:]}", json!({"a": "b:", "c": ["d:"]})),
        ("a: &x 1\na: &x 2\nb: *x", json!({"a": 2, "b": 2})),
    ]);
    for wrong in [
        "!!timestamp x",
        "!!timestamp 5",
        "!!int 1.5",
        "!!float 18446744073709551615",
        "{18446744073709551615: a}",
        "{a: b?}",
        "[a?b]",
        "*a",
        "a: \u{1}",
        "{a: !b, c: d}",
    ] {
        assert!(read(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn excessive_aliasing_is_rejected() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{aliases}]").unwrap();
    }
    assert!(read(&bomb).unwrap_err().ends_with("document contains excessive aliasing"));
}
