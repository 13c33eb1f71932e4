//! Metrics of autoscalers: one source each, with a target.

use formats::quantity::Quantity;
use webhook::field::{Error, Shown};

use super::super::check::{FieldValue, when};

/// The type of each source and its field, in the order of validation.
const SOURCES: &[(&str, &str)] = &[
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];
const TYPES: &[&str] = &["ContainerResource", "External", "Object", "Pods", "Resource"];

/// The errors of a metric.
pub(super) fn metric(metric: &FieldValue<'_>) -> Vec<Error> {
    let kind = metric.field("type");
    let named = SOURCES.iter().find(|(name, _)| *name == kind.text()).map(|(_, source)| *source);
    let unknown = || kind.unsupported_as(Shown::named(kind.text()), TYPES);
    let mut errors = when(kind.is_empty(), || kind.required("must specify a metric source type"));
    errors.extend(when(named.is_none(), unknown));
    let present: Vec<&str> =
        SOURCES.iter().map(|(_, source)| *source).filter(|name| metric.field(name).value.is_some()).collect();
    if let Some(first) = present.first() {
        errors.extend(source_errors(first, &metric.field(first)));
    }
    match named.map(|name| metric.field(name)) {
        Some(wanted) => errors.extend(when(wanted.value.is_none(), || {
            wanted.required("must populate information for the given metric source")
        })),
        None => errors.push(unknown()),
    }
    if present.len() > 1 {
        let others = present.into_iter().filter(|name| Some(*name) != named);
        errors.extend(
            others.map(|name| metric.field(name).forbidden("must populate the given metric source only")),
        );
    }
    errors
}

/// The errors of a reference to an object.
pub(super) fn reference(field: &FieldValue<'_>, core: bool) -> Vec<Error> {
    let mut errors = Vec::new();
    for name in ["kind", "name"] {
        errors.extend(segment_errors(&field.field(name), ""));
    }
    let version = field.field("apiVersion");
    let why = match version.text().matches('/').count() {
        0 if !core => "apiVersion must specify API group".to_owned(),
        0 | 1 => return errors,
        _ => format!("unexpected GroupVersion string: {}", version.text()),
    };
    errors.push(version.invalid_as(version.text(), &why));
    errors
}

fn source_errors(name: &str, source: &FieldValue<'_>) -> Vec<Error> {
    let target = source.field("target");
    let [utilization, average, value] =
        ["averageUtilization", "averageValue", "value"].map(|field| target.field(field));
    let has = |field: &FieldValue<'_>| field.value.is_some();
    let mut errors = subject_errors(name, source);
    errors.extend(target_errors(&target));
    match name {
        "object" => errors.extend(when(!has(&value) && !has(&average), || {
            average.required("must set either a target value or averageValue")
        })),
        "external" => {
            errors.extend(when(!has(&value) && !has(&average), || {
                average.required("must set either a target value for metric or a per-pod target")
            }));
            errors.extend(when(has(&value) && has(&average), || {
                value.forbidden("may not set both a target value for metric and a per-pod target")
            }));
        }
        "pods" => errors
            .extend(when(!has(&average), || average.required("must specify a positive target averageValue"))),
        _ => {
            errors.extend(when(!has(&utilization) && !has(&average), || {
                utilization.required("must set either a target raw value or a target utilization")
            }));
            errors.extend(when(has(&utilization) && has(&average), || {
                average.forbidden("may not set both a target raw value and a target utilization")
            }));
        }
    }
    errors
}

/// The errors of what the source measures.
fn subject_errors(name: &str, source: &FieldValue<'_>) -> Vec<Error> {
    let resource = source.field("name");
    let mut errors = Vec::new();
    match name {
        "resource" | "containerResource" => {
            errors.extend(when(resource.is_empty(), || resource.required("must specify a resource name")));
        }
        "object" => errors.extend(reference(&source.field("describedObject"), true)),
        _ => {}
    }
    match name {
        "resource" => {}
        "containerResource" => {
            let container = source.field("container");
            errors.extend(when(container.is_empty(), || container.required("must specify a container")));
            let wrong = formats::name::dns1123_label(container.text()).into_iter();
            errors.extend(wrong.filter(|_| !container.is_empty()).map(|why| container.invalid(&why)));
        }
        _ => {
            errors
                .extend(segment_errors(&source.field("metric").field("name"), "must specify a metric name"));
        }
    }
    errors
}

