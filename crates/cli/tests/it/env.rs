//! `env up` of the embedded API server: what it begins with, and what it says of what it has not.

use std::fs;
use std::path::Path;

use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};

use crate::program::{Told, call, program, told};

/// An environment; ended when it is dropped.
struct Up<'a> {
    folder: &'a Path,
    told: Told,
}

impl<'a> Up<'a> {
    fn with(folder: &'a Path, options: &[&str]) -> Self {
        let mut command = program(folder);
        command.args(["env", "up", "--name", "here"]).args(options);
        Self { folder, told: told(&command.output().unwrap()) }
    }

    async fn client(&self) -> Client {
        let kubeconfig = Kubeconfig::read_from(self.told.out.trim()).unwrap();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        Client::try_from(config.unwrap()).unwrap()
    }

    /// Names of the objects of a kind.
    async fn names(&self, (group, version, kind, plural): (&str, &str, &str, &str)) -> Vec<String> {
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version,
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        };
        let objects: Api<DynamicObject> = Api::all_with(self.client().await, &resource);
        let list = objects.list(&ListParams::default()).await.unwrap();
        list.items.into_iter().filter_map(|object| object.metadata.name).collect()
    }

    async fn crds(&self) -> Vec<String> {
        self.names(("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions"))
            .await
    }
}

impl Drop for Up<'_> {
    fn drop(&mut self) {
        call(self.folder, &["env", "down", "--name", "here"]).says(0, &[]);
    }
}

const GADGETS: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
";

#[tokio::test]
async fn an_environment_may_begin_without_definitions_and_with_controllers() {
    let folder = tempfile::tempdir().unwrap();
    let up = Up::with(folder.path(), &["--crds", "none", "--with", "controller-manager"]);
    up.told.says(0, &[]);
    assert_eq!(up.crds().await, Vec::<String>::new());
    let accounts = ("", "v1", "ServiceAccount", "serviceaccounts");
    // The controllers are clients as any other: they may still be at it.
    let seen = async {
        while up.names(accounts).await.len() < 4 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), seen).await.unwrap();
    assert!(up.names(("", "v1", "Service", "services")).await.contains(&"kubernetes".to_owned()));
}

#[tokio::test]
async fn an_environment_may_begin_with_the_definitions_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let definitions = folder.path().join("crds");
    fs::create_dir(&definitions).unwrap();
    fs::write(definitions.join("gadgets.yaml"), format!("kind: Secret\n---\n{GADGETS}")).unwrap();
    fs::write(definitions.join("notes.txt"), "no YAML: [").unwrap();
    let up = Up::with(folder.path(), &["--crds", "crds"]);
    up.told.says(0, &["no ServiceAccount `default`", "--with controller-manager"]);
    assert_eq!(up.crds().await, ["gadgets.example.com"]);
    let services = up.names(("apiregistration.k8s.io", "v1", "APIService", "apiservices")).await;
    assert!(services.contains(&"v1.example.com".to_owned()), "{services:?}");
    assert_eq!(up.names(("", "v1", "ServiceAccount", "serviceaccounts")).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_environment_begins_with_the_definitions_of_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let up = Up::with(folder.path(), &["--api-audiences", "one,gardener"]);
    up.told.says(0, &[]);
    assert_eq!(up.crds().await.len(), schema::crds().len());
    let token = serde_json::json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {"name": "a"}, "spec": {},
    });
    let client = up.client().await;
    let post = async |path: &str, body: String| {
        let request = http::Request::post(path).header("content-type", "application/json");
        client.request::<serde_json::Value>(request.body(body.into_bytes()).unwrap()).await.unwrap()
    };
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    post(accounts, serde_json::json!({"metadata": {"name": "a"}}).to_string()).await;
    let answer = post(&format!("{accounts}/a/token"), token.to_string()).await;
    assert_eq!(answer["spec"]["audiences"], serde_json::json!(["one", "gardener"]));
}

#[test]
fn definitions_that_cannot_be_had_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::create_dir(here.join("empty")).unwrap();
    fs::create_dir(here.join("odd")).unwrap();
    fs::create_dir(here.join("faulty")).unwrap();
    fs::write(here.join("odd/a.yaml"), "a: [").unwrap();
    fs::write(here.join("faulty/a.yaml"), GADGETS.replace("gadgets.example.com", "other.example.com"))
        .unwrap();
    let up = ["env", "up", "--foreground", "--crds"];
    call(here, &[&up[..], &["nowhere"]].concat()).says(2, &["failed to read nowhere"]);
    call(here, &[&up[..], &["empty"]].concat()).says(2, &["no file of empty holds", "--crds none"]);
    call(here, &[&up[..], &["odd"]].concat()).says(2, &["failed to read odd/a.yaml"]);
    call(here, &[&up[..], &["faulty"]].concat()).says(3, &["other.example.com", "must be spec.names.plural"]);
    call(here, &["env", "up", "--substrate", "kind", "--crds", "none"]).says(2, &["--crds is for"]);
    call(here, &["env", "up", "--substrate", "envtest", "--api-audiences", "a"])
        .says(2, &["--api-audiences is for --substrate embedded"]);
}
