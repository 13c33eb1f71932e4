//! Pods: containers, probes, variables, resources, tolerations.

use formats::name;
use formats::quantity::Quantity;
use serde_json::{Value, json};
use webhook::field::{Error, ErrorKind, Shown};

use super::super::check::{FieldValue, NamedCheck, when};
use super::volumes;

pub(super) const CHECKS: &[(&str, NamedCheck)] = &[
    ("name-label", name_label),
    ("image", image),
    ("container-names", container_names),
    ("class-name", class_name),
    ("mounted-volume", mounted_volume),
    ("dns-configuration", dns_configuration),
    ("container-port-name", container_port_name),
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

fn name_label(field: &FieldValue<'_>) -> Vec<Error> {
    if field.is_empty() {
        return Vec::new();
    }
    name::dns1123_label(field.text()).iter().map(|why| field.invalid(why)).collect()
}

fn image(field: &FieldValue<'_>) -> Vec<Error> {
    if field.is_empty() {
        return vec![field.required("")];
    }
    let is_padded = field.text().trim() != field.text();
    when(is_padded, || field.invalid("must not have leading or trailing whitespace"))
}

/// Containers and init containers must have different names.
fn container_names(spec: &FieldValue<'_>) -> Vec<Error> {
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

fn class_name(class: &FieldValue<'_>) -> Vec<Error> {
    let wrong = if class.is_empty() { Vec::new() } else { name::dns1123_subdomain(class.text()) };
    wrong.iter().map(|why| class.invalid(why)).collect()
}

/// A mount must name an existing volume, or a claim template of the stateful set.
fn mounted_volume(name: &FieldValue<'_>) -> Vec<Error> {
    let lists = ["containers[", "initContainers["];
    let start = lists.iter().filter_map(|list| name.path.find(list)).min().unwrap_or_default();
    let above = |path: &str, field: &str| {
        let path = path.trim_end_matches('.').replace('.', "/");
        let slash = if path.is_empty() { "" } else { "/" };
        name.object.pointer(&format!("{slash}{path}/{field}")).and_then(Value::as_array)
    };
    let pods = &name.path[..start];
    let volumes = above(pods, "volumes").into_iter().flatten();
    let volumes = volumes.filter(|volume| volumes::is_single(volume)).map(|volume| &volume["name"]);
    let claims = pods.strip_suffix("template.spec.").and_then(|set| above(set, "volumeClaimTemplates"));
    let claims = claims.into_iter().flatten().map(|claim| &claim["metadata"]["name"]);
    let known = volumes.chain(claims).any(|known| Some(known) == name.value && known.is_string());
    when(!known, || name.error(ErrorKind::NotFound, Some(Shown::from(name.text())), ""))
}

fn dns_configuration(spec: &FieldValue<'_>) -> Vec<Error> {
    let configuration = spec.field("dnsConfig");
    let missing = spec.field("dnsPolicy").text() == "None" && configuration.value.is_none();
    when(missing, || configuration.required("must provide `dnsConfig` when `dnsPolicy` is None"))
}

/// A port name must be valid, and unique among the ports before it.
fn container_port_name(name: &FieldValue<'_>) -> Vec<Error> {
    if name.is_empty() {
        return Vec::new();
    }
    let wrong = super::super::check::Check::PortName.errors(name);
    let taken = before(name).iter().any(|port| port.get("name") == name.value);
    if wrong.is_empty() && taken { vec![name.duplicate()] } else { wrong }
}

/// The elements of the list before the one that contains this field.
fn before<'a>(field: &FieldValue<'a>) -> &'a [Value] {
    let position = field.path.rsplit_once('[').and_then(|(list, rest)| {
        let index: usize = rest.split(']').next()?.parse().ok()?;
        Some((format!("/{}", list.replace(['.', '['], "/").replace(']', "")), index))
    });
    let earlier = position.and_then(|(list, index)| field.object.pointer(&list)?.as_array()?.get(..index));
    earlier.unwrap_or_default()
}

fn container_port(field: &FieldValue<'_>) -> Vec<Error> {
    match field.number() {
        0 => vec![field.required("")],
        number => {
            when(!(1..=65_535).contains(&number), || field.invalid("must be between 1 and 65535, inclusive"))
        }
    }
}

