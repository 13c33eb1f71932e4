//! `env up` with the embedded API server: its CRDs, controllers, audiences, and error messages.

use std::fs;
use std::path::Path;

use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};

use crate::program::{CallResult, call, program, result_of};

/// A started environment; dropping it stops it.
struct Environment<'a> {
    folder: &'a Path,
    result: CallResult,
}

impl<'a> Environment<'a> {
    fn up(folder: &'a Path, options: &[&str]) -> Self {
        let mut command = program(folder);
        command.args(["env", "up", "--name", "here"]).args(options);
        Self { folder, result: result_of(&command.output().unwrap()) }
    }

    async fn client(&self) -> Client {
        let kubeconfig = Kubeconfig::read_from(self.result.out.trim()).unwrap();
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

impl Drop for Environment<'_> {
    fn drop(&mut self) {
        call(self.folder, &["env", "down", "--name", "here"]).assert_exit(0, &[]);
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
    let environment = Environment::up(folder.path(), &["--crds", "none", "--with", "controller-manager"]);
    environment.result.assert_exit(0, &[]);
    assert_eq!(environment.crds().await, Vec::<String>::new());
    let accounts = ("", "v1", "ServiceAccount", "serviceaccounts");
    // The controllers may not have finished yet.
    let created = async {
        while environment.names(accounts).await.len() < 4 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), created).await.unwrap();
    assert!(environment.names(("", "v1", "Service", "services")).await.contains(&"kubernetes".to_owned()));
}

#[tokio::test]
async fn an_environment_may_begin_with_the_definitions_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let definitions = folder.path().join("crds");
    fs::create_dir(&definitions).unwrap();
    fs::write(definitions.join("gadgets.yaml"), format!("kind: Secret\n---\n{GADGETS}")).unwrap();
    fs::write(definitions.join("notes.txt"), "no YAML: [").unwrap();
    let environment = Environment::up(folder.path(), &["--crds", "crds"]);
    environment.result.assert_exit(0, &["no ServiceAccount `default`", "--with controller-manager"]);
    assert_eq!(environment.crds().await, ["gadgets.example.com"]);
    let services = environment.names(("apiregistration.k8s.io", "v1", "APIService", "apiservices")).await;
    assert!(services.contains(&"v1.example.com".to_owned()), "{services:?}");
    assert_eq!(
        environment.names(("", "v1", "ServiceAccount", "serviceaccounts")).await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn an_environment_may_serve_gardeners_kinds_itself() {
    for options in [&["--substrate", "garden"][..], &["--garden"]] {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::up(folder.path(), options);
        environment.result.assert_exit(0, &["no ServiceAccount `default`"]);
        let crds = environment.crds().await;
        assert!(crds.iter().all(|name| !name.ends_with(".core.gardener.cloud")), "{crds:?}");
        let shoots = ("core.gardener.cloud", "v1beta1", "Shoot", "shoots");
        assert_eq!(environment.names(shoots).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn an_environment_begins_with_the_definitions_of_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::up(folder.path(), &["--api-audiences", "one,gardener"]);
    environment.result.assert_exit(0, &[]);
    assert_eq!(environment.crds().await.len(), schema::crds().len());
    let token = serde_json::json!({
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {"name": "a"}, "spec": {},
    });
    let client = environment.client().await;
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
fn unknown_admission_plugins_are_reported_with_the_known_ones() {
    let folder = tempfile::tempdir().unwrap();
    let up = ["env", "up", "--garden"];
    let table: [(&[&str], &[&str]); 3] = [
        (
            &["--enable-admission-plugins", "Bastion,X"],
            &["admission plugin \"X\" is unknown", "known are ResourceReferenceManager"],
        ),
        (&["--disable-admission-plugins", "X"], &["admission plugin \"X\" is unknown"]),
        (
            &["--enable-admission-plugins", "Bastion", "--disable-admission-plugins", "Bastion"],
            &["admission plugin \"Bastion\" is both enabled and disabled"],
        ),
    ];
    for (flags, texts) in table {
        call(folder.path(), &[&up[..], flags].concat()).assert_exit(2, texts);
    }
    let without = ["env", "up", "--enable-admission-plugins", "Bastion"];
    call(folder.path(), &without).assert_exit(2, &["--garden"]);
}

#[test]
fn invalid_crds_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::create_dir(here.join("empty")).unwrap();
    fs::create_dir(here.join("odd")).unwrap();
    fs::create_dir(here.join("faulty")).unwrap();
    fs::write(here.join("odd/a.yaml"), "a: [").unwrap();
    fs::write(here.join("faulty/a.yaml"), GADGETS.replace("gadgets.example.com", "other.example.com"))
        .unwrap();
    let up = ["env", "up", "--foreground", "--crds"];
    call(here, &[&up[..], &["nowhere"]].concat()).assert_exit(2, &["failed to read nowhere"]);
    call(here, &[&up[..], &["empty"]].concat())
        .assert_exit(2, &["no file in empty contains a CustomResourceDefinition", "--crds none"]);
    call(here, &[&up[..], &["odd"]].concat()).assert_exit(2, &["failed to read odd/a.yaml"]);
    call(here, &[&up[..], &["faulty"]].concat())
        .assert_exit(2, &["other.example.com", "must be spec.names.plural"]);
    // In the background, too: the kind of case 66.
    call(here, &["env", "up", "--crds", "nowhere"]).assert_exit(2, &["failed to read nowhere"]);
    call(here, &["env", "up", "--substrate", "kind", "--crds", "none"]).assert_exit(2, &["--crds is for"]);
    call(here, &["env", "up", "--substrate", "envtest", "--api-audiences", "a"])
        .assert_exit(2, &["--api-audiences is for --substrate embedded"]);
}

#[tokio::test]
async fn an_environment_has_the_requested_version_of_kubernetes() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::up(folder.path(), &["--crds", "none", "--kubernetes", "1.24"]);
    environment.result.assert_exit(0, &[]);
    let version = environment.client().await.apiserver_version().await.unwrap();
    assert_eq!((version.git_version.as_str(), version.minor.as_str()), ("v1.24.17", "24"));
    let budgets = ("policy", "v1beta1", "PodSecurityPolicy", "podsecuritypolicies");
    assert_eq!(environment.names(budgets).await, Vec::<String>::new());
}

#[test]
fn unknown_versions_of_kubernetes_are_refused_with_the_known_ones() {
    let folder = tempfile::tempdir().unwrap();
    let commands: [&[&str]; 4] = [
        &["env", "up"],
        &["run", "--clause", "GRM-PSN-001"],
        &["verify", "--target", "built-in"],
        &["envtest-assets", "assets"],
    ];
    for command in commands {
        let with = |version: &str| call(folder.path(), &[command, &["--kubernetes", version]].concat());
        with("1.23.4")
            .assert_exit(2, &["--kubernetes", "Kubernetes 1.23.4 is not known", "1.24, 1.25", "1.36"]);
        with("new").assert_exit(2, &["--kubernetes", "\"new\" is not a version", "write 1.28 or 1.28.4"]);
    }
    let kind = ["--substrate", "kind", "--kubernetes", "1.28"];
    call(folder.path(), &[&["env", "up"], &kind[..]].concat()).assert_exit(2, &["--kubernetes is for"]);
    call(folder.path(), &[&["run"], &kind[..]].concat()).assert_exit(2, &["--kubernetes is for"]);
    let url = ["verify", "--target", "url=https://127.0.0.1:1", "--insecure", "--kubernetes", "1.28"];
    call(folder.path(), &url).assert_exit(2, &["--kubernetes is for a target that the tool starts"]);
    let envtest = ["env", "up", "--foreground", "--substrate", "envtest", "--kubernetes", "1.31.1"];
    let mut command = program(folder.path());
    let home = folder.path().join("home");
    let refused = command.args(envtest).env_remove("KUBEBUILDER_ASSETS").env("HOME", &home);
    let refused = refused.env_remove("XDG_CACHE_HOME").env_remove("XDG_DATA_HOME").output().unwrap();
    result_of(&refused).assert_exit(2, &["--kubernetes 1.31.1", "builds 1.28.15", "builds 1.36.3"]);
}
