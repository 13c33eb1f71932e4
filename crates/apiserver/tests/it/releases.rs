//! Servers of older releases of Kubernetes: what they serve, which fields they know, and how their versions convert.

use std::collections::BTreeSet;

use apiserver::{ApiServer, Authorization, Controllers};
use schema::KubernetesVersion;
use serde_json::{Value, json};

use crate::wire::{exchange, send};

const CRON_JOBS: &str = "namespaces/default/cronjobs";
const AUTOSCALERS: &str = "namespaces/default/horizontalpodautoscalers";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn server(version: &str) -> ApiServer {
    ApiServer::builder().kubernetes(version.parse().unwrap()).build()
}

async fn get(server: &ApiServer, path: &str) -> (u16, Value) {
    send(server, "GET", path, &Value::Null).await
}

/// The warnings of a request.
async fn warnings(server: &ApiServer, method: &str, path: &str, body: &Value) -> (u16, Vec<String>) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let (code, headers, _) =
        exchange(server, method, path, &[("content-type", "application/json")], &body).await;
    let texts = headers.get_all("warning").iter().map(|value| value.to_str().unwrap().to_owned());
    (code, texts.collect())
}

fn deployment(pod: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod},
        },
    })
}

#[tokio::test]
async fn the_version_is_that_of_the_release() {
    let table = [
        ("1.24", "24", "v1.24.17", "go1.20.7"),
        ("1.28.4", "28", "v1.28.4", "go1.22.8"),
        ("1.36", "36", "v1.36.3", "go1.26.5"),
    ];
    for (requested, minor, git, go) in table {
        let (code, version) = get(&server(requested), "/version").await;
        assert_eq!((code, &version["major"], &version["minor"]), (200, &json!("1"), &json!(minor)));
        assert_eq!((&version["gitVersion"], &version["goVersion"]), (&json!(git), &json!(go)));
    }
}

#[tokio::test]
async fn group_versions_follow_their_lifecycle() {
    let table = [
        ("/apis/batch/v1beta1", &[24][..]),
        ("/apis/policy/v1beta1", &[24]),
        ("/apis/autoscaling/v2beta1", &[24]),
        ("/apis/autoscaling/v2beta2", &[24, 25]),
        ("/apis/discovery.k8s.io/v1beta1", &[24]),
        ("/apis/events.k8s.io/v1beta1", &[24]),
        ("/apis/node.k8s.io/v1beta1", &[24]),
        ("/apis/storage.k8s.io/v1beta1", &[24, 25, 26]),
        ("/apis/flowcontrol.apiserver.k8s.io/v1beta1", &[24, 25]),
        ("/apis/flowcontrol.apiserver.k8s.io/v1beta2", &[24, 25, 26, 27, 28]),
        ("/apis/flowcontrol.apiserver.k8s.io/v1beta3", &[26, 27, 28, 29, 30, 31]),
        ("/apis/flowcontrol.apiserver.k8s.io/v1", &[29, 30, 31, 32, 33, 34, 35, 36]),
        ("/apis/resource.k8s.io/v1", &[34, 35, 36]),
        ("/apis/certificates.k8s.io/v1alpha1", &[]),
        ("/apis/batch/v1", &[24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36]),
    ];
    for version in KubernetesVersion::all() {
        let server = ApiServer::builder().kubernetes(version).build();
        for (path, minors) in table {
            let (code, _) = get(&server, path).await;
            let wanted = if minors.contains(&version.minor()) { 200 } else { 404 };
            assert_eq!(code, wanted, "{version} {path}");
        }
    }
}

#[tokio::test]
async fn resources_appear_in_the_release_that_makes_them_stable() {
    let admission = "/apis/admissionregistration.k8s.io/v1";
    let table = [
        (format!("{admission}/validatingadmissionpolicies"), 30),
        (format!("{admission}/mutatingadmissionpolicies"), 36),
        ("/apis/networking.k8s.io/v1/servicecidrs".to_owned(), 33),
        ("/apis/storage.k8s.io/v1/volumeattributesclasses".to_owned(), 34),
        ("/api/v1/configmaps".to_owned(), 24),
    ];
    for version in KubernetesVersion::all() {
        let server = ApiServer::builder().kubernetes(version).build();
        for (path, since) in &table {
            let wanted = if version.minor() >= *since { 200 } else { 404 };
            assert_eq!(get(&server, path).await.0, wanted, "{version} {path}");
        }
    }
}

