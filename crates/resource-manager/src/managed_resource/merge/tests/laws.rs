//! Laws: merging again changes nothing, for any objects.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::managed_resource::equality::{Strictness, is_unchanged};

const KINDS: [(&str, &str); 13] = [
    ("apps/v1", "Deployment"),
    ("extensions/v1beta1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("batch/v1", "Job"),
    ("batch/v1beta1", "CronJob"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("a/b/c", "Odd"),
    ("", ""),
    ("example.org/v1", "Thing"),
];

/// Any value.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (0..4_i64).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
        Just(json!(0.5)),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// A map with some of these fields, mostly of the right type and sometimes any value.
fn fields(known: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let known = known.into_iter().map(|(name, value)| {
        let value = prop_oneof![6 => value.prop_map(Some), 1 => any_value().prop_map(Some), 2 => Just(None)];
        (Just(name), value)
    });
    known
        .collect::<Vec<_>>()
        .prop_map(|pairs| {
            let there = pairs.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            there.collect::<Value>()
        })
        .boxed()
}

fn texts() -> BoxedStrategy<Value> {
    let keys = select(vec![
        "a",
        "b",
        "app",
        "loadbalancer.openstack.org/id",
        "reference.resources.gardener.cloud/secret-1",
        api::resources::PRESERVE_REPLICAS,
        api::resources::PRESERVE_RESOURCES,
        api::resources::ORIGIN,
    ]);
    prop::collection::btree_map(keys, select(vec!["true", "1", "2"]), 0..4)
        .prop_map(|map| map.into_iter().map(|(key, value)| (key.to_owned(), json!(value))).collect::<Value>())
        .boxed()
}

/// Lists whose elements have unique names, as the API server requires.
fn named(element: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop::collection::btree_map(select(vec!["a", "b", "c"]), element, 0..3)
        .prop_map(|map| {
            let named = map.into_iter().map(|(name, mut element)| {
                if element.is_object() {
                    element["name"] = json!(name);
                }
                element
            });
            named.collect()
        })
        .boxed()
}

fn pod_template() -> BoxedStrategy<Value> {
    let amounts = || fields(vec![("cpu", Just(json!("1")).boxed()), ("memory", Just(json!("1Gi")).boxed())]);
    let resources = fields(vec![("requests", amounts()), ("limits", amounts())]);
    let containers = named(fields(vec![("resources", resources)]));
    let spec = fields(vec![("containers", containers)]);
    fields(vec![("metadata", fields(vec![("labels", texts())])), ("spec", spec)])
}

fn spec() -> BoxedStrategy<Value> {
    let number = || (0..3_i64).prop_map(Value::from).boxed();
    let text = |choices: &[&'static str]| select(choices.to_vec()).prop_map(Value::from).boxed();
    let job = fields(vec![("spec", fields(vec![("template", pod_template())]))]);
    let ports = named(fields(vec![("nodePort", number())]));
    // Every port has a unique number as well.
    let ports = ports.prop_map(|ports| {
        let mut ports = ports;
        for (index, port) in ports.as_array_mut().into_iter().flatten().enumerate() {
            if port.is_object() {
                port["port"] = json!(index * 7 + 1);
            }
        }
        ports
    });
    fields(vec![
        ("replicas", number()),
        ("selector", texts()),
        ("template", pod_template()),
        ("jobTemplate", job),
        ("volumeClaimTemplates", any_value().boxed()),
        ("type", text(&["", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"])),
        ("clusterIP", text(&["", "None", "1.2.3.4"])),
        ("ports", ports.boxed()),
        ("loadBalancerIP", text(&["", "9.9.9.9"])),
        ("externalTrafficPolicy", text(&["Local", "Cluster"])),
        ("healthCheckNodePort", number()),
    ])
}

fn object(kind: (&'static str, &'static str)) -> BoxedStrategy<Value> {
    let metadata = fields(vec![
        ("name", Just(json!("a")).boxed()),
        ("labels", texts()),
        ("annotations", texts()),
        ("creationTimestamp", Just(json!("2024-06-01T12:00:00Z")).boxed()),
    ]);
    let whole = fields(vec![
        ("metadata", metadata),
        ("spec", spec()),
        ("status", any_value().boxed()),
        ("secrets", any_value().boxed()),
        ("data", texts()),
    ]);
    whole
        .prop_map(move |mut object| {
            object["apiVersion"] = json!(kind.0);
            object["kind"] = json!(kind.1);
            object
        })
        .boxed()
}

/// The object as an API server stores it.
fn without_nulls(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            let kept = std::mem::take(fields).into_iter().filter(|(_, value)| !value.is_null());
            fields.extend(kept.map(|(name, value)| (name, without_nulls(value))));
        }
        Value::Array(items) => {
            *items = std::mem::take(items).into_iter().map(without_nulls).collect();
        }
        _ => {}
    }
    value
}

fn pair() -> impl Strategy<Value = (Value, Value)> {
    select(KINDS.to_vec()).prop_flat_map(|kind| (object(kind), object(kind)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn merging_again_changes_nothing(
        (desired, live) in pair(),
        flags in any::<[bool; 4]>(),
        applied in (texts(), texts()),
    ) {
        let applied = json!({"labels": applied.0, "annotations": applied.1});
        let applied: ObjectReference = serde_json::from_value(applied).expect("maps of texts");
        let inject = BTreeMap::new();
        let rules = Rules {
            origin: ORIGIN,
            inject: &inject,
            force_overwrite: Overwrite { labels: flags[0], annotations: flags[1] },
            applied: &applied,
            preserve: Preserve { replicas: flags[2], resources: flags[3] },
        };
        // A field that is null may be absent the next time.
        let (desired, live) = (without_nulls(desired), without_nulls(live));
        let once = merge(&rules, desired.clone(), &live).expect("the version is known");
        let twice = merge(&rules, desired, &once).expect("the version is known");
        prop_assert_eq!(&twice, &once);
        prop_assert!(is_unchanged(&once, &twice, Strictness::Values));
    }

    #[test]
    fn desired_fields_that_others_do_not_decide_are_in_the_result((desired, live) in pair()) {
        let once = merged(&desired, &live, |_| {});
        for (key, value) in desired.as_object().expect("a map") {
            if !matches!(key.as_str(), "metadata" | "spec" | "status" | "secrets" | "imagePullSecrets") {
                prop_assert_eq!(&once[key], value);
            }
        }
    }
}
