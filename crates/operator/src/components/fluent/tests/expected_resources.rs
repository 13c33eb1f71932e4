//! The custom resources for logs of a Garden's components.

use serde_json::{Value, json};

use super::resource;

const KLOG: &str =
    "^(?<severity>\\w)(?<time>\\d{4} [^\\s]*)\\s+(?<pid>\\d+)\\s+(?<source>[^ \\]]+)\\] (?<log>.*)$";
const VALI: &str = "^level=(?<severity>\\w+)\\s+ts=(?<time>\\d{4}-\\d{2}-\\d{2}[Tt]{1}\\d{2}:\\d{2}:\\d{2}\\.\\d+\\S+?)\\S*?\\s+caller=(?<source>.*?)\\s+(?<log>.*)$";
const CURATOR: &str = "^level=(?<severity>\\w+)\\s+caller=(?<source>.*?)\\s+ts=(?<time>\\d{4}-\\d{2}-\\d{2}[Tt]{1}\\d{2}:\\d{2}:\\d{2}\\.\\d+\\S+?)\\S*?\\s+(?<log>.*)$";
const ETCD: &str =
    "^(?<time>\\d{4}-\\d{2}-\\d{2}\\s+[^ ]*)\\s+(?<severity>\\w+)\\s+\\|\\s+(?<source>[^ :]*):\\s+(?<log>.*)";
const BACKUP_RESTORE: &str =
    "^time=\"(?<time>\\d{4}-\\d{2}-\\d{2}T[^\"]*)\"\\s+level=(?<severity>\\w+)\\smsg=\"(?<log>.*)\"";

pub(super) fn objects() -> Vec<Value> {
    let mut objects = vec![output()];
    for unit in ["kubelet", "kubelet-monitor", "docker", "docker-monitor", "containerd", "containerd-monitor"]
    {
        objects.extend(of_unit(unit));
    }
    objects.extend(filters());
    objects.extend(parsers());
    objects
}

fn of_unit(unit: &str) -> [Value; 2] {
    let (name, tag) = (format!("journald-{unit}"), format!("journald.{unit}"));
    let filter = json!(format!("_SYSTEMD_UNIT={unit}.service"));
    let input = json!({"systemd": {"tag": tag, "readFromTail": "on", "systemdFilter": [filter]}});
    let records = json!(["hostname ${NODE_NAME}", format!("unit {unit}")]);
    let modifier = json!({"match": tag, "filters": [{"recordModifier": {"records": records}}]});
    [resource("ClusterInput", &name, &input), resource("ClusterFilter", &name, &modifier)]
}

fn filters() -> Vec<Value> {
    let parser = |name: &str| json!({"parser": {"keyName": "log", "parser": name, "reserveData": true}});
    let resource_manager = json!({
        "match": "kubernetes.*gardener-resource-manager*gardener-resource-manager*",
        "filters": [
            parser("gardener-resource-manager-parser"),
            {"modify": {"rules": [{"rename": {"level": "severity", "msg": "log", "logger": "source"}}]}},
        ],
    });
    let others = [
        (
            "addons-nginx-ingress-controller",
            "kubernetes.*addons-nginx-ingress-controller*nginx-ingress-controller*",
            "kube-apiserver-parser",
        ),
        ("hvpa-controller", "kubernetes.*hvpa-controller*hvpa-controller*", "hvpa-controller-parser"),
        ("vpa", "kubernetes.*vpa-*", "vpa-parser"),
        ("vali--vali", "kubernetes.*vali*vali*", "vali-parser"),
        ("vali--curator", "kubernetes.*vali*curator*", "curator-parser"),
        (
            "kube-state-metrics",
            "kubernetes.*kube-state-metrics*kube-state-metrics*",
            "kube-state-metrics-parser",
        ),
        ("etcd--etcd", "kubernetes.*etcd*etcd*", "etcd-parser"),
        ("etcd--backup-restore", "kubernetes.*etcd*backup-restore*", "backup-restore-parser"),
        (
            "kube-apiserver--kube-apiserver",
            "kubernetes.*kube-apiserver*kube-apiserver*",
            "kube-apiserver-parser",
        ),
        (
            "kube-controller-manager",
            "kubernetes.*kube-controller-manager*kube-controller-manager*",
            "kube-controller-manager-parser",
        ),
    ];
    let mut filters = vec![resource("ClusterFilter", "gardener-resource-manager", &resource_manager)];
    filters.extend(others.map(|(name, matched, of)| {
        resource("ClusterFilter", name, &json!({"match": matched, "filters": [parser(of)]}))
    }));
    filters
}

fn parsers() -> Vec<Value> {
    let of_json = json!({"json": {"timeKey": "ts", "timeFormat": "%Y-%m-%dT%H:%M:%S.%L"}});
    let mut parsers = vec![resource("ClusterParser", "gardener-resource-manager-parser", &of_json)];
    let others = [
        ("hvpa-controller-parser", KLOG, "%m%d %H:%M:%S.%L"),
        ("vpa-parser", KLOG, "%m%d %H:%M:%S.%L"),
        ("kube-state-metrics-parser", KLOG, "%m%d %H:%M:%S.%L"),
        ("kube-apiserver-parser", KLOG, "%m%d %H:%M:%S.%L"),
        ("kube-controller-manager-parser", KLOG, "%m%d %H:%M:%S.%L"),
        ("vali-parser", VALI, "%Y-%m-%dT%H:%M:%S.%L%z"),
        ("curator-parser", CURATOR, "%Y-%m-%dT%H:%M:%S.%L%z"),
        ("etcd-parser", ETCD, "%Y-%m-%d %H:%M:%S.%L"),
        ("backup-restore-parser", BACKUP_RESTORE, "%Y-%m-%dT%H:%M:%S%z"),
    ];
    parsers.extend(others.map(|(name, regex, time)| {
        let spec = json!({"regex": {"regex": regex, "timeKey": "time", "timeFormat": time}});
        resource("ClusterParser", name, &spec)
    }));
    parsers
}

fn output() -> Value {
    let config = concat!(
        "Name gardenervali\nMatch kubernetes.*\nLabels {origin=\"garden\"}\n",
        "QueueDir /fluent-bit/buffers/garden\nQueueName gardener-operator-static\n",
        "LogLevel info\nUrl http://logging.garden.svc:3100/vali/api/v1/push\nBatchWait 60s\nBatchSize 30720\n",
        "LineFormat json\nSortByTimestamp true\nDropSingleKey false\nAutoKubernetesLabels false\n",
        "HostnameKeyValue nodename ${NODE_NAME}\nMaxRetries 3\nTimeout 10s\nMinBackoff 30s\nBuffer true\n",
        "BufferType dque\nQueueSegmentSize 300\nQueueSync normal\nNumberOfBatchIDs 5\n",
        "RemoveKeys kubernetes,stream,time,tag,gardenuser,job\n",
        "LabelMapPath {\"kubernetes\": {\"container_name\":\"container_name\",\"container_id\":\"container_id\",",
        "\"namespace_name\":\"namespace_name\",\"pod_name\":\"pod_name\"},\"severity\": \"severity\",",
        "\"job\": \"job\"}\n",
        "FallbackToTagWhenMetadataIsMissing true\nTagKey tag\nDropLogEntryWithoutK8sMetadata true\n",
    );
    resource("ClusterOutput", "static-vali", &json!({"customPlugin": {"config": config}}))
}
