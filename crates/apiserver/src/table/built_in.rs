//! The columns of built-in kinds, parsed once from `columns.txt`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use schema::Resource;
use serde_json::{Value, json};

use crate::convert::retired;

use super::cells::{self, Cell};
use super::{age, json_path};

/// A column of a built-in kind.
#[derive(Debug)]
pub(super) struct Column {
    name: &'static str,
    kind: &'static str,
    format: &'static str,
    wide: bool,
    source: CellSource,
}

#[derive(Debug)]
enum CellSource {
    Age,
    Path { path: &'static str, default: Value },
    Cell(Cell),
}

static COLUMNS: LazyLock<BTreeMap<&str, Vec<Column>>> = LazyLock::new(|| {
    let mut sections: BTreeMap<&str, Vec<Column>> = BTreeMap::new();
    let mut name = "";
    for line in include_str!("columns.txt").lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name = section;
        } else if !line.is_empty() && !line.starts_with('#') {
            sections.entry(name).or_default().push(Column::read(line));
        }
    }
    // The columns of all other kinds.
    let others = ["Name:string = .metadata.name", "Created At:date = .metadata.creationTimestamp"];
    sections.insert("", others.map(Column::read).into());
    sections
});

/// The columns of a kind; by default name and creation time.
pub(super) fn of(resource: &Resource) -> &'static [Column] {
    // Events have the same columns in both groups.
    let kind = if resource.kind == "Event" { "v1 Event".to_owned() } else { section(resource) };
    COLUMNS.get(kind.as_str()).or_else(|| COLUMNS.get("")).map(Vec::as_slice).unwrap_or_default()
}

/// The columns of the scale of a workload.
pub(super) fn of_scale() -> &'static [Column] {
    COLUMNS.get("autoscaling/v1 Scale").map(Vec::as_slice).unwrap_or_default()
}

/// Whether a kind has columns of its own.
pub(super) fn has_columns(resource: &Resource) -> bool {
    COLUMNS.contains_key(section(resource).as_str())
}

/// The section of a kind. A version that newer releases do not serve has the columns of its successor.
fn section(resource: &Resource) -> String {
    let successor = retired::successor(resource);
    format!("{} {}", successor.as_ref().unwrap_or(resource).api_version(), resource.kind)
}

impl Column {
    /// Parses a row. The table is compiled in, so a test finds malformed rows.
    fn read(line: &'static str) -> Self {
        let (head, source) = line.split_once(" = ").expect("every row is read by a test");
        let (name, kind) = head.rsplit_once(':').expect("every row is read by a test");
        let source = match source {
            "age" => CellSource::Age,
            path if path.starts_with('.') => {
                let (path, default) = path.split_once(" or ").unwrap_or((path, ""));
                let default = match default {
                    "0" => 0.into(),
                    "false" => false.into(),
                    text => text.into(),
                };
                CellSource::Path { path, default }
            }
            name => CellSource::Cell(cells::find(name).expect("every row is read by a test")),
        };
        let (name, wide) = name.strip_suffix('*').map_or((name, false), |name| (name, true));
        let format = if name == "Name" { "name" } else { "" };
        Self { name: name.trim_end_matches('!'), kind, format, wide, source }
    }

    /// The column's definition in a Table.
    pub(super) fn definition(&self) -> Value {
        json!({
            "name": self.name, "type": self.kind, "format": self.format,
            "description": "", "priority": i64::from(self.wide),
        })
    }

    /// The column's cell for an object.
    pub(super) fn cell(&self, object: &Value, now: Timestamp) -> Value {
        match &self.source {
            CellSource::Age => age::since(object.pointer("/metadata/creationTimestamp"), now),
            CellSource::Cell(cell) => cell(object, now),
            CellSource::Path { path, default } => match json_path::first(object, path) {
                None => default.clone(),
                Some(value) if *value == "" => default.clone(),
                Some(value) => value.clone(),
            },
        }
    }
}

