//! Tests of ShootValidator as a whole.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::admission::shoot_testing::{Stored, merged, outcome};

const PROFILES: &str = "cloudprofiles.core.gardener.cloud";
const SEEDS_RESOURCE: &str = "seeds.core.gardener.cloud";

fn stored() -> Stored {
    let image = |version: &str, classification: Value, expires: Value| {
        json!({
            "version": version, "classification": classification, "expirationDate": expires,
            "architectures": ["amd64", "arm64"], "cri": [{"name": "containerd"}],
        })
    };
    let versions = || {
        json!([
            image("3.0.0", json!("preview"), Value::Null),
            image("2.1.0", Value::Null, Value::Null),
            image("2.0.0", Value::Null, Value::Null),
            image("2.0.1", Value::Null, Value::Null),
            image("1.2.1", Value::Null, json!("2024-07-01T00:00:00Z")),
            image("1.1.1", Value::Null, json!("2024-05-01T00:00:00Z")),
        ])
    };
    let machine = |name: &str, architecture: &str| {
        json!({"name": name, "architecture": architecture, "usable": true,
        "cpu": "2", "memory": "4Gi"})
    };
    let profile = json!({"metadata": {"name": "local"}, "spec": {
        "type": "local",
        "kubernetes": {"versions": [{"version": "1.27.3"}, {"version": "1.26.7"}]},
        "machineImages": [{"name": "a", "versions": versions()}, {"name": "b", "versions": versions()}],
        "machineTypes": [machine("small", "amd64"), machine("small", "arm64")],
        "regions": [{"name": "europe"}],
    }});
    let defaults = json!({"pods": "100.1.0.0/16", "services": "100.2.0.0/16"});
    let networks = json!({"nodes": "10.0.0.0/24", "pods": "10.1.0.0/16", "services": "10.2.0.0/16",
        "shootDefaults": defaults});
    let seed =
        json!({"metadata": {"name": "s"}, "spec": {"networks": networks, "provider": {"type": "local"}}});
    let binding =
        json!({"metadata": {"name": "b", "namespace": "garden-dev"}, "provider": {"type": "local"}});
    Stored::default()
        .with(PROFILES, profile)
        .with(SEEDS_RESOURCE, seed)
        .with("secretbindings.core.gardener.cloud", binding)
}

fn shoot(change: &Value) -> Value {
    let pool = json!({
        "name": "cpu", "machine": {"type": "small", "architecture": "amd64", "image": {"name": "a",
            "version": "2.0.0"}},
    });
    let base = json!({
        "metadata": {"name": "app", "namespace": "garden-dev"},
        "spec": {
            "cloudProfileName": "local", "secretBindingName": "b", "region": "europe",
            "kubernetes": {"version": "1.27.3"}, "provider": {"type": "local", "workers": [pool]},
        },
    });
    merged(&base, change)
}

fn admitted(stored: &Stored, operation: Operation, old: Option<&Value>, new: Value) -> (u16, String, Value) {
    let attributes = Attributes { old, ..stored.attributes(operation) };
    let mut object = new;
    let object_of_request = if operation == Operation::Delete { None } else { Some(&mut object) };
    let (code, message) = outcome(admit(&attributes, object_of_request));
    (code, message, object)
}

#[test]
fn what_a_new_shoot_leaves_open_is_filled_in() {
    let open = json!({"name": "cpu", "machine": {"type": "small", "architecture": "amd64"}});
    let spec = json!({"seedName": "s", "kubernetes": {"version": "1.26"}, "provider": {"workers": [open]}, "later": 1});
    let (code, message, object) = admitted(&stored(), Operation::Create, None, shoot(&json!({"spec": spec})));
    assert_eq!((code, message.as_str()), (0, ""));
    let image = &object["spec"]["provider"]["workers"][0]["machine"]["image"];
    assert_eq!(image, &json!({"name": "a", "version": "2.1.0"}));
    let kubernetes = json!({
        "version": "1.26.7", "enableStaticTokenKubeconfig": false,
        "kubeControllerManager": {"nodeMonitorGracePeriod": "2m0s"},
    });
    assert_eq!(object["spec"]["kubernetes"], kubernetes);
    assert_eq!(object["spec"]["networking"], json!({"pods": "100.1.0.0/16", "services": "100.2.0.0/16"}));
    assert_eq!(object["spec"]["later"], 1);
    let tasks = "deployInfrastructure,deployDNSRecordInternal,deployDNSRecordExternal,deployDNSRecordIngress";
    assert_eq!(object["metadata"]["annotations"], json!({"shoot.gardener.cloud/tasks": tasks}));
}

