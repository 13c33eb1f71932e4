//! Kind clusters that cannot be created or reused: error messages and cleanup. Docker, kind and kubectl are scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use substrate::cluster::Cluster;
use substrate::kind::PORTS;

use crate::program::{CallResult, program, result_of};

/// A Docker client with a working engine.
const ENGINE: &str = r#"case "$1" in
info) echo '{"ServerVersion": "20.10.24", "CgroupVersion": "1", "MemTotal": 8589934592, "DockerRootDir": "/"}' ;;
images) echo gardener-conformance/kind-node:v1 ;;
esac"#;
/// The selection of all runs.
const CASE: [&str; 2] = ["--clause", "GRM-SEC-001"];

fn write(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// The program with these scripts as `docker` and `kind`, and no other programs.
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

fn run(command: &mut Command, more: &[&str]) -> CallResult {
    result_of(&command.args(["run", "--substrate", "kind"]).args(CASE).args(more).output().unwrap())
}

#[test]
fn missing_programs_and_images_are_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut none = program(folder.path());
    none.env("PATH", "").env("HOME", folder.path()).env_remove("XDG_CACHE_HOME");
    run(&mut none, &[]).assert_exit(3, &["failed to find docker", "install Docker", "make kind-node"]);

    let silent = "echo 'Cannot connect to the Docker daemon' >&2; exit 1";
    let result = run(&mut with(folder.path(), silent, ""), &[]);
    result.assert_exit(
        3,
        &["failed to reach a Docker engine", "Cannot connect to the Docker daemon", "start Docker"],
    );

    let imageless = ENGINE.replace("echo gardener-conformance/kind-node:v1", ":");
    let result = run(&mut with(folder.path(), &imageless, ""), &[]);
    result.assert_exit(3, &["failed to find a node image", "make kind-node", "CONFORMANCE_KIND_IMAGE"]);

    let unpullable = format!("{ENGINE}\ncase \"$1\" in image|pull) echo 'no such host' >&2; exit 1 ;; esac");
    let mut command = with(folder.path(), &unpullable, "");
    let result = run(command.env("CONFORMANCE_KIND_IMAGE", "kindest/none:v9"), &[]);
    result
        .assert_exit(3, &["failed to get the node image kindest/none:v9", "no such host", "make kind-node"]);
}

#[test]
fn a_full_disk_is_reported_before_anything_is_created() {
    let folder = tempfile::tempdir().unwrap();
    // /proc has no free space.
    let full = ENGINE.replace(r#""DockerRootDir": "/""#, r#""DockerRootDir": "/proc""#);
    let result = run(&mut with(folder.path(), &full, "echo $1 >> calls"), &[]);
    result.assert_exit(
        3,
        &["failed to make room for the cluster: /proc has 0 MiB free", "docker system prune"],
    );
    assert!(!folder.path().join("calls").exists(), "kind was called");
}

#[test]
fn an_existing_cluster_of_the_same_name_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let taken = r#"echo "$1 $2" >> calls; [ "$1" = get ] && echo gardener-conformance-mine"#;
    let mut command = with(folder.path(), ENGINE, taken);
    let up = ["env", "up", "--foreground", "--substrate", "kind", "--name", "mine"];
    let result = result_of(&command.args(up).output().unwrap());
    result.assert_exit(
        3,
        &["a kind cluster named gardener-conformance-mine exists already", "kind delete cluster --name"],
    );
    assert_eq!(fs::read_to_string(folder.path().join("calls")).unwrap(), "get clusters\n");
}

#[test]
fn a_cluster_that_cannot_be_created_is_deleted_and_its_logs_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let failing = r#"echo "$1 $2" >> calls
case "$1" in
create) echo 'no space left on device' >&2; exit 1 ;;
export) mkdir -p "$3"; echo words > "$3/node.log" ;;
esac"#;
    // The scripts need standard programs.
    let mut command = with(folder.path(), ENGINE, failing);
    let path = format!("{}:/usr/bin:/bin", folder.path().join("programs").display());
    let result = run(command.env("PATH", path), &["--logs", "logs"]);
    result.assert_exit(
        3,
        &["failed to create the cluster: no space left on device", "the logs of its nodes are in logs"],
    );
    assert_eq!(fs::read_to_string(folder.path().join("logs/node.log")).unwrap(), "words\n");
    let log = fs::read_to_string(folder.path().join("logs/create.log")).unwrap();
    assert_eq!(log, "no space left on device\n");
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
    assert!(calls.starts_with("get clusters\ncreate cluster\nexport logs\ndelete cluster\n"), "{calls}");
}

