//! Values for tests, and rendered objects by kind and name.

use std::collections::BTreeMap;

use api::operator::Garden;
use formats::version::Version;
use secrets::{ManagedSecret, SecretData};
use serde_json::{Value, json};

use super::generated::{GeneratedSecret, GeneratedSecrets};
use super::image_vector::ImageVector;
use super::managed::ManagedObjects;
use super::references::annotation_key;
use super::rendering::{Rendering, name_of};
use super::values::{GardenValues, ObservedState, ReferencedObjects};
use crate::config::OperatorConfiguration;

/// Requests of authorities, and of a key: each has a bundle.
const AUTHORITIES: [&str; 8] = [
    "ca",
    "ca-client",
    "ca-etcd",
    "ca-etcd-peer",
    "ca-front-proxy",
    "ca-garden-runtime",
    "ca-gardener",
    "service-account-key",
];
/// Other requests, without a bundle.
const OTHERS: [&str; 17] = [
    "etcd-client",
    "etcd-server-main",
    "etcd-server-events",
    "etcd-peer-server-main",
    "etcd-peer-server-events",
    "kube-apiserver",
    "kube-apiserver-etcd-encryption-key",
    "kube-apiserver-static-token",
    "kube-aggregator",
    "kube-controller-manager-server",
    "virtual-garden-gardener-resource-manager-server",
    "generic-token-kubeconfig",
    "gardener-resource-manager-server",
    "vpa-admission-controller-server",
    "gardener-apiserver",
    "gardener-admission-controller-cert",
    "gardener-apiserver-etcd-encryption-key",
];
/// Requests of what people reach by an Ingress, without a bundle.
const OF_INGRESSES: [&str; 2] = ["observability-ingress", "plutono-tls"];

/// What [`GardenValues`] borrows.
#[derive(Clone, Debug)]
pub(crate) struct Fixture {
    pub(crate) garden: Garden,
    pub(crate) config: OperatorConfiguration,
    pub(crate) runtime_version: Version,
    pub(crate) images: ImageVector,
    pub(crate) component_images: BTreeMap<String, String>,
    pub(crate) secrets: GeneratedSecrets,
    pub(crate) referenced: ReferencedObjects,
    pub(crate) observed: ObservedState,
}

impl Default for Fixture {
    fn default() -> Self {
        Self::with(&json!({}))
    }
}

impl Fixture {
    /// A small Garden with these fields, which may replace its own; runtime cluster 1.27.1, operator v1.82.0. The Secret of request
    /// `a` is `a-current`, and `a-bundle` for authorities, whose certificates are `a bundle`.
    pub(crate) fn with(fields: &Value) -> Self {
        let mut garden = minimal();
        merge(&mut garden, fields);
        let with_bundle = AUTHORITIES.map(|name| (name.to_owned(), generated(name, true)));
        let others = OTHERS.iter().chain(&OF_INGRESSES);
        let without = others.map(|name| ((*name).to_owned(), generated(name, false)));
        Self {
            garden: serde_json::from_value(garden).unwrap(),
            config: OperatorConfiguration::default(),
            runtime_version: Version::parse("1.27.1").unwrap(),
            images: ImageVector::built_in().unwrap(),
            component_images: BTreeMap::new(),
            secrets: GeneratedSecrets(with_bundle.into_iter().chain(without).collect()),
            referenced: ReferencedObjects::default(),
            observed: ObservedState::default(),
        }
    }

    pub(crate) fn on_runtime(mut self, version: &str) -> Self {
        self.runtime_version = Version::parse(version).unwrap();
        self
    }

    pub(crate) fn with_hvpa(self) -> Self {
        self.with_gate("HVPA")
    }

    pub(crate) fn with_gate(mut self, gate: &str) -> Self {
        self.config.feature_gates.insert(gate.to_owned(), true);
        self
    }

    pub(crate) fn with_seed_authorizer(mut self) -> Self {
        self.observed.has_seed_authorizer = true;
        self
    }

    pub(crate) fn with_service(mut self, name: &str, address: &str) -> Self {
        self.observed.service_addresses.insert(name.to_owned(), address.to_owned());
        self
    }

    pub(crate) fn with_secret<const N: usize>(mut self, name: &str, data: [(&str, &str); N]) -> Self {
        self.referenced.secrets.insert(name.to_owned(), SecretData::from(data));
        self
    }

    pub(crate) fn with_config_map(mut self, name: &str, key: &str, value: &str) -> Self {
        let data = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        self.referenced.config_maps.insert(name.to_owned(), data);
        self
    }

    /// In this phase of the rotation of the key for etcd, with an old key.
    pub(crate) fn rotating_encryption_key(mut self, phase: &str) -> Self {
        let status = json!({"credentials": {"rotation": {"etcdEncryptionKey": {"phase": phase}}}});
        self.garden.status = serde_json::from_value(status).unwrap();
        let known = self.secrets.0.get_mut("gardener-apiserver-etcd-encryption-key").unwrap();
        let mut old = known.current.clone();
        old.data = SecretData::from([("key", "key0"), ("secret", "secret0")]);
        known.old = Some(old);
        self
    }

    /// All replicas of this Deployment know the new key.
    pub(crate) fn with_key_known_to(mut self, deployment: &str) -> Self {
        self.observed.know_new_encryption_key.insert(deployment.to_owned());
        self
    }