/// Resources of plain discovery, as `group/version/name`.
async fn discovered(server: &ApiServer) -> BTreeSet<String> {
    let mut roots = vec!["/api/v1".to_owned()];
    for group in get(server, "/apis").await.1["groups"].as_array().unwrap() {
        for version in group["versions"].as_array().unwrap() {
            roots.push(format!("/apis/{}", version["groupVersion"].as_str().unwrap()));
        }
    }
    let mut found = BTreeSet::new();
    for root in roots {
        for resource in get(server, &root).await.1["resources"].as_array().unwrap() {
            found.insert(format!("{root}/{}", resource["name"].as_str().unwrap()));
        }
    }
    found
}

/// Resources of aggregated discovery in the same form.
async fn aggregated(server: &ApiServer, form: &str) -> Option<BTreeSet<String>> {
    let accept =
        format!("application/json;g=apidiscovery.k8s.io;v={form};as=APIGroupDiscoveryList,application/json");
    let mut found = BTreeSet::new();
    for root in ["/api", "/apis"] {
        let (_, headers, body) = exchange(server, "GET", root, &[("accept", &accept)], "").await;
        if !headers["content-type"].to_str().unwrap().contains(&format!("v={form};")) {
            return None;
        }
        let list: Value = serde_json::from_slice(&body).unwrap();
        for group in list["items"].as_array().unwrap() {
            for version in group["versions"].as_array().unwrap() {
                let name =
                    group["metadata"]["name"].as_str().map(|name| format!("/{name}")).unwrap_or_default();
                let root = format!("{root}{name}/{}", version["version"].as_str().unwrap());
                for resource in version["resources"].as_array().unwrap() {
                    let plural = resource["resource"].as_str().unwrap();
                    found.insert(format!("{root}/{plural}"));
                    for below in resource["subresources"].as_array().into_iter().flatten() {
                        found.insert(format!("{root}/{plural}/{}", below["subresource"].as_str().unwrap()));
                    }
                }
            }
        }
    }
    Some(found)
}

#[tokio::test]
async fn both_forms_of_discovery_list_what_is_answered() {
    let table = [
        ("1.24", None),
        ("1.26", None),
        ("1.28", Some("v2beta1")),
        ("1.31", Some("v2")),
        ("1.36", Some("v2")),
    ];
    for (version, form) in table {
        let server = server(version);
        let plain = discovered(&server).await;
        for other in ["v2", "v2beta1"] {
            let expected = form == Some(other) || (version == "1.31" && other == "v2beta1");
            let found = aggregated(&server, other).await;
            assert_eq!(found, expected.then(|| plain.clone()), "{version} {other}");
        }
        let slashes = |path: &str| if path.starts_with("/apis/") { 4 } else { 3 };
        for path in plain.iter().filter(|path| path.matches('/').count() == slashes(path)) {
            let (code, answer) = get(&server, path).await;
            assert!(matches!(code, 200 | 405), "{version} {path}: {code} {answer}");
        }
    }
}

#[tokio::test]
async fn openapi_has_the_kinds_and_fields_of_the_release() {
    let pod = "io.k8s.api.core.v1.PodSpec";
    for (version, gates, users, has_beta) in
        [("1.24", false, false, true), ("1.28", true, true, false), ("1.36", true, true, false)]
    {
        let server = server(version);
        let (_, core) = get(&server, "/openapi/v3/api/v1").await;
        let fields = &core["components"]["schemas"][pod]["properties"];
        assert_eq!(fields["schedulingGates"].is_object(), gates, "{version}");
        assert_eq!(fields["hostUsers"].is_object(), users, "{version}");
        assert_eq!(fields["containers"]["type"], "array", "{version}");
        let full: KubernetesVersion = version.parse().unwrap();
        assert_eq!(core["info"]["version"], format!("v{full}"));
        let (status, policy) = get(&server, "/openapi/v3/apis/policy/v1beta1").await;
        assert_eq!(status == 200, has_beta, "{version}");
        if has_beta {
            let schema = &policy["components"]["schemas"]["io.k8s.api.policy.v1beta1.PodSecurityPolicySpec"];
            assert_eq!(schema["properties"]["privileged"]["type"], "boolean");
        }
        let (_, document) = get(&server, "/openapi/v2").await;
        let listed = &document["definitions"]["io.k8s.api.policy.v1beta1.PodSecurityPolicy"];
        assert_eq!(listed.is_object(), has_beta, "{version}");
        let paths = document["paths"].as_object().unwrap();
        assert_eq!(paths.contains_key("/apis/policy/v1beta1/podsecuritypolicies"), has_beta, "{version}");
        let index = get(&server, "/openapi/v3").await.1;
        assert_eq!(index["paths"]["apis/policy/v1beta1"].is_object(), has_beta, "{version}");
    }
}

