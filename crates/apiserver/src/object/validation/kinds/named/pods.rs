//! Pods: containers, probes, variables, resources, tolerations.

use formats::name;
use formats::quantity::Quantity;
use serde_json::{Value, json};
use webhook::field::{Error, ErrorKind, Shown};

use super::super::check::Found;
use super::{Named, when};

pub(super) const CHECKS: &[(&str, Named)] = &[
    ("name-label", name_label),
    ("image", image),
    ("container-names", container_names),
    ("class-name", class_name),
    ("mounted", mounted),
    ("dns-configuration", dns_configuration),
    ("port-of-container", port_of_container),
    ("container-port", container_port),
    ("host-port", host_port),
    ("variable-name", variable_name),
    ("variable-source", variable_source),
    ("mount-paths", mount_paths),
    ("one-success", one_success),
    ("handler", handler),
    ("resources", resources),
    ("toleration", toleration),
    ("spread-skew", spread_skew),
    ("spread-pairs", spread_pairs),
    ("node-operator", node_operator),
    ("topology-key", topology_key),
    ("weight", weight),
];

/// Resources that a container may name without a domain.
const STANDARD: &[&str] = &["cpu", "memory", "ephemeral-storage"];

fn name_label(found: &Found<'_>) -> Vec<Error> {
    if found.is_empty() {
        return Vec::new();
    }
    name::dns1123_label(found.text()).iter().map(|why| found.invalid(why)).collect()
}

fn image(found: &Found<'_>) -> Vec<Error> {
    if found.is_empty() {
        return vec![found.required("")];
    }
    let padded = found.text().trim() != found.text();
    when(padded, || found.invalid("must not have leading or trailing whitespace"))
}

/// Init containers and containers have different names.
fn container_names(spec: &Found<'_>) -> Vec<Error> {
    let (own, init) = (spec.field("containers"), spec.field("initContainers"));
    let names: Vec<&Value> = own.list().iter().filter_map(|container| container.get("name")).collect();
    let mut errors = Vec::new();
    for (index, container) in init.elements().iter().enumerate() {
        let name = container.field("name");
        let before = init.list()[..index].iter().filter_map(|container| container.get("name"));
        if name
            .value
            .is_some_and(|value| names.contains(&value) || before.clone().any(|other| other == value))
        {
            errors.push(name.duplicate());
        }
    }
    errors
}

fn class_name(class: &Found<'_>) -> Vec<Error> {
    let wrong = if class.is_empty() { Vec::new() } else { name::dns1123_subdomain(class.text()) };
    wrong.iter().map(|why| class.invalid(why)).collect()
}

/// A mount names a volume that is there, or a claim that a stateful set makes.
fn mounted(name: &Found<'_>) -> Vec<Error> {
    let lists = ["containers[", "initContainers["];
    let start = lists.iter().filter_map(|list| name.path.find(list)).min().unwrap_or_default();
    let above = |path: &str, field: &str| {
        let path = path.trim_end_matches('.').replace('.', "/");
        let slash = if path.is_empty() { "" } else { "/" };
        name.whole.pointer(&format!("{slash}{path}/{field}")).and_then(Value::as_array)
    };
    let pods = &name.path[..start];
    let volumes = above(pods, "volumes").into_iter().flatten().map(|volume| &volume["name"]);
    let claims = pods.strip_suffix("template.spec.").and_then(|set| above(set, "volumeClaimTemplates"));
    let claims = claims.into_iter().flatten().map(|claim| &claim["metadata"]["name"]);
    let known = volumes.chain(claims).any(|known| Some(known) == name.value && known.is_string());
    when(!known, || name.error(ErrorKind::NotFound, Some(Shown::from(name.text())), ""))
}

fn dns_configuration(spec: &Found<'_>) -> Vec<Error> {
    let configuration = spec.field("dnsConfig");
    let missing = spec.field("dnsPolicy").text() == "None" && configuration.value.is_none();
    when(missing, || configuration.required("must provide `dnsConfig` when `dnsPolicy` is None"))
}

/// The name of a port, which no port before it has.
fn port_of_container(name: &Found<'_>) -> Vec<Error> {
    if name.is_empty() {
        return Vec::new();
    }
    let wrong = super::super::check::Check::PortName.errors(name);
    let taken = before(name).iter().any(|port| port.get("name") == name.value);
    if wrong.is_empty() && taken { vec![name.duplicate()] } else { wrong }
}

/// The elements of a list before the one that a field is of.
fn before<'a>(field: &Found<'a>) -> &'a [Value] {
    let place = field.path.rsplit_once('[').and_then(|(list, rest)| {
        let index: usize = rest.split(']').next()?.parse().ok()?;
        Some((format!("/{}", list.replace(['.', '['], "/").replace(']', "")), index))
    });
    let found = place.and_then(|(list, index)| field.whole.pointer(&list)?.as_array()?.get(..index));
    found.unwrap_or_default()
}

