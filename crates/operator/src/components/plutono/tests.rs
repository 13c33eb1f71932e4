//! Plutono of several Gardens, object by object.

use formats::yaml;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::components::fixture::{Fixture, assert_objects, managed, referenced};

fn everything() -> Fixture {
    Fixture::with(&json!({"spec": {
        "runtimeCluster": {
            "provider": {"zones": ["a", "b"]},
            "settings": {"verticalPodAutoscaler": {"enabled": true}, "topologyAwareRouting": {"enabled": true}},
        },
        "virtualCluster": {"controlPlane": {"highAvailability": {}}, "kubernetes": {"version": "1.28.3"}},
    }}))
    .with_hvpa()
    .with_seed_authorizer()
}

fn with_domain(domain: &str) -> Fixture {
    Fixture::with(&json!({"spec": {"runtimeCluster": {"ingress": {"domain": domain}}}}))
}

fn with_wildcard() -> Fixture {
    let mut fixture = Fixture::default();
    fixture.observed.wildcard_certificate = Some("all-names".to_owned());
    fixture
}

fn with_dashboards(texts: &[(&str, &str)]) -> Fixture {
    let mut fixture = Fixture::default();
    for (name, text) in texts {
        fixture.observed.extension_dashboards.insert((*name).to_owned(), (*text).to_owned());
    }
    fixture
}

/// The ConfigMaps that the Deployment mounts: sources, providers, dashboards of the garden and global ones.
fn config_maps(rendering: &Rendering) -> Vec<Value> {
    let objects = managed(rendering, "plutono").objects.iter();
    let in_managed = objects.filter(|object| object["kind"] == "ConfigMap").rev();
    let written = rendering.steps.iter().filter_map(DirectStep::object);
    in_managed.chain(written).cloned().collect()
}

fn deployment(config_maps: &[Value]) -> Value {
    let names: Vec<&str> = config_maps.iter().map(name_of).collect();
    let annotations = referenced(&names, &[]);
    let [sources, providers, garden, global] = names[..] else { panic!("{names:?}") };
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "plutono", "namespace": "garden", "annotations": annotations,
            "labels": {"component": "plutono", "role": "monitoring"},
        },
        "spec": {
            "replicas": 1, "revisionHistoryLimit": 2, "selector": {"matchLabels": {"component": "plutono"}},
            "template": {
                "metadata": {"annotations": annotations, "labels": {
                    "component": "plutono", "networking.gardener.cloud/to-dns": "allowed",
                    "networking.resources.gardener.cloud/to-logging-tcp-3100": "allowed",
                    "networking.resources.gardener.cloud/to-garden-prometheus-tcp-9090": "allowed",
                    "networking.resources.gardener.cloud/to-garden-avail-prom-tcp-9091": "allowed",
                }},
                "spec": {
                    "automountServiceAccountToken": false, "priorityClassName": "gardener-garden-system-100",
                    "containers": [container()],
                    "volumes": [
                        {"name": "plutono-datasources", "configMap": {"name": sources}},
                        {"name": "plutono-dashboard-providers", "configMap": {"name": providers}},
                        {"name": "plutono-storage", "emptyDir": {"sizeLimit": "100Mi"}},
                        {"name": "plutono-dashboards-garden", "configMap": {"name": garden}},
                        {"name": "plutono-dashboards-global", "configMap": {"name": global}},
                    ],
                },
            },
        },
    })
}

fn container() -> Value {
    json!({
        "name": "plutono", "image": "ghcr.io/credativ/plutono:v7.5.24", "imagePullPolicy": "IfNotPresent",
        "env": [
            {"name": "PL_AUTH_ANONYMOUS_ENABLED", "value": "true"},
            {"name": "PL_USERS_VIEWERS_CAN_EDIT", "value": "true"},
            {"name": "PL_DATE_FORMATS_DEFAULT_TIMEZONE", "value": "UTC"},
            {"name": "PL_AUTH_BASIC_ENABLED", "value": "false"},
            {"name": "PL_AUTH_DISABLE_LOGIN_FORM", "value": "true"},
            {"name": "PL_AUTH_DISABLE_SIGNOUT_MENU", "value": "true"},
            {"name": "PL_ALERTING_ENABLED", "value": "false"},
            {"name": "PL_SNAPSHOTS_EXTERNAL_ENABLED", "value": "false"},
        ],
        "volumeMounts": [
            {"name": "plutono-datasources", "mountPath": "/etc/plutono/provisioning/datasources"},
            {"name": "plutono-dashboard-providers", "mountPath": "/etc/plutono/provisioning/dashboards"},
            {"name": "plutono-storage", "mountPath": "/var/lib/plutono"},
            {"name": "plutono-dashboards-garden", "mountPath": "/var/lib/plutono/dashboards/garden"},
            {"name": "plutono-dashboards-global", "mountPath": "/var/lib/plutono/dashboards/global"},
        ],
        "ports": [{"name": "web", "containerPort": 3000}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "400Mi"}},
    })
}

