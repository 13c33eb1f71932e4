//! What a person is told who asks for a cluster in containers where something is missing, broken or taken. The programs that
//! would make it are scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use substrate::cluster::Cluster;

use crate::program::{Told, program, told};

/// An engine that answers and keeps its data in `$2`.
const ENGINE: &str = r#"case "$1" in
info) echo '{"ServerVersion": "20.10.24", "CgroupVersion": "1", "MemTotal": 8589934592, "DockerRootDir": "/"}' ;;
images) echo gardener-conformance/kind-node:v1 ;;
esac"#;
/// The case that is asked for.
const CASE: [&str; 2] = ["--clause", "GRM-SEC-001"];

fn write(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The program where these scripts are all that there is.
fn with(folder: &Path, docker: &str, kind: &str) -> Command {
    let programs = folder.join("programs");
    fs::create_dir_all(&programs).unwrap();
    for (name, script) in [("docker", docker), ("kind", kind), ("kubectl", "")] {
        write(&programs, name, script);
    }
    let mut command = program(folder);
    command.env("PATH", &programs).env("HOME", folder).env_remove("XDG_CACHE_HOME");
    command.env_remove("CONFORMANCE_KIND_IMAGE");
    command
}

fn run(command: &mut Command, more: &[&str]) -> Told {
    told(&command.args(["run", "--substrate", "kind"]).args(CASE).args(more).output().unwrap())
}

#[test]
fn what_is_missing_is_named_with_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut none = program(folder.path());
    none.env("PATH", "").env("HOME", folder.path()).env_remove("XDG_CACHE_HOME");
    run(&mut none, &[]).says(3, &["failed to find docker", "install Docker", "make kind-node"]);

    let silent = "echo 'Cannot connect to the Docker daemon' >&2; exit 1";
    let told = run(&mut with(folder.path(), silent, ""), &[]);
    told.says(3, &["failed to reach a Docker engine", "Cannot connect to the Docker daemon", "start Docker"]);

    let imageless = ENGINE.replace("echo gardener-conformance/kind-node:v1", ":");
    let told = run(&mut with(folder.path(), &imageless, ""), &[]);
    told.says(3, &["failed to find a node image", "make kind-node", "CONFORMANCE_KIND_IMAGE"]);

    let unpullable = format!("{ENGINE}\ncase \"$1\" in image|pull) echo 'no such host' >&2; exit 1 ;; esac");
    let mut command = with(folder.path(), &unpullable, "");
    let told = run(command.env("CONFORMANCE_KIND_IMAGE", "kindest/none:v9"), &[]);
    told.says(3, &["failed to get the node image kindest/none:v9", "no such host", "make kind-node"]);
}

#[test]
fn a_full_disk_is_told_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    // Nothing can be kept there.
    let full = ENGINE.replace(r#""DockerRootDir": "/""#, r#""DockerRootDir": "/proc""#);
    let told = run(&mut with(folder.path(), &full, "echo $1 >> asked"), &[]);
    told.says(3, &["failed to make room for the cluster: /proc has 0 MiB free", "docker system prune"]);
    assert!(!folder.path().join("asked").exists(), "kind was asked for something");
}

#[test]
fn a_name_that_is_taken_is_left_to_whoever_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let taken = r#"echo "$1 $2" >> asked; [ "$1" = get ] && echo gardener-conformance-mine"#;
    let mut command = with(folder.path(), ENGINE, taken);
    let up = ["env", "up", "--foreground", "--substrate", "kind", "--name", "mine"];
    let told = told(&command.args(up).output().unwrap());
    told.says(
        3,
        &["a kind cluster named gardener-conformance-mine exists already", "kind delete cluster --name"],
    );
    assert_eq!(fs::read_to_string(folder.path().join("asked")).unwrap(), "get clusters\n");
}

#[test]
fn a_cluster_that_cannot_be_created_is_gone_and_what_its_nodes_said_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let failing = r#"echo "$1 $2" >> asked
case "$1" in
create) echo 'no space left on device' >&2; exit 1 ;;
export) mkdir -p "$3"; echo words > "$3/node.log" ;;
esac"#;
    // The scripts need what every system has.
    let mut command = with(folder.path(), ENGINE, failing);
    let path = format!("{}:/usr/bin:/bin", folder.path().join("programs").display());
    let told = run(command.env("PATH", path), &["--logs", "logs"]);
    told.says(
        3,
        &["failed to create the cluster: no space left on device", "the logs of its nodes are in logs"],
    );
    assert_eq!(fs::read_to_string(folder.path().join("logs/node.log")).unwrap(), "words\n");
    let log = fs::read_to_string(folder.path().join("logs/create.log")).unwrap();
    assert_eq!(log, "no space left on device\n");
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert!(asked.starts_with("get clusters\ncreate cluster\nexport logs\ndelete cluster\n"), "{asked}");
}

