//! One maintenance of a whole shoot: updates, their order and their messages.

use api::garden::CloudProfile;
use serde_json::{Value, json};
use versions::maintenance::maintain;

use crate::given::{image, image_version, now, profile, shoot};

fn local(versions: &[&str]) -> CloudProfile {
    let linux = vec![image_version("1.0.0 expired", json!({})), image_version("1.1.1", json!({}))];
    profile(versions, vec![image("linux", linux)])
}

fn pool(name: &str, own: Value) -> Value {
    let machine =
        json!({"type": "large", "architecture": "amd64", "image": {"name": "linux", "version": "1.1.1"}});
    let mut pool = json!({"name": name, "minimum": 1, "maximum": 1, "machine": machine});
    for (key, value) in own.as_object().expect("given by the test") {
        pool[key] = value.clone();
    }
    pool
}

/// Maintains a shoot; returns it with the messages and the failures.
fn maintained(spec: Value, profile: &CloudProfile) -> (Value, Vec<String>, Vec<String>) {
    let mut spec = shoot(spec);
    let done = maintain(&mut spec, profile, now()).expect("given by the test");
    let failures = done.failures.iter().map(ToString::to_string).collect();
    let operations = done.operations().map(str::to_owned).collect();
    (serde_json::to_value(spec).expect("given by the test"), operations, failures)
}

fn at(spec: &Value, pointer: &str) -> Value {
    spec.pointer(pointer).cloned().unwrap_or_default()
}

#[test]
fn control_plane_and_pools_are_updated_together_and_no_pool_gets_ahead() {
    let spec = json!({
        "kubernetes": {"version": "1.27.3"},
        "maintenance": {"autoUpdate": {"kubernetesVersion": false, "machineImageVersion": false}},
        "provider": {"workers": [
            pool("same", json!({})),
            pool("behind", json!({"kubernetes": {"version": "1.26.8"}})),
            pool("forced", json!({"kubernetes": {"version": "1.26.9"}})),
        ]},
    });
    let offered =
        local(&["1.27.5", "1.27.4", "1.27.3 expired", "1.27.9 preview", "1.26.8", "1.26.9 expired"]);
    let (spec, operations, failures) = maintained(spec, &offered);
    assert_eq!(at(&spec, "/kubernetes/version"), "1.27.5");
    assert_eq!(at(&spec, "/provider/workers/0/kubernetes"), Value::Null);
    assert_eq!(at(&spec, "/provider/workers/1/kubernetes/version"), "1.26.8");
    assert_eq!(at(&spec, "/provider/workers/2/kubernetes/version"), "1.27.5");
    let expired = "Reason: Kubernetes version expired - force update required";
    assert_eq!(
        operations,
        [
            format!(
                "For \"Control Plane\": Kubernetes version upgraded \"1.27.3\" to version \"1.27.5\". {expired}"
            ),
            format!(
                "For \"Worker Pool forced\": Kubernetes version upgraded \"1.26.9\" to version \"1.27.5\". {expired}"
            ),
        ]
    );
    assert_eq!(failures, [""; 0]);
}

#[test]
fn a_pool_that_would_get_ahead_gets_the_control_planes_version_with_its_spelling() {
    let spec = json!({
        "kubernetes": {"version": "1.27.03"},
        "maintenance": {"autoUpdate": {"kubernetesVersion": false}},
        "provider": {"workers": [pool("cpu", json!({"kubernetes": {"version": "1.26.9"}}))]},
    });
    let (spec, operations, _) = maintained(spec, &local(&["1.27.5", "1.27.03", "1.26.9 expired"]));
    assert_eq!(at(&spec, "/provider/workers/0/kubernetes/version"), "1.27.03");
    assert_eq!(
        operations,
        [
            "For \"Worker Pool cpu\": Kubernetes version upgraded \"1.26.9\" to version \"1.27.5\". Reason: Kubernetes version \
          expired - force update required"
        ]
    );
}

#[test]
fn auto_update_is_the_default() {
    let mut cpu = pool("cpu", json!({}));
    cpu["machine"]["image"] = json!({"name": "linux", "version": "1.0.0", "providerConfig": {"a": 1}});
    let spec = json!({"kubernetes": {"version": "1.27.3"}, "provider": {"workers": [cpu]}});
    let (spec, operations, _) = maintained(spec, &local(&["1.27.4", "1.27.3"]));
    assert_eq!(at(&spec, "/provider/workers/0/machine/image"), json!({"name": "linux", "version": "1.1.1"}));
    assert_eq!(
        operations,
        [
            "Machine image of worker-pool \"cpu\" upgraded from \"linux\" version \"1.0.0\" to version \"1.1.1\". Reason: \
             AutoUpdate of MachineImage configured",
            "For \"Control Plane\": Kubernetes version upgraded \"1.27.3\" to version \"1.27.4\". Reason: AutoUpdate of \
             Kubernetes version configured",
        ]
    );
}

#[test]
fn a_failed_image_hides_the_messages_of_other_images_and_stops_only_images() {
    let mut first = pool("first", json!({}));
    first["machine"]["image"]["version"] = json!("1.0.0");
    let mut second = pool("second", json!({}));
    second["machine"]["image"]["name"] = json!("windows");
    let third = first.clone();
    let spec = json!({"kubernetes": {"version": "1.27.3"}, "provider": {"workers": [first, second, third]}});
    let (spec, operations, failures) = maintained(spec, &local(&["1.27.4", "1.27.3"]));
    assert_eq!(at(&spec, "/provider/workers/0/machine/image/version"), "1.1.1");
    assert_eq!(at(&spec, "/provider/workers/2/machine/image/version"), "1.0.0");
    assert_eq!(operations.len(), 1, "the version of Kubernetes alone: {operations:?}");
    assert_eq!(
        failures,
        [
            "failed to maintain machine images: failure while determining the default machine image in the CloudProfile: no \
          machineImage with name \"windows\" (specified in shoot) could be found in the cloudProfile \"local\""
        ]
    );
}