fn others(host: &str, certificate: &str) -> [Value; 2] {
    let backend = json!({"service": {"name": "plutono", "port": {"number": 3000}}});
    [
        json!({
            "apiVersion": "v1", "kind": "Service",
            "metadata": {
                "name": "plutono", "namespace": "garden",
                "labels": {"component": "plutono", "role": "monitoring"},
            },
            "spec": {
                "type": "ClusterIP", "selector": {"component": "plutono"},
                "ports": [{"name": "web", "protocol": "TCP", "port": 3000, "targetPort": 3000}],
            },
        }),
        json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {
                "name": "plutono", "namespace": "garden",
                "annotations": {
                    "nginx.ingress.kubernetes.io/auth-realm": "Authentication Required",
                    "nginx.ingress.kubernetes.io/auth-secret": "observability-ingress-current",
                    "nginx.ingress.kubernetes.io/auth-type": "basic",
                },
            },
            "spec": {
                "ingressClassName": "nginx-ingress-gardener",
                "tls": [{"secretName": certificate, "hosts": [host]}],
                "rules": [{"host": host, "http": {"paths": [
                    {"path": "/", "pathType": "ImplementationSpecific", "backend": backend},
                ]}}],
            },
        }),
    ]
}

/// OPC-134, OPC-135.
#[rstest]
#[case::minimal(Fixture::default(), "plutono-garden.ingress.example.com", "plutono-tls-current")]
#[case::everything(everything(), "plutono-garden.ingress.example.com", "plutono-tls-current")]
#[case::runtime_1_24(
    Fixture::default().on_runtime("1.24.0"),
    "plutono-garden.ingress.example.com",
    "plutono-tls-current"
)]
#[case::another_domain(with_domain("a.b"), "plutono-garden.a.b", "plutono-tls-current")]
#[case::wildcard(with_wildcard(), "plutono-garden.ingress.example.com", "all-names")]
fn the_objects(#[case] fixture: Fixture, #[case] host: &str, #[case] certificate: &str) {
    let rendering = render(&fixture.values()).unwrap();
    let config_maps = config_maps(&rendering);
    let mut want = vec![deployment(&config_maps)];
    want.extend(others(host, certificate));
    want.extend(config_maps[..2].iter().cloned());
    assert_objects("plutono", &managed(&rendering, "plutono").objects, &want, &[]);
    assert!(rendering.steps.iter().all(|step| matches!(step, DirectStep::CreateOrLabel(_))));
    for (config_map, prefix) in config_maps.iter().zip([
        "plutono-datasources-",
        "plutono-dashboard-providers-",
        "plutono-dashboards-garden-",
        "plutono-dashboards-global-",
    ]) {
        assert!(name_of(config_map).starts_with(prefix), "{config_map}");
        assert_eq!(config_map["immutable"], true);
        let labels = json!({
            "component": "plutono", "resources.gardener.cloud/garbage-collectable-reference": "true",
        });
        assert_eq!(config_map["metadata"]["labels"], labels);
    }
}

#[test]
fn the_configuration() {
    let rendering = render(&Fixture::default().values()).unwrap();
    let config_maps = config_maps(&rendering);
    let file = |index: usize, key: &str| {
        yaml::from_str::<Value>(config_maps[index]["data"][key].as_str().unwrap()).unwrap()
    };
    let prometheus = |name: &str, url: &str, is_default: bool, interval: &str| {
        json!({
            "name": name, "type": "prometheus", "access": "proxy", "url": url, "basicAuth": false,
            "isDefault": is_default, "version": 1, "editable": false, "jsonData": {"timeInterval": interval},
        })
    };
    let sources = json!({
        "apiVersion": 1, "deleteDatasources": [{"name": "Graphite", "orgId": 1}],
        "datasources": [
            prometheus("prometheus", "http://garden-prometheus:80", true, "1m"),
            prometheus("availability-prometheus", "http://garden-avail-prom:80", false, "30s"),
            {
                "name": "vali", "type": "vali", "access": "proxy", "url": "http://logging.garden.svc:3100",
                "jsonData": {"maxLines": 5000},
            },
        ],
    });
    assert_eq!(file(0, "datasources.yaml"), sources);
    let provider = |name: &str, folder: &str, path: &str| {
        json!({
            "name": name, "orgId": 1, "folder": folder, "type": "file", "disableDeletion": false,
            "editable": false, "updateIntervalSeconds": 120, "options": {"path": path},
        })
    };
    let global = provider("global", "Global", "/var/lib/plutono/dashboards/global");
    let garden = provider("garden", "Garden", "/var/lib/plutono/dashboards/garden");
    let providers = json!({"apiVersion": 1, "providers": [global, garden]});
    assert_eq!(file(1, "default.yaml"), providers);
}

