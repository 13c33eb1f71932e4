//! Built-in kinds, defaulted and checked; the answers are those of kube-apiserver 1.36.3.

use apiserver::ApiServer;
use serde_json::{Value, json};

use crate::wire::{patch, send};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const CORE: &str = "/api/v1/namespaces/default";

fn template() -> Value {
    json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
}

fn deployment() -> Value {
    json!({"metadata": {"name": "a"}, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template()}})
}

fn without_identity(mut object: Value) -> Value {
    for field in ["uid", "creationTimestamp", "resourceVersion", "managedFields"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    object
}

#[tokio::test]
async fn a_deployment_is_stored_with_defaults() {
    let server = ApiServer::builder().build();
    let (_, made) = send(&server, "POST", DEPLOYMENTS, &deployment()).await;
    let want = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "a", "namespace": "default", "generation": 1},
        "spec": {
            "progressDeadlineSeconds": 600, "replicas": 1, "revisionHistoryLimit": 10,
            "selector": {"matchLabels": {"a": "b"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
                "containers": [{
                    "name": "c", "image": "i", "imagePullPolicy": "Always", "resources": {},
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                }],
                "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
                "securityContext": {}, "terminationGracePeriodSeconds": 30,
            }},
        },
        "status": {},
    });
    assert_eq!(without_identity(made), want);
}

#[tokio::test]
async fn services_get_addresses_and_keep_them() {
    let server = ApiServer::builder().build();
    let services = format!("{CORE}/services");
    let body = |name: &str| json!({"metadata": {"name": name}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}});
    let (_, first) = send(&server, "POST", &services, &body("a")).await;
    let want = json!({
        "clusterIP": "10.0.0.17", "clusterIPs": ["10.0.0.17"], "externalTrafficPolicy": "Cluster",
        "internalTrafficPolicy": "Cluster", "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack",
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80, "nodePort": 30086}],
        "sessionAffinity": "None", "type": "NodePort",
    });
    assert_eq!(first["spec"], want);
    let (_, second) = send(&server, "POST", &services, &body("b")).await;
    let given = (&second["spec"]["clusterIP"], &second["spec"]["ports"][0]["nodePort"]);
    assert_eq!(given, (&json!("10.0.0.18"), &json!(30087)));
    let (_, replaced) = send(&server, "PUT", &format!("{services}/a"), &body("a")).await;
    assert_eq!(replaced["spec"], want);
    let moved = json!({"spec": {"clusterIP": "10.0.0.9"}});
    let (code, status) = patch(&server, &format!("{services}/a"), "merge-patch", &moved).await;
    let message = "Service \"a\" is invalid: spec.clusterIPs[0]: Invalid value: [\"10.0.0.9\"]: may not change once set";
    assert_eq!((code, &status["message"]), (422, &json!(message)));
}

#[tokio::test]
async fn validation_errors_are_worded_as_in_kubernetes() {
    let server = ApiServer::builder().build();
    let with = |path: &str, value: Value| {
        let mut object = deployment();
        object["spec"].as_object_mut().unwrap().insert(path.to_owned(), value);
        object
    };
    let maps = format!("{CORE}/configmaps");
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles".to_owned();
    let deployments = DEPLOYMENTS.to_owned();
    let table = [
        (
            &deployments,
            with("selector", json!({})),
            "Deployment.apps \"a\" is invalid: spec.selector: Invalid value: {}: empty selector is invalid for deployment",
        ),
        (
            &deployments,
            with("selector", json!({"matchLabels": {"x": "y"}})),
            "Deployment.apps \"a\" is invalid: spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`",
        ),
        (
            &deployments,
            with("replicas", json!(-1)),
            "Deployment.apps \"a\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            &deployments,
            with("replicas", json!("x")),
            "Deployment in version \"v1\" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            &deployments,
            json!({"metadata": {"name": "a"}}),
            "Deployment.apps \"a\" is invalid: [spec.selector: Required value, spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`, spec.template.spec.containers: Required value]",
        ),
        (
            &maps,
            json!({"metadata": {"name": "a"}, "data": {"..": "c"}}),
            "ConfigMap \"a\" is invalid: data[..]: Invalid value: \"..\": must not be '..'",
        ),
        (
            &maps,
            json!({"metadata": {"name": "a", "labels": {"x": "a b"}}}),
            "ConfigMap \"a\" is invalid: metadata.labels: Invalid value: \"a b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        ),
        (
            &roles,
            json!({"metadata": {"name": "a"}, "rules": [{}]}),
            "Role.rbac.authorization.k8s.io \"a\" is invalid: [rules[0].verbs: Required value: verbs must contain at least one value, rules[0].apiGroups: Required value: resource rules must supply at least one api group, rules[0].resources: Required value: resource rules must supply at least one resource]",
        ),
    ];
    for (path, body, want) in table {
        let (_, status) = send(&server, "POST", path, &body).await;
        assert_eq!(status["message"], want, "{body}");
    }
}

#[tokio::test]
async fn immutable_fields_cannot_be_changed() {
    let server = ApiServer::builder().build();
    let secrets = format!("{CORE}/secrets");
    let secret = json!({"metadata": {"name": "a"}, "immutable": true, "stringData": {"a": "b"}});
    let (_, made) = send(&server, "POST", &secrets, &secret).await;
    assert_eq!(
        (&made["data"], &made["type"], made.get("stringData")),
        (&json!({"a": "Yg=="}), &json!("Opaque"), None)
    );
    let table = [
        (
            json!({"data": {"a": "Yw=="}}),
            "Secret \"a\" is invalid: data: Forbidden: field is immutable when `immutable` is set",
        ),
        (json!({"type": "x"}), "Secret \"a\" is invalid: type: Invalid value: \"x\": field is immutable"),
    ];
    for (change, want) in table {
        let (code, status) = patch(&server, &format!("{secrets}/a"), "merge-patch", &change).await;
        assert_eq!((code, &status["message"]), (422, &json!(want)));
    }
    let pods = format!("{CORE}/pods");
    let pod = json!({"metadata": {"name": "p"}, "spec": template()["spec"]});
    let (_, made) = send(&server, "POST", &pods, &pod).await;
    assert_eq!((&made["spec"]["priority"], &made["status"]["qosClass"]), (&json!(0), &json!("BestEffort")));
    assert_eq!(made["spec"]["tolerations"].as_array().unwrap().len(), 2);
}
