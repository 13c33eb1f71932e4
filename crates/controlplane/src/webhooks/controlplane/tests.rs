//! Applies the webhook to the objects that Gardener creates: fixtures of the contracts, with providers' changes.

use controller::config::Configuration as _;
use formats::command_line::{flags, words};
use formats::{unit, yaml};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::config::ControlPlaneWebhooksConfiguration;
use crate::file_content::Encoding;
use crate::webhooks::{controlplane, controlplanebackup, controlplaneexposure};

fn fixture(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/fixtures/controlplane");
    let text = std::fs::read_to_string(format!("{folder}/{name}.yaml")).unwrap();
    yaml::documents(&text).unwrap().remove(0)
}

fn config(more: &Value) -> ControlPlaneWebhooksConfiguration {
    let mut config = json!({"provider": "local"});
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ControlPlaneWebhooksConfiguration::from_value(&config).unwrap().0
}

/// The object after the webhook; a second call must change nothing.
fn changed(config: &ControlPlaneWebhooksConfiguration, name: &str) -> Value {
    let cluster = Cluster::of(&fixture("shoot-cluster")).unwrap();
    let mut object = fixture(name);
    controlplane::mutate(config, Some(&cluster), &mut object).unwrap();
    let mut again = object.clone();
    controlplane::mutate(config, Some(&cluster), &mut again).unwrap();
    assert_eq!(object, again, "{name}");
    object
}

fn container(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]["spec"]["containers"][0]
}

