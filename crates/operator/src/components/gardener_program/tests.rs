//! Gardener's programs of several Gardens, object by object, as the original renders them.

use std::collections::BTreeMap;

use rstest::rstest;
use serde_json::{Value, json};

use crate::components::fixture::{Fixture, assert_objects, managed, referenced};
use crate::components::rendering::{DirectStep, Rendering, name_of};
use crate::components::{
    access, gardener_admission_controller, gardener_controller_manager, gardener_scheduler,
};

/// A program, and what tells its objects from those of others.
#[derive(Clone, Copy)]
struct Expected {
    name: &'static str,
    role: &'static str,
    availability: &'static str,
    priority: &'static str,
    cpu: &'static str,
    memory: &'static str,
    liveness_delay: u32,
    probe_port: u16,
    autoscaler: &'static str,
    least_memory: &'static str,
    config_file: &'static str,
}

const ADMISSION_CONTROLLER: Expected = Expected {
    name: "gardener-admission-controller",
    role: "admission-controller",
    availability: "server",
    priority: "gardener-garden-system-400",
    cpu: "100m",
    memory: "200Mi",
    liveness_delay: 15,
    probe_port: 2722,
    autoscaler: "gardener-admission-controller",
    least_memory: "25Mi",
    config_file: "config.yaml",
};
const CONTROLLER_MANAGER: Expected = Expected {
    name: "gardener-controller-manager",
    role: "controller-manager",
    availability: "controller",
    priority: "gardener-garden-system-200",
    cpu: "1",
    memory: "1Gi",
    liveness_delay: 30,
    probe_port: 2718,
    autoscaler: "gardener-controller-manager-vpa",
    least_memory: "300Mi",
    config_file: "config.yaml",
};
const SCHEDULER: Expected = Expected {
    name: "gardener-scheduler",
    role: "scheduler",
    availability: "controller",
    priority: "gardener-garden-system-200",
    cpu: "50m",
    memory: "50Mi",
    liveness_delay: 15,
    probe_port: 10251,
    autoscaler: "gardener-scheduler-vpa",
    least_memory: "25Mi",
    config_file: "schedulerconfiguration.yaml",
};

impl Expected {
    fn labels(&self) -> Value {
        json!({"app": "gardener", "role": self.role})
    }

    fn metadata(&self, name: &str) -> Value {
        json!({"name": name, "namespace": "garden", "labels": self.labels()})
    }

    fn probe(&self, path: &str, delay: u32) -> Value {
        json!({
            "httpGet": {"path": path, "port": self.probe_port, "scheme": "HTTP"},
            "initialDelaySeconds": delay, "timeoutSeconds": 5,
        })
    }

    fn container(&self) -> Value {
        let name = self.name;
        let image = name.strip_prefix("gardener-").unwrap();
        json!({
            "name": name, "imagePullPolicy": "IfNotPresent",
            "image": format!("eu.gcr.io/gardener-project/gardener/{image}:v1.82.0"),
            "args": [format!("--config=/etc/{name}/config/{}", self.config_file)],
            "resources": {"requests": {"cpu": self.cpu, "memory": self.memory}},
            "livenessProbe": self.probe("/healthz", self.liveness_delay),
            "readinessProbe": self.probe("/readyz", 10),
            "volumeMounts": [
                {"name": format!("{name}-config"), "mountPath": format!("/etc/{name}/config")},
                {
                    "name": "kubeconfig", "readOnly": true,
                    "mountPath": "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig",
                },
            ],
        })
    }

    fn volumes(&self, config_map: &str) -> Value {
        let source = |name: &str, key: &str| json!({"secret": {"name": name, "optional": false, "items": [{"key": key, "path": key}]}});
        json!([
            {"name": format!("{}-config", self.name), "configMap": {"name": config_map}},
            {"name": "kubeconfig", "projected": {"defaultMode": 420, "sources": [
                source("generic-token-kubeconfig-current", "kubeconfig"),
                source(&format!("shoot-access-{}", self.name), "token"),
            ]}},
        ])
    }

