//! Generates dry runs that create CRDs, with schemas that kube-apiserver accepts and refuses.

use serde_json::{Value, json};

use super::RequestBuilder;
use crate::request::{Body, Request, set};

/// Regular expressions, in Go's syntax and in that of others.
const PATTERNS: &[&str] = &[
    "^[a-z]+$",
    r"^[\w.+\-]+@[a-z]+\.[a-z]{2,}$",
    r"^\p{L}+$",
    r"^\pL+$",
    "[[:alnum:]]",
    r"\d{1,1000}",
    r"\d{1,1001}",
    "(?i)a",
    "(?<name>a)",
    "(?P<name>a)",
    "(?=a)",
    "(?!a)",
    r"(a)\1",
    "[",
    "a{2,1}",
    "a**",
    r"\z",
    r"\Z",
    r"\h",
    r"\Qa+\E",
    r"\x{1F600}",
    r"\u0041",
    "(?s).",
    "(?x)a b",
    "a{,2}",
    "a{",
    "[a&&b]",
    "[^]",
    r"[\]]",
    "(((((a)))))",
    "x*?",
    "x*+",
    r"\pN{2}",
    r"\p{Foo}",
    "",
];
const FORMATS: &[&str] = &[
    "date-time",
    "date",
    "duration",
    "byte",
    "int32",
    "int64",
    "float",
    "double",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "email",
    "hostname",
    "uri",
    "password",
    "other",
    "k8s-short-name",
    "bsonobjectid",
    "",
];

/// Keywords of schemas whose value is a number.
const LIMITS: [&str; 7] =
    ["minimum", "maximum", "multipleOf", "maxLength", "minLength", "maxItems", "minProperties"];
/// Keywords of schemas whose value is a boolean.
const SWITCHES: [&str; 6] = [
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "nullable",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "exclusiveMinimum",
];

