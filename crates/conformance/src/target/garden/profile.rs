//! CloudProfiles in which a Shoot may be as it is, whatever the case's own says of it by then.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::text;

/// What machines are of that do not say it.
const ARCHITECTURE: &str = "amd64";
/// The field that says when a version ends.
const EXPIRES: &str = "expirationDate";

/// A CloudProfile of the name that a Shoot says, which offers what the Shoot has and nothing else.
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
            "volumeTypes": each(pools, "/volume/type", |_, name| json!({"name": name, "class": "standard", "usable": true})),
        },
    })
}

/// The profile without the dates at which versions end: one that is made with an ended version loses it.
pub(super) fn endless(profile: &Value) -> Value {
    let mut endless = profile.clone();
    forget(&mut endless["spec"]);
    endless
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove(EXPIRES);
            fields.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}

/// One entry for each name that pools say at a place.
fn each(pools: &[Value], at: &str, entry: impl Fn(&Value, &str) -> Value) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    let named = pools.iter().map(|pool| (pool, text(pool, at)));
    named
        .filter(|(_, name)| !name.is_empty() && seen.insert(*name))
        .map(|(pool, name)| entry(pool, name))
        .collect()
}

/// The types of the pools' machines; one where there are no pools, as no profile is without.
fn machine_types(pools: &[Value]) -> Vec<Value> {
    let offered = |name: &str, architecture: &str| {
        json!({
            "name": name, "cpu": "4", "gpu": "0", "memory": "16Gi", "usable": true, "architecture": architecture,
        })
    };
    let types = each(pools, "/machine/type", |pool, name| offered(name, architecture(pool)));
    if pools.is_empty() { vec![offered("unused", ARCHITECTURE)] } else { types }
}

/// The images of the pools, each version with what the pools that have it want of it; one where there are no pools.
fn images(pools: &[Value]) -> Vec<Value> {
    if pools.is_empty() {
        let version =
            json!({"version": "1.0.0", "architectures": [ARCHITECTURE], "cri": [{"name": "docker"}]});
        return vec![json!({"name": "unused", "versions": [version]})];
    }
    each(pools, "/machine/image/name", |_, name| {
        let users: Vec<Value> =
            pools.iter().filter(|pool| text(pool, "/machine/image/name") == name).cloned().collect();
        let versions = each(&users, "/machine/image/version", |pool, version| {
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
        said => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_offers_what_a_shoot_has() {
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
    fn an_endless_profile_says_no_date_and_all_else() {
        let profile = json!({"metadata": {"name": "a"}, "spec": {
            "kubernetes": {"versions": [{"version": "1.27.1", "expirationDate": "2024-01-01T00:00:00Z"}]},
            "machineImages": [{"name": "a", "versions": [{"version": "1.0.0", "expirationDate": "2024-01-01T00:00:00Z"}]}],
        }});
        let spec = json!({
            "kubernetes": {"versions": [{"version": "1.27.1"}]},
            "machineImages": [{"name": "a", "versions": [{"version": "1.0.0"}]}],
        });
        assert_eq!(endless(&profile), json!({"metadata": {"name": "a"}, "spec": spec}));
    }
}