    /// Without a volume beside that of the configuration.
    fn deployment(&self, config_map: &str) -> Value {
        let annotations = referenced(
            &[config_map],
            &["generic-token-kubeconfig-current", &format!("shoot-access-{}", self.name)],
        );
        let mut metadata = self.metadata(self.name);
        metadata["annotations"] = annotations.clone();
        metadata["labels"]["high-availability-config.resources.gardener.cloud/type"] =
            self.availability.into();
        let mut labels = self.labels();
        labels["networking.gardener.cloud/to-dns"] = "allowed".into();
        labels["networking.resources.gardener.cloud/to-virtual-garden-kube-apiserver-tcp-443"] =
            "allowed".into();
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
            "spec": {
                "replicas": 1, "revisionHistoryLimit": 2, "selector": {"matchLabels": self.labels()},
                "template": {
                    "metadata": {"labels": labels, "annotations": annotations},
                    "spec": {
                        "priorityClassName": self.priority, "automountServiceAccountToken": false,
                        "containers": [self.container()], "volumes": self.volumes(config_map),
                    },
                },
            },
        })
    }

    /// Budget, autoscaler and ConfigMap.
    fn others(&self, config_map: &str, config: &Value) -> Vec<Value> {
        let mut metadata = self.metadata(config_map);
        metadata["labels"]["resources.gardener.cloud/garbage-collectable-reference"] = "true".into();
        vec![
            json!({
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": self.metadata(self.name),
                "spec": {"maxUnavailable": 1, "selector": {"matchLabels": self.labels()}},
            }),
            json!({
                "apiVersion": "autoscaling.k8s.io/v1", "kind": "VerticalPodAutoscaler",
                "metadata": self.metadata(self.autoscaler),
                "spec": {
                    "targetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": self.name},
                    "updatePolicy": {"updateMode": "Auto"},
                    "resourcePolicy": {"containerPolicies": [
                        {"containerName": "*", "minAllowed": {"memory": self.least_memory}},
                    ]},
                },
            }),
            json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "immutable": true,
                "data": {self.config_file: config},
            }),
        ]
    }

    fn service(&self, ports: &Value) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": self.metadata(self.name),
            "spec": {"type": "ClusterIP", "selector": self.labels(), "ports": ports},
        })
    }
}

fn metrics(port: u16) -> Value {
    json!([{"name": "metrics", "protocol": "TCP", "port": port, "targetPort": port}])
}

/// The configuration, and the name of the ConfigMap that the rendered Deployment mounts; both agree.
fn config(rendering: &Rendering, program: &Expected) -> (String, Value) {
    let objects = &managed(rendering, &format!("{}-runtime", program.name)).objects;
    let config_map = objects.iter().find(|object| object["kind"] == "ConfigMap").unwrap();
    (name_of(config_map).to_owned(), config_map["data"][program.config_file].clone())
}

fn gardener(section: &str, config: &Value) -> Fixture {
    Fixture::with(&json!({"spec": {"virtualCluster": {"gardener": {section: config}}}}))
}

fn highly_available() -> Fixture {
    Fixture::with(&json!({"spec": {
        "virtualCluster": {"controlPlane": {"highAvailability": {}}},
        "runtimeCluster": {"settings": {"topologyAwareRouting": {"enabled": true}}},
    }}))
}

/// The names are those that the original gives to the same configurations.
#[rstest]
#[case::minimal(Fixture::default(), "gardener-controller-manager-config-cff08f20")]
#[case::highly_available_with_routing(highly_available(), "gardener-controller-manager-config-cff08f20")]
#[case::hvpa(Fixture::default().with_hvpa(), "gardener-controller-manager-config-cff08f20")]
#[case::debug(gardener("gardenerControllerManager", &json!({"logLevel": "debug"})), "gardener-controller-manager-config-73521f01")]
fn gardener_controller_manager_in_the_runtime_cluster(#[case] fixture: Fixture, #[case] config_map: &str) {
    let rendering = gardener_controller_manager::render(&fixture.values()).unwrap();
    let (_, text) = config(&rendering, &CONTROLLER_MANAGER);
    let mut want = CONTROLLER_MANAGER.others(config_map, &text);
    want.push(CONTROLLER_MANAGER.deployment(config_map));
    want.push(CONTROLLER_MANAGER.service(&metrics(2719)));
    assert_objects(
        config_map,
        &managed(&rendering, "gardener-controller-manager-runtime").objects,
        &want,
        &[],
    );
    assert_eq!(rendering.steps, [access::secret("gardener-controller-manager")]);
}

