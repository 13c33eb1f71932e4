//! Autoscalers and disruption budgets.

use serde_json::{Value, json};
use webhook::field::{Error, Shown};

use super::super::check::Found;
use super::{Named, when};

pub(super) const CHECKS: &[(&str, Named)] =
    &[("autoscaler", autoscaler), ("metric", metric), ("budget", budget)];

fn autoscaler(object: &Found<'_>) -> Vec<Error> {
    let spec = object.field("spec");
    let (least, most, target) =
        (spec.field("minReplicas"), spec.field("maxReplicas"), spec.field("scaleTargetRef"));
    let mut errors = Vec::new();
    let floor = i64::from(!scales_to_zero(&spec));
    errors.extend(when(least.value.is_some() && least.number() < floor, || {
        least.invalid(&format!("must be greater than or equal to {floor}"))
    }));
    errors.extend(when(most.number() < 1, || most.required("must be set and greater than 0")));
    errors.extend(when(least.value.is_some() && most.number() < least.number(), || {
        most.invalid_as(most.number(), "must be greater than or equal to `minReplicas`")
    }));
    for field in ["kind", "name"] {
        let field = target.field(field);
        errors.extend(when(field.is_empty(), || field.required("")));
    }
    let version = target.field("apiVersion");
    let core = version.text() == "v1" && target.field("kind").text() == "ReplicationController";
    errors.extend(when(!version.text().contains('/') && !core, || {
        version.invalid_as(version.text(), "apiVersion must specify API group")
    }));
    let metrics = spec.field("metrics");
    let zero = least.value.is_some() && least.number() == 0;
    errors.extend(when(
        zero && !scales_to_zero(&spec) && object.field("apiVersion").text().ends_with("v2"),
        || {
            metrics.forbidden(
                "must specify at least one Object or External metric to support scaling to zero replicas",
            )
        },
    ));
    errors
}

fn scales_to_zero(spec: &Found<'_>) -> bool {
    let metrics = spec.field("metrics").elements();
    metrics.iter().any(|metric| matches!(metric.field("type").text(), "Object" | "External"))
}

fn metric(metric: &Found<'_>) -> Vec<Error> {
    let kind = metric.field("type");
    let source = metric.field(match kind.text() {
        "ContainerResource" => "containerResource",
        "External" => "external",
        "Object" => "object",
        "Pods" => "pods",
        "Resource" => "resource",
        _ => {
            let mut errors = when(kind.is_empty(), || kind.required("must specify a metric source type"));
            errors.push(kind.unsupported(&["ContainerResource", "External", "Object", "Pods", "Resource"]));
            return errors;
        }
    });
    if source.value.is_none() {
        return vec![source.required("must populate information for the given metric source")];
    }
    let target = source.field("target");
    let [utilization, average, value] =
        ["averageUtilization", "averageValue", "value"].map(|field| target.field(field));
    let nothing = utilization.value.is_none() && average.value.is_none();
    match kind.text() {
        "Resource" | "ContainerResource" => when(nothing, || {
            utilization.required("must set either a target raw value or a target utilization")
        }),
        "Pods" => {
            when(average.value.is_none(), || average.required("must specify a positive target averageValue"))
        }
        _ => when(value.value.is_none() && average.value.is_none(), || {
            value.required("must set either a target value for metric or a per-pod target")
        }),
    }
}

fn budget(object: &Found<'_>) -> Vec<Error> {
    let spec = object.field("spec");
    let of = |field: &str| spec.value.and_then(|spec| spec.get(field)).cloned().unwrap_or(Value::Null);
    let shown = format!(
        "{{\"MinAvailable\":{},\"Selector\":{},\"MaxUnavailable\":{},\"UnhealthyPodEvictionPolicy\":{}}}",
        of("minAvailable"),
        of("selector"),
        of("maxUnavailable"),
        of("unhealthyPodEvictionPolicy"),
    );
    let both = of("minAvailable") != json!(null) && of("maxUnavailable") != json!(null);
    when(both, || {
        spec.invalid_as(Shown::verbatim(shown), "minAvailable and maxUnavailable cannot be both set")
    })
}
