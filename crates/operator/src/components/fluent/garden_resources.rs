//! How logs of a Garden's components are read: of units of nodes, and of containers by the names in their tags.

use serde_json::{Value, json};

use super::parsing::{json_parser, parser_filter, parser_item, regex_parser};
use super::{outputs, selected};
use crate::components::managed::ManagedObjects;
use crate::components::rendering::Rendering;

/// The ManagedResource with them.
pub const MANAGED: &str = "fluent-operator-custom-resources-garden";

/// Units of systemd whose logs are read, each with one that watches it.
const UNITS: [&str; 3] = ["kubelet", "docker", "containerd"];
/// Lines as Kubernetes' programs write them.
const KLOG: &str = r"^(?<severity>\w)(?<time>\d{4} [^\s]*)\s+(?<pid>\d+)\s+(?<source>[^ \]]+)\] (?<log>.*)$";
/// Names of parsers of such lines, which end with `-parser`.
const KLOG_WRITERS: [&str; 5] =
    ["hvpa-controller", "vpa", "kube-state-metrics", "kube-apiserver", "kube-controller-manager"];
/// Names of filters, which tags they are for, and their parsers, which end with `-parser`.
const FILTERS: [(&str, &str, &str); 10] = [
    (
        "addons-nginx-ingress-controller",
        "addons-nginx-ingress-controller*nginx-ingress-controller*",
        "kube-apiserver",
    ),
    ("hvpa-controller", "hvpa-controller*hvpa-controller*", "hvpa-controller"),
    ("vpa", "vpa-*", "vpa"),
    ("vali--vali", "vali*vali*", "vali"),
    ("vali--curator", "vali*curator*", "curator"),
    ("kube-state-metrics", "kube-state-metrics*kube-state-metrics*", "kube-state-metrics"),
    ("etcd--etcd", "etcd*etcd*", "etcd"),
    ("etcd--backup-restore", "etcd*backup-restore*", "backup-restore"),
    ("kube-apiserver--kube-apiserver", "kube-apiserver*kube-apiserver*", "kube-apiserver"),
    (
        "kube-controller-manager",
        "kube-controller-manager*kube-controller-manager*",
        "kube-controller-manager",
    ),
];
/// Names of parsers, which end with `-parser`, their expressions and their notations of time.
const PARSERS: [(&str, &str, &str); 4] = [
    (
        "etcd",
        r"^(?<time>\d{4}-\d{2}-\d{2}\s+[^ ]*)\s+(?<severity>\w+)\s+\|\s+(?<source>[^ :]*):\s+(?<log>.*)",
        "%Y-%m-%d %H:%M:%S.%L",
    ),
    (
        "backup-restore",
        r#"^time="(?<time>\d{4}-\d{2}-\d{2}T[^"]*)"\s+level=(?<severity>\w+)\smsg="(?<log>.*)""#,
        "%Y-%m-%dT%H:%M:%S%z",
    ),
    (
        "vali",
        r"^level=(?<severity>\w+)\s+ts=(?<time>\d{4}-\d{2}-\d{2}[Tt]{1}\d{2}:\d{2}:\d{2}\.\d+\S+?)\S*?\s+caller=(?<source>.*?)\s+(?<log>.*)$",
        "%Y-%m-%dT%H:%M:%S.%L%z",
    ),
    (
        "curator",
        r"^level=(?<severity>\w+)\s+caller=(?<source>.*?)\s+ts=(?<time>\d{4}-\d{2}-\d{2}[Tt]{1}\d{2}:\d{2}:\d{2}\.\d+\S+?)\S*?\s+(?<log>.*)$",
        "%Y-%m-%dT%H:%M:%S.%L%z",
    ),
];
const RESOURCE_MANAGER: &str = "gardener-resource-manager";

/// The custom resources, which no field of a Garden changes. OPC-051.
#[must_use]
pub fn render() -> Rendering {
    let mut objects = vec![outputs::of_containers(), resource_manager_filter()];
    for unit in UNITS {
        objects.extend(of_unit(unit));
        objects.extend(of_unit(&format!("{unit}-monitor")));
    }
    let container_filter = |(name, tag, parser): (&str, &str, &str)| {
        parser_filter(name, &format!("kubernetes.*{tag}"), &format!("{parser}-parser"))
    };
    objects.extend(FILTERS.map(container_filter));
    objects.extend(parsers());
    Rendering { managed: vec![ManagedObjects::in_runtime(MANAGED, objects)], ..Rendering::default() }
}

/// The input and the filter for the log of a unit.
fn of_unit(unit: &str) -> [Value; 2] {
    let (name, tag) = (format!("journald-{unit}"), format!("journald.{unit}"));
    let input = json!({
        "tag": tag,
        "readFromTail": "on",
        "systemdFilter": [format!("_SYSTEMD_UNIT={unit}.service")],
    });
    let records = ["hostname ${NODE_NAME}".to_owned(), format!("unit {unit}")];
    let filter = json!({ "match": tag, "filters": [{ "recordModifier": { "records": records } }] });
    [selected("ClusterInput", &name, &json!({ "systemd": input })), selected("ClusterFilter", &name, &filter)]
}

/// The resource-manager writes JSON, in which some fields are called otherwise than in records.
fn resource_manager_filter() -> Value {
    let rename = json!({ "level": "severity", "msg": "log", "logger": "source" });
    let spec = json!({
        "match": format!("kubernetes.*{RESOURCE_MANAGER}*{RESOURCE_MANAGER}*"),
        "filters": [
            parser_item(&format!("{RESOURCE_MANAGER}-parser")),
            { "modify": { "rules": [{ "rename": rename }] } },
        ],
    });
    selected("ClusterFilter", RESOURCE_MANAGER, &spec)
}

fn parsers() -> Vec<Value> {
    let name = |of: &str| format!("{of}-parser");
    let mut parsers = vec![json_parser(&name(RESOURCE_MANAGER), "ts", "%Y-%m-%dT%H:%M:%S.%L")];
    parsers.extend(KLOG_WRITERS.map(|writer| regex_parser(&name(writer), KLOG, "%m%d %H:%M:%S.%L")));
    parsers.extend(PARSERS.map(|(of, regex, time)| regex_parser(&name(of), regex, time)));
    parsers
}