#[rstest]
#[case::minimal(Fixture::default(), "gardener-scheduler-config-3cf6616e")]
#[case::highly_available_with_routing(highly_available(), "gardener-scheduler-config-3cf6616e")]
#[case::error(gardener("gardenerScheduler", &json!({"logLevel": "error"})), "gardener-scheduler-config-6bd688a5")]
fn gardener_scheduler_in_the_runtime_cluster(#[case] fixture: Fixture, #[case] config_map: &str) {
    let rendering = gardener_scheduler::render(&fixture.values()).unwrap();
    let (_, text) = config(&rendering, &SCHEDULER);
    let mut want = SCHEDULER.others(config_map, &text);
    want.push(SCHEDULER.deployment(config_map));
    want.push(SCHEDULER.service(&metrics(19251)));
    assert_objects(config_map, &managed(&rendering, "gardener-scheduler-runtime").objects, &want, &[]);
    assert_eq!(rendering.steps, [access::secret("gardener-scheduler")]);
}

#[rstest]
#[case::minimal(Fixture::default(), None)]
#[case::routing(highly_available(), Some("service.kubernetes.io/topology-mode"))]
#[case::routing_before_1_27(
    highly_available().on_runtime("1.26.3"),
    Some("service.kubernetes.io/topology-aware-hints")
)]
fn gardener_admission_controller_in_the_runtime_cluster(
    #[case] fixture: Fixture,
    #[case] annotation: Option<&str>,
) {
    let program = ADMISSION_CONTROLLER;
    let rendering = gardener_admission_controller::render(&fixture.values()).unwrap();
    let (config_map, text) = config(&rendering, &program);
    let mut deployment = program.deployment(&config_map);
    let certificate = "gardener-admission-controller-cert";
    let annotations = referenced(
        &[&config_map],
        &[
            "gardener-admission-controller-cert-current",
            "generic-token-kubeconfig-current",
            "shoot-access-gardener-admission-controller",
        ],
    );
    deployment["metadata"]["annotations"] = annotations.clone();
    deployment["spec"]["template"]["metadata"]["annotations"] = annotations;
    let pod = &mut deployment["spec"]["template"]["spec"];
    let mount = json!({
        "name": certificate, "mountPath": "/etc/gardener-admission-controller/srv", "readOnly": true,
    });
    pod["containers"][0]["volumeMounts"].as_array_mut().unwrap().insert(0, mount);
    let volume = json!({
        "name": certificate, "secret": {"secretName": "gardener-admission-controller-cert-current"},
    });
    pod["volumes"].as_array_mut().unwrap().insert(0, volume);
    let mut service = program.service(&json!([
        {"name": "https", "protocol": "TCP", "port": 443, "targetPort": 2719},
        {"name": "metrics", "protocol": "TCP", "port": 2723, "targetPort": 2723},
    ]));
    service["metadata"]["annotations"] = json!({
        "networking.resources.gardener.cloud/from-all-webhook-targets-allowed-ports":
            r#"[{"protocol":"TCP","port":2719}]"#,
    });
    if let Some(annotation) = annotation {
        service["metadata"]["annotations"][annotation] = "auto".into();
        let label = "endpoint-slice-hints.resources.gardener.cloud/consider";
        service["metadata"]["labels"][label] = "true".into();
    }
    let mut want = program.others(&config_map, &text);
    want.extend([deployment, service]);
    let objects = &managed(&rendering, "gardener-admission-controller-runtime").objects;
    assert_objects("admission controller", objects, &want, &[]);
    assert_eq!(rendering.steps, [access::secret("gardener-admission-controller")]);
    assert_eq!(rendering.steps.iter().filter_map(DirectStep::object).count(), 1);
}

