//! CEL rules; the expected errors are those of kube-apiserver 1.36.3.

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::wire::send;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const SPACE: &str = "/apis/example.com/v1/namespaces/default/ruled";

fn definition(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "ruled.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "ruled", "kind": "Ruled"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    })
}

fn ruled() -> Value {
    let text = |rules: Value| json!({"type": "string", "maxLength": 9, "x-kubernetes-validations": rules});
    let integer = json!({"type": "integer"});
    let element = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"},
        "value": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "only up"}]},
    }});
    let spec = json!({
        "type": "object",
        "x-kubernetes-validations": [
            {"rule": "!has(self.min) || !has(self.max) || self.min <= self.max"},
            {
                "rule": "!has(self.max) || self.max < 100", "messageExpression": "'at most 99, ' + self.first",
                "reason": "FieldValueForbidden", "fieldPath": ".max",
            },
            {"rule": "!has(self.at) || self.at > timestamp('2020-01-01T00:00:00Z')", "message": "too old"},
            {
                "rule": "!has(self.__namespace__) || self.__namespace__ != 'kube-system'",
                "reason": "FieldValueRequired", "fieldPath": ".namespace",
            },
            {"rule": "!has(self.first) || self.map[self.first] == 'x'"},
        ],
        "properties": {
            "min": integer, "max": integer, "at": {"type": "string", "format": "date-time"},
            "namespace": {"type": "string"}, "first": {"type": "string", "maxLength": 9},
            "fixed": text(json!([{"rule": "self == oldSelf", "message": " fixed is fixed "}])),
            "once": text(json!([{
                "rule": "!oldSelf.hasValue() || oldSelf.value() == self", "optionalOldSelf": true,
                "reason": "FieldValueDuplicate", "message": "only once",
            }])),
            "map": {"type": "object", "maxProperties": 9, "additionalProperties": text(json!([{"rule": "self != 'bad'", "message": "not bad"}]))},
            "list": {
                "type": "array", "maxItems": 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                "items": element,
            },
        },
    });
    json!({
        "type": "object", "properties": {"spec": spec},
        "x-kubernetes-validations": [{"rule": "self.metadata.name.startsWith('r')", "message": "names begin with r"}],
    })
}

