//! The configuration, the webhooks and the certificate of gardener-admission-controller, as the original has them.

use rstest::rstest;
use secrets::{
    AuthorityChoice, CertificateContent, CertificateKind, Content, GenerateOptions, SecretRequest, Signer,
};
use serde_json::{Value, json};

use super::*;
use crate::components::fixture::{Fixture, managed};

fn with(config: &Value) -> Fixture {
    Fixture::with(&json!({"spec": {"virtualCluster": {"gardener": {"gardenerAdmissionController": config}}}}))
}

fn limited() -> Fixture {
    with(&json!({
        "logLevel": "debug",
        "resourceAdmissionConfiguration": {
            "limits": [
                {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets", "configmaps"], "size": "1024Ki"},
                {"apiGroups": ["core.gardener.cloud"], "apiVersions": ["v1beta1"], "resources": ["shoots"], "size": "100Ki"},
            ],
            "unrestrictedSubjects": [
                {"kind": "Group", "name": "gardener.cloud:system:seeds", "apiGroup": "rbac.authorization.k8s.io"},
                {"kind": "ServiceAccount", "name": "a", "namespace": "b"},
            ],
            "operationMode": "block",
        },
    }))
}

#[rstest]
#[case::minimal(Fixture::default(), "info", None)]
#[case::with_limits(limited(), "debug", Some(json!({
    "limits": [
        {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets", "configmaps"], "size": "1Mi"},
        {"apiGroups": ["core.gardener.cloud"], "apiVersions": ["v1beta1"], "resources": ["shoots"], "size": "100Ki"},
    ],
    "unrestrictedSubjects": [
        {"kind": "Group", "name": "gardener.cloud:system:seeds", "apiGroup": "rbac.authorization.k8s.io"},
        {"kind": "ServiceAccount", "name": "a", "namespace": "b"},
    ],
    "operationMode": "block",
})))]
fn its_configuration(#[case] fixture: Fixture, #[case] level: &str, #[case] limits: Option<Value>) {
    let rendering = render(&fixture.values()).unwrap();
    let objects = &managed(&rendering, "gardener-admission-controller-runtime").objects;
    let config_map = objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
    let got: Value = formats::yaml::from_str(config_map["data"]["config.yaml"].as_str().unwrap()).unwrap();
    let mut want = json!({
        "apiVersion": "admissioncontroller.config.gardener.cloud/v1alpha1",
        "kind": "AdmissionControllerConfiguration",
        "gardenClientConnection": {
            "acceptContentTypes": "", "contentType": "", "burst": 130, "qps": 100,
            "kubeconfig": "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig",
        },
        "logLevel": level, "logFormat": "json",
        "server": {
            "webhooks": {
                "bindAddress": "", "port": 2719,
                "tls": {"serverCertDir": "/etc/gardener-admission-controller/srv"},
            },
            "healthProbes": {"bindAddress": "", "port": 2722},
            "metrics": {"bindAddress": "", "port": 2723},
        },
    });
    if let Some(limits) = limits {
        want["server"]["resourceAdmissionConfiguration"] = limits;
    }
    assert_eq!(got, want);
}

fn rule(operations: &str, group: &str, version: &str, resources: &[&str]) -> Value {
    let operations: Vec<&str> = operations.split(',').collect();
    json!({"operations": operations, "apiGroups": [group], "apiVersions": [version], "resources": resources})
}

/// Name, path, selector and rules.
fn webhook(name: &str, path: &str, selector: &Value, rules: &Value) -> Value {
    let mut webhook = json!({
        "name": format!("{name}.gardener.cloud"), "admissionReviewVersions": ["v1", "v1beta1"],
        "timeoutSeconds": 10, "failurePolicy": "Fail", "sideEffects": "None", "rules": rules,
        "clientConfig": {
            "url": format!("https://gardener-admission-controller.garden{path}"),
            "caBundle": "Y2EtZ2FyZGVuZXIgYnVuZGxl",
        },
    });
    for (field, value) in selector.as_object().unwrap() {
        webhook[field] = value.clone();
    }
    webhook
}

fn in_projects() -> Value {
    json!({"namespaceSelector": {"matchLabels": {"gardener.cloud/role": "project"}}})
}

fn outside_of_gardener() -> Value {
    json!({"namespaceSelector": {"matchExpressions": [
        {"key": "gardener.cloud/role", "operator": "In", "values": ["project"]},
        {"key": "app", "operator": "NotIn", "values": ["gardener"]},
    ]}})
}

