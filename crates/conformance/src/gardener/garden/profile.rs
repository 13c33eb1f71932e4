//! CloudProfiles that allow a Shoot as it is, even if the case's own profile does not.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::text;

/// The default architecture of machines.
const ARCHITECTURE: &str = "amd64";
/// The field with the date on which a version expires.
const EXPIRES: &str = "expirationDate";

/// A CloudProfile with the name in a Shoot, which offers exactly what the Shoot uses.
pub(super) fn offering(shoot: &Value) -> Value {
    let spec = &shoot["spec"];
    let none = Vec::new();
    let pools = spec["provider"]["workers"].as_array().unwrap_or(&none);
    let own = pools.iter().map(|pool| text(pool, "/kubernetes/version"));
    let versions: BTreeSet<&str> =
        own.chain([text(spec, "/kubernetes/version")]).filter(|version| !version.is_empty()).collect();
    let versions: Vec<Value> = versions.into_iter().map(|version| json!({"version": version})).collect();
    let zones: BTreeSet<&str> = pools
        .iter()
        .filter_map(|pool| pool["zones"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let zones: Vec<Value> = zones.into_iter().map(|zone| json!({"name": zone})).collect();
    json!({
        "apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile",
        "metadata": {"name": text(spec, "/cloudProfileName")},
        "spec": {
            "type": text(spec, "/provider/type"),
            "kubernetes": {"versions": versions},
            "machineImages": images(pools),
            "machineTypes": machine_types(pools),
            "regions": [{"name": text(spec, "/region"), "zones": zones}],
            "volumeTypes": map_pools(pools, "/volume/type", |_, name| json!({"name": name, "class": "standard", "usable": true})),
        },
    })
}

/// The profile without expiration dates: a profile that is created with an expired version loses the version.
pub(super) fn without_expiration(profile: &Value) -> Value {
    let mut endless = profile.clone();
    remove_dates(&mut endless["spec"]);
    endless
}

fn remove_dates(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove(EXPIRES);
            fields.values_mut().for_each(remove_dates);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_dates),
        _ => {}
    }
}

/// One entry for each name at a JSON pointer in pools.
fn map_pools(pools: &[Value], at: &str, entry: impl Fn(&Value, &str) -> Value) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let named = pools.iter().map(|pool| (pool, text(pool, at)));
    named
        .filter(|(_, name)| !name.is_empty() && seen.insert(*name))
        .map(|(pool, name)| entry(pool, name))
        .collect()
}

/// The machine types of the pools; one if there are no pools, since a profile needs one.
fn machine_types(pools: &[Value]) -> Vec<Value> {
    let offered = |name: &str, architecture: &str| {
        json!({
            "name": name, "cpu": "4", "gpu": "0", "memory": "16Gi", "usable": true, "architecture": architecture,
        })
    };
    let types = map_pools(pools, "/machine/type", |pool, name| offered(name, architecture(pool)));
    if pools.is_empty() { vec![offered("unused", ARCHITECTURE)] } else { types }
}

/// The images of the pools, each version with the requirements of its pools; one if there are no pools.
fn images(pools: &[Value]) -> Vec<Value> {
    if pools.is_empty() {
        let version =
            json!({"version": "1.0.0", "architectures": [ARCHITECTURE], "cri": [{"name": "docker"}]});
        return vec![json!({"name": "unused", "versions": [version]})];
    }
    map_pools(pools, "/machine/image/name", |_, name| {
        let users: Vec<Value> =
            pools.iter().filter(|pool| text(pool, "/machine/image/name") == name).cloned().collect();
        let versions = map_pools(&users, "/machine/image/version", |pool, version| {
            let runtimes = pool.pointer("/cri/containerRuntimes").cloned().unwrap_or_else(|| json!([]));
            json!({
                "version": version, "architectures": [architecture(pool)],
                "cri": [{"name": "containerd", "containerRuntimes": runtimes}, {"name": "docker"}],
            })
        });
        json!({"name": name, "versions": versions})
    })
}

fn architecture(pool: &Value) -> &str {
    match text(pool, "/machine/architecture") {
        "" => ARCHITECTURE,
        architecture => architecture,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_offers_what_a_shoot_uses() {
        let pool = |name: &str, image: &str, version: &str| {
            json!({
                "name": name, "kubernetes": {"version": version}, "zones": ["a"], "volume": {"type": "fast"},
                "cri": {"name": "containerd", "containerRuntimes": [{"type": "gvisor"}]},
                "machine": {"type": "large", "architecture": "arm64", "image": {"name": "linux", "version": image}},
            })
        };
        let shoot = json!({"spec": {
            "cloudProfileName": "gone", "region": "here", "kubernetes": {"version": "1.27.1"},
            "provider": {"type": "local", "workers": [pool("one", "1.0.0", "1.26.1"), pool("two", "2.0.0", "1.26.1")]},
        }});
        let profile = offering(&shoot);
        assert_eq!(profile["metadata"]["name"], "gone");
        let alone = offering(&json!({"spec": {"cloudProfileName": "gone", "provider": {"type": "local"}}}));
        assert_eq!(alone["spec"]["machineImages"][0]["name"], "unused");
        assert_eq!(alone["spec"]["machineTypes"][0]["name"], "unused");
        let image = |version: &str| {
            json!({
                "version": version, "architectures": ["arm64"],
                "cri": [{"name": "containerd", "containerRuntimes": [{"type": "gvisor"}]}, {"name": "docker"}],
            })
        };
        let machine = json!({"name": "large", "cpu": "4", "gpu": "0", "memory": "16Gi", "usable": true, "architecture": "arm64"});
        assert_eq!(
            profile["spec"],
            json!({
                "type": "local",
                "kubernetes": {"versions": [{"version": "1.26.1"}, {"version": "1.27.1"}]},
                "machineImages": [{"name": "linux", "versions": [image("1.0.0"), image("2.0.0")]}],
                "machineTypes": [machine],
                "regions": [{"name": "here", "zones": [{"name": "a"}]}],
                "volumeTypes": [{"name": "fast", "class": "standard", "usable": true}],
            })
        );
    }

    #[test]
    fn only_expiration_dates_are_removed() {
        let profile = json!({"metadata": {"name": "a"}, "spec": {
            "kubernetes": {"versions": [{"version": "1.27.1", "expirationDate": "2024-01-01T00:00:00Z"}]},
            "machineImages": [{"name": "a", "versions": [{"version": "1.0.0", "expirationDate": "2024-01-01T00:00:00Z"}]}],
        }});
        let spec = json!({
            "kubernetes": {"versions": [{"version": "1.27.1"}]},
            "machineImages": [{"name": "a", "versions": [{"version": "1.0.0"}]}],
        });
        assert_eq!(without_expiration(&profile), json!({"metadata": {"name": "a"}, "spec": spec}));
    }
}
