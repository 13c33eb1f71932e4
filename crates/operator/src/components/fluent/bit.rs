//! fluent-bit: what it reads on every node, what happens to records before and after the filters of others, and where logs of nodes go.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::bit_object::{self, CONFIG};
use super::parsing::{json_parser, parser_filter, regex_parser};
use super::{API_VERSION, SELECTED, outputs, selected};
use crate::components::error::RenderError;
use crate::components::managed::ManagedObjects;
use crate::components::objects::{cluster_metadata, entries};
use crate::components::rendering::{Rendering, name_of};
use crate::components::unique;
use crate::components::values::GardenValues;

/// The name of its Service and of the ManagedResource.
pub const NAME: &str = "fluent-bit";

/// The logs of all containers of a node.
const CONTAINER_LOGS: &str = "kubernetes.*";
/// Times as container runtimes write them.
const RUNTIME_TIME: &str = "%Y-%m-%dT%H:%M:%S.%L%z";
/// Scripts for filters, by their keys.
const SCRIPTS: [(&str, &str); 2] = [
    ("add_tag_to_record.lua", include_str!("add_tag_to_record.lua")),
    ("modify_severity.lua", include_str!("modify_severity.lua")),
];

/// Its objects, which no field of a Garden changes. OPC-050.
///
/// # Errors
/// If there is no image.
pub fn render(values: &GardenValues<'_>) -> Result<Rendering, RenderError> {
    let scripts = unique::config_map("fluent-bit-lua-config", &BTreeMap::new(), &entries(SCRIPTS));
    let first_and_last = filters(name_of(&scripts));
    let fluent_bit =
        bit_object::fluent_bit(&values.image(NAME)?, &values.image("fluent-bit-plugin-installer")?);
    let mut objects = vec![scripts, fluent_bit, configuration(), outputs::of_nodes(), input()];
    objects.extend(first_and_last);
    objects.extend(parsers());
    Ok(Rendering { managed: vec![ManagedObjects::in_runtime(NAME, objects)], ..Rendering::default() })
}

/// General settings, and the label of custom resources with the others.
fn configuration() -> Value {
    let selector = json!({ "matchLabels": entries([SELECTED]) });
    json!({
        "apiVersion": API_VERSION,
        "kind": "ClusterFluentBitConfig",
        "metadata": cluster_metadata(CONFIG, &entries([("app.kubernetes.io/name", NAME)])),
        "spec": {
            "service": {
                "flushSeconds": 30,
                "daemon": false,
                "logLevel": "error",
                "parsersFile": "parsers.conf",
                "httpServer": true,
                "httpListen": "0.0.0.0",
                "httpPort": 2020,
            },
            "inputSelector": selector,
            "filterSelector": selector,
            "parserSelector": selector,
            "outputSelector": selector,
        },
    })
}

/// All files of containers but those of fluent-bit and Vali, which would feed themselves.
fn input() -> Value {
    let tail = json!({
        "tag": CONTAINER_LOGS,
        "path": "/var/log/containers/*.log",
        "excludePath": "*_garden_fluent-bit-*.log,*_garden_vali-*.log",
        "refreshIntervalSeconds": 10,
        "memBufLimit": "30MB",
        "skipLongLines": true,
        "db": "/var/fluentbit/flb_kube.db",
        "ignoredOlder": "30m",
    });
    selected("ClusterInput", "tail-kubernetes", &json!({ "tail": tail }))
}

/// Their names are their order.
fn filters(scripts: &str) -> [Value; 4] {
    let script = |name: &str, key: &str, function: &str| {
        let lua = json!({ "script": { "name": scripts, "key": key }, "call": function });
        selected("ClusterFilter", name, &json!({ "match": CONTAINER_LOGS, "filters": [{ "lua": lua }] }))
    };
    [
        parser_filter("01-docker", CONTAINER_LOGS, "docker-parser"),
        parser_filter("02-containerd", CONTAINER_LOGS, "containerd-parser"),
        script("03-add-tag-to-record", "add_tag_to_record.lua", "add_tag_to_record"),
        script("zz-modify-severity", "modify_severity.lua", "cb_modify"),
    ]
}

/// What container runtimes write around the line of a program.
fn parsers() -> [Value; 2] {
    let containerd = "^(?<time>[^ ]+) (stdout|stderr) ([^ ]*) (?<log>.*)$";
    [
        json_parser("docker-parser", "time", RUNTIME_TIME),
        regex_parser("containerd-parser", containerd, RUNTIME_TIME),
    ]
    .map(decoding_line)
}

/// The parser keeps the time in the record, and decodes the line if it is JSON.
fn decoding_line(mut parser: Value) -> Value {
    let spec = &mut parser["spec"];
    for format in ["json", "regex"] {
        if let Some(settings) = spec.get_mut(format) {
            settings["timeKeep"] = true.into();
        }
    }
    spec["decoders"] = json!([{ "decodeFieldAs": "json log" }]);
    parser
}
