//! Warnings about pods and pod templates.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use webhook::field::quote;

use super::fractional;

/// Deprecated node labels, the version that deprecated them, and their new names.
const LABELS: &[(&str, &str, &str)] = &[
    ("beta.kubernetes.io/arch", "v1.14", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "v1.17", "node.kubernetes.io/instance-type"),
    ("beta.kubernetes.io/os", "v1.14", "kubernetes.io/os"),
    ("failure-domain.beta.kubernetes.io/region", "v1.17", "topology.kubernetes.io/region"),
    ("failure-domain.beta.kubernetes.io/zone", "v1.17", "topology.kubernetes.io/zone"),
];
/// Annotations that no longer have an effect.
const ANNOTATIONS: &[(&str, &str)] = &[
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];
/// Volume types that are deprecated or removed.
const VOLUMES: &[(&str, &str)] = &[
    ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// The path of a container or port, and its value.
type WithPath<'a> = (String, &'a Value);

/// The warnings about a pod template at a path, such as `spec.template`; the path of a pod is empty.
pub(super) fn template(template: &Value, path: &str) -> Vec<String> {
    let below = |field: &str| if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") };
    let (spec, at) = (&template["spec"], below("spec"));
    let containers = containers(spec, &at);
    let mut warnings = nodes(spec, &at);
    let annotated = |key: &str| template["metadata"]["annotations"].get(key).is_some();
    let annotations = ANNOTATIONS.iter().filter(|(key, _)| annotated(key));
    warnings.extend(annotations.map(|(key, why)| format!("{}[{key}]: {why}", below("metadata.annotations"))));
    warnings.extend(volumes(spec, &at));
    warnings.extend(pull_secrets(spec, &at));
    for (at, container) in &containers {
        let sides = ["limits", "requests"];
        let names = ["memory", "ephemeral-storage"];
        warnings.extend(fractional(&container["resources"], &format!("{at}.resources"), &names, &sides));
        warnings.extend(hidden_variables(container, at));
    }
    warnings.extend(repeated_ports(&containers));
    warnings.extend(repeated_port_names(&containers));
    if spec["terminationGracePeriodSeconds"].as_i64().is_some_and(|seconds| seconds < 0) {
        let why = "must be >= 0; negative values are invalid and will be treated as 1";
        warnings.push(format!("{at}.terminationGracePeriodSeconds: {why}"));
    }
    warnings.extend(affinities(spec, &at));
    warnings
}

/// All containers, in kube-apiserver's order.
fn containers<'a>(spec: &'a Value, at: &str) -> Vec<WithPath<'a>> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let of = |list: &&str| {
        let list = *list;
        items(&spec[list])
            .map(|(index, container)| (format!("{at}.{list}[{index}]"), container))
            .collect::<Vec<_>>()
    };
    lists.iter().flat_map(of).collect()
}

fn items(list: &Value) -> impl Iterator<Item = (usize, &Value)> {
    list.as_array().into_iter().flatten().enumerate()
}

fn label_warning(label: &str) -> Option<String> {
    let (_, since, new) = LABELS.iter().find(|(old, ..)| *old == label)?;
    Some(format!("deprecated since {since}; use {new:?} instead"))
}

/// Warnings about node selectors and topology spread constraints.
fn nodes(spec: &Value, at: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    for key in spec["nodeSelector"].as_object().into_iter().flat_map(|labels| labels.keys()) {
        warnings.extend(label_warning(key).map(|why| format!("{at}.nodeSelector[{key}]: {why}")));
    }
    for (index, constraint) in items(&spec["topologySpreadConstraints"]) {
        let at = format!("{at}.topologySpreadConstraints[{index}]");
        let key = constraint["topologyKey"].as_str().unwrap_or_default();
        warnings.extend(label_warning(key).map(|why| format!("{at}.topologyKey: {key} is {why}")));
        warnings.extend(selector_warning(constraint, &at));
    }
    warnings
}

