//! Tests of the comparison of provider and pools with the profile.

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::admission::shoot_testing::merged;
use crate::admission::shoot_validator::testing::{now, spec, texts};

fn profile() -> CloudProfile {
    let containerd = json!([{"name": "containerd", "containerRuntimes": [{"type": "gvisor"}]}]);
    let image = |version: &str| json!({"version": version, "architectures": ["amd64"], "cri": containerd});
    let limited =
        json!({"version": "0.9.0", "architectures": ["amd64"], "kubeletVersionConstraint": "< 1.26"});
    let expired = merged(&image("0.8.0"), &json!({"expirationDate": "2024-05-01T00:00:00Z"}));
    let machine = |name: &str, architecture: &str, usable: bool| {
        json!({"name": name, "architecture": architecture,
        "usable": usable, "cpu": "2", "memory": "4Gi"})
    };
    serde_json::from_value(json!({"metadata": {"name": "local"}, "spec": {
        "type": "local",
        "kubernetes": {"versions": [{"version": "1.27.3"}, {"version": "1.26.7"}]},
        "machineImages": [{"name": "linux", "versions": [image("1.0.0"), limited, expired]}],
        "machineTypes": [machine("small", "amd64", true), machine("arm", "arm64", true), machine("old", "amd64",
            false)],
        "regions": [{"name": "europe", "zones": [{"name": "a", "unavailableMachineTypes": ["small"]}, {"name": "b"}]}],
    }}))
    .unwrap()
}

fn shoot(pool: &Value) -> ShootSpec {
    let complete = json!({
        "name": "cpu",
        "cri": {"name": "containerd"},
        "machine": {"type": "small", "architecture": "amd64", "image": {"name": "linux", "version": "1.0.0"}},
    });
    spec(json!({
        "region": "europe",
        "kubernetes": {"version": "1.27.3"},
        "provider": {"type": "local", "workers": [merged(&complete, pool)]},
    }))
}

/// The errors of a pool, those of an update from `old` if it is given.
fn errors_of(pool: &Value, old: Option<&Value>) -> Vec<String> {
    let old = old.map(shoot).unwrap_or_default();
    texts(&fill_in(&mut shoot(pool), &old, &profile(), None, now()))
}

#[rstest]
#[case::complete(json!({}), &[])]
#[case::architecture(
    json!({"machine": {"architecture": "riscv"}}),
    &["machine.architecture: Unsupported value: \"riscv\": supported values: \"amd64\", \"arm64\""],
)]
#[case::unknown_type(json!({"machine": {"type": "x"}}), &["machine.type: Unsupported value: \"x\": supported values: \
    \"small\""])]
#[case::unusable_type(
    json!({"machine": {"type": "old"}}),
    &["machine.type: Invalid value: \"old\": machine type \"old\" is unusable, supported types are [small]"],
)]
#[case::unavailable_type(
    json!({"zones": ["a"]}),
    &["machine.type: Invalid value: \"small\": machine type \"small\" is unavailable in at least one zone, supported \
        types are []"],
)]
#[case::other_architecture(
    json!({"machine": {"type": "arm"}}),
    &["machine.type: Invalid value: \"arm\": machine type \"arm\" does not support CPU architecture \"amd64\", \
        supported types are [small]"],
)]
#[case::unknown_image(
    json!({"machine": {"image": {"name": "x"}}}),
    &["machine.image: Invalid value: core.ShootMachineImage{Name:\"x\", ProviderConfig:(*runtime.RawExtension)(nil), \
       Version:\"1.0.0\"}: machine image version is not supported, supported machine image versions are: [linux:0.9.0 \
       linux:1.0.0]"],
)]
#[case::expired_image(
    json!({"machine": {"image": {"version": "0.8.0"}}}),
    &["machine.image: Invalid value: core.ShootMachineImage{Name:\"linux\", \
       ProviderConfig:(*runtime.RawExtension)(nil), Version:\"0.8.0\"}: machine image version 'linux:0.8.0' is \
       expired, supported machine image versions are: [linux:0.9.0 linux:1.0.0]"],
)]
#[case::interface(
    json!({"cri": {"name": "docker"}}),
    &["cri.name: Invalid value: \"docker\": machine image 'linux@1.0.0' does not support CRI 'docker', supported \
        values: [containerd]"],
)]
#[case::runtime(
    json!({"cri": {"containerRuntimes": [{"type": "gvisor"}, {"type": "kata"}]}}),
    &["cri.containerRuntimes[1].type: Invalid value: \"kata\": machine image 'linux@1.0.0' does not support container \
       runtime 'kata', supported values: [gvisor]"],
)]
#[case::kubelet(
    json!({"cri": null, "machine": {"image": {"version": "0.9.0"}}}),
    &["machine.image: Invalid value: core.ShootMachineImage{Name:\"linux\", \
       ProviderConfig:(*runtime.RawExtension)(nil), Version:\"0.9.0\"}: machine image 'linux@0.9.0' does not support \
       kubelet version '1.27.3', supported kubelet versions by this machine image version: '< 1.26'"],
)]
#[case::version_of_a_bad_image(
    json!({"machine": {"image": {"version": "0.8.0"}}, "kubernetes": {"version": "x"}}),
    &["machine.image: Invalid value: core.ShootMachineImage{Name:\"linux\", \
       ProviderConfig:(*runtime.RawExtension)(nil), Version:\"0.8.0\"}: machine image version 'linux:0.8.0' is \
       expired, supported machine image versions are: [linux:0.9.0 linux:1.0.0]",
      "kubernetes.version: Invalid value: \"x\": must be a semantic version",
      "kubernetes.version: Unsupported value: \"x\": supported values: \"1.27.3\", \"1.26.7\""],
)]
#[case::version(
    json!({"kubernetes": {"version": "x"}, "zones": ["gone"]}),
    &["kubernetes.version: Invalid value: \"x\": cannot determine effective Kubernetes version for worker pool"],
)]
#[case::reserved(
    json!({"kubernetes": {"kubelet": {"kubeReserved": {"cpu": "2"}}}}),
    &["kubernetes.kubelet: Invalid value: \"kubeReserved CPU + systemReserved CPU: 2\": total reserved CPU \
       (kubeReserved + systemReserved) cannot be more than the Node's CPU capacity '2'"],
)]
#[case::zone(json!({"zones": ["c"]}), &["zones[0]: Unsupported value: \"c\": supported values: \"a\", \"b\""])]
fn a_new_pool_is_in_the_profile(#[case] pool: Value, #[case] want: &[&str]) {
    let want: Vec<String> = want.iter().map(|text| format!("spec.provider.workers[0].{text}")).collect();
    assert_eq!(errors_of(&pool, None), want);
}