fn always() -> Vec<Value> {
    vec![
        webhook(
            "validate-namespace-deletion",
            "/webhooks/validate-namespace-deletion",
            &in_projects(),
            &json!([rule("DELETE", "", "v1", &["namespaces"])]),
        ),
        webhook(
            "validate-kubeconfig-secrets",
            "/webhooks/validate-kubeconfig-secrets",
            &outside_of_gardener(),
            &json!([rule("CREATE,UPDATE", "", "v1", &["secrets"])]),
        ),
        webhook(
            "internal-domain-secret",
            "/webhooks/admission/validate-internal-domain",
            &json!({"objectSelector": {"matchLabels": {"role": "internal-domain"}}}),
            &json!([rule("CREATE,UPDATE,DELETE", "", "v1", &["secrets"])]),
        ),
        webhook(
            "audit-policies",
            "/webhooks/audit-policies",
            &in_projects(),
            &json!([
                rule("CREATE,UPDATE", "core.gardener.cloud", "v1beta1", &["shoots"]),
                rule("UPDATE", "", "v1", &["configmaps"]),
            ]),
        ),
        webhook(
            "admission-plugin-secret",
            "/webhooks/validate-admission-plugin-secret",
            &in_projects(),
            &json!([rule("UPDATE", "", "v1", &["secrets"])]),
        ),
    ]
}

fn of_sizes() -> Value {
    webhook(
        "validate-resource-size",
        "/webhooks/validate-resource-size",
        &outside_of_gardener(),
        &json!([
            rule("CREATE,UPDATE", "", "v1", &["secrets", "configmaps"]),
            rule("CREATE,UPDATE", "core.gardener.cloud", "v1beta1", &["shoots"]),
        ]),
    )
}

fn of_seeds() -> Value {
    let core = "core.gardener.cloud";
    webhook(
        "seed-restriction",
        "/webhooks/admission/seedrestriction",
        &json!({"matchPolicy": "Equivalent"}),
        &json!([
            rule("CREATE", "", "v1", &["secrets", "serviceaccounts"]),
            rule("CREATE", "rbac.authorization.k8s.io", "v1", &["clusterrolebindings"]),
            rule("CREATE", "coordination.k8s.io", "v1", &["leases"]),
            rule("CREATE", "certificates.k8s.io", "v1", &["certificatesigningrequests"]),
            rule("CREATE", core, "v1beta1", &["backupentries", "internalsecrets", "shootstates"]),
            rule("CREATE,DELETE", core, "v1beta1", &["backupbuckets"]),
            rule("CREATE,UPDATE,DELETE", core, "v1beta1", &["seeds"]),
            rule("CREATE", "operations.gardener.cloud", "v1alpha1", &["bastions"]),
        ]),
    )
}

#[rstest]
#[case::minimal(Fixture::default(), vec![])]
#[case::with_limits(limited(), vec![of_sizes()])]
#[case::seed_authorizer(Fixture::default().with_seed_authorizer(), vec![of_seeds()])]
#[case::both(limited().with_seed_authorizer(), vec![of_sizes(), of_seeds()])]
fn its_webhooks(#[case] fixture: Fixture, #[case] others: Vec<Value>) {
    let rendering = render(&fixture.values()).unwrap();
    let objects = &managed(&rendering, "gardener-admission-controller-virtual").objects;
    let webhooks = [always(), others].concat();
    let want = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "gardener-admission-controller"}, "webhooks": webhooks,
    });
    assert_eq!(objects[2], want);
}

#[test]
fn its_certificate_is_signed_by_the_current_authority() {
    let names = [
        "gardener-admission-controller",
        "gardener-admission-controller.garden",
        "gardener-admission-controller.garden.svc",
        "gardener-admission-controller.garden.svc.cluster.local",
    ];
    let certificate = CertificateContent {
        common_name: "gardener-admission-controller".to_owned(),
        dns_names: names.map(str::to_owned).into(),
        without_authority: true,
        ..CertificateContent::new(CertificateKind::Server)
    };
    let signer = Signer::new("ca-gardener").choosing(AuthorityChoice::Current);
    let want = RequestedSecret {
        request: SecretRequest::new("gardener-admission-controller-cert", Content::Certificate(certificate)),
        options: GenerateOptions { signer: Some(signer), ..GenerateOptions::default() },
    };
    assert_eq!(requests(&Fixture::default().garden), [want]);
}
