//! Targets that are images: what the Docker client is asked for, by a script in its place, and what is told when that fails.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use conformance::target::command::{CommandTarget, Image};
use conformance::target::url::Known;
use conformance::target::{Configured, Facts, Target, Trial};
use contract::document::target::{TargetConfig, TargetSpec};
use serde_json::{Value, json};
use substrate::docker::Docker;

use crate::started::refusal;

const IMAGE: &str = "registry.example/team/webhook:v1";
/// An engine on this machine that has the image. What it is asked for is written down, and so is what a container is given.
const ENGINE: &str = r#"folder=${0%/*}
echo "$@" >> "$folder/asked"
case "$1" in
info) echo '{"ServerVersion": "20.10.24"}' ;;
context) echo unix:///var/run/docker.sock ;;
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
    CommandTarget { known: Known::default(), spec, folder: PathBuf::new(), image, decisions: None }
}

/// What the client was asked for, with the container's name and its folder of this machine left out.
fn asked(folder: &Path) -> Vec<String> {
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    let name = asked.split_once("--name ").unwrap().1.split_once(' ').unwrap().0.to_owned();
    assert!(name.starts_with("gardener-conformance-"), "{name}");
    let here = std::env::temp_dir().join(&name).display().to_string();
    asked.lines().map(|line| line.replace(&here, "HERE").replace(&name, "NAME")).collect()
}

#[tokio::test]
async fn a_container_is_made_given_its_files_started_and_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let ends = r#"case "$1" in start) echo words; echo more >&2; exit 3 ;; esac"#;
    let text = refusal(&webhook(client(folder.path(), &format!("{ENGINE}\n{ends}")))).await;
    let want = format!("{IMAGE} ended before it was ready (exit status: 3); its last words:\n");
    assert!(text.starts_with(&want) && text.contains("words") && text.contains("more"), "{text}");
    let want = [
        "info --format {{json .}}",
        &format!("image inspect --format {{{{.Id}}}} {IMAGE}"),
        "context inspect --format {{.Endpoints.docker.Host}}",
        &format!(
            "create --name NAME --rm --label=conformance.gardener.cloud/target=NAME --network=host --env=KUBECONFIG=/somewhere \
             {IMAGE} --config=/gardener-conformance/config.yaml"
        ),
        "cp HERE/files/. NAME:/gardener-conformance",
        "start --attach NAME",
        "rm --force --volumes NAME",
    ];
    assert_eq!(asked(folder.path()), want);
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
    let asked = asked(folder.path());
    let create = format!(
        "create --name NAME --rm --label=conformance.gardener.cloud/target=NAME --network=host --entrypoint=/print {IMAGE} \
         /gardener-conformance/config.yaml"
    );
    assert!(asked.contains(&create), "{asked:#?}");
    assert_eq!(asked.last().map(String::as_str), Some("rm --force --volumes NAME"));
}

#[tokio::test]
async fn what_the_engine_lacks_is_pulled_or_told_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let lacks = r#"case "$1" in image) exit 1 ;; pull) echo 'no such host' >&2; exit 1 ;; esac"#;
    let text = refusal(&webhook(client(folder.path(), &format!("{ENGINE}\n{lacks}")))).await;
    let want = format!("failed to get the image {IMAGE}: failed to pull it: no such host; `docker build`");
    assert!(text.starts_with(&want), "{text}");
    let text = refusal(&webhook(client(folder.path(), "echo nobody there >&2; exit 1"))).await;
    let want = "failed to reach a Docker engine: failed to ask Docker: nobody there; start Docker";
    assert!(text.starts_with(want), "{text}");
    let broken = r#"case "$1" in create) echo 'port is already allocated' >&2; exit 125 ;; esac"#;
    let text = refusal(&webhook(client(folder.path(), &format!("{ENGINE}\n{broken}")))).await;
    assert!(text.ends_with("its last words:\nport is already allocated"), "{text}");
    let tries = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert_eq!(tries.matches("create ").count(), 4, "a port that was taken is tried with others");
}

/// An engine that runs without root leads its containers to no loopback address but their own.
#[tokio::test]
async fn who_reads_no_cluster_can_do_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let rootless = ENGINE.replace(r#""20.10.24""#, r#""20.10.24", "SecurityOptions": ["name=rootless"]"#);
    let ends = r#"case "$1" in start) echo started; exit 3 ;; esac"#;
    let kubeconfig = folder.path().join("kubeconfig");
    let server = json!({"clusters": [{"name": "a", "cluster": {"server": "https://127.0.0.1:1"}}]});
    fs::write(&kubeconfig, server.to_string()).unwrap();
    let apiserver = substrate::embedded::Embedded::start(false, None).await.unwrap();
    let facts = Facts { client: apiserver.client(), kubeconfig: Some(kubeconfig) };
    let mut target = webhook(client(folder.path(), &format!("{rootless}\n{ends}")));
    let text = crate::started::refusal_with(&target, Some(facts.clone())).await;
    assert!(text.ends_with("its last words:\nstarted"), "{text}");
    target.spec.env.insert("KUBECONFIG".to_owned(), "<sourceKubeconfig>".to_owned());
    let text = crate::started::refusal_with(&target, Some(facts)).await;
    assert!(
        text.contains("failed to lead the container to https://127.0.0.1:1: a rootless engine"),
        "{text}"
    );
}
