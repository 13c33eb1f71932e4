//! Where fluent-bit sends records: to Vali, by a plugin of Gardener's, whose settings are lines of text.

use serde_json::{Value, json};

use super::selected;

/// How records are queued and sent, and where.
const SENDING: [&str; 17] = [
    "LogLevel info",
    "Url http://logging.garden.svc:3100/vali/api/v1/push",
    "BatchWait 60s",
    "BatchSize 30720",
    "LineFormat json",
    "SortByTimestamp true",
    "DropSingleKey false",
    "AutoKubernetesLabels false",
    "HostnameKeyValue nodename ${NODE_NAME}",
    "MaxRetries 3",
    "Timeout 10s",
    "MinBackoff 30s",
    "Buffer true",
    "BufferType dque",
    "QueueSegmentSize 300",
    "QueueSync normal",
    "NumberOfBatchIDs 5",
];
const OF_NODES: [&str; 7] = [
    "Name gardenervali",
    "Match journald.*",
    r#"Labels {origin="seed-journald"}"#,
    "RemoveKeys kubernetes,stream,hostname,unit",
    r#"LabelMapPath {"hostname":"host_name","unit":"systemd_component"}"#,
    "QueueDir /fluent-bit/buffers",
    "QueueName seed-journald",
];
const OF_CONTAINERS: [&str; 5] = [
    "Name gardenervali",
    "Match kubernetes.*",
    r#"Labels {origin="garden"}"#,
    "QueueDir /fluent-bit/buffers/garden",
    "QueueName gardener-operator-static",
];
/// What of a record of a container becomes a label.
const CONTAINER_LABELS: [&str; 5] = [
    "RemoveKeys kubernetes,stream,time,tag,gardenuser,job",
    r#"LabelMapPath {"kubernetes": {"container_name":"container_name","container_id":"container_id","namespace_name":"namespace_name","pod_name":"pod_name"},"severity": "severity","job": "job"}"#,
    "FallbackToTagWhenMetadataIsMissing true",
    "TagKey tag",
    "DropLogEntryWithoutK8sMetadata true",
];

/// Logs of systemd's units.
pub(super) fn of_nodes() -> Value {
    output("journald", &[&OF_NODES, &SENDING])
}

/// Logs of containers. OPC-051.
pub(super) fn of_containers() -> Value {
    output("static-vali", &[&OF_CONTAINERS, &SENDING, &CONTAINER_LABELS])
}

fn output(name: &str, parts: &[&[&str]]) -> Value {
    let lines: Vec<&str> = parts.concat();
    let config = lines.join("\n") + "\n";
    selected("ClusterOutput", name, &json!({ "customPlugin": { "config": config } }))
}
