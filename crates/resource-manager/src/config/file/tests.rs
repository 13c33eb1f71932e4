//! Configuration files by table: defaults, validation, unknown fields.

use std::collections::BTreeMap;

use formats::duration::GoDuration;

use serde_json::{Value, json};

use super::*;
use crate::config::{
    ClientConnection, HttpsServer, LeaderElection, Server, Servers, SystemComponentsConfig, Tls,
};
use crate::toleration::Toleration;

fn seconds(seconds: i64) -> GoDuration {
    GoDuration::from_seconds(seconds)
}

/// All errors of a configuration, line by line.
fn errors_of(partial: &Value) -> Vec<String> {
    match ResourceManagerConfiguration::from_partial(partial) {
        Ok(_) => Vec::new(),
        Err(ConfigError::Invalid(errors)) => errors.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    }
}

#[test]
fn missing_fields_zeros_and_nulls_mean_the_defaults() {
    let silent = ResourceManagerConfiguration::from_partial(
        &json!({"leaderElection": {"resourceNamespace": "garden"}}),
    )
    .unwrap();
    let dumped = ResourceManagerConfiguration::from_partial(&json!({
        "sourceClientConnection": {
            "kubeconfig": "", "acceptContentTypes": "", "contentType": "", "qps": 0, "burst": 0,
        },
        "leaderElection": {
            "leaderElect": null, "leaseDuration": "0s", "renewDeadline": "0s", "retryPeriod": "0s",
            "resourceLock": "", "resourceName": "", "resourceNamespace": "garden",
        },
        "server": {
            "webhooks": {"bindAddress": "", "port": 0, "tls": {"serverCertDir": ""}},
            "healthProbes": null, "metrics": {"bindAddress": "", "port": 0},
        },
        "logLevel": "", "logFormat": "",
        "controllers": {"clusterID": null, "resourceClass": null, "networkPolicy": {"namespaceSelectors": null}},
        "webhooks": {"systemComponentsConfig": {"enabled": false, "podTolerations": null, "nodeSelector": null}},
    }));
    assert_eq!(dumped.unwrap(), silent);

    assert_eq!((silent.log_level.as_str(), silent.log_format.as_str()), ("info", "json"));
    let connection = ClientConnection {
        qps: 100.0,
        burst: 130,
        cache_resync_period: Some(seconds(86_400)),
        ..Default::default()
    };
    assert_eq!((silent.source_client_connection, silent.target_client_connection), (connection, None));
    let election = LeaderElection {
        leader_elect: Some(true),
        lease_duration: seconds(15),
        renew_deadline: seconds(10),
        retry_period: seconds(2),
        resource_lock: "leases".to_owned(),
        resource_name: "gardener-resource-manager".to_owned(),
        resource_namespace: "garden".to_owned(),
    };
    assert_eq!(silent.leader_election, election);
    let server = |port| Some(Server { bind_address: String::new(), port });
    let servers = Servers {
        webhooks: HttpsServer { bind_address: String::new(), port: 9449, tls: Tls::default() },
        health_probes: server(8081),
        metrics: server(8080),
    };
    assert_eq!(silent.server, servers);
}

#[test]
fn controllers_that_always_run_have_defaults_and_others_once_they_are_enabled() {
    let silent = ResourceManagerConfiguration::from_partial(&json!({})).unwrap().controllers;
    assert_eq!(
        serde_json::to_value(&silent).unwrap(),
        json!({
            "clusterID": "",
            "resourceClass": "resources",
            "garbageCollector": {"enabled": false, "syncPeriod": null},
            "health": {"concurrentSyncs": 5, "syncPeriod": "1m0s"},
            "kubeletCSRApprover": {"enabled": false, "concurrentSyncs": null, "machineNamespace": ""},
            "managedResource": {
                "concurrentSyncs": 5, "syncPeriod": "1m0s", "alwaysUpdate": false, "managedByLabelValue": "gardener",
            },
            "networkPolicy": {
                "enabled": false, "concurrentSyncs": null, "namespaceSelectors": [], "ingressControllerSelector": null,
            },
            "node": {"enabled": false, "concurrentSyncs": null, "backoff": null},
            "secret": {"concurrentSyncs": 5},
            "tokenInvalidator": {"enabled": false, "concurrentSyncs": null},
            "tokenRequestor": {"enabled": false, "concurrentSyncs": null},
        })
    );
    let on = json!({"enabled": true});
    let enabled = ResourceManagerConfiguration::from_partial(&json!({
        "controllers": {
            "garbageCollector": on, "kubeletCSRApprover": on, "networkPolicy": on, "node": on,
            "tokenInvalidator": on, "tokenRequestor": on,
        },
        "webhooks": {"tokenInvalidator": on, "podSchedulerName": on, "projectedTokenMount": on},
    }))
    .unwrap();
    let controllers = enabled.controllers;
    assert_eq!(controllers.garbage_collector.sync_period, Some(seconds(3600)));
    assert_eq!(controllers.node.backoff, Some(seconds(10)));
    let concurrency = [
        controllers.kubelet_csr_approver.concurrent_syncs,
        controllers.network_policy.concurrent_syncs,
        controllers.node.concurrent_syncs,
        controllers.token_invalidator.concurrent_syncs,
        controllers.token_requestor.concurrent_syncs,
    ];
    assert_eq!(concurrency, [Some(1), Some(5), Some(5), Some(5), Some(5)]);
    assert_eq!(enabled.webhooks.pod_scheduler_name.scheduler_name.as_deref(), Some("default-scheduler"));
    assert_eq!(enabled.webhooks.projected_token_mount.expiration_seconds, Some(43_200));
}