/// The errors of the target.
fn target_errors(target: &FieldValue<'_>) -> Vec<Error> {
    let kind = target.field("type");
    let mut errors = when(kind.is_empty(), || kind.required("must specify a metric target type"));
    errors.extend(when(!["Utilization", "Value", "AverageValue"].contains(&kind.text()), || {
        kind.invalid_as(Shown::named(kind.text()), "must be either Utilization, Value, or AverageValue")
    }));
    for field in ["value", "averageValue"] {
        let amount = target.field(field);
        let nanos = Quantity::parse(amount.text()).ok().and_then(|amount| amount.nanos());
        errors.extend(when(nanos.is_some_and(|nanos| nanos <= 0), || amount.invalid("must be positive")));
    }
    let share = target.field("averageUtilization");
    errors.extend(when(share.value.is_some() && share.number() < 1, || {
        share.invalid("must be greater than 0")
    }));
    errors
}

/// The errors of a name that is used as a path segment.
fn segment_errors(name: &FieldValue<'_>, absent: &str) -> Vec<Error> {
    if name.is_empty() {
        return vec![name.required(absent)];
    }
    let wrong = crate::object::validation::path_segment(name.text());
    wrong.iter().map(|why| name.invalid(why)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table of metrics and errors is long")]
    fn a_metric_has_one_source_with_its_target() {
        let table = [
            (
                json!({}),
                vec![
                    "m.type: Required value: must specify a metric source type",
                    "m.type: Unsupported value: \"\": supported values: \"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"",
                    "m.type: Unsupported value: \"\": supported values: \"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"",
                ],
            ),
            (
                json!({"resource": {}}),
                vec![
                    "m.type: Required value: must specify a metric source type",
                    "m.type: Unsupported value: \"\": supported values: \"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"",
                    "m.resource.name: Required value: must specify a resource name",
                    "m.resource.target.type: Required value: must specify a metric target type",
                    "m.resource.target.type: Invalid value: \"\": must be either Utilization, Value, or AverageValue",
                    "m.resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization",
                    "m.type: Unsupported value: \"\": supported values: \"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"",
                ],
            ),
            (
                json!({"type": "Pods", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 0}}}),
                vec![
                    "m.resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
                    "m.pods: Required value: must populate information for the given metric source",
                ],
            ),
            (
                json!({
                    "type": "External",
                    "external": {"metric": {"name": "a/b"}, "target": {"type": "Value", "value": "0", "averageValue": "1"}},
                    "pods": {},
                }),
                vec![
                    "m.external.metric.name: Invalid value: \"a/b\": may not contain '/'",
                    "m.external.target.value: Invalid value: \"0\": must be positive",
                    "m.external.target.value: Forbidden: may not set both a target value for metric and a per-pod target",
                    "m.pods: Forbidden: must populate the given metric source only",
                ],
            ),
            (
                json!({"type": "ContainerResource", "containerResource": {
                    "name": "cpu", "container": "A", "target": {"type": "AverageValue", "averageValue": "1", "averageUtilization": 2},
                }}),
                vec![
                    "m.containerResource.container: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
                    "m.containerResource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization",
                ],
            ),
            (
                json!({"type": "Object", "object": {
                    "describedObject": {"kind": "Ingress", "name": "a", "apiVersion": "a/b/c"}, "metric": {"name": "m"}, "target": {"type": "Value"},
                }}),
                vec![
                    "m.object.describedObject.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c",
                    "m.object.target.averageValue: Required value: must set either a target value or averageValue",
                ],
            ),
            (
                json!({"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "1"}}}),
                vec![],
            ),
        ];
        for (value, want) in table {
            let field = FieldValue { path: "m".to_owned(), ..FieldValue::root(&value, None) };
            let errors: Vec<String> = metric(&field).iter().map(ToString::to_string).collect();
            assert_eq!(errors, want, "{value}");
        }
    }
}
