//! Puts cases into the namespace of a control plane at the time of the request: with Gardener's objects, those of the
//! provider's profile, and those that the target brings.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::case::{Case, When};
use crate::document::provider_profile::{Profiles, ProviderProfile, is_same, placeholders};
use crate::model::Contract;

/// The provider of cases whose configuration names none.
const DEFAULT_PROVIDER: &str = "local";

/// Objects that several cases have in common.
type Shared = BTreeMap<String, Arc<[Value]>>;

impl Contract {
    /// The contract with the objects that the namespace of each of its cases has beside the case's own, if profiles are written
    /// for its component. `own` are objects of the target: each replaces the one of its kind and name, or is added. What a case
    /// says of such an object is merged over it.
    #[must_use]
    pub fn surrounded(mut self, provider: Option<&str>, own: &[Value]) -> Self {
        let Some(profiles) = self.profiles.clone() else { return self };
        let mut shared = Shared::new();
        for case in self.clauses.iter_mut().flat_map(|clause| &mut clause.cases) {
            if is_in_namespace(case, &profiles.namespace.namespace) {
                case.surround(&profiles, provider, own, &mut shared);
            }
        }
        self
    }
}

/// Whether the request of a case is about an object in the namespace of a control plane.
fn is_in_namespace(case: &Case, namespace: &str) -> bool {
    let given = case.given.namespace.as_ref().and_then(|object| object["metadata"]["name"].as_str());
    matches!(case.when, When::Admission { .. }) && given == Some(namespace)
}

impl Case {
    fn surround(&mut self, profiles: &Profiles, provider: Option<&str>, own: &[Value], shared: &mut Shared) {
        let provider = provider.or(self.config["provider"].as_str()).unwrap_or(DEFAULT_PROVIDER).to_owned();
        let kubernetes = self.kubernetes(profiles);
        let facts: Vec<Value> = self.given.cluster.clone();
        let is_own = |object: &Value| facts.iter().any(|fact| is_same(fact, object));
        let key = format!("{provider} {kubernetes}");
        let all = shared
            .entry(key.clone())
            .or_insert_with(|| objects(profiles, &provider, &kubernetes, own).into());
        if !all.iter().any(is_own) {
            self.given.surroundings = Some(Arc::clone(all));
            return;
        }
        let all = Arc::clone(all);
        for fact in &mut self.given.cluster {
            if let Some(base) = all.iter().find(|object| is_same(object, fact)) {
                *fact = merged(base, fact, Some(profiles.type_of(&provider)));
            }
        }
        let kinds: Vec<String> = all.iter().filter(|object| is_own(object)).map(Value::to_string).collect();
        let rest = shared.entry(format!("{key} without {}", kinds.join(" ")));
        let rest = rest.or_insert_with(|| all.iter().filter(|object| !is_own(object)).cloned().collect());
        self.given.surroundings = Some(Arc::clone(rest));
    }

    /// The Shoot's version of Kubernetes: of the case's Cluster, else of the image of the control plane's container.
    fn kubernetes(&self, profiles: &Profiles) -> String {
        let of_cluster = |fact: &Value| {
            let version = fact.pointer("/spec/shoot/spec/kubernetes/version")?;
            version.as_str().map(str::to_owned)
        };
        let of_fact = self.given.cluster.iter().find_map(of_cluster);
        let mut objects = self.given.object.iter().chain(&self.given.old);
        let found = of_fact.or_else(|| objects.find_map(image_version));
        found.unwrap_or_else(|| profiles.namespace.kubernetes.clone())
    }
}

/// The version of an image of Kubernetes in a pod template: `1.27.5` of `registry.k8s.io/kube-apiserver:v1.27.5`.
fn image_version(object: &Value) -> Option<String> {
    let containers = object.pointer("/spec/template/spec/containers")?.as_array()?;
    let of_image = |container: &Value| {
        let (image, tag) = container["image"].as_str()?.rsplit_once(":v")?;
        let is_kubernetes = image.rsplit('/').next()?.starts_with("kube-");
        is_kubernetes.then(|| tag.to_owned())
    };
    containers.iter().find_map(of_image)
}

