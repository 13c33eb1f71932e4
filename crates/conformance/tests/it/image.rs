//! Targets that are images: the calls of the Docker client, recorded by a script in its place, and its errors.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world fails")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use conformance::target::command::{CommandTarget, Image};
use conformance::target::url::TargetDescription;
use conformance::target::{Configured, Facts, Target, Trial};
use contract::document::target::{TargetConfig, TargetSpec};
use serde_json::{Value, json};
use substrate::docker::Docker;

use crate::started::{refusal, refusal_with};

const IMAGE: &str = "registry.example/team/webhook:v1";
/// An engine on this machine that has the image. Records its calls, and the files of containers.
const ENGINE: &str = r#"folder=${0%/*}
echo "$@" >> "$folder/asked"
case "$1" in
info) echo '{"ServerVersion": "20.10.24"}' ;;
context) echo unix:///var/run/docker.sock ;;
create) for flag in "$@"; do case "$flag" in --env-file=*) cp "${flag#*=}" "$folder/environment" ;; esac; done ;;
cp) cp -a "${2%/.}" "$folder/given" ;;
esac"#;

/// A client that is this script.
fn client(folder: &Path, script: &str) -> Docker {
    let path = folder.join("docker");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Docker::at(path)
}

fn webhook(docker: Docker) -> CommandTarget {
    let set = json!({"port": "<port>", "certs": "<certDir>"}).as_object().cloned().unwrap();
    let spec = TargetSpec {
        image: Some(IMAGE.to_owned()),
        args: vec!["--config=<config>".to_owned()],
        env: BTreeMap::from([("KUBECONFIG".to_owned(), "/somewhere".to_owned())]),
        config: Some(TargetConfig { set, ..TargetConfig::default() }),
        effective: vec!["/print".to_owned(), "<config>".to_owned()],
        ..TargetSpec::default()
    };
    let image = Some(Image::of(IMAGE.to_owned(), docker));
    CommandTarget {
        known: TargetDescription::default(),
        spec,
        folder: PathBuf::new(),
        image,
        decisions: None,
    }
}

/// The calls of the client, with the container's name and its folder on this machine replaced.
fn docker_calls(folder: &Path) -> Vec<String> {
    let docker_calls = fs::read_to_string(folder.join("asked")).unwrap();
    let name = docker_calls.split_once("--name ").unwrap().1.split_once(' ').unwrap().0.to_owned();
    assert!(name.starts_with("gardener-conformance-"), "{name}");
    let here = std::env::temp_dir().join(&name).display().to_string();
    docker_calls.lines().map(|line| line.replace(&here, "HERE").replace(&name, "NAME")).collect()
}

#[tokio::test]
async fn a_container_is_created_gets_its_files_and_is_started_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let ends = r#"case "$1" in start) echo words; echo more >&2; exit 3 ;; esac"#;
    let text = refusal(&webhook(client(folder.path(), &format!("{ENGINE}\n{ends}")))).await;
    let want = format!("{IMAGE} ended before it was ready (exit status: 3); its last output:\n");
    assert!(text.starts_with(&want) && text.contains("words") && text.contains("more"), "{text}");
    let want = [
        "info --format {{json .}}",
        &format!("image inspect --format {{{{.Id}}}} {IMAGE}"),
        "context inspect --format {{.Endpoints.docker.Host}}",
        &format!(
            "create --name NAME --label=conformance.gardener.cloud/target=NAME --env-file=HERE/environment --network=host \
             --userns=host {IMAGE} --config=/gardener-conformance/config.yaml"
        ),
        "cp HERE/files/. NAME:/gardener-conformance",
        "start --attach NAME",
        "inspect --format {{if eq .State.Status \"created\"}}never {{.State.Error}}{{end}} NAME",
        "rm --force --volumes NAME",
    ];
    assert_eq!(docker_calls(folder.path()), want);
    let environment = fs::read_to_string(folder.path().join("environment")).unwrap();
    assert_eq!(environment, "KUBECONFIG=/somewhere\n");
    let given = folder.path().join("given");
    let config: Value =
        serde_json::from_str(&fs::read_to_string(given.join("config.yaml")).unwrap()).unwrap();
    assert_eq!(config["certs"], "/gardener-conformance/certs");
    assert!(config["port"].is_u64(), "{config}");
    for file in ["config.yaml", "certs/tls.crt", "certs/tls.key", "certs/ca.crt"] {
        let mode = given.join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "{file} is for every user of the image");
    }
    assert_eq!(given.metadata().unwrap().permissions().mode() & 0o777, 0o755);
}

#[tokio::test]
async fn a_configuration_is_printed_by_a_container_too() {
    let folder = tempfile::tempdir().unwrap();
    let prints = r#"case "$1" in start) echo noise >&2; cat "$folder/given/config.yaml" ;; esac"#;
    let target = webhook(client(folder.path(), &format!("{ENGINE}\n{prints}")));
    let config = json!({"a": 1});
    let trial = Trial { component: "webhook", config: &config, effective: true, facts: None };
    let configured = target.configure(trial).await.unwrap();
    assert_eq!(configured, Some(Configured::Started { warnings: None, effective: Some(json!({"a": 1})) }));
    let docker_calls = docker_calls(folder.path());
    let create = format!(
        "create --name NAME --label=conformance.gardener.cloud/target=NAME --env-file=HERE/environment --network=host --userns=host \
         --entrypoint=/print {IMAGE} /gardener-conformance/config.yaml"
    );
    assert!(docker_calls.contains(&create), "{docker_calls:#?}");
    assert_eq!(docker_calls.last().map(String::as_str), Some("rm --force --volumes NAME"));
}