const UNSUPPORTED: &str = "core.ShootMachineImage{Name:\"x\", ProviderConfig:(*runtime.RawExtension)(nil), \
    Version:\"1.0.0\"}: machine image version is not supported, supported machine image versions are: LIST]";
const LIST: &str = "[a:1.2.1 a:2.0.0 a:2.0.1 a:2.1.0 a:3.0.0 b:1.2.1 b:2.0.0 b:2.0.1 b:2.1.0 b:3.0.0]";
const EXPIRED: &str = "core.ShootMachineImage{Name:\"a\", ProviderConfig:(*runtime.RawExtension)(nil), \
    Version:\"1.1.1\"}: machine image version 'a:1.1.1' is expired, supported machine image versions are: LIST]";

/// GPL-V-02: an image is `name version`, with `-` for none of them.
#[rstest]
#[case::nothing("", "", "a 2.1.0")]
#[case::name("", "a -", "a 2.1.0")]
#[case::unknown_name("", "x -", "[spec.provider.workers[0]: Invalid value: \"x\": image is not supported]")]
#[case::unknown("", "x 1.0.0", UNSUPPORTED)]
#[case::expired("", "a 1.1.1", EXPIRED)]
#[case::kept("a 2.0.0", "", "a 2.0.0")]
#[case::kept_version("a 2.0.0", "a -", "a 2.0.0")]
#[case::kept_expired("a 1.1.1", "a 1.1.1", "a 1.1.1")]
#[case::other_image("a 2.0.1", "b -", "b 2.1.0")]
#[case::other_image_with_version("a 2.0.1", "b 2.0.1", "b 2.0.1")]
fn images_are_kept_completed_or_filled_in(#[case] old: &str, #[case] new: &str, #[case] want: &str) {
    let with = |image: &str| {
        let machine = json!({"type": "small", "architecture": "amd64"});
        let parts: Vec<&str> = image.split(' ').collect();
        let image = match parts.as_slice() {
            [name, "-"] => json!({"image": {"name": name}}),
            [name, version] => json!({"image": {"name": name, "version": version}}),
            _ => json!({}),
        };
        let pool = json!({"name": "cpu", "machine": merged(&machine, &image)});
        shoot(&json!({"spec": {"provider": {"workers": [pool]}}}))
    };
    let before = with(old);
    let (operation, before) =
        if old.is_empty() { (Operation::Create, None) } else { (Operation::Update, Some(&before)) };
    let changed = merged(&with(new), &json!({"metadata": {"labels": {"a": "b"}}}));
    let (code, message, object) = admitted(&stored(), operation, before, changed);
    if code == 0 {
        let image = &object["spec"]["provider"]["workers"][0]["machine"]["image"];
        let text = |field: &str| image[field].as_str().unwrap_or_default();
        assert_eq!(format!("{} {}", text("name"), text("version")), want);
    } else {
        let prefix = "shoots.core.gardener.cloud \"app\" is forbidden: ";
        let at = "[spec.provider.workers[0].machine.image: Invalid value: ";
        let at = if want.starts_with('[') { "" } else { at };
        assert_eq!(message, format!("{prefix}{at}{}", want.replace("LIST", LIST)));
    }
}

#[rstest]
#[case::status("status", "Shoot")]
#[case::other_kind("", "AdminKubeconfigRequest")]
fn other_requests_are_not_judged(#[case] subresource: &str, #[case] kind: &str) {
    let garden = Stored::default();
    let attributes = Attributes { kind, subresource, ..garden.attributes(Operation::Create) };
    assert_eq!(admit(&attributes, Some(&mut json!({}))), Ok(()));
}