/// The objects of a provider: Gardener's, with those of the profile merged over them, and those of the target in their place.
fn objects(profiles: &Profiles, provider: &str, kubernetes: &str, own: &[Value]) -> Vec<Value> {
    let namespace = &profiles.namespace;
    let profile: Option<&ProviderProfile> = profiles.find(provider).map(|(_, profile)| profile);
    let mut values = namespace.values.clone();
    values.extend(profile.into_iter().flat_map(|profile| profile.values.clone()));
    let given = [
        ("provider", profiles.type_of(provider)),
        ("kubernetes", kubernetes),
        ("namespace", namespace.namespace.as_str()),
    ];
    values.extend(given.map(|(name, value)| (name.to_owned(), Value::from(value))));
    let mut all = namespace.objects.clone();
    for object in profile.into_iter().flat_map(|profile| &profile.objects) {
        match all.iter_mut().find(|other| is_same(other, object)) {
            Some(base) => *base = merged(base, object, None),
            None => all.push(object.clone()),
        }
    }
    let mut all: Vec<Value> = all.into_iter().map(|object| filled(object, &values)).collect();
    for object in own {
        match all.iter_mut().find(|other| is_same(other, object)) {
            Some(replaced) => *replaced = object.clone(),
            None => all.push(object.clone()),
        }
    }
    all
}

/// `over` merged over `base`: maps by key, lists of maps with names by name, anything else as a whole. Values of `over` that are
/// the provider's name say nothing where `base` has a value: cases name the provider where a profile knows more.
fn merged(base: &Value, over: &Value, provider: Option<&str>) -> Value {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            let mut all = base.clone();
            for (key, value) in over {
                let value =
                    base.get(key).map_or_else(|| value.clone(), |found| merged(found, value, provider));
                all.insert(key.clone(), value);
            }
            Value::Object(all)
        }
        (Value::Array(base), Value::Array(over)) if has_names(base) && has_names(over) => {
            let mut all = base.clone();
            for item in over {
                match all.iter_mut().find(|found| found["name"] == item["name"]) {
                    Some(found) => *found = merged(found, item, provider),
                    None => all.push(item.clone()),
                }
            }
            Value::Array(all)
        }
        (base, Value::String(text)) if Some(text.as_str()) == provider && !base.is_null() => base.clone(),
        _ => over.clone(),
    }
}

fn has_names(items: &[Value]) -> bool {
    items.iter().all(|item| item["name"].is_string())
}

/// The value with its placeholders filled in; a text that is one placeholder gets the value with its type.
fn filled(value: Value, values: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => filled_text(&text, values),
        Value::Array(items) => items.into_iter().map(|item| filled(item, values)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(key, field)| (key, filled(field, values)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        scalar => scalar,
    }
}

fn filled_text(text: &str, values: &BTreeMap<String, Value>) -> Value {
    let mut result = text.to_owned();
    for name in placeholders(text) {
        let Some(value) = values.get(name) else { continue };
        let written = format!("<{name}>");
        if text == written {
            return value.clone();
        }
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        result = result.replace(&written, &value);
    }
    Value::String(result)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_is_merged_by_key_and_by_name_and_a_providers_name_gives_way() {
        let base = json!({"region": "europe", "type": "gcp", "workers": [{"name": "a", "zone": 1}, {"name": "b"}], "list": [1]});
        let over = json!({"region": "gcp", "type": "gcp", "workers": [{"name": "b", "cri": "gcp"}, {"name": "c"}], "list": [2], "new": "gcp"});
        let want = json!({
            "region": "europe", "type": "gcp", "new": "gcp", "list": [2],
            "workers": [{"name": "a", "zone": 1}, {"name": "b", "cri": "gcp"}, {"name": "c"}],
        });
        assert_eq!(merged(&base, &over, Some("gcp")), want);
        assert_eq!(merged(&base, &over, None)["region"], "gcp");
    }

    #[test]
    fn placeholders_are_filled_in_with_their_types() {
        let values = [("region", json!("europe")), ("count", json!(2)), ("zones", json!(["a", "b"]))];
        let values = values.map(|(name, value)| (name.to_owned(), value)).into();
        let table = [
            (json!("<region>"), json!("europe")),
            (json!({"a": ["<zones>", "<count>"]}), json!({"a": [["a", "b"], 2]})),
            (json!("<region>-<count>/<other>"), json!("europe-2/<other>")),
        ];
        for (value, want) in table {
            assert_eq!(filled(value.clone(), &values), want, "{value}");
        }
    }

    #[test]
    fn the_version_is_that_of_an_image_of_kubernetes() {
        let deployment = |images: [&str; 2]| json!({"spec": {"template": {"spec": {"containers": [{"image": images[0]}, {"image": images[1]}]}}}});
        let table = [
            (["a/vpn:0.18.0", "registry.k8s.io/kube-apiserver:v1.22.17"], Some("1.22.17")),
            (["a/vpn:v0.18.0", "kube-scheduler:v1.30.1"], Some("1.30.1")),
            (["a/vpn:v0.18.0", "registry.k8s.io/kube-apiserver@sha256:00"], None),
        ];
        for (images, want) in table {
            assert_eq!(image_version(&deployment(images)).as_deref(), want, "{images:?}");
        }
        assert_eq!(image_version(&json!({"spec": {}})), None);
    }
}