#[test]
fn a_cluster_in_which_another_run_asks_is_left_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let locks = folder.path().join("gardener-conformance/kind");
    fs::create_dir_all(&locks).unwrap();
    let other = fs::File::create(locks.join("mine.lock")).unwrap();
    other.lock().unwrap();
    let told = run(&mut with(folder.path(), ENGINE, ""), &["--cluster", "mine"]);
    told.says(3, &["another run asks in the cluster mine", "wait for its end"]);
    let told = run(&mut with(folder.path(), ENGINE, ""), &["--cluster", "../mine"]);
    told.says(2, &["--cluster", "letters, digits and -"]);
}

#[test]
fn a_cluster_of_before_is_used_again_without_what_an_earlier_run_left_and_not_beside_the_webhooks_of_others()
{
    let folder = tempfile::tempdir().unwrap();
    let env = |command: &str| told(&program(folder.path()).args(["env", command]).output().unwrap());
    let kubeconfig = env("up").out.trim().to_owned();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let cluster = runtime.block_on(before(Path::new(&kubeconfig)));
    let is_there = |object: &Value| runtime.block_on(cluster.get(object)).unwrap().is_success();

    let kind = format!(
        r#"case "$1 $2" in
"get clusters") echo gardener-conformance-mine ;;
"get nodes") echo one ;;
"get kubeconfig") cat {kubeconfig} ;;
esac"#
    );
    let executed = folder.path().join("executed");
    let bare = format!("{ENGINE}\n[ $1 != exec ] || echo \"$@\" >> {}", executed.display());
    let engine = format!(
        r#"{bare}
case "$1" in
port) for port in $(seq 30000 30035); do echo "$port/tcp -> 127.0.0.1:$port"; done ;;
save) echo 'no such image' >&2; exit 1 ;;
esac"#
    );
    let asked_of = |engine: &str, more: &[&str]| {
        let mut command = with(folder.path(), engine, &kind);
        let path = format!("{}:/usr/bin:/bin", folder.path().join("programs").display());
        run(command.env("PATH", path), &[&["--cluster", "Mine", "--logs", "logs"], more].concat())
    };
    let asked = |more: &[&str]| asked_of(&engine, more);
    asked(&["--zones", "3"])
        .says(3, &["gardener-conformance-mine has 1 nodes, not the 3", "leave --zones out"]);

    asked(&[]).says(3, &["webhooks that no run registered", "theirs", "without --install"]);
    assert!(is_there(&registration("theirs", "garden")), "what is another's was deleted");

    runtime.block_on(cluster.delete(&registration("theirs", "garden"), "")).unwrap();
    let words = ["gardener-conformance-mine is used again, and stays", "no such image", "make images"];
    asked(&[]).says(3, &words);
    let left = [
        namespace("gardener-conformance"),
        namespace("case-0001-1"),
        registration("ours", "gardener-conformance"),
    ];
    assert!(!left.iter().any(is_there), "an earlier run's objects are still there");
    assert!(is_there(&namespace("mine")), "another's namespace was deleted");
    let executed = fs::read_to_string(executed).unwrap();
    let works_again = "mv /etc/kubernetes/$name.yaml /etc/kubernetes/manifests/";
    for words in ["exec gardener-conformance-mine-control-plane", "kube-controller-manager", works_again] {
        assert!(executed.contains(words), "{words} is not in {executed}");
    }
    let words = ["gardener-conformance-mine publishes no node ports", "kind delete cluster"];
    asked_of(&bare, &[]).says(3, &words);
    env("down").says(0, &[]);
}

/// A cluster that is ready, in which a run was killed and another has a webhook.
async fn before(kubeconfig: &Path) -> Cluster {
    let cluster = Cluster::new(substrate::kubeconfig::client(kubeconfig).await.unwrap());
    for object in [
        namespace("kube-system"),
        node(),
        dns(),
        namespace("gardener-conformance"),
        namespace("case-0001-1"),
        namespace("mine"),
        registration("ours", "gardener-conformance"),
        registration("theirs", "garden"),
    ] {
        let reply = cluster.create(&object, "").await.unwrap();
        assert!(reply.is_success() || reply.code == 409, "{}", reply.message());
    }
    for (object, status) in [
        (node(), json!({"conditions": [{"type": "Ready", "status": "True"}]})),
        (dns(), json!({"replicas": 1, "readyReplicas": 1, "availableReplicas": 1})),
    ] {
        let reply = cluster.merge_patch(&object, "status", &json!({"status": status})).await.unwrap();
        assert!(reply.is_success(), "{}", reply.message());
    }
    cluster
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

fn node() -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "one"}})
}

fn dns() -> Value {
    let template = json!({
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "coredns", "image": "coredns"}]},
    });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "coredns", "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    })
}

fn registration(name: &str, namespace: &str) -> Value {
    let rule = json!({
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"],
    });
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [{
            "name": "a.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": "a", "namespace": namespace}}, "rules": [rule],
        }],
    })
}
