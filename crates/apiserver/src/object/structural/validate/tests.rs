//! The expected errors are those of kube-apiserver 1.36.3 for the same schema and values.

use serde_json::json;

use super::*;

fn schema() -> Schema {
    Schema::read(&json!({"type": "object", "required": ["req"], "properties": {
        "req": {"type": "string"},
        "s": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^a+$"},
        "e": {"type": "string", "enum": ["b", "c"]},
        "ei": {"type": "integer", "enum": [1, 2]},
        "i": {"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 2},
        "ix": {"type": "integer", "minimum": 1, "maximum": 5, "exclusiveMinimum": true, "exclusiveMaximum": true},
        "i32": {"type": "integer", "format": "int32"},
        "n": {"type": "number", "minimum": 0.5},
        "b": {"type": "boolean"},
        "nul": {"type": "string", "nullable": true},
        "en": {"type": "number", "enum": [1, 2.5]},
        "enul": {"type": "string", "nullable": true, "enum": ["a"]},
        "ai": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "date": {"type": "string", "format": "date-time"},
        "byte": {"type": "string", "format": "byte"},
        "ip": {"type": "string", "format": "ipv4"},
        "list": {"type": "array", "minItems": 1, "maxItems": 3, "items": {
            "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "map": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name", "port"],
            "items": {"type": "object", "properties": {
                "name": {"type": "string"}, "port": {"type": "integer"}, "v": {"type": "integer", "maximum": 3}}}},
        "ap": {"type": "object", "minProperties": 1, "maxProperties": 2, "additionalProperties": {"type": "integer"}},
        "ios": {"x-kubernetes-int-or-string": true},
        "emb": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
        "held": {"type": "object", "additionalProperties": {
            "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}},
        "one": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "any": {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "all": {"type": "object", "allOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "not": {"type": "object", "not": {"required": ["a"]}},
    }}))
}

fn errors(mut spec: Value, old: Option<&Value>) -> Vec<String> {
    if spec.get("req").is_none() {
        spec["req"] = json!("x");
    }
    validate(&spec, old, &schema()).iter().map(ToString::to_string).collect()
}

#[test]
fn invalid_scalars_have_the_message_of_kubernetes() {
    let table = [
        (
            json!({"req": 3}),
            vec![r#"req: Invalid value: "integer": req in body must be of type string: "integer""#],
        ),
        (
            json!({"req": {}}),
            vec![r#"req: Invalid value: "object": req in body must be of type string: "object""#],
        ),
        (
            json!({"req": 1.5}),
            vec![r#"req: Invalid value: "number": req in body must be of type string: "number""#],
        ),
        (json!({"s": "a"}), vec![r#"s: Invalid value: "a": s in body should be at least 2 chars long"#]),
        (json!({"s": "aaaaaa"}), vec!["s: Too long: may not be more than 4 bytes"]),
        (json!({"s": "bb"}), vec![r#"s: Invalid value: "bb": s in body should match '^a+$'"#]),
        (json!({"e": "a"}), vec![r#"e: Unsupported value: "a": supported values: "b", "c""#]),
        (json!({"ei": 3}), vec![r#"ei: Unsupported value: 3: supported values: "1", "2""#]),
        (
            json!({"ei": "x"}),
            vec![
                r#"ei: Invalid value: "string": ei in body must be of type integer: "string""#,
                r#"ei: Unsupported value: "x": supported values: "1", "2""#,
            ],
        ),
        (json!({"i": 0}), vec!["i: Invalid value: 0: i in body should be greater than or equal to 1"]),
        (
            json!({"i": 7}),
            vec![
                "i: Invalid value: 7: i in body should be a multiple of 2",
                "i: Invalid value: 7: i in body should be less than or equal to 5",
            ],
        ),
        (
            json!({"i": 2.5}),
            vec![
                r#"i: Invalid value: "number": i in body must be of type integer: "number""#,
                r#"<nil>: Invalid value: "": Checked value must be of type integer (default format) in i"#,
                "i: Invalid value: 2.5: i in body should be a multiple of 2",
            ],
        ),
        (json!({"i": 2.0}), vec![]),
        (
            json!({"i": "a"}),
            vec![r#"i: Invalid value: "string": i in body must be of type integer: "string""#],
        ),
        (json!({"ix": 1}), vec!["ix: Invalid value: 1: ix in body should be greater than 1"]),
        (json!({"ix": 5}), vec!["ix: Invalid value: 5: ix in body should be less than 5"]),
        (
            json!({"i32": 4_294_967_296_i64}),
            vec![
                r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in i32"#,
            ],
        ),
        (
            json!({"i32": 1.5}),
            vec![
                r#"i32: Invalid value: "float64": i32 in body must be of type int32: "float64""#,
                r#"<nil>: Invalid value: "": Checked value must be of type integer with format int32 in i32"#,
            ],
        ),
        (json!({"n": 0.1}), vec!["n: Invalid value: 0.1: n in body should be greater than or equal to 0.5"]),
        (json!({"n": 3}), vec![]),
        (
            json!({"b": "true"}),
            vec![r#"b: Invalid value: "string": b in body must be of type boolean: "string""#],
        ),
        (json!({"nul": null}), vec![]),
        (json!({"en": 1.9}), vec![]),
        (json!({"en": 2.9}), vec![r#"en: Unsupported value: 2.9: supported values: "1", "2.5""#]),
        (json!({"enul": null}), vec![r#"enul: Unsupported value: null: supported values: "a""#]),
        (
            json!({"ai": 1.5}),
            vec![
                r#"<nil>: Invalid value: "": "ai" must validate at least one schema (anyOf)"#,
                r#"ai: Invalid value: "number": ai in body must be of type integer: "number""#,
                r#"<nil>: Invalid value: "": Checked value must be of type integer (default format) in ai"#,
            ],
        ),
        (
            json!({"date": "x"}),
            vec![r#"date: Invalid value: "x": date in body must be of type date-time: "x""#],
        ),
        (json!({"byte": "!"}), vec![r#"byte: Invalid value: "!": byte in body must be of type byte: "!""#]),
        (json!({"ip": "x"}), vec![r#"ip: Invalid value: "x": ip in body must be of type ipv4: "x""#]),
        (
            json!({"ios": true}),
            vec![r#"ios: Invalid value: "boolean": ios in body must be of type integer,string: "boolean""#],
        ),
        (
            json!({"ai": 9_223_372_036_854_775_808.0}),
            vec![
                r#"<nil>: Invalid value: "": "ai" must validate at least one schema (anyOf)"#,
                r#"ai: Invalid value: "number": ai in body must be of type integer: "number""#,
                r#"<nil>: Invalid value: "": Checked value must be of type integer (default format) in ai"#,
            ],
        ),
        (
            json!({"ios": 9_223_372_036_854_775_808.0}),
            vec![r#"ios: Invalid value: "number": ios in body must be of type integer,string: "number""#],
        ),
        (
            json!({"ios": 1.5}),
            vec![r#"ios: Invalid value: "number": ios in body must be of type integer,string: "number""#],
        ),
    ];
    for (spec, want) in table {
        assert_eq!(errors(spec.clone(), None), want, "{spec}");
    }
}

#[test]
fn invalid_lists_and_objects_have_the_message_of_kubernetes() {
    let table = [
        (json!({"list": []}), vec!["list: Invalid value: 0: list in body should have at least 1 items"]),
        (
            json!({"list": [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}]}),
            vec!["list: Too many: 4: must have at most 3 items"],
        ),
        (json!({"list": [{}]}), vec!["list[0].name: Required value"]),
        (
            json!({"list": [null]}),
            vec![r#"list[0]: Invalid value: "null": list[0] in body must be of type object: "null""#],
        ),
        (
            json!({"list": {}}),
            vec![r#"list: Invalid value: "object": list in body must be of type array: "object""#],
        ),
        (json!({"set": ["a", "b", "a", "a"]}), vec![r#"set[2]: Duplicate value: "a""#]),
        (
            json!({"map": [{"name": "a", "port": 1}, {"name": "a", "port": 1, "v": 2}, {"name": "a", "port": 2}]}),
            vec![r#"map[1]: Duplicate value: {"name":"a","port":1}"#],
        ),
        (
            json!({"map": [{"name": "<&>", "port": 1}, {"name": "<&>", "port": 1}]}),
            vec![r#"map[1]: Duplicate value: {"name":"\u003c\u0026\u003e","port":1}"#],
        ),
        (json!({"ap": {}}), vec!["ap: Invalid value: 0: ap in body should have at least 1 properties"]),
        (json!({"ap": {"a": 1, "b": 2, "c": 3}}), vec!["ap: Too many: 3: must have at most 2 items"]),
        (
            json!({"ap": {"a": "x", "b": 2, "c": 3}}),
            vec![
                "ap: Too many: 3: must have at most 2 items",
                r#"ap.a: Invalid value: "string": ap.a in body must be of type integer: "string""#,
            ],
        ),
        (
            json!({"map": [{"name": "a", "port": 1}, 5, "x"]}),
            vec![
                r#"map[1]: Invalid value: "integer": map[1] in body must be of type object: "integer""#,
                r#"map[2]: Invalid value: "string": map[2] in body must be of type object: "string""#,
                "map[1]: Invalid value: 5: must be an object for an array of list-type map",
            ],
        ),
        (
            json!({"ap": {"a": "x"}}),
            vec![r#"ap.a: Invalid value: "string": ap.a in body must be of type integer: "string""#],
        ),
        (json!({"emb": {}}), vec!["emb.apiVersion: Required value", "emb.kind: Required value"]),
        (
            json!({"held": {"x/y": {}}}),
            vec!["held[x/y].apiVersion: Required value", "held[x/y].kind: Required value"],
        ),
        (
            json!({"emb": {"apiVersion": "a/b/c", "kind": ""}}),
            vec![
                r#"emb.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c"#,
                r#"emb.kind: Invalid value: "": must not be empty"#,
            ],
        ),
    ];
    for (spec, want) in table {
        assert_eq!(errors(spec.clone(), None), want, "{spec}");
    }
}

#[test]
fn invalid_combinations_have_the_message_of_kubernetes() {
    let table = [
        (
            json!({"one": {}}),
            vec![
                r#"<nil>: Invalid value: "": "one" must validate one and only one schema (oneOf). Found none valid"#,
                "one.a: Required value",
            ],
        ),
        (
            json!({"one": {"a": "1", "b": "2"}}),
            vec![
                r#"<nil>: Invalid value: "": "one" must validate one and only one schema (oneOf). Found 2 valid alternatives"#,
            ],
        ),
        (
            json!({"any": {}}),
            vec![
                r#"<nil>: Invalid value: "": "any" must validate at least one schema (anyOf)"#,
                "any.a: Required value",
            ],
        ),
        (
            json!({"all": {}}),
            vec![
                "all.a: Required value",
                "all.b: Required value",
                r#"<nil>: Invalid value: "": "all" must validate all the schemas (allOf). None validated"#,
            ],
        ),
        (
            json!({"not": {"a": "x"}}),
            vec![r#"<nil>: Invalid value: "": "not" must not validate the schema (not)"#],
        ),
    ];
    for (spec, want) in table {
        assert_eq!(errors(spec.clone(), None), want, "{spec}");
    }
}

#[test]
fn unchanged_values_are_not_checked_in_updates() {
    let old = json!({"req": "x", "s": "b", "set": ["a", "a"], "map": [{"name": "a", "port": 1, "v": 9}]});
    let table = [
        (json!({"s": "b", "e": "b"}), vec![]),
        (json!({"s": "c"}), vec![r#"s: Invalid value: "c": s in body should be at least 2 chars long"#]),
        (json!({"set": ["a", "a", "b"]}), vec![]),
        (json!({"map": [{"name": "b", "port": 1}, {"name": "a", "port": 1, "v": 9}]}), vec![]),
        (
            json!({"map": [{"name": "b", "port": 1, "v": 9}]}),
            vec!["map[0].v: Invalid value: 9: map[0].v in body should be less than or equal to 3"],
        ),
    ];
    for (spec, want) in table {
        assert_eq!(errors(spec.clone(), Some(&old)), want, "{spec}");
    }
}
