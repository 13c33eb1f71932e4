//! Autoscalers and disruption budgets.

use formats::quantity::Quantity;
use serde_json::{Value, json};
use webhook::field::{Error, Shown};

use super::super::check::{FieldValue, NamedCheck, when};
use super::metrics;

pub(super) const CHECKS: &[(&str, NamedCheck)] = &[("autoscaler", autoscaler), ("budget", budget)];

/// Largest stabilization window, in seconds.
const MAX_WINDOW: i64 = 3600;
/// Longest period of a policy, in seconds.
const MAX_PERIOD: i64 = 1800;

fn autoscaler(object: &FieldValue<'_>) -> Vec<Error> {
    let spec = object.field("spec");
    let (least, most) = (spec.field("minReplicas"), spec.field("maxReplicas"));
    let mut errors = Vec::new();
    errors.extend(when(least.value.is_some() && least.number() < 1, || {
        least.invalid("must be greater than or equal to 1")
    }));
    errors.extend(when(most.number() == 0, || most.required("must be set and greater than 0")));
    errors.extend(when(most.number() < 0, || most.invalid("must be greater than or equal to 1")));
    errors.extend(when(least.value.is_some() && most.number() < least.number(), || {
        most.invalid_as(most.number(), "must be greater than or equal to `minReplicas`")
    }));
    errors.extend(target(&spec.field("scaleTargetRef")));
    let metrics = spec.field("metrics");
    errors.extend(metrics.elements().iter().flat_map(metrics::metric));
    let idle = least.value.is_some() && least.number() == 0;
    let is_external = |metric: &FieldValue<'_>| matches!(metric.field("type").text(), "Object" | "External");
    errors.extend(when(
        idle && object.field("apiVersion").text().ends_with("v2")
            && !metrics.elements().iter().any(is_external),
        || {
            metrics.forbidden(
                "must specify at least one Object or External metric to support scaling to zero replicas",
            )
        },
    ));
    errors.extend(["scaleUp", "scaleDown"].iter().flat_map(|way| rules(&spec.field("behavior").field(way))));
    errors
}

/// The errors of the scale target; an unchanged version is not checked.
fn target(target: &FieldValue<'_>) -> Vec<Error> {
    let mut errors = metrics::reference(target, target.field("kind").text() == "ReplicationController");
    let stays = |field: &str| {
        let field = target.field(field);
        field.value == field.old
    };
    if target.old.is_some() && stays("apiVersion") && stays("kind") {
        errors.retain(|error| !error.field.ends_with(".apiVersion"));
    }
    errors
}

/// The errors of the scaling rules of one direction.
fn rules(rules: &FieldValue<'_>) -> Vec<Error> {
    if rules.value.is_none() {
        return Vec::new();
    }
    let (window, choice, policies) =
        (rules.field("stabilizationWindowSeconds"), rules.field("selectPolicy"), rules.field("policies"));
    let mut errors = when(window.number() < 0, || window.invalid("must be greater than or equal to zero"));
    errors.extend(when(window.number() > MAX_WINDOW, || {
        window.invalid(&format!("must be less than or equal to {MAX_WINDOW}"))
    }));
    let choices = ["Disabled", "Max", "Min"];
    errors.extend(when(choice.value.is_some() && !choices.contains(&choice.text()), || {
        choice.unsupported(&choices)
    }));
    errors.extend(when(policies.is_empty(), || policies.required("must specify at least one Policy")));
    errors.extend(policies.elements().iter().flat_map(policy));
    let tolerance = rules.field("tolerance");
    let nanos = Quantity::parse(tolerance.text()).ok().and_then(|share| share.nanos());
    errors.extend(when(nanos.is_some_and(|nanos| nanos < 0), || {
        tolerance.invalid("must be greater than or equal to 0")
    }));
    errors
}

fn policy(policy: &FieldValue<'_>) -> Vec<Error> {
    let (kind, value, period) = (policy.field("type"), policy.field("value"), policy.field("periodSeconds"));
    let kinds = ["Percent", "Pods"];
    let mut errors =
        when(!kinds.contains(&kind.text()), || kind.unsupported_as(Shown::named(kind.text()), &kinds));
    for number in [&value, &period] {
        errors.extend(when(number.number() <= 0, || {
            number.invalid_as(number.number(), "must be greater than zero")
        }));
    }
    errors.extend(when(period.number() > MAX_PERIOD, || {
        period.invalid(&format!("must be less than or equal to {MAX_PERIOD}"))
    }));
    errors
}

fn budget(object: &FieldValue<'_>) -> Vec<Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(spec: &Value, old: Option<&Value>) -> Vec<String> {
        let object = |spec: &Value| json!({"apiVersion": "autoscaling/v2", "spec": spec});
        let (object, old) = (object(spec), old.map(object));
        autoscaler(&FieldValue::root(&object, old.as_ref())).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_autoscaler_needs_a_target_limits_and_valid_rules() {
        let fine = json!({"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}});
        assert_eq!(errors(&fine, None), [] as [&str; 0]);
        let nothing = json!({"minReplicas": 0, "behavior": {"scaleUp": {"stabilizationWindowSeconds": 3601, "selectPolicy": "Odd"}}});
        let want = [
            "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
            "spec.maxReplicas: Required value: must be set and greater than 0",
            "spec.scaleTargetRef.kind: Required value",
            "spec.scaleTargetRef.name: Required value",
            "spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group",
            "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas",
            "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600",
            "spec.behavior.scaleUp.selectPolicy: Unsupported value: \"Odd\": supported values: \"Disabled\", \"Max\", \"Min\"",
            "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy",
        ];
        assert_eq!(errors(&nothing, None), want);
    }

    #[test]
    fn an_unchanged_version_is_accepted_and_policies_have_limits() {
        let old =
            json!({"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "v1", "kind": "Pod", "name": "a"}});
        assert_eq!(errors(&old, Some(&old)), [] as [&str; 0]);
        let mut new = old.clone();
        new["maxReplicas"] = (-1).into();
        new["behavior"] = json!({"scaleDown": {"policies": [{"type": "Odd", "value": 0, "periodSeconds": 1801}], "tolerance": "-1"}});
        let want = [
            "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
            "spec.behavior.scaleDown.policies[0].type: Unsupported value: \"Odd\": supported values: \"Percent\", \"Pods\"",
            "spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero",
            "spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
            "spec.behavior.scaleDown.tolerance: Invalid value: \"-1\": must be greater than or equal to 0",
        ];
        assert_eq!(errors(&new, Some(&old)), want);
    }
}