/// The flags of a container that changed, by name: the new value, or null if removed.
fn differing(before: &Value, after: &Value) -> Value {
    let of = |deployment: &Value| {
        let container = container(deployment);
        let texts = |field: &str| container[field].as_array().cloned().unwrap_or_default();
        let words = [texts("command"), texts("args")].concat();
        flags(&words.iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>())
    };
    let (before, after) = (of(before), of(after));
    let names = before.keys().chain(after.keys()).filter(|name| before.get(*name) != after.get(*name));
    names.map(|name| (name.clone(), json!(after.get(name)))).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn kube_apiserver_disables_plugins_that_are_incompatible_with_csi() {
    for name in ["kube-apiserver", "kube-apiserver-in-command", "kube-apiserver-audit-webhook"] {
        let (before, after) = (fixture(name), changed(&config(&json!({})), name));
        let mut wanted = json!({"--disable-admission-plugins": ["PersistentVolumeLabel"]});
        let plugins = "Priority,NamespaceLifecycle,LimitRanger,PodSecurityPolicy,PodSecurity,ServiceAccount,NodeRestriction,\
            DefaultStorageClass,DefaultTolerationSeconds,ResourceQuota,StorageObjectInUseProtection,\
            MutatingAdmissionWebhook,ValidatingAdmissionWebhook";
        if name == "kube-apiserver-in-command" {
            wanted["--enable-admission-plugins"] = plugins.split(',').collect();
        }
        assert_eq!(differing(&before, &after), wanted, "{name}");
        let last = container(&after)[if name == "kube-apiserver-in-command" { "command" } else { "args" }]
            .as_array()
            .unwrap();
        assert_eq!(last.last().unwrap(), "--disable-admission-plugins=PersistentVolumeLabel", "{name}");
    }
}

#[test]
fn without_csi_the_plugins_are_enabled_and_nothing_else_changes() {
    let config = config(&json!({"csi": false}));
    let after = changed(&config, "kube-apiserver");
    let enabled = differing(&fixture("kube-apiserver"), &after)["--enable-admission-plugins"].clone();
    assert_eq!(enabled.as_array().unwrap().last().unwrap(), "PersistentVolumeLabel");
    for name in ["kube-apiserver-in-command", "kube-controller-manager", "kube-scheduler", "osc-reconcile"] {
        assert_eq!(changed(&config, name), fixture(name), "{name}");
    }
}

#[test]
fn the_providers_settings_are_added_to_gardeners() {
    let wanted = json!({
        "flags": {"--cloud-config": "/etc/cloud/cloud.conf"},
        "removedFlags": ["--event-ttl"],
        "featureGates": [{"name": "Old", "enabled": true, "kubernetes": "< 1.27"}, {"name": "New", "enabled": false, "kubernetes": ">= 1.27"}],
        "env": [{"name": "CLOUD_KEY", "valueFrom": {"secretKeyRef": {"name": "cloudprovider", "key": "key"}}}],
        "volumes": [{"name": "cloud", "configMap": {"name": "cloud-provider-config"}}],
        "volumeMounts": [{"name": "cloud", "mountPath": "/etc/cloud"}],
        "podLabels": {"networking.gardener.cloud/to-cloud": "allowed"},
    });
    let config = config(&json!({"kubeAPIServer": wanted, "kubeControllerManager": {}}));
    let (before, after) = (fixture("kube-apiserver"), changed(&config, "kube-apiserver"));
    let flags = json!({
        "--cloud-config": ["/etc/cloud/cloud.conf"], "--disable-admission-plugins": ["PersistentVolumeLabel"],
        "--event-ttl": null, "--feature-gates": ["New=false"],
    });
    assert_eq!(differing(&before, &after), flags);
    let pod = |deployment: &Value| deployment["spec"]["template"].clone();
    let mut restored = after.clone();
    let template = &mut restored["spec"]["template"];
    assert_eq!(
        template["metadata"]["labels"].as_object_mut().unwrap().remove("networking.gardener.cloud/to-cloud"),
        Some(json!("allowed"))
    );
    assert_eq!(template["spec"]["volumes"].as_array_mut().unwrap().pop(), Some(wanted["volumes"][0].clone()));
    let container = &mut template["spec"]["containers"][0];
    assert_eq!(
        container["volumeMounts"].as_array_mut().unwrap().pop(),
        Some(wanted["volumeMounts"][0].clone())
    );
    assert_eq!(container.as_object_mut().unwrap().remove("env"), Some(wanted["env"].clone()));
    container["args"] = before["spec"]["template"]["spec"]["containers"][0]["args"].clone();
    assert_eq!(pod(&restored), pod(&before));
}

#[test]
fn kube_controller_manager_leaves_the_cloud_to_an_external_controller() {
    for name in ["kube-controller-manager", "kube-controller-manager-workerless"] {
        let wanted = json!({"--cloud-provider": ["external"]});
        assert_eq!(differing(&fixture(name), &changed(&config(&json!({})), name)), wanted, "{name}");
    }
}

#[test]
fn the_scheduler_only_gets_feature_gates() {
    let gates = json!({"kubeScheduler": {"featureGates": [{"name": "A", "enabled": true}]}});
    let (before, after) =
        (fixture("kube-scheduler-with-gates"), changed(&config(&gates), "kube-scheduler-with-gates"));
    assert_eq!(differing(&before, &after), json!({"--feature-gates": ["A=true", "ReadWriteOncePod=true"]}));
    assert_eq!(changed(&config(&json!({})), "kube-scheduler"), fixture("kube-scheduler"));
}

#[test]
fn kubelets_are_configured_by_unit_and_file() {
    let wanted = json!({"kubelet": {
        "flags": {"--image-credential-provider-bin-dir": "/opt/bin"},
        "featureGates": [{"name": "CSIMigration", "enabled": true, "kubernetes": "< 1.27"}],
        "configuration": {"failSwapOn": false, "kubeReserved": {"memory": "2Gi"}},
        "unitOptions": [{"section": "Service", "name": "ExecStartPre", "value": "/bin/hostname"}],
        "kernel": {"net.ipv4.neigh.default.gc_thresh1": "0", "net.core.somaxconn": "1"},
        "cloudProviderConfig": "[Global]\n",
        "files": [{"path": "/opt/bin/mtu.sh", "permissions": 493, "content": {"inline": {"encoding": "", "data": "x"}}}],
        "units": [{"name": "mtu.service", "content": "[Service]\nExecStart=/opt/bin/mtu.sh\n"}],
    }});
    for (name, gates) in
        [("osc-reconcile", Value::Null), ("osc-reconcile-docker", json!({"CSIMigration": true}))]
    {
        let (before, after) = (fixture(name), changed(&config(&wanted), name));
        let options =
            |object: &Value| unit::options(object["spec"]["units"][0]["content"].as_str().unwrap()).unwrap();
        let (had, has) = (options(&before), options(&after));
        let start = |options: &[unit::UnitOption]| {
            let start = options.iter().find(|option| option.name == "ExecStart").unwrap();
            flags(&words(&start.value))
        };
        let mut flags = start(&has);
        assert_eq!(flags.remove("--cloud-provider"), Some(vec!["external".to_owned()]));
        assert_eq!(flags.remove("--image-credential-provider-bin-dir"), Some(vec!["/opt/bin".to_owned()]));
        assert_eq!((flags, has.len()), (start(&had), had.len() + 1), "{name}");
        let content = |object: &Value, at: usize| {
            object["spec"]["files"][at]["content"]["inline"]["data"].as_str().unwrap().to_owned()
        };
        let kubelet = |object: &Value| -> Value {
            yaml::from_str(&Encoding::Base64.decode(&content(object, 1)).unwrap()).unwrap()
        };
        let mut configuration = kubelet(&before);
        configuration["failSwapOn"] = json!(false);
        configuration["kubeReserved"]["memory"] = json!("2Gi");
        if !gates.is_null() {
            configuration["featureGates"] = gates;
        }
        assert_eq!(kubelet(&after), configuration, "{name}");
        let settings = "net.ipv4.ip_forward = 1\nnet.ipv4.neigh.default.gc_thresh1 = 0\nvm.max_map_count = 135217728\nnet.core.somaxconn = 1\n";
        assert_eq!(content(&after, 3), settings);
        let files = after["spec"]["files"].as_array().unwrap();
        let paths: Vec<_> = files[4..].iter().map(|file| file["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["/var/lib/kubelet/cloudprovider.conf", "/opt/bin/mtu.sh"]);
        assert_eq!(files[4]["content"]["inline"], json!({"encoding": "b64", "data": "W0dsb2JhbF0K"}));
        assert_eq!(
            after["spec"]["units"].as_array().unwrap().len(),
            before["spec"]["units"].as_array().unwrap().len() + 1
        );
    }
}

#[test]
fn objects_without_a_hook_stay_unchanged() {
    let config = config(&json!({"kubelet": {"cloudProviderConfig": "x"}}));
    let deleted = |mut object: Value| {
        object["metadata"]["deletionTimestamp"] = json!("2024-06-04T08:20:10Z");
        object
    };
    let renamed = |mut object: Value| {
        object["metadata"]["name"] = json!("other");
        object
    };
    let mut without_container = fixture("kube-apiserver");
    without_container["spec"]["template"]["spec"]["containers"][0]["name"] = json!("apiserver");
    for object in [
        deleted(fixture("kube-apiserver")),
        renamed(fixture("kube-controller-manager")),
        fixture("osc-provision"),
        fixture("kube-apiserver-service"),
        fixture("etcd-main"),
        without_container,
    ] {
        let mut changed = object.clone();
        controlplane::mutate(&config, None, &mut changed).unwrap();
        assert_eq!(changed, object);
    }
}

#[test]
fn an_object_that_cannot_be_changed_is_refused_with_a_reason() {
    let cluster = Cluster::of(&fixture("shoot-cluster")).unwrap();
    let refused = |cluster: Option<&Cluster>, change: fn(&mut Value)| {
        let mut object = fixture("osc-reconcile");
        change(&mut object);
        controlplane::mutate(&config(&json!({})), cluster, &mut object).unwrap_err().message
    };
    assert_eq!(refused(None, |_| {}), "the cluster of the operating system config is not known");
    assert_eq!(
        refused(Some(&cluster), |object| object["spec"]["units"][0]["content"] = json!("ExecStart=x")),
        "could not deserialize kubelet.service: line 1: option outside of a section"
    );
    assert_eq!(
        refused(Some(&cluster), |object| object["spec"]["files"][1]["content"]["inline"]["data"] =
            json!("YTogMQ==")),
        "could not decode the kubelet configuration: it is \"\" of \"\""
    );
    assert_eq!(
        refused(Some(&cluster), |object| object["spec"]["files"][1]["content"]["inline"]["encoding"] =
            json!("zip")),
        "could not decode /var/lib/kubelet/config/kubelet: unsupported encoding \"zip\", supported: \"\", \"b64\", \"gzip\", \"gzip-b64\""
    );
}

#[test]
fn etcds_and_the_service_are_changed_for_the_seeds_provider() {
    let config = config(&json!({
        "loadBalancerAnnotations": {"example.com/idle": "3600"},
        "etcd": {"main": {"className": "fast", "capacity": "25Gi"}, "backupStore": {"provider": "other"}},
    }));
    let exposed = |name: &str| {
        let mut object = fixture(name);
        controlplaneexposure::mutate(&config, &mut object).unwrap();
        object
    };
    assert_eq!(exposed("kube-apiserver-service"), fixture("kube-apiserver-service"));
    assert_eq!(exposed("etcd-events"), fixture("etcd-events"));
    let mut service = fixture("kube-apiserver-service-load-balancer");
    service["metadata"]["annotations"]["example.com/idle"] = json!("3600");
    assert_eq!(exposed("kube-apiserver-service-load-balancer"), service);
    let mut etcd = fixture("etcd-main");
    etcd["spec"]["storageClass"] = json!("fast");
    etcd["spec"]["storageCapacity"] = json!("25Gi");
    assert_eq!(exposed("etcd-main"), etcd);
    let backed_up = |name: &str| {
        let mut object = fixture(name);
        controlplanebackup::mutate(&config, &mut object).unwrap();
        object
    };
    assert_eq!(backed_up("etcd-events"), fixture("etcd-events"));
    let mut etcd = fixture("etcd-main");
    etcd["spec"]["backup"]["store"]["provider"] = json!("other");
    assert_eq!(backed_up("etcd-main"), etcd);
}