#[test]
fn aliases_are_read_and_other_unknown_fields_are_not() {
    let config = ResourceManagerConfiguration::from_partial(&json!({
        "sourceClientConnection": {"namespace": "shoot--a--b"},
        "controllers": {"managedResources": {"syncPeriod": "20s"}},
        "webhooks": {"systemComponentsConfig": {
            "nodeSelector": {"a": "b"}, "podTolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 3,
            "effect": "NoExecute"}],
        }},
    }))
    .unwrap();
    assert_eq!(config.source_client_connection.namespaces, ["shoot--a--b"]);
    assert_eq!(config.controllers.managed_resource.sync_period, Some(seconds(20)));
    let toleration = Toleration {
        key: "k".to_owned(),
        operator: "Exists".to_owned(),
        effect: "NoExecute".to_owned(),
        toleration_seconds: Some(3),
        ..Toleration::default()
    };
    let system_components = SystemComponentsConfig {
        enabled: false,
        node_selector: BTreeMap::from([("a".to_owned(), "b".to_owned())]),
        pod_node_selector: BTreeMap::new(),
        pod_tolerations: vec![toleration],
    };
    assert_eq!(config.webhooks.system_components_config, system_components);
    let unknown = ResourceManagerConfiguration::from_partial(
        &json!({"webhooks": {"tokenValidator": {"enabled": true}}}),
    )
    .unwrap_err();
    let message = unknown.to_string();
    assert!(
        message.ends_with(
            "unknown field webhooks.tokenValidator has no effect, did you mean webhooks.tokenInvalidator?"
        ),
        "{message}"
    );
}

#[test]
fn connections_servers_and_leader_election_are_validated() {
    let table: [(Value, &[&str]); 9] = [
        (
            json!({"sourceClientConnection": {"cacheResyncPeriod": "9s"}}),
            &["sourceClientConnection.cacheResyncPeriod: Invalid value: 9s: must be at least 10s"],
        ),
        (
            json!({"targetClientConnection": {"burst": -1}}),
            &["targetClientConnection.burst: Invalid value: -1: must be non-negative"],
        ),
        (
            json!({"server": {"healthProbes": {"port": -1}, "metrics": {"port": -2}}}),
            &[
                "server.healthProbes.port: Invalid value: -1: must be greater than or equal to 0",
                "server.metrics.port: Invalid value: -2: must be greater than or equal to 0",
            ],
        ),
        (
            json!({"leaderElection": {"leaderElect": true}}),
            &["leaderElection.resourceNamespace: Invalid value: \"\": resourceNamespace is required"],
        ),
        (json!({"leaderElection": {"leaderElect": false, "leaseDuration": "-1s"}}), &[]),
        (
            json!({"leaderElection": {"resourceNamespace": "a", "leaseDuration": "5s"}}),
            &[
                "leaderElection.leaseDuration: Invalid value: 10s: LeaseDuration must be greater than RenewDeadline",
            ],
        ),
        (
            json!({"leaderElection": {"resourceNamespace": "a", "renewDeadline": "-1s", "retryPeriod": "-1s"}}),
            &[
                "leaderElection.renewDeadline: Invalid value: -1s: must be greater than zero",
                "leaderElection.retryPeriod: Invalid value: -1s: must be greater than zero",
            ],
        ),
        (
            json!({"logLevel": "warn"}),
            &["logLevel: Unsupported value: \"warn\": supported values: \"debug\", \"info\", \"error\""],
        ),
        (
            json!({"logFormat": "xml"}),
            &["logFormat: Unsupported value: \"xml\": supported values: \"json\", \"text\""],
        ),
    ];
    for (partial, want) in table {
        assert_eq!(errors_of(&partial), want, "{partial}");
    }
}