#[cfg(test)]
#[expect(clippy::too_many_lines, reason = "a table of objects and cells is long")]
mod tests {
    use schema::Kinds;

    use super::*;

    #[test]
    fn every_section_is_a_kind() {
        for section in COLUMNS.keys().filter(|section| !section.is_empty()) {
            let (api_version, kind) = section.split_once(' ').expect("a version and a kind");
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            assert!(Kinds::kubernetes().type_of(group, version, kind).is_some(), "{section}");
        }
    }

    #[test]
    fn cells_are_those_of_kube_apiserver() {
        let now: Timestamp = "2026-01-01T00:32:00Z".parse().expect("a constant");
        let metadata = json!({"name": "u", "creationTimestamp": "2026-01-01T00:00:00Z"});
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let selector = json!({"matchLabels": {"a": "b"}});
        let table = [
            (
                "v1",
                "Pod",
                json!({"spec": template["spec"], "status": {"phase": "Pending"}}),
                json!(["u", "0/1", "Pending", "0", "32m", "<none>", "<none>", "<none>", "<none>"]),
            ),
            (
                "v1",
                "Service",
                json!({"spec": {"type": "ClusterIP", "clusterIP": "10.0.0.7", "ports": [{"port": 80, "protocol": "TCP"}]}}),
                json!(["u", "ClusterIP", "10.0.0.7", "<none>", "80/TCP", "32m", "<none>"]),
            ),
            (
                "v1",
                "Node",
                json!({"status": {"nodeInfo": {}}}),
                json!([
                    "u",
                    "Unknown",
                    "<none>",
                    "32m",
                    "",
                    "<none>",
                    "<none>",
                    "<unknown>",
                    "<unknown>",
                    "<unknown>"
                ]),
            ),
            (
                "apps/v1",
                "Deployment",
                json!({"spec": {"replicas": 1, "selector": selector, "template": template}}),
                json!(["u", "0/1", 0, 0, "32m", "c", "i", "a=b"]),
            ),
            (
                "batch/v1",
                "CronJob",
                json!({"spec": {"schedule": "* * * * *", "suspend": false, "jobTemplate": {"spec": {"template": template}}}}),
                json!(["u", "* * * * *", "<none>", "False", 0, "<none>", "32m", "c", "i", "<none>"]),
            ),
            (
                "autoscaling/v2",
                "HorizontalPodAutoscaler",
                json!({"spec": {
                    "minReplicas": 1, "maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "a"},
                    "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}],
                }}),
                json!(["u", "Deployment/a", "cpu: <unknown>/80%", "1", 3, 0, "32m"]),
            ),
            (
                "policy/v1",
                "PodDisruptionBudget",
                json!({"spec": {"minAvailable": 1}}),
                json!(["u", "1", "N/A", 0, "32m"]),
            ),
            (
                "networking.k8s.io/v1",
                "Ingress",
                json!({"spec": {"rules": [{"host": "a.b"}], "tls": [{}]}}),
                json!(["u", "<none>", "a.b", "", "80, 443", "32m"]),
            ),
            ("rbac.authorization.k8s.io/v1", "Role", json!({}), json!(["u", "2026-01-01T00:00:00Z"])),
            (
                "rbac.authorization.k8s.io/v1",
                "RoleBinding",
                json!({"roleRef": {"kind": "Role", "name": "x"}}),
                json!(["u", "Role/x", "32m", "", "", ""]),
            ),
            (
                "discovery.k8s.io/v1",
                "EndpointSlice",
                json!({"addressType": "IPv4", "endpoints": []}),
                json!(["u", "IPv4", "<unset>", "<unset>", "32m"]),
            ),
        ];
        for (version, kind, mut object, want) in table {
            object["metadata"] = metadata.clone();
            let resource = Kinds::kubernetes().of_object(version, kind).expect("a kind of Kubernetes");
            let cells: Vec<Value> = of(resource).iter().map(|column| column.cell(&object, now)).collect();
            assert_eq!(Value::from(cells), want, "{kind}");
        }
    }
}