fn container_port(found: &Found<'_>) -> Vec<Error> {
    match found.number() {
        0 => vec![found.required("")],
        number => {
            when(!(1..=65_535).contains(&number), || found.invalid("must be between 1 and 65535, inclusive"))
        }
    }
}

fn host_port(found: &Found<'_>) -> Vec<Error> {
    when(!(0..=65_535).contains(&found.number()), || found.invalid("must be between 1 and 65535, inclusive"))
}

fn variable_name(found: &Found<'_>) -> Vec<Error> {
    if found.is_empty() {
        return vec![found.required("")];
    }
    let printable = |c: char| c.is_ascii_graphic() || c == ' ';
    let wrong = found.text().contains('=') || !found.text().chars().all(printable);
    let why =
        "a valid environment variable name must consist only of printable ASCII characters other than '='";
    when(wrong, || found.invalid(why))
}

fn variable_source(variable: &Found<'_>) -> Vec<Error> {
    const SOURCES: &[&str] =
        &["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let source = variable.field("valueFrom");
    if source.value.is_none() {
        return Vec::new();
    }
    let named: Vec<&str> =
        SOURCES.iter().filter(|name| source.field(name).value.is_some()).copied().collect();
    let mut errors = Vec::new();
    if let Some(path) = source.field("fieldRef").value.and(Some(source.field("fieldRef").field("fieldPath")))
    {
        errors.extend(field_path(&path));
    }
    for reference in ["configMapKeyRef", "secretKeyRef"].map(|name| source.field(name)) {
        if reference.value.is_some() {
            let name = reference.field("name");
            let name = Found { value: Some(name.value.unwrap_or(&EMPTY)), ..name };
            errors.extend(name::dns1123_subdomain(name.text()).iter().map(|why| name.invalid(why)));
            errors.extend(when(reference.field("key").is_empty(), || reference.field("key").required("")));
        }
    }
    if named.is_empty() {
        let why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or \
                   `fileKeyRef`";
        errors.push(source.invalid_as("", why));
    } else if !variable.field("value").is_empty() {
        errors.push(source.invalid_as("", "may not be specified when `value` is not empty"));
    } else if named.len() > 1 {
        errors.push(source.invalid_as("", "may not have more than one field specified at a time"));
    }
    errors
}

static EMPTY: Value = Value::String(String::new());

fn field_path(path: &Found<'_>) -> Vec<Error> {
    const FIELDS: &[&str] = &[
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "metadata.labels",
        "metadata.annotations",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    ];
    let text = path.text();
    let subscripted = text.starts_with("metadata.labels['") || text.starts_with("metadata.annotations['");
    if text.is_empty() {
        return vec![path.required("")];
    }
    when(!FIELDS.contains(&text) && !subscripted, || {
        path.invalid(&format!("error converting fieldPath: field label not supported: {text}"))
    })
}

fn mount_paths(mounts: &Found<'_>) -> Vec<Error> {
    let paths: Vec<Found<'_>> = mounts.elements().iter().map(|mount| mount.field("mountPath")).collect();
    let repeated = |(index, path): &(usize, &Found<'_>)| {
        !path.is_empty() && paths[..*index].iter().any(|earlier| earlier.value == path.value)
    };
    paths.iter().enumerate().filter(repeated).map(|(_, path)| path.invalid("must be unique")).collect()
}

fn one_success(found: &Found<'_>) -> Vec<Error> {
    when(found.value.is_some() && found.number() != 1, || found.invalid("must be 1"))
}

/// What a probe or a hook does: exactly one thing.
fn handler(found: &Found<'_>) -> Vec<Error> {
    let handlers = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"].map(|name| found.field(name));
    let is = |handler: &Found<'_>, name: &str| handler.path.rsplit('.').next() == Some(name);
    let mut errors = Vec::new();
    for (index, handler) in handlers.iter().filter(|handler| handler.value.is_some()).enumerate() {
        if index > 0 {
            errors.push(handler.forbidden("may not specify more than 1 handler type"));
            continue;
        }
        let command = handler.field("command");
        if is(handler, "exec") && command.is_empty() {
            errors.push(command.required(""));
        }
        let port = handler.field("port");
        if !is(handler, "exec") && !is(handler, "sleep") {
            let shown = Found { value: Some(port.value.unwrap_or(&ZERO)), ..port };
            errors.extend(super::super::check::Check::Port.errors(&shown));
        }
    }
    if handlers.iter().all(|handler| handler.value.is_none()) {
        errors.push(found.required("must specify a handler type"));
    }
    errors
}

static ZERO: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!(0));