#[tokio::test]
async fn a_field_of_a_newer_release_is_dropped_with_a_warning_or_refused() {
    let body = deployment(&json!({
        "containers": [{"name": "a", "image": "a"}], "hostnameOverride": "a", "schedulingGates": [{"name": "x.y/z"}],
    }));
    let name = "unknown field \\\"spec.template.spec.hostnameOverride\\\"";
    let gates = "unknown field \\\"spec.template.spec.schedulingGates\\\"";
    for (version, unknown) in [("1.25", vec![name, gates]), ("1.28", vec![name]), ("1.36", vec![])] {
        let server = server(version);
        let strict = format!("{DEPLOYMENTS}?fieldValidation=Strict");
        let (code, answer) = send(&server, "POST", &strict, &body).await;
        assert_eq!(code, if unknown.is_empty() { 201 } else { 400 }, "{version}: {answer}");
        if unknown.is_empty() {
            continue;
        }
        let message = answer["message"].as_str().unwrap();
        assert!(
            unknown.iter().all(|text| message.contains(&text.replace("\\\"", "\""))),
            "{version}: {message}"
        );
        let (code, warned) = warnings(&server, "POST", DEPLOYMENTS, &body).await;
        assert_eq!(code, 201, "{version}");
        assert!(
            unknown.iter().all(|text| warned.iter().any(|warning| warning.contains(text))),
            "{version}: {warned:?}"
        );
        let (_, stored) = get(&server, &format!("{DEPLOYMENTS}/a")).await;
        let pod = &stored["spec"]["template"]["spec"];
        assert_eq!(pod["schedulingGates"].is_array(), version != "1.25", "{version}");
        assert_eq!(pod.get("hostnameOverride"), None, "{version}");
    }
}

#[tokio::test]
async fn a_field_of_a_newer_release_is_not_defaulted() {
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}]}}},
    });
    for (version, defaulted) in [("1.27", false), ("1.29", true), ("1.36", true)] {
        let (code, created) = send(&server(version), "POST", jobs, &job).await;
        assert_eq!(code, 201, "{version}: {created}");
        assert_eq!(created["spec"]["podReplacementPolicy"].is_string(), defaulted, "{version}");
        assert_eq!(created["spec"]["completionMode"], "NonIndexed", "{version}");
    }
}

#[tokio::test]
async fn an_applied_field_of_a_newer_release_is_refused() {
    let body = deployment(
        &json!({"containers": [{"name": "a", "image": "a"}], "schedulingGates": [{"name": "x.y/z"}]}),
    );
    let path = format!("{DEPLOYMENTS}/a?fieldManager=me&force=true");
    let headers = [("content-type", "application/apply-patch+yaml")];
    for (version, is_known) in [("1.25", false), ("1.28", true)] {
        let (code, _, answer) = exchange(&server(version), "PATCH", &path, &headers, &body.to_string()).await;
        let answer = String::from_utf8_lossy(&answer);
        assert_eq!(code == 201, is_known, "{version}: {answer}");
        assert!(is_known || answer.contains("schedulingGates"), "{version}: {answer}");
    }
}

#[tokio::test]
async fn a_retired_version_is_another_view_of_the_same_objects() {
    let server = server("1.24");
    let old = json!({
        "apiVersion": "batch/v1beta1", "kind": "CronJob", "metadata": {"name": "a"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "a", "image": "a"}],
        }}}}},
    });
    let path = format!("/apis/batch/v1beta1/{CRON_JOBS}");
    let (code, warned) = warnings(&server, "POST", &path, &old).await;
    assert_eq!(code, 201);
    let deprecated =
        "batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob";
    assert_eq!(warned, [format!("299 - \"{deprecated}\"")]);
    let (code, new) = get(&server, &format!("/apis/batch/v1/{CRON_JOBS}/a")).await;
    assert_eq!((code, &new["apiVersion"]), (200, &json!("batch/v1")));
    assert_eq!(new["spec"]["concurrencyPolicy"], "Allow", "it has defaults");
    let (_, again) = get(&server, &format!("{path}/a")).await;
    assert_eq!(again["apiVersion"], "batch/v1beta1");
    assert_eq!((&again["spec"], &again["metadata"]["uid"]), (&new["spec"], &new["metadata"]["uid"]));
    let invalid = json!({"apiVersion": "batch/v1beta1", "kind": "CronJob", "metadata": {"name": "b"},
        "spec": {"schedule": "wrong", "jobTemplate": old["spec"]["jobTemplate"]}});
    let (code, answer) = send(&server, "POST", &path, &invalid).await;
    assert_eq!((code, answer["reason"].as_str()), (422, Some("Invalid")), "it is validated: {answer}");
}

