//! Workloads, in every version, and service accounts.

use rstest::rstest;

use super::*;

fn workload(api_version: &str, kind: &str, spec: &Value) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec})
}

fn spec(got: &Value) -> &Value {
    &got["spec"]
}

/// Live, desired, preserved by the caller, preserved by annotation, and the result.
#[rstest]
#[case::unset(json!(3), json!(null), false, None, json!(3))]
#[case::set(json!(3), json!(2), false, None, json!(2))]
#[case::zero(json!(3), json!(0), false, None, json!(0))]
#[case::scaled(json!(3), json!(2), true, None, json!(3))]
#[case::annotated(json!(3), json!(2), false, Some("true"), json!(3))]
#[case::annotated_else(json!(3), json!(2), false, Some("True"), json!(2))]
#[case::scaled_whatever_the_annotation(json!(3), json!(2), true, Some("false"), json!(3))]
#[case::never_set(json!(null), json!(2), true, None, json!(null))]
fn replicas_stay_if_not_desired_or_autoscaled(
    #[values(("apps/v1", "Deployment"), ("extensions/v1beta1", "Deployment"), ("apps/v1", "StatefulSet"), ("extensions/v1beta1", "StatefulSet"))]
    kind: (&str, &str),
    #[case] live: Value,
    #[case] desired: Value,
    #[case] scaled: bool,
    #[case] annotation: Option<&str>,
    #[case] wanted: Value,
) {
    let object = |replicas: Value| workload(kind.0, kind.1, &json!({"replicas": replicas, "paused": true}));
    let mut desired = object(desired);
    if let Some(value) = annotation {
        desired["metadata"]["annotations"] = json!({api::resources::PRESERVE_REPLICAS: value});
    }
    let got = merged(&desired, &object(live), |rules| rules.preserve.replicas = scaled);
    let mut all = json!({"paused": true});
    if !wanted.is_null() {
        all["replicas"] = wanted;
    }
    assert_eq!(spec(&got), &all);
}

#[test]
fn replicas_of_other_kinds_are_as_wanted() {
    let object = |replicas| workload("apps/v1", "ReplicaSet", &json!({"replicas": replicas}));
    let got =
        merged(&object(2), &object(3), |rules| rules.preserve = Preserve { replicas: true, resources: true });
    assert_eq!(spec(&got), &json!({"replicas": 2}));
}

/// Live, desired, and the result under an autoscaler.
#[rstest]
#[case::nothing(json!({}), json!({}), json!({}))]
#[case::both(
    json!({"requests": {"cpu": "50m", "memory": "1Mi"}, "limits": {"cpu": "5", "memory": "1Gi"}}),
    json!({}),
    json!({"requests": {"cpu": "50m", "memory": "1Mi"}, "limits": {"cpu": "5", "memory": "1Gi"}})
)]
#[case::over(json!({"requests": {"cpu": "50m"}}), json!({"requests": {"cpu": "1"}}), json!({"requests": {"cpu": "50m"}}))]
#[case::only_what_is_there(
    json!({"requests": {"cpu": "50m"}}),
    json!({"requests": {"memory": "1Mi"}, "limits": {"cpu": "2"}}),
    json!({"requests": {"cpu": "50m", "memory": "1Mi"}, "limits": {"cpu": "2"}})
)]
#[case::no_other_resources(
    json!({"requests": {"ephemeral-storage": "1Gi", "cpu": "1"}}),
    json!({"requests": {"storage": "2Gi"}}),
    json!({"requests": {"cpu": "1", "storage": "2Gi"}})
)]
#[case::numbers(json!({"limits": {"cpu": 1}}), json!({"limits": {"cpu": "2"}}), json!({"limits": {"cpu": 1}}))]
#[case::null(json!({"limits": {"cpu": null}}), json!({"limits": {"cpu": "2"}}), json!({"limits": {"cpu": "2"}}))]
fn resources_of_containers_stay_if_autoscaled(
    #[values(
        ("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("apps/v1", "DaemonSet"), ("batch/v1", "Job"),
        ("batch/v1", "CronJob"), ("batch/v1beta1", "CronJob")
    )]
    kind: (&str, &str),
    #[values(true, false)] scaled: bool,
    #[values(None, Some("true"), Some("1"))] annotation: Option<&str>,
    #[case] live: Value,
    #[case] desired: Value,
    #[case] wanted: Value,
) {
    let object = |resources: &Value| {
        let pod = json!({"spec": {
            "containers": [{"name": "other"}, {"name": "c", "resources": resources}],
            "initContainers": [{"name": "c", "resources": resources}],
        }});
        let spec = if kind.1 == "CronJob" {
            json!({"jobTemplate": {"spec": {"template": pod}}})
        } else {
            json!({"template": pod})
        };
        workload(kind.0, kind.1, &spec)
    };
    let mut manifest = object(&desired);
    if let Some(value) = annotation {
        manifest["metadata"]["annotations"] = json!({api::resources::PRESERVE_RESOURCES: value});
    }
    let got = merged(&manifest, &object(&live), |rules| rules.preserve.resources = scaled);
    let preserved = scaled || annotation == Some("true");
    let mut all = object(&desired)["spec"].clone();
    let pod = if kind.1 == "CronJob" { "/jobTemplate/spec/template/spec" } else { "/template/spec" };
    let container = all.pointer_mut(&format!("{pod}/containers/1")).expect("it is there");
    container["resources"] = if preserved { wanted } else { desired };
    assert_eq!(spec(&got), &all);
}

