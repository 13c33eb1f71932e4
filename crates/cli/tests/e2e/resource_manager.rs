//! Our resource-manager, called by a real API server through its Service.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cluster::{PATIENCE, Running};

/// Creates a namespace like those that gardenlet creates for control planes.
fn create_namespace(running: &Running, name: &str) -> Result<Value, String> {
    running.created(&json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name, "labels": {
            "gardener.cloud/role": "shoot", "high-availability-config.resources.gardener.cloud/consider": "true",
        }},
    }))
}

/// Creates a Deployment with the label of a server and one replica. Repeats the request until the webhook's watch has received the
/// new namespace.
fn create_server(running: &Running, namespace: &str, annotations: &Value) -> Result<Value, String> {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "server", "namespace": namespace, "annotations": annotations,
            "labels": {"high-availability-config.resources.gardener.cloud/type": "server"},
        },
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "server"}},
            "template": {"metadata": {"labels": {"app": "server"}}, "spec": {"containers": [
                {"name": "server", "image": running.image()?, "imagePullPolicy": "Never"},
            ]}},
        },
    });
    let begun = Instant::now();
    loop {
        let reply = running.create(&deployment)?;
        let message = reply.message();
        if reply.is_success() {
            return Ok(reply.body);
        }
        let is_unknown = message.contains(&format!("Namespace {namespace:?} not found"));
        if !is_unknown || begun.elapsed() > PATIENCE {
            return Err(message);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

pub(crate) fn a_deployment_is_mutated_by_every_webhook_that_selects_it_and_runs(
    running: &Running,
) -> Result<(), String> {
    create_namespace(running, "shoot--e2e--one")?;
    let deployment = create_server(running, "shoot--e2e--one", &json!({}))?;
    check_equal(&deployment["spec"]["replicas"], &json!(2), "replicas")?;
    let toleration =
        |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60});
    let template = &deployment["spec"]["template"]["spec"];
    let tolerations =
        json!([toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")]);
    check_equal(&template["tolerations"], &tolerations, "tolerations")?;
    let constraint = &template["topologySpreadConstraints"][0];
    check_equal(&constraint["topologyKey"], &json!("kubernetes.io/hostname"), "topology key")?;
    running.wait_until(&deployment, |found| found["status"]["availableReplicas"] == 2)?;
    let pods = running.get_path("/api/v1/namespaces/shoot--e2e--one/pods")?;
    let profiles: Vec<&Value> = pods["items"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|pod| &pod["spec"]["securityContext"]["seccompProfile"]["type"])
        .collect();
    check_equal(
        &json!(profiles),
        &json!(["RuntimeDefault", "RuntimeDefault"]),
        "seccomp profiles of its pods",
    )
}

pub(crate) fn the_deletion_of_a_protected_crd_is_refused_with_our_message(
    running: &Running,
) -> Result<(), String> {
    let crd = running.created(&json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": "things.e2e.example.test",
            "labels": {"gardener.cloud/deletion-protected": "true"},
        },
        "spec": {
            "group": "e2e.example.test", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    }))?;
    let (deleted, output) = running.kubectl(&["delete", "crd", "things.e2e.example.test"])?;
    if deleted || !output.contains("confirmation.gardener.cloud/deletion") {
        return Err(format!("kubectl deleted it, or prints another error: {output}"));
    }
    let refused = running.delete(&crd)?;
    let message = refused.message();
    if refused.is_success() || !message.contains("confirmation.gardener.cloud/deletion") {
        return Err(format!("the answer to the deletion is {}: {message}", refused.code));
    }
    let confirmed = json!({"metadata": {"annotations": {"confirmation.gardener.cloud/deletion": "true"}}});
    running.patch(&crd, &confirmed)?;
    let deleted = running.delete(&crd)?;
    if deleted.is_success() { Ok(()) } else { Err(deleted.message()) }
}

pub(crate) fn a_secret_that_a_managed_resource_names_becomes_objects(
    running: &Running,
) -> Result<(), String> {
    create_namespace(running, "shoot--e2e--two")?;
    let made = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "made", "namespace": "shoot--e2e--two"}});
    running.created(&json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "objects", "namespace": "shoot--e2e--two"},
        "stringData": {"made.yaml": made.to_string()},
    }))?;
    let resource = running.created(&json!({
        "apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource",
        "metadata": {"name": "one", "namespace": "shoot--e2e--two"},
        "spec": {"class": "seed", "secretRefs": [{"name": "objects"}]},
    }))?;
    running.wait_until(&made, |found| found["kind"] == "ConfigMap")?;
    running.wait_until(&resource, |found| {
        let mut conditions = found["status"]["conditions"].as_array().into_iter().flatten();
        conditions.any(|condition| condition["type"] == "ResourcesHealthy" && condition["status"] == "True")
    })?;
    running.delete(&resource)?;
    running.wait_until(&made, |found| found["code"] == 404).map(|_| ())
}

/// A pod in a namespace of users, for test requests.
pub(crate) fn pod(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [{"name": "one", "image": "none", "imagePullPolicy": "Never"}]},
    })
}