fn connection() -> Value {
    json!({
        "acceptContentTypes": "", "contentType": "", "burst": 130, "qps": 100,
        "kubeconfig": "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig",
    })
}

fn election(lease: &str) -> Value {
    json!({
        "leaderElect": true, "leaseDuration": "0s", "renewDeadline": "0s", "retryPeriod": "0s",
        "resourceLock": "", "resourceName": lease, "resourceNamespace": "kube-system",
    })
}

fn servers(health: u16, metrics: u16) -> Value {
    json!({
        "healthProbes": {"bindAddress": "", "port": health}, "metrics": {"bindAddress": "", "port": metrics},
    })
}

#[rstest]
#[case::minimal(Fixture::default(), "info", None, None)]
#[case::all(
    gardener("gardenerControllerManager", &json!({
        "logLevel": "debug", "featureGates": {"A": true, "B": false},
        "defaultProjectQuotas": [
            {"config": {"apiVersion": "v1", "kind": "ResourceQuota"}, "projectSelector": {"matchLabels": {"a": "b"}}},
            {"config": {"spec": {"hard": {"count/secrets": "5"}}}},
        ],
    })),
    "debug",
    Some(json!({"A": true, "B": false})),
    Some(json!([
        {"config": {"apiVersion": "v1", "kind": "ResourceQuota"}, "projectSelector": {"matchLabels": {"a": "b"}}},
        {"config": {"spec": {"hard": {"count/secrets": "5"}}}},
    ]))
)]
fn the_configuration_of_gardener_controller_manager(
    #[case] fixture: Fixture,
    #[case] level: &str,
    #[case] gates: Option<Value>,
    #[case] quotas: Option<Value>,
) {
    let rendering = gardener_controller_manager::render(&fixture.values()).unwrap();
    let (_, text) = config(&rendering, &CONTROLLER_MANAGER);
    let got: Value = formats::yaml::from_str(text.as_str().unwrap()).unwrap();
    let workers = json!({"concurrentSyncs": 20});
    let threshold = |name: &str| json!({"conditionThresholds": [{"type": name, "duration": "1m0s"}]});
    let mut want = json!({
        "apiVersion": "controllermanager.config.gardener.cloud/v1alpha1",
        "kind": "ControllerManagerConfiguration",
        "gardenClientConnection": connection(),
        "leaderElection": election("gardener-controller-manager-leader-election"),
        "logLevel": level, "logFormat": "json", "server": servers(2718, 2719),
        "controllers": {
            "controllerRegistration": workers, "project": workers, "secretBinding": workers,
            "shootReference": workers, "shootHibernation": {},
            "seed": {"concurrentSyncs": 20, "shootMonitorPeriod": "5m0s"},
            "event": {"concurrentSyncs": 10, "ttlNonShootEvents": "2h0m0s"},
            "seedExtensionsCheck": threshold("ExtensionsReady"),
            "seedBackupBucketsCheck": threshold("BackupBucketsReady"),
            "shootMaintenance": {
                "concurrentSyncs": 20, "enableShootControlPlaneRestarter": null,
                "enableShootCoreAddonRestarter": null,
            },
        },
    });
    if let Some(gates) = gates {
        want["featureGates"] = gates;
    }
    if let Some(quotas) = quotas {
        want["controllers"]["project"]["quotas"] = quotas;
    }
    assert_eq!(got, want);
}