    pub(crate) fn values(&self) -> GardenValues<'_> {
        GardenValues {
            garden: &self.garden,
            config: &self.config,
            runtime_version: &self.runtime_version,
            operator_version: "v1.82.0",
            images: &self.images,
            component_images: &self.component_images,
            secrets: &self.secrets,
            referenced: &self.referenced,
            observed: &self.observed,
        }
    }
}

/// The answer to a request: Secrets that are called after it, and say in their data what they are.
pub(crate) fn generated(name: &str, has_bundle: bool) -> GeneratedSecret {
    let secret = |suffix: &str, data: SecretData| ManagedSecret {
        name: format!("{name}-{suffix}"),
        namespace: "garden".to_owned(),
        labels: BTreeMap::new(),
        data,
        immutable: true,
        created: None,
    };
    let tokens = "token0,other,other,\ntoken1,health-check,health-check,";
    let key = SecretData::from([("key", "key1"), ("secret", "secret1"), ("static_tokens.csv", tokens)]);
    let bundle = SecretData::from([("bundle.crt", format!("{name} bundle"))]);
    GeneratedSecret {
        current: secret("current", key),
        old: None,
        bundle: has_bundle.then(|| secret("bundle", bundle)),
    }
}

/// Objects by `Kind/name`; two of one kind and name are a mistake.
pub(crate) fn by_name<'a>(objects: impl IntoIterator<Item = &'a Value>) -> BTreeMap<String, Value> {
    let mut named = BTreeMap::new();
    for object in objects {
        let key = format!("{}/{}", object["kind"].as_str().unwrap(), name_of(object));
        assert!(named.insert(key.clone(), object.clone()).is_none(), "{key} is there twice");
    }
    named
}

/// The only ManagedResource of this name.
pub(crate) fn managed<'a>(rendering: &'a Rendering, name: &str) -> &'a ManagedObjects {
    let found: Vec<_> = rendering.managed.iter().filter(|managed| managed.name == name).collect();
    assert_eq!(found.len(), 1, "{name}");
    found[0]
}

/// Compares objects by kind and name after changing what is expected by `changes`: JSON pointers behind `Kind/name`, with their
/// values; null removes.
pub(crate) fn assert_objects<'a>(
    case: &str,
    objects: impl IntoIterator<Item = &'a Value>,
    expected: &[Value],
    changes: &[(&str, &str, Value)],
) {
    let mut want = by_name(expected);
    for (object, pointer, value) in changes {
        set(want.get_mut(*object).unwrap_or_else(|| panic!("{object} is expected")), pointer, value);
    }
    let got = by_name(objects);
    assert_eq!(got.keys().collect::<Vec<_>>(), want.keys().collect::<Vec<_>>(), "{case}");
    for (name, object) in &want {
        similar(case, name, object, &got[name]);
    }
}

/// The annotations of a workload that uses these ConfigMaps and Secrets.
pub(crate) fn referenced(config_maps: &[&str], secrets: &[&str]) -> Value {
    let config_maps = config_maps.iter().map(|name| ("configmap", *name));
    let all = config_maps.chain(secrets.iter().map(|name| ("secret", *name)));
    all.map(|(kind, name)| (annotation_key(kind, name), json!(name))).collect()
}

/// Fails with both objects, indented.
fn similar(case: &str, name: &str, want: &Value, got: &Value) {
    assert!(want == got, "{case}: {name}\nwant: {want:#}\ngot: {got:#}");
}

/// Sets what a pointer names, or removes it; `-` at its end appends to a list.
pub(crate) fn set(object: &mut Value, pointer: &str, value: &Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let key = key.replace("~1", "/");
    let parent = object.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} has a parent"));
    match parent {
        Value::Array(items) if key == "-" => items.push(value.clone()),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value.clone(),
        Value::Object(fields) if value.is_null() => {
            fields.remove(&key);
        }
        Value::Object(fields) => {
            fields.insert(key, value.clone());
        }
        other => panic!("{pointer}: {other} has no fields"),
    }
}

/// The smallest Garden that is valid.
fn minimal() -> Value {
    json!({
        "apiVersion": "operator.gardener.cloud/v1alpha1", "kind": "Garden", "metadata": {"name": "garden"},
        "spec": {
            "runtimeCluster": {
                "ingress": {"domain": "ingress.example.com", "controller": {"kind": "nginx"}},
                "networking": {"pods": "10.1.0.0/16", "services": "10.2.0.0/16"},
                "provider": {},
            },
            "virtualCluster": {
                "dns": {"domains": ["virtual.example.com"]},
                "gardener": {"clusterIdentity": "identity"},
                "kubernetes": {"version": "1.27.3"},
                "maintenance": {"timeWindow": {"begin": "220000+0100", "end": "230000+0100"}},
                "networking": {"services": "10.3.0.0/16"},
            },
        },
    })
}

/// A JSON merge patch without deletions.
pub(crate) fn merge(object: &mut Value, fields: &Value) {
    match (object, fields) {
        (Value::Object(object), Value::Object(fields)) => {
            for (key, value) in fields {
                merge(object.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (object, fields) => *object = fields.clone(),
    }
}
