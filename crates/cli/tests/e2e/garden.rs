//! Our garden: admission, controller-manager and a provider's webhooks in one cluster, each with its own permissions.

use serde_json::{Value, json};
use substrate::facts;

use crate::cluster::Running;

const PROFILE: &str = include_str!("../../../../contracts/fixtures/cloudprofile-new.yaml");
const SHOOT: &str = include_str!("../../../../contracts/fixtures/shoot.yaml");
const NAMESPACE: &str = "garden-dev";

/// A Shoot of the profile.
fn shoot(name: &str, version: &Value) -> Result<Value, String> {
    let shoot: Value = formats::yaml::from_str(SHOOT).map_err(|error| error.to_string())?;
    let mut shoot = facts::stripped(&shoot);
    shoot["metadata"] = json!({"name": name, "namespace": NAMESPACE});
    shoot["spec"]["cloudProfileName"] = json!("new");
    shoot["spec"]["kubernetes"]["version"] = version.clone();
    Ok(shoot)
}

/// Creates the profile and a namespace for Shoots, unless another test has created them.
fn create_profile(running: &Running) -> Result<Value, String> {
    let profile: Value = formats::yaml::from_str(PROFILE).map_err(|error| error.to_string())?;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    for object in [&namespace, &profile] {
        let reply = running.create(object)?;
        if !reply.is_success() && reply.code != 409 {
            return Err(reply.message());
        }
    }
    Ok(profile)
}

pub(crate) fn a_shoot_is_filled_in_or_refused_by_what_its_profile_offers(
    running: &Running,
) -> Result<(), String> {
    create_profile(running)?;
    let filled = running.try_to_create(&shoot("filled", &Value::Null)?)?;
    let version = &filled.body["spec"]["kubernetes"]["version"];
    if *version != "1.27.5" {
        return Err(format!("the version was set to {version}: {}", filled.message()));
    }
    let refused = running.try_to_create(&shoot("refused", &json!("1.20.0"))?)?;
    let by = "admission webhook \"validation.shoots.garden-admission.gardener.cloud\" denied the request";
    if refused.is_success() || !refused.message().contains(by) {
        return Err(format!("the answer for a version that is not offered: {}", refused.message()));
    }
    Ok(())
}

pub(crate) fn a_shoot_that_asks_for_maintenance_is_moved_and_holds_its_profile(
    running: &Running,
) -> Result<(), String> {
    let profile = create_profile(running)?;
    let mut old = shoot("moved", &json!("1.27.4"))?;
    old["metadata"]["annotations"] = json!({"gardener.cloud/operation": "maintain"});
    let moved = running.created(&old)?;
    running.wait_until(&moved, |found| {
        let state = &found["status"]["lastMaintenance"]["state"];
        found["spec"]["kubernetes"]["version"] == "1.27.5" && *state == "Succeeded"
    })?;
    let events = format!("/api/v1/namespaces/{NAMESPACE}/events");
    wait_for_event(running, &events, "KubernetesVersionMaintenance")?;
    running.delete(&profile)?;
    wait_for_event(running, "/api/v1/namespaces/default/events", "ResourceReferenced")?;
    if running.get(&profile)?["metadata"]["deletionTimestamp"].is_null() {
        return Err("the profile was deleted, or is not being deleted, although a Shoot uses it".to_owned());
    }
    running.delete(&moved)?;
    running.wait_until(&profile, |found| found["code"] == 404).map(|_| ())
}

/// Waits for an event with this reason.
fn wait_for_event(running: &Running, events: &str, reason: &str) -> Result<(), String> {
    for _ in 0..200 {
        let found = running.get_path(events)?;
        let mut events = found["items"].as_array().into_iter().flatten();
        if events.any(|event| event["reason"] == reason) {
            return Ok(());
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    Err(format!("no event {reason} in {events}"))
}

pub(crate) fn a_control_plane_is_changed_by_its_providers_webhooks_and_that_of_another_is_not(
    running: &Running,
) -> Result<(), String> {
    for (provider, want) in [("local", true), ("other", false)] {
        let name = format!("shoot--e2e--{provider}");
        running.created(&json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": name, "labels": {"shoot.gardener.cloud/provider": provider}},
        }))?;
        let container = json!({"name": "kube-controller-manager", "image": "none", "command": ["/kube-controller-manager"]});
        let reply = running.try_to_create(&json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "kube-controller-manager", "namespace": name},
            "spec": {
                "selector": {"matchLabels": {"app": "kubernetes"}},
                "template": {"metadata": {"labels": {"app": "kubernetes"}}, "spec": {"containers": [container]}},
            },
        }))?;
        let command = &reply.body["spec"]["template"]["spec"]["containers"][0]["command"];
        let is_changed =
            command.as_array().into_iter().flatten().any(|word| *word == "--cloud-provider=external");
        if !reply.is_success() || is_changed != want {
            return Err(format!("for the provider {provider} the command is {command}: {}", reply.message()));
        }
    }
    Ok(())
}