#[tokio::test]
async fn fields_of_retired_versions_move() {
    let server = server("1.24");
    let budgets = |version: &str| format!("/apis/policy/{version}/namespaces/default/poddisruptionbudgets");
    let budget = json!({
        "apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "a"},
        "spec": {"minAvailable": 1, "selector": {}},
    });
    assert_eq!(send(&server, "POST", &budgets("v1beta1"), &budget).await.0, 201);
    let (_, new) = get(&server, &format!("{}/a", budgets("v1"))).await;
    assert_eq!(new["spec"]["selector"]["matchExpressions"][0]["operator"], "Exists");
    let (_, old) = get(&server, &format!("{}/a", budgets("v1beta1"))).await;
    assert_eq!(old["spec"]["selector"], json!({}));

    let autoscaler = json!({
        "apiVersion": "autoscaling/v2beta1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "a"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}, "maxReplicas": 3,
            "metrics": [{"type": "Resource", "resource": {"name": "memory", "targetAverageUtilization": 70}}],
        },
    });
    let (code, answer) =
        send(&server, "POST", &format!("/apis/autoscaling/v2beta1/{AUTOSCALERS}"), &autoscaler).await;
    assert_eq!(code, 201, "{answer}");
    assert_eq!(answer["spec"]["minReplicas"], 1);
    for version in ["v2", "v2beta2"] {
        let (_, new) = get(&server, &format!("/apis/autoscaling/{version}/{AUTOSCALERS}/a")).await;
        let target = &new["spec"]["metrics"][0]["resource"]["target"];
        assert_eq!(target, &json!({"type": "Utilization", "averageUtilization": 70}), "{version}");
    }
}

#[tokio::test]
async fn pod_security_policies_are_kept_as_openapi_describes_them() {
    let path = "/apis/policy/v1beta1/podsecuritypolicies";
    let policy = json!({
        "apiVersion": "policy/v1beta1", "kind": "PodSecurityPolicy", "metadata": {"name": "a"},
        "spec": {
            "privileged": true, "volumes": ["*"], "wrong": 1, "seLinux": {"rule": "RunAsAny"},
            "supplementalGroups": {"rule": "RunAsAny"}, "runAsUser": {"rule": "RunAsAny"}, "fsGroup": {"rule": "RunAsAny"},
        },
    });
    let older = server("1.24");
    let (code, warned) = warnings(&older, "POST", path, &policy).await;
    assert_eq!(code, 201);
    assert!(warned.iter().any(|text| text.contains("unknown field \\\"spec.wrong\\\"")), "{warned:?}");
    let (_, stored) = get(&older, &format!("{path}/a")).await;
    assert_eq!((&stored["spec"]["privileged"], stored["spec"].get("wrong")), (&json!(true), None));
    assert_eq!(send(&server("1.25"), "POST", path, &policy).await.0, 404);
}

#[tokio::test]
async fn the_initial_objects_are_those_that_the_release_can_have() {
    for (version, flow, shares) in [
        ("1.24", "v1beta2", "assuredConcurrencyShares"),
        ("1.28", "v1beta3", "nominalConcurrencyShares"),
        ("1.36", "v1", "nominalConcurrencyShares"),
    ] {
        let server = ApiServer::builder()
            .kubernetes(version.parse().unwrap())
            .controllers(Controllers::none())
            .authorization(Authorization::Rbac)
            .post_start_hooks(true)
            .build();
        let root = format!("/apis/flowcontrol.apiserver.k8s.io/{flow}");
        let (_, level) = get(&server, &format!("{root}/prioritylevelconfigurations/workload-low")).await;
        assert!(level["spec"]["limited"][shares].is_number(), "{version}: {level}");
        assert_eq!(get(&server, &format!("{root}/flowschemas/exempt")).await.0, 200, "{version}");
        let (_, services) = get(&server, "/apis/apiregistration.k8s.io/v1/apiservices").await;
        let names: BTreeSet<String> = services["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|service| service["metadata"]["name"].as_str().unwrap().to_owned())
            .collect();
        let mut versions = BTreeSet::from(["v1.".to_owned()]);
        for group in get(&server, "/apis").await.1["groups"].as_array().unwrap() {
            for version in group["versions"].as_array().unwrap() {
                versions.insert(format!(
                    "{}.{}",
                    version["version"].as_str().unwrap(),
                    group["name"].as_str().unwrap()
                ));
            }
        }
        // The aggregator serves its own group.
        versions.remove("v1.apiregistration.k8s.io");
        assert_eq!(names, versions, "{version}");
    }
}