/// Amounts are not negative, of known things, and no more is requested than allowed.
fn resources(found: &Found<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    let (limits, requests) = (found.field("limits"), found.field("requests"));
    for amounts in [&limits, &requests] {
        for (name, amount) in amounts.value.and_then(Value::as_object).into_iter().flatten() {
            let at = amounts.entry(name);
            errors.extend(resource_name(&at, name));
            if nanos(amount).is_some_and(|nanos| nanos < 0) {
                errors.push(at.invalid("must be greater than or equal to 0"));
            }
        }
    }
    for (name, request) in requests.value.and_then(Value::as_object).into_iter().flatten() {
        let limit = limits.value.and_then(|limits| limits.get(name));
        let Some(limit) = limit.filter(|limit| nanos(limit) < nanos(request)) else { continue };
        let why =
            format!("must be less than or equal to {name} limit of {}", limit.as_str().unwrap_or_default());
        let shown = Shown::from(request.as_str().unwrap_or_default());
        errors.push(requests.error(ErrorKind::Invalid, Some(shown), &why));
    }
    errors
}

fn nanos(amount: &Value) -> Option<i128> {
    let text = amount.as_str().map_or_else(|| amount.to_string(), str::to_owned);
    Quantity::parse(&text).ok()?.nanos()
}

fn resource_name(at: &Found<'_>, name: &str) -> Vec<Error> {
    let mut errors: Vec<Error> = name::label_key(name).iter().map(|why| at.invalid_as(name, why)).collect();
    if errors.is_empty()
        && !name.contains('/')
        && !STANDARD.contains(&name)
        && !name.starts_with("hugepages-")
    {
        errors.push(at.invalid_as(name, "must be a standard resource type or fully qualified"));
        errors.push(at.invalid_as(name, "must be a standard resource for containers"));
    }
    errors
}

fn toleration(found: &Found<'_>) -> Vec<Error> {
    let [key, operator, value, effect] = ["key", "operator", "value", "effect"].map(|name| found.field(name));
    let mut errors = Vec::new();
    if !key.is_empty() {
        errors.extend(name::label_key(key.text()).iter().map(|why| key.invalid(why)));
    } else if operator.text() != "Exists" {
        let why =
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.push(operator.invalid(why));
    }
    if found.field("tolerationSeconds").value.is_some() && effect.text() != "NoExecute" {
        errors.push(effect.invalid("effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    match operator.text() {
        "" | "Equal" => {
            errors.extend(
                name::label_value(value.text()).iter().map(|why| operator.invalid_as(value.text(), why)),
            );
        }
        "Exists" => errors.extend(when(!value.is_empty(), || {
            operator.invalid_as(value.text(), "value must be empty when `operator` is 'Exists'")
        })),
        _ => errors.push(operator.unsupported(&["Equal", "Exists"])),
    }
    errors
}

fn spread_skew(found: &Found<'_>) -> Vec<Error> {
    when(found.number() <= 0, || found.invalid_as(found.number(), "must be greater than zero"))
}

/// A topology is spread over once for each consequence.
fn spread_pairs(found: &Found<'_>) -> Vec<Error> {
    let pair = |constraint: &Found<'_>| {
        (
            constraint.field("topologyKey").text().to_owned(),
            constraint.field("whenUnsatisfiable").text().to_owned(),
        )
    };
    let constraints = found.elements();
    let mut errors = Vec::new();
    for (index, constraint) in constraints.iter().enumerate() {
        let (key, consequence) = pair(constraint);
        let later =
            constraints[index + 1..].iter().any(|other| pair(other) == (key.clone(), consequence.clone()));
        if later {
            let at = constraint.field("{topologyKey, whenUnsatisfiable}");
            let shown = Shown::from(format!("{{{key}, {consequence}}}").as_str());
            errors.push(at.error(ErrorKind::Duplicate, Some(shown), ""));
        }
    }
    errors
}

fn node_operator(found: &Found<'_>) -> Vec<Error> {
    const KNOWN: &[&str] = &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
    when(!KNOWN.contains(&found.text()), || found.invalid("not a valid selector operator"))
}

fn topology_key(found: &Found<'_>) -> Vec<Error> {
    let mut errors = when(found.is_empty(), || found.required("can not be empty"));
    errors.extend(name::label_key(found.text()).iter().map(|why| found.invalid(why)));
    errors
}

fn weight(found: &Found<'_>) -> Vec<Error> {
    when(!(1..=100).contains(&found.number()), || {
        found.invalid_as(found.number(), "must be in the range 1-100")
    })
}
