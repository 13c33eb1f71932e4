//! The objects of fluent-bit, except the scripts.

use serde_json::{Value, json};

use super::resource;

/// With the name of the scripts' ConfigMap.
pub(super) fn objects(scripts: &str) -> Vec<Value> {
    let mut objects = vec![fluent_bit(), config(), output(), input()];
    objects.extend(filters(scripts));
    objects.extend(parsers());
    objects
}

fn labels() -> Value {
    json!({
        "app": "fluent-bit", "role": "logging", "gardener.cloud/role": "logging",
        "networking.gardener.cloud/to-dns": "allowed",
        "networking.gardener.cloud/to-runtime-apiserver": "allowed",
        "networking.resources.gardener.cloud/to-logging-tcp-3100": "allowed",
        "networking.resources.gardener.cloud/to-all-shoots-logging-tcp-3100": "allowed",
    })
}

/// OPC-050.
fn fluent_bit() -> Value {
    let mut spec = pod_fields();
    spec["rbacRules"] = json!([{
        "apiGroups": ["extensions.gardener.cloud"], "resources": ["clusters"], "verbs": ["get", "list", "watch"],
    }]);
    spec["service"] = json!({
        "name": "fluent-bit", "labels": labels(),
        "annotations": {
            "networking.resources.gardener.cloud/from-all-seed-scrape-targets-allowed-ports":
                r#"[{"port":2020,"protocol":"TCP"},{"port":2021,"protocol":"TCP"}]"#,
        },
    });
    json!({
        "apiVersion": "fluentbit.fluent.io/v1alpha2", "kind": "FluentBit",
        "metadata": {"name": "fluent-bit-8259c", "namespace": "garden", "labels": labels()}, "spec": spec,
    })
}

fn pod_fields() -> Value {
    json!({
        "fluentBitConfigName": "fluent-bit-config",
        "image": "eu.gcr.io/gardener-project/3rd/kubesphere/fluent-bit:v2.1.4",
        "command": [
            "/fluent-bit/bin/fluent-bit-watcher", "-e", "/fluent-bit/plugins/out_vali.so", "-c",
            "/fluent-bit/config/fluent-bit.conf",
        ],
        "priorityClassName": "gardener-garden-system-100",
        "ports": [{"name": "metrics-plugin", "containerPort": 2021, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "150m", "memory": "200Mi"}, "limits": {"memory": "650Mi"}},
        "readinessProbe": {
            "httpGet": {"path": "/api/v1/metrics/prometheus", "port": 2020}, "periodSeconds": 10,
        },
        "livenessProbe": {
            "httpGet": {"path": "/healthz", "port": 2021}, "periodSeconds": 300, "initialDelaySeconds": 90,
        },
        "tolerations": [
            {"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"},
            {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},
        ],
        "volumes": [
            {"name": "runlogjournal", "hostPath": {"path": "/run/log/journal"}},
            {"name": "varfluent", "hostPath": {"path": "/var/fluentbit"}},
            {"name": "plugins", "emptyDir": {}},
        ],
        "volumesMounts": [
            {"name": "runlogjournal", "mountPath": "/run/log/journal"},
            {"name": "varfluent", "mountPath": "/var/fluentbit"},
            {"name": "plugins", "mountPath": "/fluent-bit/plugins"},
        ],
        "initContainers": [{
            "name": "install-plugin",
            "image": "eu.gcr.io/gardener-project/gardener/fluent-bit-to-vali:v0.55.4",
            "command": ["cp", "/source/plugins/.", "/plugins"],
            "volumeMounts": [{"name": "plugins", "mountPath": "/plugins"}],
        }],
    })
}

fn config() -> Value {
    let selector = json!({"matchLabels": {"fluentbit.gardener/type": "seed"}});
    json!({
        "apiVersion": "fluentbit.fluent.io/v1alpha2", "kind": "ClusterFluentBitConfig",
        "metadata": {"name": "fluent-bit-config", "labels": {"app.kubernetes.io/name": "fluent-bit"}},
        "spec": {
            "service": {
                "flushSeconds": 30, "daemon": false, "logLevel": "error", "parsersFile": "parsers.conf",
                "httpServer": true, "httpListen": "0.0.0.0", "httpPort": 2020,
            },
            "inputSelector": selector, "filterSelector": selector, "parserSelector": selector,
            "outputSelector": selector,
        },
    })
}

fn output() -> Value {
    let config = concat!(
        "Name gardenervali\nMatch journald.*\nLabels {origin=\"seed-journald\"}\n",
        "RemoveKeys kubernetes,stream,hostname,unit\n",
        "LabelMapPath {\"hostname\":\"host_name\",\"unit\":\"systemd_component\"}\n",
        "QueueDir /fluent-bit/buffers\nQueueName seed-journald\n",
        "LogLevel info\nUrl http://logging.garden.svc:3100/vali/api/v1/push\nBatchWait 60s\nBatchSize 30720\n",
        "LineFormat json\nSortByTimestamp true\nDropSingleKey false\nAutoKubernetesLabels false\n",
        "HostnameKeyValue nodename ${NODE_NAME}\nMaxRetries 3\nTimeout 10s\nMinBackoff 30s\nBuffer true\n",
        "BufferType dque\nQueueSegmentSize 300\nQueueSync normal\nNumberOfBatchIDs 5\n",
    );
    resource("ClusterOutput", "journald", &json!({"customPlugin": {"config": config}}))
}

fn input() -> Value {
    let tail = json!({
        "tag": "kubernetes.*", "path": "/var/log/containers/*.log",
        "excludePath": "*_garden_fluent-bit-*.log,*_garden_vali-*.log", "refreshIntervalSeconds": 10,
        "memBufLimit": "30MB", "skipLongLines": true, "db": "/var/fluentbit/flb_kube.db", "ignoredOlder": "30m",
    });
    resource("ClusterInput", "tail-kubernetes", &json!({"tail": tail}))
}

fn filters(scripts: &str) -> [Value; 4] {
    let filter = |name: &str, item: Value| {
        resource("ClusterFilter", name, &json!({"match": "kubernetes.*", "filters": [item]}))
    };
    let parsed = |parser: &str| json!({"parser": {"keyName": "log", "parser": parser, "reserveData": true}});
    let script =
        |key: &str, call: &str| json!({"lua": {"script": {"name": scripts, "key": key}, "call": call}});
    [
        filter("01-docker", parsed("docker-parser")),
        filter("02-containerd", parsed("containerd-parser")),
        filter("03-add-tag-to-record", script("add_tag_to_record.lua", "add_tag_to_record")),
        filter("zz-modify-severity", script("modify_severity.lua", "cb_modify")),
    ]
}

fn parsers() -> [Value; 2] {
    let decoders = json!([{"decodeFieldAs": "json log"}]);
    let docker = json!({
        "json": {"timeKey": "time", "timeFormat": "%Y-%m-%dT%H:%M:%S.%L%z", "timeKeep": true},
        "decoders": decoders,
    });
    let containerd = json!({
        "regex": {
            "regex": "^(?<time>[^ ]+) (stdout|stderr) ([^ ]*) (?<log>.*)$", "timeKey": "time",
            "timeFormat": "%Y-%m-%dT%H:%M:%S.%L%z", "timeKeep": true,
        },
        "decoders": decoders,
    });
    [
        resource("ClusterParser", "docker-parser", &docker),
        resource("ClusterParser", "containerd-parser", &containerd),
    ]
}