/// The warning about an absent selector, which matches nothing.
fn selector_warning(term: &Value, at: &str) -> Option<String> {
    let absent = term["labelSelector"].is_null();
    absent.then(|| format!("{at}.labelSelector: a null labelSelector results in matching no pod"))
}

fn affinities(spec: &Value, at: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    for kind in ["podAffinity", "podAntiAffinity"] {
        let (affinity, at) = (&spec["affinity"][kind], format!("{at}.affinity.{kind}"));
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        warnings.extend(
            items(&affinity[required])
                .filter_map(|(index, term)| selector_warning(term, &format!("{at}.{required}[{index}]"))),
        );
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        warnings.extend(items(&affinity[preferred]).filter_map(|(index, term)| {
            selector_warning(&term["podAffinityTerm"], &format!("{at}.{preferred}[{index}].podAffinityTerm"))
        }));
    }
    warnings
}

fn volumes(spec: &Value, at: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    for (index, volume) in items(&spec["volumes"]) {
        let deprecated = VOLUMES.iter().filter(|(kind, _)| !volume[*kind].is_null());
        warnings.extend(deprecated.map(|(kind, why)| format!("{at}.volumes[{index}].{kind}: {why}")));
    }
    let mut seen = BTreeSet::new();
    for (index, alias) in items(&spec["hostAliases"]) {
        let address = alias["ip"].as_str().unwrap_or_default();
        if !seen.insert(address) {
            warnings.push(format!("{at}.hostAliases[{index}].ip: duplicate ip {}", quote(address)));
        }
    }
    warnings
}

fn pull_secrets(spec: &Value, at: &str) -> Vec<String> {
    let all: Vec<(usize, &str)> = items(&spec["imagePullSecrets"])
        .map(|(index, secret)| (index, secret["name"].as_str().unwrap_or_default()))
        .collect();
    let path = |index: usize| format!("{at}.imagePullSecrets[{index}].name");
    let mut seen = BTreeSet::new();
    let repeated = all.iter().filter(|(_, name)| !seen.insert(*name));
    let mut warnings: Vec<String> =
        repeated.map(|(index, name)| format!("{}: duplicate name {}", path(*index), quote(name))).collect();
    let empty = all.iter().filter(|(_, name)| name.is_empty());
    warnings.extend(empty.map(|(index, _)| format!("{}: invalid empty name \"\"", path(*index))));
    warnings
}

/// Warnings about variables that are defined again and do not refer to their previous value.
fn hidden_variables(container: &Value, at: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut warnings = Vec::new();
    for (index, variable) in items(&container["env"]) {
        let name = variable["name"].as_str().unwrap_or_default();
        if seen.insert(name) {
            continue;
        }
        let own = format!("$({name})");
        let value = variable["value"].as_str().unwrap_or_default();
        if variable.get("valueFrom").is_some_and(|from| !from.is_null())
            || value == own
            || !value.contains(&own)
        {
            warnings.push(format!(
                "{at}.env[{index}]: hides previous definition of {}, which may be dropped when using apply",
                quote(name)
            ));
        }
    }
    warnings
}

/// Warnings about ports that another container, or the same one, already has.
fn repeated_ports(containers: &[WithPath<'_>]) -> Vec<String> {
    let mut previous: BTreeMap<(i64, &str), Vec<WithPath<'_>>> = BTreeMap::new();
    let mut warnings = Vec::new();
    for (at, container) in containers {
        for (index, port) in items(&container["ports"]) {
            let at = format!("{at}.ports[{index}]");
            let key = (
                port["containerPort"].as_i64().unwrap_or_default(),
                port["protocol"].as_str().unwrap_or_default(),
            );
            let others = previous.entry(key).or_default();
            for (other_at, other) in others.iter() {
                warnings.extend(
                    conflict(port, other).map(|how| format!("{at}: {how} port definition with {other_at}")),
                );
            }
            others.push((at, port));
        }
    }
    warnings
}

/// How two ports with the same number conflict.
fn conflict(port: &Value, other: &Value) -> Option<&'static str> {
    let address = |port: &Value| port["hostIP"].as_str().unwrap_or_default().to_owned();
    let number = |port: &Value| port["hostPort"].as_i64().unwrap_or_default();
    let (first, second) = ((address(port), number(port)), (address(other), number(other)));
    match () {
        () if first == second => Some("duplicate"),
        () if first.1 == 0 || second.1 == 0 => Some("overlapping"),
        () if first.1 == second.1 && first.0.is_empty() != second.0.is_empty() => {
            Some("dangerously ambiguous")
        }
        () => None,
    }
}