#[rstest]
#[case::profile(
    PROFILES,
    "could not find referenced cloud profile: cloudprofile.core.gardener.cloud \"local\" not found"
)]
#[case::seed(
    SEEDS_RESOURCE,
    "could not find referenced seed \"s\": seed.core.gardener.cloud \"s\" not found"
)]
#[case::project(
    "projects.core.gardener.cloud",
    "could not find referenced project: Project.core.gardener.cloud \"garden-dev\" not found"
)]
fn a_shoot_without_what_it_refers_to_is_stuck(#[case] resource: &str, #[case] want: &str) {
    let garden = stored().without(resource);
    let object = shoot(&json!({"spec": {"seedName": "s"}}));
    let annotated = merged(&object, &json!({"metadata": {"annotations": {"a": "b"}}}));
    let want = (500, format!("Internal error occurred: {want}"));
    for (operation, old, new) in [
        (Operation::Create, None, object.clone()),
        (Operation::Update, Some(&object), annotated),
        (Operation::Delete, Some(&object), Value::Null),
    ] {
        let (code, message, _) = admitted(&garden, operation, old, new);
        assert_eq!((code, message), want, "{operation}");
    }
    assert_eq!(admitted(&garden, Operation::Update, Some(&object), object.clone()).0, 0);
}

#[test]
fn a_new_shoot_needs_its_secret_binding() {
    let garden = stored().without("secretbindings.core.gardener.cloud");
    let (code, message, object) = admitted(&garden, Operation::Create, None, shoot(&json!({})));
    let want = "Internal error occurred: could not find referenced secret binding: secretbinding.core.gardener.cloud \
        \"b\" not found";
    assert_eq!((code, message.as_str()), (500, want));
    let changed = merged(&object, &json!({"metadata": {"labels": {"a": "b"}}}));
    assert_eq!(admitted(&garden, Operation::Update, Some(&object), changed).0, 0);
}

#[test]
fn a_binding_to_the_same_seed_is_refused() {
    let garden = stored();
    let object = shoot(&json!({"spec": {"seedName": "s"}}));
    let attributes =
        Attributes { subresource: "binding", old: Some(&object), ..garden.attributes(Operation::Update) };
    let want = "update of binding rejected, shoot is already assigned to the same seed";
    assert_eq!(outcome(admit(&attributes, Some(&mut object.clone()))), (500, want.to_owned()));
}

#[test]
fn what_is_no_shoot_is_the_servers_fault() {
    let want = "Internal error occurred: could not convert resource into Shoot object";
    let (code, message, _) = admitted(&stored(), Operation::Create, None, json!({"spec": 1}));
    assert_eq!((code, message.as_str()), (500, want));
    let want = "Internal error occurred: could not convert old resource into Shoot object";
    let (code, message, _) = admitted(&stored(), Operation::Update, None, shoot(&json!({})));
    assert_eq!((code, message.as_str()), (500, want));
}

#[test]
fn errors_are_reported_together() {
    let infrastructure = json!({"apiVersion": "x/__internal", "kind": "K"});
    let wrong = shoot(&json!({"spec": {
        "region": "asia", "kubernetes": {"version": "1.2.3"}, "dns": {"domain": "a.b"},
        "provider": {"type": "aws", "infrastructureConfig": infrastructure},
    }}));
    let other = json!({"metadata": {"name": "other"}, "spec": {"dns": {"domain": "a.b"}}});
    let garden = stored().with_shoot(other);
    let (code, message, _) = admitted(&garden, Operation::Create, None, wrong.clone());
    let internal = "spec.provider.infrastructureConfig: Invalid value: \"x/__internal, Kind=K\": must not use \
        apiVersion 'internal'";
    let region = "spec.region: Unsupported value: \"asia\": supported values: \"europe\"";
    let want = format!(
        "shoots.core.gardener.cloud \"app\" is forbidden: [{internal} spec.kubernetes.version: Unsupported value: \
         \"1.2.3\": supported values: \"1.27.3\", \"1.26.7\" {region} spec.provider.type: Invalid value: \"aws\": \
         provider type in shoot must equal provider type of referenced CloudProfile: \"local\" spec.dns.domain: \
         Duplicate value: \"a.b\"]"
    );
    assert_eq!((code, message), (403, want));
    let (code, message, _) = admitted(&garden, Operation::Delete, Some(&wrong), Value::Null);
    assert_eq!(
        (code, message),
        (403, format!("shoots.core.gardener.cloud \"app\" is forbidden: [{internal} {region}]"))
    );
}

/// An expired version or image does not hinder a deletion, nor a missing network.
#[test]
fn a_shoot_is_deleted_whatever_the_profile_offers() {
    let pool =
        json!({"name": "cpu", "machine": {"type": "gone", "image": {"name": "a", "version": "1.1.1"}}});
    let old = shoot(&json!({"spec": {"kubernetes": {"version": "1.20.1"}, "provider": {"workers": [pool]}}}));
    assert_eq!(admitted(&stored(), Operation::Delete, Some(&old), Value::Null).0, 0);
}