pub(crate) fn pods_are_spread_over_three_zones_as_the_constraints_say(
    running: &Running,
) -> Result<(), String> {
    running.created(&json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {
            "name": "shoot--e2e--zones",
            "labels": {
                "gardener.cloud/role": "shoot",
                "high-availability-config.resources.gardener.cloud/consider": "true",
            },
            "annotations": {
                "high-availability-config.resources.gardener.cloud/failure-tolerance-type": "zone",
                "high-availability-config.resources.gardener.cloud/zones": "zone-a,zone-b,zone-c",
            },
        },
    }))?;
    let replicas = json!({"high-availability-config.resources.gardener.cloud/replicas": "3"});
    let deployment = create_server(running, "shoot--e2e--zones", &replicas)?;
    let template = &deployment["spec"]["template"]["spec"];
    let keys: Vec<&Value> = template["topologySpreadConstraints"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|constraint| &constraint["topologyKey"])
        .collect();
    if !keys.contains(&&json!("topology.kubernetes.io/zone")) {
        return Err(format!("no constraint over zones: {keys:?}"));
    }
    check_equal(&deployment["spec"]["replicas"], &json!(3), "replicas")?;
    running.wait_until(&deployment, |found| found["status"]["availableReplicas"] == 3)?;
    let nodes = running.get_path("/api/v1/nodes")?;
    let pods = running.get_path("/api/v1/namespaces/shoot--e2e--zones/pods")?;
    let zone = |pod: &Value| {
        let mut nodes = nodes["items"].as_array().into_iter().flatten();
        let node = nodes.find(|node| node["metadata"]["name"] == pod["spec"]["nodeName"]);
        node.and_then(|node| node["metadata"]["labels"]["topology.kubernetes.io/zone"].as_str())
            .unwrap_or("none")
    };
    let mut zones: Vec<&str> = pods["items"].as_array().into_iter().flatten().map(zone).collect();
    zones.sort_unstable();
    check_equal(&json!(zones), &json!(["zone-a", "zone-b", "zone-c"]), "zones of its pods")
}

pub(crate) fn a_killed_pod_comes_back_and_until_then_the_failure_policy_refuses(
    running: &Running,
) -> Result<(), String> {
    let pods =
        running.get_path("/api/v1/namespaces/garden/pods?labelSelector=app%3Dgardener-resource-manager")?;
    let name = &pods["items"][0]["metadata"]["name"];
    let killed =
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "garden"}});
    let kill = ["delete", "pod", "--namespace=garden", "--force", "--grace-period=0", "--wait=false"];
    let (succeeded, output) = running.kubectl(&[&kill[..], &[name.as_str().unwrap_or_default()]].concat())?;
    if !succeeded {
        return Err(output);
    }
    let begun = Instant::now();
    let (mut refused, mut back) = (0, None);
    loop {
        let reply = running.try_to_create(&pod("while-it-is-gone"))?;
        let at = begun.elapsed();
        if reply.is_success() {
            // The old pod may still answer for a moment.
            let back = *back.get_or_insert(at);
            if at.as_secs_f64() > back.as_secs_f64() + 5.0 {
                break;
            }
        } else if reply.message().contains("failed calling webhook") {
            refused += 1;
            back = None;
        } else {
            return Err(format!("refused with another message: {}", reply.message()));
        }
        if at.as_secs() > 120 {
            return Err(format!("not back after two minutes: {}", reply.message()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let gone = running.get(&killed)?;
    check_equal(&gone["code"], &json!(404), "code of the killed pod")?;
    let seconds = back.map(|back| back.as_secs_f64()).unwrap_or_default();
    eprintln!("killed: {refused} requests refused; all allowed again after {seconds:.1} s");
    if refused == 0 { Err("no request was refused while the pod was gone".to_owned()) } else { Ok(()) }
}

pub(crate) fn without_the_pod_the_failure_policy_refuses_until_there_is_a_new_one(
    running: &Running,
) -> Result<(), String> {
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "gardener-resource-manager", "namespace": "garden"},
    });
    running.patch(&deployment, &json!({"spec": {"replicas": 0}}))?;
    running.wait_until(&deployment, |found| found["status"]["replicas"].as_u64().unwrap_or(0) == 0)?;
    let begun = Instant::now();
    let refused = loop {
        let reply = running.try_to_create(&pod("refused"))?;
        if !reply.is_success() {
            break reply.message();
        }
        if begun.elapsed().as_secs() > 60 {
            return Err("pods are still created without the webhooks".to_owned());
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    if !refused.contains("failed calling webhook") {
        return Err(format!("refused with another message: {refused}"));
    }
    running.patch(&deployment, &json!({"spec": {"replicas": 1}}))?;
    let begun = Instant::now();
    let message = loop {
        let reply = running.create(&pod("allowed"))?;
        if reply.is_success() {
            break None;
        }
        if begun.elapsed().as_secs() > 120 {
            break Some(reply.message());
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    running.delete(&pod("allowed"))?;
    message.map_or(Ok(()), Err)
}

fn check_equal(got: &Value, want: &Value, what: &str) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: want {want:#}, got {got:#}")) }
}