/// Each has a title and panels with a question, and its ConfigMap is small enough.
#[test]
fn dashboards_are_complete() {
    let rendering = render(&Fixture::default().values()).unwrap();
    let config_maps = config_maps(&rendering);
    for (config_map, count) in config_maps[2..].iter().zip([14, 7]) {
        let data = config_map["data"].as_object().unwrap();
        assert_eq!(data.len(), count);
        assert!(config_map.to_string().len() < 1024 * 1024);
        for (file, text) in data {
            assert!(file.strip_suffix(".json").is_some(), "{file}");
            let dashboard: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
            assert!(dashboard["title"].is_string(), "{file}");
            let panels = dashboard["panels"].as_array().unwrap();
            let is_complete =
                |panel: &Value| panel["title"].is_string() && panel["targets"][0]["expr"].is_string();
            assert!(!panels.is_empty() && panels.iter().all(is_complete), "{file}");
        }
    }
}

/// OPC-136: in the order of ConfigMaps' names they are one map; ours stay.
#[test]
fn dashboards_of_extensions_are_those_of_the_garden() {
    let fixture = with_dashboards(&[
        ("a", "one.json: '{\"title\": \"Grafana\",   \"source\": \"loki\"}'"),
        ("b", ""),
        ("c", "two.json: |\n  title: Two\ngardener-controlplane.json: '{}'\n"),
    ]);
    let rendering = render(&fixture.values()).unwrap();
    let config_maps = config_maps(&rendering);
    let (garden, global) = (&config_maps[2]["data"], &config_maps[3]["data"]);
    assert_eq!(garden["one.json"], r#"{"source":"vali","title":"Plutono"}"#);
    assert_eq!(garden["two.json"], r#"{"title":"Two"}"#);
    assert!(garden["gardener-controlplane.json"].as_str().unwrap().contains("Gardener Control Plane"));
    assert_eq!(garden.as_object().unwrap().len(), 16);
    assert_eq!(global.as_object().unwrap().len(), 7);
}

#[rstest]
#[case::no_map("[]", "error reading dashboards of extensions: ")]
#[case::no_dashboard("one.json: '{'", "error reading dashboards one.json: ")]
fn unreadable_dashboards_are_named(#[case] text: &str, #[case] want: &str) {
    let error = render(&with_dashboards(&[("a", text)]).values()).unwrap_err().to_string();
    assert!(error.starts_with(want), "{error}");
}

/// OPC-135: a certificate of its own is asked for where there is none for all names.
#[test]
fn what_the_secrets_manager_is_asked_for() {
    let fixture = with_domain("a.b");
    let requested = requests(&fixture.garden, &fixture.observed);
    assert_eq!(requested.len(), 2);
    let password = Content::BasicAuth { user: "admin".to_owned(), password_length: 32 };
    assert_eq!(requested[0].request, SecretRequest::new("observability-ingress", password));
    assert_eq!(requested[0].options, GenerateOptions { persist: true, ..GenerateOptions::default() });
    let certificate = secrets::CertificateContent {
        common_name: "plutono".to_owned(),
        organizations: vec!["gardener.cloud:monitoring:ingress".to_owned()],
        dns_names: vec!["plutono-garden.a.b".to_owned()],
        validity: Some(Duration::from_hours(17_520)),
        without_authority: true,
        ..secrets::CertificateContent::new(secrets::CertificateKind::Server)
    };
    let content = Content::Certificate(certificate);
    assert_eq!(requested[1].request, SecretRequest::new("plutono-tls", content));
    let signer = Some(secrets::Signer::new("ca-garden-runtime"));
    assert_eq!(requested[1].options, GenerateOptions { signer, ..GenerateOptions::default() });
    let fixture = with_wildcard();
    assert_eq!(requests(&fixture.garden, &fixture.observed).len(), 1);
}