fn repeated_port_names(containers: &[WithPath<'_>]) -> Vec<String> {
    let mut previous: BTreeMap<&str, String> = BTreeMap::new();
    let mut warnings = Vec::new();
    for (at, container) in containers {
        for (index, port) in items(&container["ports"]) {
            let name = port["name"].as_str().unwrap_or_default();
            let at = format!("{at}.ports[{index}]");
            match previous.get(name) {
                _ if name.is_empty() => {}
                Some(other) => warnings.push(format!(
                    "{at}: duplicate port name {} with {other}, services and probes that select ports by name will \
                     use {other}",
                    quote(name)
                )),
                None => {
                    previous.insert(name, at);
                }
            }
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of pods and warnings is long")]
    fn ineffective_and_duplicate_fields_of_pods_are_reported() {
        let table = [
            (json!({"containers": [{"name": "a"}]}), vec![]),
            (
                json!({"containers": [
                    {"ports": [{"containerPort": 80, "protocol": "TCP", "name": "x"}]},
                    {"ports": [{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 81, "name": "x"}]},
                ]}),
                vec![
                    "spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]",
                    "spec.containers[1].ports[1]: duplicate port name \"x\" with spec.containers[0].ports[0], services and \
                     probes that select ports by name will use spec.containers[0].ports[0]",
                ],
            ),
            (
                json!({"containers": [{"ports": [
                    {"containerPort": 80, "hostPort": 1}, {"containerPort": 80},
                    {"containerPort": 80, "hostPort": 1, "hostIP": "1.2.3.4"},
                ]}]}),
                vec![
                    "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
                    "spec.containers[0].ports[2]: dangerously ambiguous port definition with spec.containers[0].ports[0]",
                    "spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[1]",
                ],
            ),
            (
                json!({"containers": [{"env": [
                    {"name": "A", "value": "1"}, {"name": "A", "value": "2"}, {"name": "A", "value": "$(A)3"},
                ]}]}),
                vec![
                    "spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped when using apply",
                ],
            ),
            (
                json!({"imagePullSecrets": [{"name": "a"}, {"name": "a"}, {}], "terminationGracePeriodSeconds": -1}),
                vec![
                    "spec.imagePullSecrets[1].name: duplicate name \"a\"",
                    "spec.imagePullSecrets[2].name: invalid empty name \"\"",
                    "spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
                ],
            ),
            (
                json!({"topologySpreadConstraints": [{"topologyKey": "beta.kubernetes.io/os"}], "volumes": [{"gitRepo": {}}]}),
                vec![
                    "spec.topologySpreadConstraints[0].topologyKey: beta.kubernetes.io/os is deprecated since v1.14; use \
                     \"kubernetes.io/os\" instead",
                    "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
                    "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
                ],
            ),
        ];
        for (spec, want) in table {
            assert_eq!(template(&json!({"spec": spec}), ""), want, "{spec}");
        }
    }

    #[test]
    fn warnings_of_a_template_have_its_path() {
        let warnings = template(&json!({"spec": {"terminationGracePeriodSeconds": -1}}), "spec.template");
        let why = "must be >= 0; negative values are invalid and will be treated as 1";
        assert_eq!(warnings, [format!("spec.template.spec.terminationGracePeriodSeconds: {why}")]);
    }
}