#[rstest]
#[case::minimal(Fixture::default(), "info", BTreeMap::new())]
#[case::all(
    gardener("gardenerScheduler", &json!({"logLevel": "error", "featureGates": {"A": true}})),
    "error",
    BTreeMap::from([("A", true)])
)]
fn the_configuration_of_gardener_scheduler(
    #[case] fixture: Fixture,
    #[case] level: &str,
    #[case] gates: BTreeMap<&str, bool>,
) {
    let rendering = gardener_scheduler::render(&fixture.values()).unwrap();
    let (_, text) = config(&rendering, &SCHEDULER);
    let got: Value = formats::yaml::from_str(text.as_str().unwrap()).unwrap();
    let mut want = json!({
        "apiVersion": "scheduler.config.gardener.cloud/v1alpha1", "kind": "SchedulerConfiguration",
        "clientConnection": connection(), "leaderElection": election("gardener-scheduler-leader-election"),
        "logLevel": level, "logFormat": "json", "server": servers(10251, 19251),
        "schedulers": {
            "shoot": {"candidateDeterminationStrategy": "MinimalDistance", "concurrentSyncs": 0},
        },
    });
    if !gates.is_empty() {
        want["featureGates"] = json!(gates);
    }
    assert_eq!(got, want);
}

fn in_virtual(program: &Expected, role: &str, binding: &str, rules: &Value) -> [Value; 2] {
    let named = |name: &str| json!({"name": name, "labels": program.labels()});
    [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": named(role),
            "rules": rules,
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": named(binding),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": program.name, "namespace": "kube-system"}],
        }),
    ]
}

fn rule(group: &str, resources: &[&str], verbs: &str) -> Value {
    let verbs: Vec<&str> = verbs.split(',').collect();
    json!({"apiGroups": [group], "resources": resources, "verbs": verbs})
}

#[test]
fn roles_in_the_virtual_cluster() {
    let fixture = Fixture::default();
    let read = "get,list,watch";
    let role = "gardener.cloud:system:controller-manager";
    let rendering = gardener_controller_manager::render(&fixture.values()).unwrap();
    let want = in_virtual(&CONTROLLER_MANAGER, role, role, &json!([rule("*", &["*"], "*")]));
    assert_objects(role, &managed(&rendering, "gardener-controller-manager-virtual").objects, &want, &[]);

    let role = "gardener.cloud:system:scheduler";
    let rendering = gardener_scheduler::render(&fixture.values()).unwrap();
    let mut own = rule("coordination.k8s.io", &["leases"], "get,watch,update");
    own["resourceNames"] = json!(["gardener-scheduler-leader-election"]);
    let rules = json!([
        rule("", &["events"], "create,patch,update"),
        rule("", &["configmaps"], "create,delete,get,list,watch,patch,update"),
        rule("core.gardener.cloud", &["cloudprofiles", "seeds"], read),
        rule("core.gardener.cloud", &["shoots", "shoots/status"], "get,list,watch,patch,update"),
        rule("core.gardener.cloud", &["shoots/binding"], "update"),
        rule("coordination.k8s.io", &["leases"], "create"),
        own,
    ]);
    let want = in_virtual(&SCHEDULER, role, role, &rules);
    assert_objects(role, &managed(&rendering, "gardener-scheduler-virtual").objects, &want, &[]);

    let role = "gardener.cloud:system:admission-controller";
    let rendering = gardener_admission_controller::render(&fixture.values()).unwrap();
    let core = [
        "backupbuckets",
        "backupentries",
        "controllerinstallations",
        "secretbindings",
        "seeds",
        "shoots",
        "projects",
    ];
    let rules = json!([
        rule("core.gardener.cloud", &core, read),
        rule("seedmanagement.gardener.cloud", &["managedseeds"], read),
        rule("operations.gardener.cloud", &["bastions"], read),
        rule("", &["configmaps"], "get"),
        rule("", &["namespaces", "secrets", "serviceaccounts"], read),
        rule("coordination.k8s.io", &["leases"], read),
        rule("certificates.k8s.io", &["certificatesigningrequests"], read),
    ]);
    let want = in_virtual(&ADMISSION_CONTROLLER, role, "gardener.cloud:admission-controller", &rules);
    let objects = &managed(&rendering, "gardener-admission-controller-virtual").objects;
    let without_webhooks = objects.iter().filter(|object| object["kind"] != "ValidatingWebhookConfiguration");
    assert_objects(role, without_webhooks, &want, &[]);
}