#[test]
fn containers_are_matched_by_name() {
    let object = |containers: Value| {
        workload("apps/v1", "Deployment", &json!({"template": {"spec": {"containers": containers}}}))
    };
    let live = object(json!([
        {"name": "b", "resources": {"requests": {"cpu": "2"}}},
        {"name": "a", "resources": {"requests": {"cpu": "1"}}},
        {"name": "a", "resources": {"requests": {"cpu": "3"}}},
    ]));
    let desired = object(
        json!([{"name": "a"}, {"name": "b"}, {"name": "new", "resources": {"requests": {"cpu": "9"}}}]),
    );
    let got = merged(&desired, &live, |rules| rules.preserve.resources = true);
    let wanted = object(json!([
        {"name": "a", "resources": {"requests": {"cpu": "1"}}},
        {"name": "b", "resources": {"requests": {"cpu": "2"}}},
        {"name": "new", "resources": {"requests": {"cpu": "9"}}},
    ]));
    assert_eq!(spec(&got), spec(&wanted));
}

#[rstest]
#[case::not_created(None, Some(json!(["wanted"])))]
#[case::created(Some("2024-06-01T12:00:00Z"), Some(json!(["live"])))]
fn claim_templates_of_an_existing_stateful_set_cannot_change(
    #[case] created: Option<&str>,
    #[case] wanted: Option<Value>,
) {
    let object =
        |templates: &str| workload("apps/v1", "StatefulSet", &json!({"volumeClaimTemplates": [templates]}));
    let mut live = object("live");
    live["metadata"]["creationTimestamp"] = json!(created);
    let got = merged(&object("wanted"), &live, |_| {});
    assert_eq!(spec(&got).get("volumeClaimTemplates"), wanted.as_ref());
}

#[test]
fn claim_templates_cannot_be_added_either() {
    let mut live = workload("apps/v1", "StatefulSet", &json!({}));
    live["metadata"]["creationTimestamp"] = json!("2024-06-01T12:00:00Z");
    let desired = workload("apps/v1", "StatefulSet", &json!({"volumeClaimTemplates": ["wanted"]}));
    assert_eq!(spec(&merged(&desired, &live, |_| {})), &json!({}));
}

#[rstest]
#[case::kept(
    json!({"selector": {"matchLabels": {"controller-uid": "1"}}, "template": {"metadata": {"labels": {"controller-uid": "1", "job-name": "pi"}}}}),
    json!({"selector": {"matchLabels": {"foo": "bar"}}, "template": {}}),
    json!({"selector": {"matchLabels": {"controller-uid": "1"}}, "template": {"metadata": {"labels": {"controller-uid": "1", "job-name": "pi"}}}})
)]
#[case::merged(
    json!({"template": {"metadata": {"labels": {"controller-uid": "1", "app": "old"}}}}),
    json!({"selector": {}, "template": {"metadata": {"annotations": {"x": "y"}, "labels": {"app": "new"}}}}),
    json!({"template": {"metadata": {"annotations": {"x": "y"}, "labels": {"app": "new", "controller-uid": "1"}}}})
)]
#[case::none(json!({"template": {}}), json!({"template": {"spec": {}}}), json!({"template": {"spec": {}}}))]
fn a_job_keeps_its_selector_and_labels(#[case] live: Value, #[case] desired: Value, #[case] wanted: Value) {
    let got = merged(&workload("batch/v1", "Job", &desired), &workload("batch/v1", "Job", &live), |_| {});
    assert_eq!(spec(&got), &wanted);
}

#[test]
fn a_cron_job_of_another_version_is_refused() {
    let object = workload("batch/v2", "CronJob", &json!({}));
    let (inject, applied) = (BTreeMap::new(), ObjectReference::default());
    let rules = Rules {
        origin: ORIGIN,
        inject: &inject,
        force_overwrite: Overwrite::default(),
        applied: &applied,
        preserve: Preserve::default(),
    };
    let error = merge(&rules, object.clone(), &object).expect_err("the version is not known");
    assert_eq!(error.to_string(), "cannot merge objects with gvk: batch/v2, Kind=CronJob");
}

#[rstest]
#[case::live(json!({"secrets": [{"name": "a"}], "imagePullSecrets": [{"name": "b"}]}), json!({"secrets": [{"name": "a"}], "imagePullSecrets": [{"name": "b"}]}))]
#[case::none(json!({}), json!({}))]
fn a_service_account_keeps_its_secrets(#[case] live: Value, #[case] wanted: Value) {
    let object = |fields: &Value| {
        let mut object = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}});
        object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        object
    };
    let mut desired = object(&json!({"secrets": [{"name": "x"}], "imagePullSecrets": [{"name": "y"}]}));
    desired["automountServiceAccountToken"] = json!(false);
    let mut wanted = annotated(object(&wanted), json!({}));
    wanted["automountServiceAccountToken"] = json!(false);
    assert_eq!(merged(&desired, &object(&live), |_| {}), wanted);
}