#[test]
fn a_failed_pool_does_not_stop_the_others() {
    let spec = json!({
        "kubernetes": {"version": "1.27.3"},
        "provider": {"workers": [
            pool("stuck", json!({"kubernetes": {"version": "1.25.1"}})),
            pool("fine", json!({"kubernetes": {"version": "1.26.8"}})),
        ]},
    });
    let (spec, operations, failures) =
        maintained(spec, &local(&["1.27.3", "1.26.8 expired", "1.26.9"]).clone());
    assert_eq!(at(&spec, "/provider/workers/0/kubernetes/version"), "1.26.9");
    assert_eq!(at(&spec, "/provider/workers/1/kubernetes/version"), "1.26.9");
    assert_eq!((operations.len(), failures.len()), (2, 0));
    let spec = json!({"kubernetes": {"version": "1.27.3"}, "provider": {"workers": [
        pool("stuck", json!({"kubernetes": {"version": "1.24.1"}})),
        pool("fine", json!({"kubernetes": {"version": "1.26.8"}})),
    ]}});
    let (spec, operations, failures) = maintained(spec, &local(&["1.27.3", "1.26.8", "1.26.9"]));
    assert_eq!(at(&spec, "/provider/workers/0/kubernetes/version"), "1.24.1");
    assert_eq!(at(&spec, "/provider/workers/1/kubernetes/version"), "1.26.9");
    assert_eq!(operations.len(), 1);
    assert!(
        failures[0]
            .starts_with("failed to maintain the version of worker pool \"stuck\": cannot perform minor")
    );
}

#[test]
fn the_update_to_1_25_waits_until_pod_security_policies_are_disabled() {
    let offered = local(&["1.25.1", "1.24.9 expired"]);
    let plugins = |plugins: Value| json!({"admissionPlugins": plugins});
    let spec = |server: Value| json!({"kubernetes": {"version": "1.24.9", "kubeAPIServer": server, "allowPrivilegedContainers": true}});
    let must =
        "PodSecurityPolicy Admission Controller must be disabled for updating Kubernetes to \"1.25.1\"";
    let postponed = "Postponing Kubernetes update to \"1.25.1\" to the next maintenance window because disabling \
                     PodSecurityPolicy Admission Controller and Kubernetes update cannot be done at the same time";
    let privileged = "allowPrivilegedContainers must be nil for updating Kubernetes to \"1.25.1\"";
    let off = json!({"name": "PodSecurityPolicy", "disabled": true});
    for server in [json!(null), plugins(json!([])), plugins(json!([{"name": "PodSecurityPolicy"}]))] {
        let (spec, operations, _) = maintained(spec(server), &offered);
        assert_eq!(at(&spec, "/kubernetes/version"), "1.24.9");
        assert_eq!(at(&spec, "/kubernetes/kubeAPIServer/admissionPlugins"), json!([off]));
        assert_eq!(at(&spec, "/kubernetes/allowPrivilegedContainers"), Value::Null);
        assert_eq!(operations, [privileged, must, postponed]);
    }
    let (spec, operations, _) = maintained(spec(plugins(json!([{"name": "Other"}, off]))), &offered);
    assert_eq!(at(&spec, "/kubernetes/version"), "1.25.1");
    assert_eq!(operations.len(), 2, "{operations:?}");
    assert_eq!(operations[0], privileged);
}

#[test]
fn the_update_to_1_27_disables_the_static_token_and_needs_a_machine_in_each_zone() {
    let zones = json!(["a", "b"]);
    let spec = json!({
        "kubernetes": {"version": "1.26.8", "enableStaticTokenKubeconfig": true},
        "provider": {"workers": [
            pool("few", json!({"zones": zones})),
            pool("enough", json!({"zones": zones, "maximum": 2})),
            pool("apart", json!({"zones": zones, "systemComponents": {"allow": false}})),
        ]},
    });
    let (spec, operations, _) = maintained(spec, &local(&["1.27.4", "1.26.8 expired"]));
    assert_eq!(at(&spec, "/kubernetes/version"), "1.27.4");
    assert_eq!(at(&spec, "/kubernetes/enableStaticTokenKubeconfig"), false);
    let maxima: Vec<Value> =
        (0..3).map(|pool| at(&spec, &format!("/provider/workers/{pool}/maximum"))).collect();
    assert_eq!(maxima, [2, 2, 1]);
    assert_eq!(
        operations,
        [
            "EnableStaticTokenKubeconfig is set to false. Reason: The static token kubeconfig can no longer be enabled for \
             Shoot clusters using Kubernetes version 1.27 and higher",
            "Maximum of worker-pool \"few\" upgraded from 1 to 2. Reason: Maximum number of workers of a worker group must be \
             greater or equal to its number of zones for updating Kubernetes to \"1.27.4\"",
            "For \"Control Plane\": Kubernetes version upgraded \"1.26.8\" to version \"1.27.4\". Reason: Kubernetes version \
             expired - force update required",
        ]
    );
}

#[test]
fn a_shoot_without_a_readable_version_is_not_maintained() {
    let message =
        |spec: Value| maintain(&mut shoot(spec), &local(&["1.27.4"]), now()).unwrap_err().to_string();
    let unreadable = "failed to read the control plane's version \"one\": Invalid Semantic Version";
    assert_eq!(message(json!({"kubernetes": {"version": "one"}})), unreadable);
    assert_eq!(
        message(json!({})),
        "failed to read the control plane's version \"\": Invalid Semantic Version"
    );
}