/// Creates or replaces an object, and returns the sorted errors.
async fn write_errors(server: &ApiServer, name: &str, spec: &Value) -> Vec<String> {
    let mut object =
        json!({"apiVersion": "example.com/v1", "kind": "Ruled", "metadata": {"name": name}, "spec": spec});
    let (code, old) = send(server, "GET", &format!("{SPACE}/{name}"), &Value::Null).await;
    let (_, answer) = if code == 200 {
        object["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
        send(server, "PUT", &format!("{SPACE}/{name}"), &object).await
    } else {
        send(server, "POST", SPACE, &object).await
    };
    let causes = answer["details"]["causes"].as_array().into_iter().flatten();
    let mut errors: Vec<String> = causes
        .map(|cause| format!("{}: {}", cause["field"].as_str().unwrap(), cause["message"].as_str().unwrap()))
        .collect();
    errors.sort();
    errors
}

#[tokio::test]
async fn rule_errors_are_worded_as_in_kube_apiserver() {
    let server = ApiServer::builder().build();
    let (code, made) = send(&server, "POST", CRDS, &definition(&ruled())).await;
    assert_eq!(code, 201, "{made}");
    let between =
        "spec: Invalid value: failed rule: !has(self.min) || !has(self.max) || self.min <= self.max";
    let list = |a: i64, b: i64| json!([{"name": "b", "value": b}, {"name": "a", "value": a}]);
    let table: Vec<(&str, Value, Vec<&str>)> = vec![
        ("r1", json!({"min": 1, "max": 2}), vec![]),
        ("x1", json!({"min": 1}), vec!["<nil>: Invalid value: names begin with r"]),
        ("r2", json!({"min": 3, "max": 2}), vec![between]),
        (
            "r2",
            json!({"min": 300, "max": 200, "first": "a", "map": {"a": "x"}}),
            vec!["spec.max: Forbidden: at most 99, a", between],
        ),
        // A message expression that fails is ignored.
        (
            "r2",
            json!({"min": 300, "max": 200}),
            vec!["spec.max: Forbidden: failed rule: !has(self.max) || self.max < 100", between],
        ),
        (
            "r2",
            json!({"at": "2019-01-01T00:00:00Z", "namespace": "kube-system"}),
            vec![
                "spec.namespace: Required value: failed rule: !has(self.__namespace__) || self.__namespace__ != 'kube-system'",
                "spec: Invalid value: too old",
            ],
        ),
        (
            "r2",
            json!({"first": "nothing", "map": {"a": "x"}}),
            vec![
                "spec: Invalid value: \"object\": no such key: nothing evaluating rule: !has(self.first) || \
                 self.map[self.first] == 'x'",
            ],
        ),
        (
            "r2",
            json!({"first": "a", "map": {"a": "x", "b": "bad"}}),
            vec!["spec.map[b]: Invalid value: \"bad\": not bad"],
        ),
        (
            "r2",
            json!({"first": "toolongname", "max": 200}),
            vec![
                "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct \
                 the existing errors to complete validation",
                "spec.first: Too long: may not be more than 9 bytes",
            ],
        ),
        ("r3", json!({"fixed": "a", "once": "a", "list": list(3, 3)}), vec![]),
        (
            "r3",
            json!({"fixed": "b", "once": "a", "list": list(3, 3)}),
            vec!["spec.fixed: Invalid value: \"b\": fixed is fixed"],
        ),
        (
            "r3",
            json!({"fixed": "a", "once": "b", "list": list(4, 2)}),
            vec!["spec.list[0].value: Invalid value: 2: only up", "spec.once: Duplicate value: \"b\""],
        ),
        ("r3", json!({"fixed": "a", "once": "a", "list": list(4, 3)}), vec![]),
    ];
    for (name, spec, want) in table {
        assert_eq!(write_errors(&server, name, &spec).await, want, "{name} {spec}");
    }
}

#[tokio::test]
async fn unchanged_invalid_values_are_accepted() {
    let server = ApiServer::builder().build();
    let mut lax = ruled();
    lax["properties"]["spec"]["properties"]["map"]["additionalProperties"]["x-kubernetes-validations"] =
        json!([]);
    send(&server, "POST", CRDS, &definition(&lax)).await;
    assert_eq!(write_errors(&server, "r", &json!({"map": {"a": "bad"}})).await, [""; 0]);
    let (_, now) = send(&server, "GET", &format!("{CRDS}/ruled.example.com"), &Value::Null).await;
    let mut strict = now.clone();
    strict["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = ruled();
    assert_eq!(send(&server, "PUT", &format!("{CRDS}/ruled.example.com"), &strict).await.0, 200);
    assert_eq!(write_errors(&server, "r", &json!({"min": 1, "map": {"a": "bad"}})).await, [""; 0]);
    let more = json!({"map": {"a": "bad", "b": "bad"}});
    assert_eq!(write_errors(&server, "r", &more).await, ["spec.map[b]: Invalid value: \"bad\": not bad"]);
}

#[tokio::test]
async fn an_invalid_rule_is_refused() {
    let server = ApiServer::builder().build();
    let schema = json!({"type": "object", "x-kubernetes-validations": [{"rule": "self ==", "messageExpression": "'"}]});
    let (code, status) = send(&server, "POST", CRDS, &definition(&schema)).await;
    let causes = status["details"]["causes"].as_array().unwrap();
    let at = "spec.validation.openAPIV3Schema.x-kubernetes-validations[0]";
    let fields: Vec<&Value> = causes.iter().map(|cause| &cause["field"]).collect();
    assert_eq!(
        (code, fields),
        (422, vec![&json!(format!("{at}.rule")), &json!(format!("{at}.messageExpression"))])
    );
    assert!(
        causes[0]["message"]
            .as_str()
            .unwrap()
            .starts_with("Invalid value: \"self ==\": compilation failed: ")
    );
}