fn host_port(field: &FieldValue<'_>) -> Vec<Error> {
    when(!(0..=65_535).contains(&field.number()), || field.invalid("must be between 1 and 65535, inclusive"))
}

fn variable_name(field: &FieldValue<'_>) -> Vec<Error> {
    if field.is_empty() {
        return vec![field.required("")];
    }
    let printable = |c: char| c.is_ascii_graphic() || c == ' ';
    let wrong = field.text().contains('=') || !field.text().chars().all(printable);
    let why =
        "a valid environment variable name must consist only of printable ASCII characters other than '='";
    when(wrong, || field.invalid(why))
}

fn variable_source(variable: &FieldValue<'_>) -> Vec<Error> {
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
            let name = FieldValue { value: Some(name.value.unwrap_or(&EMPTY)), ..name };
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

fn field_path(path: &FieldValue<'_>) -> Vec<Error> {
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

fn mount_paths(mounts: &FieldValue<'_>) -> Vec<Error> {
    let paths: Vec<FieldValue<'_>> = mounts.elements().iter().map(|mount| mount.field("mountPath")).collect();
    let repeated = |(index, path): &(usize, &FieldValue<'_>)| {
        !path.is_empty() && paths[..*index].iter().any(|earlier| earlier.value == path.value)
    };
    paths.iter().enumerate().filter(repeated).map(|(_, path)| path.invalid("must be unique")).collect()
}

fn one_success(field: &FieldValue<'_>) -> Vec<Error> {
    when(field.value.is_some() && field.number() != 1, || field.invalid("must be 1"))
}

/// A probe or hook must have exactly one handler.
fn handler(field: &FieldValue<'_>) -> Vec<Error> {
    let handlers = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"].map(|name| field.field(name));
    let is = |handler: &FieldValue<'_>, name: &str| handler.path.rsplit('.').next() == Some(name);
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
            let shown = FieldValue { value: Some(port.value.unwrap_or(&ZERO)), ..port };
            errors.extend(super::super::check::Check::Port.errors(&shown));
        }
    }
    if handlers.iter().all(|handler| handler.value.is_none()) {
        errors.push(field.required("must specify a handler type"));
    }
    errors
}

static ZERO: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!(0));

/// Amounts must not be negative, names must be known, and requests must not exceed limits.
fn resources(field: &FieldValue<'_>) -> Vec<Error> {
    let mut errors = Vec::new();
    let (limits, requests) = (field.field("limits"), field.field("requests"));
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

fn resource_name(at: &FieldValue<'_>, name: &str) -> Vec<Error> {
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

fn toleration(field: &FieldValue<'_>) -> Vec<Error> {
    let [key, operator, value, effect] = ["key", "operator", "value", "effect"].map(|name| field.field(name));
    let mut errors = Vec::new();
    if !key.is_empty() {
        errors.extend(name::label_key(key.text()).iter().map(|why| key.invalid(why)));
    } else if operator.text() != "Exists" {
        let why =
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.push(operator.invalid(why));
    }
    if field.field("tolerationSeconds").value.is_some() && effect.text() != "NoExecute" {
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

fn spread_skew(field: &FieldValue<'_>) -> Vec<Error> {
    when(field.number() <= 0, || field.invalid_as(field.number(), "must be greater than zero"))
}

/// No two constraints may have the same topology key and `whenUnsatisfiable`.
fn spread_pairs(field: &FieldValue<'_>) -> Vec<Error> {
    let pair = |constraint: &FieldValue<'_>| {
        (
            constraint.field("topologyKey").text().to_owned(),
            constraint.field("whenUnsatisfiable").text().to_owned(),
        )
    };
    let constraints = field.elements();
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

fn node_operator(field: &FieldValue<'_>) -> Vec<Error> {
    const KNOWN: &[&str] = &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"];
    when(!KNOWN.contains(&field.text()), || field.invalid("not a valid selector operator"))
}

fn topology_key(field: &FieldValue<'_>) -> Vec<Error> {
    let mut errors = when(field.is_empty(), || field.required("can not be empty"));
    errors.extend(name::label_key(field.text()).iter().map(|why| field.invalid(why)));
    errors
}

fn weight(field: &FieldValue<'_>) -> Vec<Error> {
    when(!(1..=100).contains(&field.number()), || {
        field.invalid_as(field.number(), "must be in the range 1-100")
    })
}