impl RequestBuilder<'_> {
    /// A dry run that creates a CRD with up to three changes.
    pub(super) fn definition(&mut self) -> Request {
        let property = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let schema = json!({"type": "object", "properties": {"spec": property}});
        let mut definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.${ns}.example.com"},
            "spec": {
                "group": "${ns}.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
            },
        });
        for _ in 0..=self.dice.below(3) {
            let (pointer, value) = match self.dice.weigh(&[(45, 0), (20, 1), (35, 2)]) {
                0 => self.schema_change(),
                1 => self.structural_change(),
                _ => self.version_change(),
            };
            set(&mut definition, &pointer, &value);
        }
        Request {
            method: "POST".to_owned(),
            path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned(),
            query: [("dryRun".to_owned(), "All".to_owned())].into(),
            body: Some(Body::Json(definition)),
            ..Request::default()
        }
    }

    /// A change of the schema of a field.
    #[expect(clippy::too_many_lines, reason = "a table of changes is long")]
    fn schema_change(&mut self) -> (String, Value) {
        let at = |field: &str| {
            format!("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/{field}")
        };
        let types = ["string", "integer", "number", "boolean", "array", "object", "other", ""];
        let numbers = [
            json!(1),
            json!(-1),
            json!(0),
            json!(1.5),
            json!(1e300),
            json!(9_223_372_036_854_775_808_u64),
            json!("1"),
        ];
        match self.dice.below(12) {
            0 | 1 => (at("pattern"), json!(self.dice.pick(PATTERNS))),
            2 => (at("format"), json!(self.dice.pick(FORMATS))),
            3 => (at("type"), json!(self.dice.pick(&types))),
            4 => {
                let field = *self.dice.pick(&LIMITS);
                (at(field), self.dice.pick(&numbers).clone())
            }
            5 => (
                at("default"),
                self.dice
                    .pick(&[
                        json!("x"),
                        json!(1),
                        json!(1.5),
                        json!(true),
                        json!({}),
                        json!(null),
                        json!([1]),
                    ])
                    .clone(),
            ),
            6 => (
                at("enum"),
                self.dice.pick(&[json!(["a"]), json!([1, "1"]), json!([]), json!(["a", "a"])]).clone(),
            ),
            7 => {
                let field = *self.dice.pick(&SWITCHES);
                (at(field), self.dice.pick(&[json!(true), json!(false)]).clone())
            }
            8 => (
                at("items"),
                self.dice.pick(&[json!({"type": "string"}), json!([{"type": "string"}]), json!({})]).clone(),
            ),
            9 => (at("x-kubernetes-list-type"), json!(self.dice.pick(&["set", "map", "atomic", "other"]))),
            10 => (
                at("additionalProperties"),
                self.dice.pick(&[json!(true), json!(false), json!({"type": "string"})]).clone(),
            ),
            _ => (at("required"), self.dice.pick(&[json!(["b"]), json!([]), json!(["b", "b"])]).clone()),
        }
    }

    /// A change of what makes a schema structural: at the root, in alternatives, in lists that are maps.
    #[expect(clippy::too_many_lines, reason = "a table of changes is long")]
    fn structural_change(&mut self) -> (String, Value) {
        const ROOT: &str = "/spec/versions/0/schema/openAPIV3Schema";
        let field = |keyword: &str| format!("{ROOT}/properties/spec/properties/a/{keyword}");
        let map_of = |keys: Value, items: Value| json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": items});
        let item = json!({"type": "object", "properties": {"n": {"type": "string"}, "o": {"type": "object"}}, "required": ["n"]});
        let embedded = |with: Value| json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, "default": with});
        let changes = [
            (format!("{ROOT}/nullable"), json!(true)),
            (format!("{ROOT}/type"), json!("string")),
            (format!("{ROOT}/additionalProperties"), json!({"type": "string"})),
            (format!("{ROOT}/default"), json!({"spec": {"a": "x"}})),
            (format!("{ROOT}/oneOf"), json!([{"required": ["spec"]}])),
            (format!("{ROOT}/$schema"), json!("x")),
            (
                format!("{ROOT}/properties/metadata"),
                json!({"type": "object", "properties": {"name": {"maxLength": 3, "type": "string"}}}),
            ),
            (
                format!("{ROOT}/properties/metadata"),
                json!({"type": "object", "properties": {"labels": {"type": "object"}}}),
            ),
            (format!("{ROOT}/properties/metadata"), json!({"type": "string", "default": "x"})),
            (format!("{ROOT}/properties/kind"), json!({"type": "integer"})),
            (format!("{ROOT}/properties/apiVersion"), json!({"enum": ["v1"]})),
            (field("anyOf"), json!([{"type": "integer"}, {"type": "string"}])),
            (field("anyOf"), json!([{"minLength": 1}, {"pattern": "["}])),
            (
                field("allOf"),
                json!([{"anyOf": [{"type": "integer"}, {"type": "string"}]}, {"default": "x", "description": "d"}]),
            ),
            (field("allOf"), json!([{"properties": {"b": {"minLength": 1}}, "nullable": true}])),
            (field("oneOf"), json!([{"items": {"title": "t"}, "additionalProperties": true}])),
            (field("not"), json!({"type": "string", "x-kubernetes-list-type": "set"})),
            (format!("{ROOT}/allOf"), json!([{"properties": {"metadata": {"required": ["name"]}}}])),
            (
                format!("{ROOT}/anyOf"),
                json!([{"properties": {"spec": {"properties": {"z": {"enum": [1]}}}}}]),
            ),
            (field("x-kubernetes-map-type"), json!(self.dice.pick(&["atomic", "granular", "other"]))),
            (field("$ref"), json!("#/x")),
            (field("id"), json!("x")),
            (field("definitions"), json!({"d": {"type": "other"}})),
            (field("dependencies"), json!({"d": ["x"]})),
            (field("patternProperties"), json!({"^x": {"type": "string"}})),
            (field("additionalItems"), json!(true)),
            (field("x-kubernetes-list-map-keys"), json!(["k"])),
            (format!("{ROOT}/properties/list"), map_of(json!(["n"]), item.clone())),
            (format!("{ROOT}/properties/list"), map_of(json!(["n", "n", "o", "z"]), item)),
            (
                format!("{ROOT}/properties/list"),
                map_of(json!([]), json!({"type": "string", "nullable": true})),
            ),
            (
                format!("{ROOT}/properties/list"),
                json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "object"}}),
            ),
            (
                format!("{ROOT}/properties/list"),
                json!({"type": "array", "items": {"type": "string", "default": 1}, "default": ["x", 2]}),
            ),
            (format!("{ROOT}/properties/nested"), embedded(json!({"a": 1}))),
            (format!("{ROOT}/properties/nested"), embedded(json!({"apiVersion": 1, "kind": "x y"}))),
            (
                format!("{ROOT}/properties/nested"),
                embedded(json!({"apiVersion": "v1", "kind": "A", "metadata": {"labels": {"-": "x"}}})),
            ),
            (
                format!("{ROOT}/properties/deep"),
                json!({"type": "object", "default": {"x": 1}, "properties": {"y": {"type": "integer", "default": "z"}}}),
            ),
            (
                format!("{ROOT}/properties/limit"),
                json!({"type": "integer", "minimum": 3, "enum": [3, 4], "default": 2}),
            ),
            (
                format!("{ROOT}/properties/rule"),
                json!({"type": "string", "x-kubernetes-validations": [{"rule": " ", "message": " "}]}),
            ),
            (
                format!("{ROOT}/properties/rule"),
                json!({"type": "string", "x-kubernetes-validations": [{"rule": "self == ''", "reason": "Other", "fieldPath": " "}]}),
            ),
        ];
        self.dice.pick(&changes).clone()
    }

    /// A change of the names, the scope or the version.
    fn version_change(&mut self) -> (String, Value) {
        let scale = |path: &str| json!({"scale": {"specReplicasPath": path, "statusReplicasPath": ".status.size"}, "status": {}});
        let columns = |path: &str, of: &str| json!([{"name": "C", "type": of, "jsonPath": path}]);
        let changes = [
            ("/spec/versions/0/subresources", scale(".spec.size")),
            ("/spec/versions/0/subresources", scale("spec.size")),
            ("/spec/versions/0/subresources", scale(".status.size")),
            ("/spec/versions/0/additionalPrinterColumns", columns(".spec.a", "string")),
            ("/spec/versions/0/additionalPrinterColumns", columns("spec.a", "other")),
            ("/spec/versions/0/additionalPrinterColumns", columns(".spec[", "date")),
            ("/spec/versions/0/name", json!("V1")),
            ("/spec/versions/0/storage", json!(false)),
            ("/spec/versions/0/served", json!("yes")),
            ("/spec/versions/0/deprecated", json!(true)),
            ("/spec/versions/0/deprecationWarning", json!("x")),
            ("/spec/versions/0/deprecationWarning", json!("line\nbreak")),
            ("/spec/versions/0/deprecationWarning", json!("x".repeat(257))),
            (
                "/spec/versions/1",
                json!({"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": {"type": "object"}}}),
            ),
            ("/spec/versions/1", json!({"name": "v1", "served": true, "storage": true})),
            ("/spec/names/plural", json!("Things")),
            ("/spec/names/categories", json!(["All", "b c"])),
            ("/spec/group", json!("x.k8s.io")),
            ("/spec/group", json!("Upper.example.com")),
            ("/spec/preserveUnknownFields", json!(true)),
            ("/spec/scope", json!("Cluster")),
            ("/spec/scope", json!("Other")),
            ("/spec/names/kind", json!("thing s")),
            ("/spec/names/shortNames", json!(["t", "T"])),
            ("/spec/names/categories", json!(["all"])),
            ("/spec/names/listKind", json!("Thing")),
            ("/spec/preserveUnknownFields", json!(true)),
            ("/spec/group", json!("other.example.com")),
            ("/spec/conversion", json!({"strategy": "None"})),
            ("/spec/conversion", json!({"strategy": "Webhook"})),
            ("/spec/unknown", json!(1)),
        ];
        let (pointer, value) = self.dice.pick(&changes).clone();
        (pointer.to_owned(), value)
    }
}