#[rstest]
#[case::type_and_architecture(json!({"machine": {"type": "old"}}))]
#[case::image(json!({"machine": {"image": {"version": "0.8.0"}}}))]
#[case::interface(json!({"cri": {"name": "docker"}}))]
#[case::zones(json!({"zones": ["a", "gone"]}))]
fn a_pool_may_stay_as_it_was(#[case] pool: Value) {
    assert_eq!(errors_of(&pool, Some(&pool)), Vec::<String>::new());
}

#[test]
fn types_of_provider_and_binding_end_the_comparison() {
    let judge = |type_: &str, binding: Value| {
        let mut spec = shoot(&json!({"machine": {"type": "x"}}));
        type_.clone_into(&mut spec.provider.type_);
        let binding: SecretBinding = serde_json::from_value(binding).unwrap();
        texts(&fill_in(&mut spec, &ShootSpec::default(), &profile(), Some(&binding), now()))
    };
    let must = |own: &str, what: &str, other: &str| {
        let detail = format!("provider type in shoot must {what}: {other:?}");
        vec![format!("spec.provider.type: Invalid value: {own:?}: {detail}")]
    };
    let profile = must("aws", "equal provider type of referenced CloudProfile", "local");
    assert_eq!(judge("aws", json!({"provider": {"type": "aws"}})), profile);
    let binding = "match provider type of referenced SecretBinding";
    assert_eq!(judge("local", json!({"provider": {"type": "aws,gcp"}})), must("local", binding, "aws,gcp"));
    assert_eq!(judge("local", json!({})), must("local", binding, ""));
    assert_eq!(judge("local", json!({"provider": {"type": "aws,local"}})).len(), 1);
}

#[test]
fn a_wrong_version_of_the_control_plane_ends_the_comparison() {
    let mut spec = shoot(&json!({"machine": {"type": "x"}}));
    spec.kubernetes.version = Some("1.bar".to_owned());
    let errors = fill_in(&mut spec, &ShootSpec::default(), &profile(), None, now());
    let want = "spec.kubernetes.version: Invalid value: \"1.bar\": cannot parse the kubernetes version: Invalid \
        Semantic Version";
    assert_eq!(texts(&errors), [want]);
}

#[test]
fn versions_of_pools_are_filled_in() {
    let mut spec = shoot(&json!({"kubernetes": {"version": "1.26"}}));
    assert_eq!(fill_in(&mut spec, &ShootSpec::default(), &profile(), None, now()), FieldErrors::new());
    let version = |spec: &ShootSpec| spec.provider.workers[0].kubernetes.clone().unwrap().version;
    assert_eq!(version(&spec).as_deref(), Some("1.26.7"));
    let mut spec = shoot(&json!({"kubernetes": {}}));
    assert_eq!(fill_in(&mut spec, &ShootSpec::default(), &profile(), None, now()), FieldErrors::new());
    assert_eq!(version(&spec), None);
}

/// A pool of the old version, or of the old control plane's, may keep it.
#[rstest]
#[case::of_pool(json!({"kubernetes": {"version": "1.25.1"}}), 0)]
#[case::of_control_plane(json!({}), 1)]
fn an_old_version_stays(#[case] old: Value, #[case] count: usize) {
    let pool = json!({"kubernetes": {"version": "1.25.1"}});
    assert_eq!(errors_of(&pool, Some(&old)).len(), count);
    let mut before = shoot(&json!({}));
    before.kubernetes.version = Some("1.25.1".to_owned());
    assert_eq!(fill_in(&mut shoot(&pool), &before, &profile(), None, now()), FieldErrors::new());
}

/// As in the original, the last kubelet of an earlier pool counts before the Shoot's.
#[test]
fn a_pool_with_settings_is_judged_by_the_last_kubelet() {
    let mut spec = shoot(&json!({"name": "a"}));
    let pool = |name: &str, own: Value| -> Worker {
        let workers = shoot(&json!({"name": name, "kubernetes": own})).provider.workers;
        workers.into_iter().next().unwrap()
    };
    let reserved = json!({"kubelet": {"systemReserved": {"memory": "5Gi"}}});
    spec.provider.workers.extend([pool("b", reserved), pool("c", json!({})), pool("d", Value::Null)]);
    let errors = fill_in(&mut spec, &ShootSpec::default(), &profile(), None, now());
    let fields: Vec<&str> = errors.iter().map(|error| error.field.as_str()).collect();
    let want = ["spec.provider.workers[1].kubernetes.kubelet", "spec.provider.workers[2].kubernetes.kubelet"];
    assert_eq!(fields, want);
}