#[test]
fn enabled_controllers_are_validated() {
    let sloppy = json!({"enabled": true, "concurrentSyncs": 0, "syncPeriod": "14s"});
    let none = json!({"concurrentSyncs": 0});
    let both = json!({"concurrentSyncs": -1, "syncPeriod": "1s"});
    let wrongs = errors_of(&json!({"controllers": {
        "resourceClass": "",
        "kubeletCSRApprover": {"enabled": true, "concurrentSyncs": 0},
        "garbageCollector": {"enabled": true, "syncPeriod": sloppy["syncPeriod"]},
        "health": both,
        "managedResource": {"concurrentSyncs": 0, "syncPeriod": "1s", "managedByLabelValue": ""},
        "secret": none,
        "tokenRequestor": {"enabled": true, "concurrentSyncs": 0},
        "tokenInvalidator": {"enabled": true},
    }}));
    assert_eq!(
        wrongs,
        [
            "controllers.resourceClass: Required value: must provide a resource class",
            "controllers.kubeletCSRApprover.concurrentSyncs: Invalid value: 0: must be at least 1",
            "controllers.garbageCollector.syncPeriod: Invalid value: 14s: must be at least 15s",
            "controllers.health.concurrentSyncs: Invalid value: -1: must be at least 1",
            "controllers.health.syncPeriod: Invalid value: 1s: must be at least 15s",
            "controllers.managedResources.concurrentSyncs: Invalid value: 0: must be at least 1",
            "controllers.managedResources.syncPeriod: Invalid value: 1s: must be at least 15s",
            "controllers.managedResources.managedByLabelValue: Required value: must specify value of managed-by label",
            "controllers.secret.concurrentSyncs: Invalid value: 0: must be at least 1",
            "controllers.tokenRequestor.concurrentSyncs: Invalid value: 0: must be at least 1",
            "controllers.tokenInvalidator: Forbidden: controller and webhook for TokenInvalidator must either be both \
         disabled or enabled",
        ]
    );
    let off = json!({"enabled": false, "concurrentSyncs": 0});
    let idle =
        json!({"controllers": {"kubeletCSRApprover": off, "tokenRequestor": off, "tokenInvalidator": off}});
    assert_eq!(errors_of(&idle), Vec::<String>::new());
}

#[test]
fn enabled_webhooks_are_validated() {
    let wrongs = errors_of(&json!({"webhooks": {
        "podSchedulerName": {"enabled": true, "schedulerName": ""},
        "projectedTokenMount": {"enabled": true, "expirationSeconds": 599},
        "highAvailabilityConfig": {"defaultNotReadyTolerationSeconds": -1, "defaultUnreachableTolerationSeconds": -2},
    }}));
    let high_availability = "webhooks.highAvailabilityConfig";
    let negative = "must be greater than or equal to 0";
    assert_eq!(wrongs, [
        "webhooks.podSchedulerName.schedulerName: Required value: must specify schedulerName when webhook is enabled"
            .to_owned(),
        "webhooks.projectedTokenMount.expirationSeconds: Invalid value: 599: must be at least 600".to_owned(),
        format!("{high_availability}.defaultNotReadyTolerationSeconds: Invalid value: -1: {negative}"),
        format!("{high_availability}.defaultUnreachableTolerationSeconds: Invalid value: -2: {negative}"),
    ]);
    let off = json!({"webhooks": {
        "podSchedulerName": {"schedulerName": ""}, "projectedTokenMount": {"expirationSeconds": 1},
    }});
    assert_eq!(errors_of(&off), Vec::<String>::new());
}

#[test]
fn tolerations_are_validated_as_in_kubernetes_even_if_unused() {
    let label_key = formats::name::label_key("not a key").join(";");
    let label_value = formats::name::label_value("not a value").join(";");
    let exists = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
    let pointless = r#"{"key":"k","operator":"Exists","value":"v"}"#;
    let effects = r#""NoSchedule", "PreferNoSchedule", "NoExecute""#;
    let table = [
        (json!({"operator": "Exists"}), None),
        (json!({"operator": "Equal"}), Some(format!("operator: Invalid value: \"Equal\": {exists}"))),
        (
            json!({"key": "not a key", "operator": "Exists"}),
            Some(format!("key: Invalid value: \"not a key\": {label_key}")),
        ),
        (
            json!({"key": "k", "operator": "Exists", "value": "v"}),
            Some(format!("operator: Invalid value: {pointless}: value must be empty when `operator` is 'Exists'")),
        ),
        (
            json!({"key": "k", "value": "not a value"}),
            Some(format!("operator: Invalid value: \"not a value\": {label_value}")),
        ),
        (
            json!({"key": "k", "operator": "Like"}),
            Some(r#"operator: Unsupported value: "Like": supported values: "Equal", "Exists""#.to_owned()),
        ),
        (
            json!({"key": "k", "effect": "Never"}),
            Some(format!("effect: Unsupported value: \"Never\": supported values: {effects}")),
        ),
        (
            json!({"key": "k", "effect": "NoSchedule", "tolerationSeconds": 1}),
            Some(
                "effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"
                    .to_owned(),
            ),
        ),
    ];
    for (toleration, want) in table {
        let wrongs =
            errors_of(&json!({"webhooks": {"systemComponentsConfig": {"podTolerations": [toleration]}}}));
        let want = want.map(|want| format!("webhooks.systemComponentsConfig.podTolerations[0].{want}"));
        assert_eq!(wrongs, want.into_iter().collect::<Vec<_>>(), "{toleration}");
    }
}