#[tokio::test]
async fn a_missing_image_is_pulled_or_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let engine = |script: &str| webhook(client(folder.path(), script));
    let lacks = r#"case "$1" in image) exit 1 ;; pull) echo 'no such host' >&2; exit 1 ;; esac"#;
    let lacking = engine(&format!("{ENGINE}\n{lacks}"));
    for _ in 0..2 {
        let text = refusal(&lacking).await;
        let want = format!(
            "failed to create a container of {IMAGE}: failed to pull the image: no such host; run `docker build`"
        );
        assert!(text.starts_with(&want), "{text}");
    }
    let pulls = fs::read_to_string(folder.path().join("asked")).unwrap().matches("pull ").count();
    assert_eq!(pulls, 1, "a failed pull is not repeated for each configuration");
    let text = refusal(&engine("echo nobody there >&2; exit 1")).await;
    let want = format!(
        "failed to create a container of {IMAGE}: failed to reach a Docker engine: failed to run `docker info`: nobody there; start"
    );
    assert!(text.starts_with(&want), "{text}");
}

/// Otherwise the webhook would seem to refuse its configuration.
#[tokio::test]
async fn a_failure_of_the_engine_says_nothing_about_the_image() {
    let taken = r#"case "$1" in create) echo 'port is already allocated' >&2; exit 125 ;; esac"#;
    let uncopied = r#"case "$1" in cp) echo 'no space left' >&2; exit 1 ;; esac"#;
    let unstarted = r#"case "$1" in start) exit 1 ;; inspect) echo 'never exec: no such file' ;; esac"#;
    for (script, message, tries) in [
        (taken, "port is already allocated", 4),
        (uncopied, "no space left", 1),
        (unstarted, "exec: no such file", 1),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let target = webhook(client(folder.path(), &format!("{ENGINE}\n{script}")));
        let config = json!({});
        for effective in [false, true] {
            let trial = Trial { component: "webhook", config: &config, effective, facts: None };
            let error = target.configure(trial).await.unwrap_err();
            assert_eq!(error.to_string(), format!("failed to create a container of {IMAGE}: {message}"));
        }
        let docker_calls = fs::read_to_string(folder.path().join("asked")).unwrap();
        assert_eq!(docker_calls.matches("create ").count(), tries + 1, "a port in use is replaced by others");
        assert_eq!(docker_calls.matches("rm --force").count(), tries + 1, "{docker_calls}");
    }
}

#[tokio::test]
async fn an_abandoned_container_is_removed_when_the_engine_has_created_it() {
    let slow = r#"case "$1" in create) sleep 1; echo made >> "$folder/asked" ;; esac"#;
    for effective in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let target = webhook(client(folder.path(), &format!("{ENGINE}\n{slow}")));
        let config = json!({});
        let trial = Trial { component: "webhook", config: &config, effective, facts: None };
        let docker_calls = folder.path().join("asked");
        let begins = async {
            while !fs::read_to_string(&docker_calls).unwrap_or_default().contains("create ") {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let is_there = tokio::select! {
            _ = target.configure(trial) => true,
            () = begins => false,
        };
        assert!(!is_there, "it was there at once");
        let begun = Instant::now();
        loop {
            let docker_calls = fs::read_to_string(folder.path().join("asked")).unwrap();
            if docker_calls
                .split_once("made\n")
                .is_some_and(|(_, then)| then.contains("rm --force --volumes"))
            {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "it stays: {docker_calls}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Containers of a rootless engine cannot reach the loopback address of the machine.
#[tokio::test]
async fn a_target_that_reads_no_cluster_needs_no_kubeconfig() {
    let folder = tempfile::tempdir().unwrap();
    let rootless = ENGINE.replace(r#""20.10.24""#, r#""20.10.24", "SecurityOptions": ["name=rootless"]"#);
    let ends = r#"case "$1" in start) echo started; exit 3 ;; esac"#;
    let kubeconfig = folder.path().join("kubeconfig");
    let server = json!({"clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}]});
    fs::write(&kubeconfig, server.to_string()).unwrap();
    let apiserver = substrate::embedded::Embedded::start(false, None).await.unwrap();
    let facts = Facts { client: apiserver.client(), kubeconfig: Some(kubeconfig) };
    let mut target = webhook(client(folder.path(), &format!("{rootless}\n{ends}")));
    let text = refusal_with(&target, Some(facts.clone())).await;
    assert!(text.ends_with("its last output:\nstarted"), "{text}");
    assert!(
        !folder.path().join("given/source.kubeconfig").exists(),
        "it got credentials that it does not use"
    );
    target.spec.env.insert("KUBECONFIG".to_owned(), "<sourceKubeconfig>".to_owned());
    let text = refusal_with(&target, Some(facts)).await;
    assert!(
        text.starts_with(
            "failed to connect the container to https://127.0.0.1:1: containers of a rootless engine"
        ),
        "{text}"
    );
}

#[tokio::test]
async fn a_variable_of_several_lines_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut target = webhook(client(folder.path(), ENGINE));
    target.spec.env.insert("KEY".to_owned(), "one\ntwo".to_owned());
    let text = refusal(&target).await;
    assert_eq!(
        text,
        "failed to read target env KEY: environment variables of a container must have one line"
    );
}