#[test]
fn a_cluster_that_another_run_uses_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let locks = folder.path().join("gardener-conformance/kind");
    fs::create_dir_all(&locks).unwrap();
    let other = fs::File::create(locks.join("mine.lock")).unwrap();
    other.lock().unwrap();
    let result = run(&mut with(folder.path(), ENGINE, ""), &["--cluster", "mine"]);
    result.assert_exit(3, &["another run uses the cluster mine", "wait for its end"]);
    let result = run(&mut with(folder.path(), ENGINE, ""), &["--cluster", "../mine"]);
    result.assert_exit(2, &["--cluster", "letters, digits and -"]);
}

/// A Docker client that also knows the ports that a cluster publishes.
fn with_ports(engine: &str) -> String {
    let (first, last) = (PORTS.start(), PORTS.end());
    format!(
        r#"{engine}
case "$1" in
port) for port in $(seq {first} {last}); do echo "$port/tcp -> 127.0.0.1:$port"; done ;;
save) echo 'no such image' >&2; exit 1 ;;
esac"#
    )
}

#[test]
fn an_existing_cluster_is_cleaned_and_refused_if_it_has_webhooks_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let env = |command: &str| result_of(&program(folder.path()).args(["env", command]).output().unwrap());
    let kubeconfig = env("up").out.trim().to_owned();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let cluster = runtime.block_on(used_cluster(Path::new(&kubeconfig)));
    let exists = |object: &Value| runtime.block_on(cluster.get(object)).unwrap().is_success();

    let kind = format!(
        r#"case "$1 $2" in
"get clusters") echo gardener-conformance-mine ;;
"get nodes") echo one ;;
"get kubeconfig") cat {kubeconfig} ;;
esac"#
    );
    let executed = folder.path().join("executed");
    let bare = format!("{ENGINE}\n[ $1 != exec ] || echo \"$@\" >> {}", executed.display());
    let engine = with_ports(&bare);
    let run_with = |engine: &str, more: &[&str]| {
        let mut command = with(folder.path(), engine, &kind);
        let path = format!("{}:/usr/bin:/bin", folder.path().join("programs").display());
        run(command.env("PATH", path), &[&["--cluster", "Mine", "--logs", "logs"], more].concat())
    };
    let run_here = |more: &[&str]| run_with(&engine, more);
    run_here(&["--zones", "3"])
        .assert_exit(3, &["gardener-conformance-mine has 1 nodes instead of 3", "omit --zones"]);

    run_here(&[]).assert_exit(3, &["change the requests of cases", "theirs", "without --install"]);
    assert!(exists(&registration("theirs", "garden")), "a registration of others was deleted");

    runtime.block_on(cluster.delete(&registration("theirs", "garden"), "")).unwrap();
    let expected = ["gardener-conformance-mine, which stays", "no such image", "make images"];
    run_here(&[]).assert_exit(3, &expected);
    let left = [
        namespace("gardener-conformance"),
        namespace("case-0001-1"),
        registration("ours", "gardener-conformance"),
    ];
    assert!(!left.iter().any(exists), "objects of an earlier run still exist");
    assert!(exists(&namespace("mine")), "a namespace of others was deleted");
    let executed = fs::read_to_string(executed).unwrap();
    let restart = "mv /etc/kubernetes/$name.yaml /etc/kubernetes/manifests/";
    for text in ["exec gardener-conformance-mine-control-plane", "kube-controller-manager", restart] {
        assert!(executed.contains(text), "{text} is not in {executed}");
    }
    let expected = ["gardener-conformance-mine publishes no node ports", "kind delete cluster"];
    run_with(&bare, &[]).assert_exit(3, &expected);
    env("down").assert_exit(0, &[]);
}

/// A ready cluster with the objects of a killed run, and a webhook and a namespace of others.
async fn used_cluster(kubeconfig: &Path) -> Cluster {
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
