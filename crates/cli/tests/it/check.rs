//! `check objects`: compares what Gardener emits, rendered and live, with the contracts.

use std::fs;
use std::path::Path;

use contract::model::Catalog;
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use schema::Kinds;
use serde_json::{Value, json};

use crate::program::{CallResult, call};
use crate::shards::{merge, read, timeless};

#[path = "../../examples/namespaces/emitted.rs"]
mod gardener;

/// The objects of a namespace as Gardener emits them.
fn emitted(namespace: &str) -> Vec<Value> {
    let fixtures = Catalog::load(&contracts::files()).unwrap().fixtures;
    gardener::OBJECTS
        .iter()
        .map(|name| gardener::in_namespace(&fixtures[*name], namespace).unwrap())
        .collect()
}

fn yaml(objects: &[Value]) -> String {
    objects
        .iter()
        .flat_map(|object| ["---\n".to_owned(), formats::yaml::to_string(object).unwrap()])
        .collect()
}

fn check(folder: &Path, arguments: &[&str]) -> CallResult {
    call(folder, &[&["check", "objects"][..], arguments].concat())
}

/// Adds a flag to the one container of a Deployment.
fn add_flag(objects: &mut [Value], name: &str, flag: &str) {
    let object = objects.iter_mut().find(|object| object["metadata"]["name"] == name).unwrap();
    let command = &mut object["spec"]["template"]["spec"]["containers"][0]["command"];
    command.as_array_mut().unwrap().push(json!(flag));
}

#[test]
fn what_gardener_emits_is_conformant_however_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (emitted("shoot--a"), emitted("shoot--b"));
    fs::create_dir_all(folder.path().join("m/below")).unwrap();
    // The objects of a namespace may be in several files, in lists, and next to other objects.
    fs::write(folder.path().join("m/a.yaml"), yaml(&a[..4])).unwrap();
    fs::write(
        folder.path().join("m/below/a.json"),
        json!({"apiVersion": "v1", "kind": "List", "items": a[4..]}).to_string(),
    )
    .unwrap();
    let other = "# first\n\n---\napiVersion: example.com/v1\nkind: Other\n---\n";
    fs::write(folder.path().join("m/b.yml"), format!("{other}{}", yaml(&b))).unwrap();
    fs::write(folder.path().join("m/notes.txt"), "no manifest").unwrap();
    check(folder.path(), &["-f", "m"])
        .assert_exit(0, &["objects of 3 files, 2 namespaces", "verdict  conformant"]);
    let json = check(
        folder.path(),
        &["-f", "m/a.yaml", "m/below", "m/b.yml", "-o", "json", "--gardener", "v1.82.0"],
    );
    let report: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &report["target"]["version"]), (0, &json!("v1.82.0")));
    let names = |id: &str| -> Vec<Value> {
        let clauses = report["contracts"][0]["clauses"].as_array().unwrap();
        let clause = clauses.iter().find(|clause| clause["id"] == id).unwrap();
        clause["cases"].as_array().unwrap().iter().map(|case| json!([case["name"], case["status"]])).collect()
    };
    assert_eq!(names("CP-020"), [json!(["2 objects as they should be", "passed"])]);
    assert_eq!(names("CP-035"), [json!(["2 objects as they should be", "passed"])]);
    assert_eq!(names("CP-005"), [json!(["nothing", "skipped"])]);
    assert!(folder.path().join("reports/latest/report.html").exists());
}

#[test]
fn strict_binds_clauses_that_gardener_itself_does_not_keep() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), yaml(&emitted("shoot--a"))).unwrap();
    check(folder.path(), &["-f", "a.yaml", "--gardener", "v1.82.0"])
        .assert_exit(0, &["verdict  conformant", "Gardener v1.82.0"]);
    check(folder.path(), &["-f", "a.yaml", "--gardener", "v1.82.0", "--strict"]).assert_exit(
        1,
        &["✗ CP-136", "MUST", "verdict  not conformant", "Gardener v1.82.0, strict", "--strict"],
    );
    check(folder.path(), &["-f", "a.yaml", "--gardener", "new"]).assert_exit(2, &["not a release"]);
}

#[test]
fn a_breach_is_reported_with_its_object_and_file_and_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let (mut a, b) = (emitted("shoot--a"), emitted("shoot--b"));
    add_flag(&mut a, "kube-controller-manager", "--cloud-provider=external");
    fs::write(folder.path().join("all.yaml"), format!("{}{}", yaml(&b), yaml(&a))).unwrap();
    let result = check(folder.path(), &["-f", "all.yaml"]);
    let case = "CP-050/shoot--a/deployment/kube-controller-manager";
    result.assert_exit(
        1,
        &["✗ CP-050", "MUST", "--cloud-provider: external", "all.yaml:", case, "verdict  not conformant"],
    );
    assert_eq!(result.out.matches("✗ CP-").count(), 1, "{}", result.out);
    check(folder.path(), &["-f", "all.yaml", "--case", case])
        .assert_exit(1, &["1 clause ", "✗ CP-050", "1 namespace"]);
    check(folder.path(), &["-f", "all.yaml", "--clause", "CP-050", "--namespace", "shoot--b"])
        .assert_exit(0, &["verdict  conformant"]);
    let waivers = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Waivers\nwaivers:\n- {clause: CP-050, target: gardener, \
                   owner: a, reason: b, link: https://example.com/1, expires: 2999-01-01}\n";
    fs::write(folder.path().join("w.yaml"), waivers).unwrap();
    check(folder.path(), &["-f", "all.yaml", "--waivers", "w.yaml"]).assert_exit(0, &["w 1 waived"]);
}

#[test]
fn what_a_control_plane_cannot_do_without_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let mut objects = emitted("shoot--a");
    for object in &mut objects {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let kind = object["kind"].as_str().unwrap().to_owned();
        let labels = object["metadata"]["labels"].as_object_mut();
        match (kind.as_str(), name.as_str()) {
            ("Namespace", _) => drop(labels.unwrap().remove("gardener.cloud/role")),
            ("Deployment", "kube-scheduler") | ("Etcd", "etcd-main") => drop(labels.unwrap().remove("role")),
            ("Deployment", "kube-apiserver") => {
                let args = &mut object["spec"]["template"]["spec"]["containers"][0]["args"];
                let is_kept = |flag: &Value| !flag.as_str().unwrap().starts_with("--tls-cert-file=");
                args.as_array_mut().unwrap().retain(is_kept);
            }
            _ => {}
        }
    }
    fs::write(folder.path().join("all.yaml"), yaml(&objects)).unwrap();
    let result = check(folder.path(), &["-f", "all.yaml"]);
    let words = ["✗ CP-143", "--tls-cert-file: present  wanted", "metadata.labels.role"];
    result.assert_exit(1, &[&words[..], &["✗ CP-146", "✗ CP-148", "✗ CP-150"]].concat());
    assert_eq!(result.out.matches("✗ CP-").count(), 4, "{}", result.out);
}

#[test]
fn a_missing_object_is_a_breach_only_if_the_namespace_is_given() {
    let folder = tempfile::tempdir().unwrap();
    let all = emitted("shoot--a");
    fs::write(folder.path().join("whole.yaml"), yaml(&all[..7])).unwrap();
    fs::write(folder.path().join("part.yaml"), yaml(&all[1..4])).unwrap();
    check(folder.path(), &["-f", "whole.yaml"]).assert_exit(1, &["✗ CP-090"]);
    check(folder.path(), &["-f", "part.yaml"]).assert_exit(0, &["verdict  conformant"]);
}

/// The number of control planes that the fixtures make, and all of them as JSON documents, each in its own namespace.
fn matrix(change: impl Fn(&mut [Value])) -> (usize, String) {
    let fixtures = Catalog::load(&contracts::files()).unwrap().fixtures;
    let varied = gardener::control_planes(&fixtures);
    let text = |(at, (_, objects)): (usize, &(String, Vec<&Value>))| {
        let namespace = format!("shoot--dev--{at}");
        let moved = objects.iter().map(|object| gardener::in_namespace(object, &namespace).unwrap());
        let mut moved: Vec<Value> = moved.collect();
        change(&mut moved);
        let texts: Vec<String> = moved.iter().map(Value::to_string).collect();
        format!("---\n{}\n", texts.join("\n---\n"))
    };
    (varied.len(), varied.iter().enumerate().map(text).collect())
}

#[test]
fn every_control_plane_of_the_matrix_is_conformant() {
    let folder = tempfile::tempdir().unwrap();
    let (number, text) = matrix(|_| {});
    assert_eq!(number, 138);
    fs::write(folder.path().join("all.yaml"), text).unwrap();
    let namespaces = format!("{number} namespaces");
    let result = check(folder.path(), &["-f", "all.yaml", "--gardener", "v1.82.0"]);
    result.assert_exit(0, &[&namespaces, "verdict  conformant"]);
    assert!(!result.out.contains("did not run"), "{}", result.out);
    let result = check(folder.path(), &["-f", "all.yaml"]);
    result.assert_exit(
        0,
        &["clauses apply only to some releases of Gardener and did not run", "--gardener v1.82.0"],
    );
    let page = fs::read_to_string(folder.path().join("reports/latest/report.html")).unwrap();
    let markdown = fs::read_to_string(folder.path().join("reports/latest/report.md")).unwrap();
    for text in [page, markdown] {
        assert!(text.contains("did not run: set the release of these objects"), "{text}");
    }
}

#[test]
fn four_shards_of_namespaces_are_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (number, text) =
        matrix(|objects| add_flag(objects, "kube-controller-manager", "--cloud-provider=external"));
    fs::write(here.join("all.yaml"), text).unwrap();
    let waivers = "apiVersion: conformance.gardener.cloud/v1alpha1\nkind: Waivers\nwaivers:\n- {clause: CP-051, target: gardener, \
                   owner: a, reason: b, link: https://example.com/1, expires: 2999-01-01}\n";
    fs::write(here.join("w.yaml"), waivers).unwrap();
    let run = |report: &str, more: &[&str]| {
        let with = ["-f", "all.yaml", "--gardener", "v1.82.0", "--waivers", "w.yaml", "--report", report];
        check(here, &[&with[..], more].concat())
    };
    // The report has the first hundred breaches by name, and the number of the others.
    let more = format!("{} objects more", number - 100);
    run("whole", &[]).assert_exit(1, &["✗ CP-050", &format!("{number} namespaces"), "CP-051"]);
    let whole = read(here, "whole");
    let cases = |report: &Value| -> Vec<Value> {
        let clauses = report["contracts"][0]["clauses"].as_array().unwrap();
        let clause = clauses.iter().find(|clause| clause["id"] == "CP-050").unwrap();
        clause["cases"].as_array().unwrap().iter().map(|case| case["name"].clone()).collect()
    };
    assert_eq!((cases(&whole).len(), cases(&whole).last()), (101, Some(&json!(more))));
    for shard in ["1", "2", "3", "4"] {
        run(shard, &["--shard", &format!("{shard}/4")])
            .assert_exit(1, &[&format!("shard {shard} of 4"), "✗ CP-050"]);
    }
    merge(here, &["3", "1", "4", "2"])
        .assert_exit(1, &[&format!("{number} namespaces"), "merged/report.html"]);
    assert_eq!(timeless(read(here, "merged")), timeless(whole));
    merge(here, &["3", "1", "4"]).assert_exit(4, &["incomplete: shard 2/4 is missing"]);
    merge(here, &["whole", "1"]).assert_exit(2, &["whole is not a shard"]);
    // A shard without a namespace exits with 4, but can be merged.
    fs::write(here.join("one.yaml"), yaml(&emitted("shoot--a"))).unwrap();
    let parts = ["1/2", "2/2"].map(|shard| {
        check(here, &["-f", "one.yaml", "--shard", shard, "--report", &shard.replace('/', "-")]).code
    });
    assert!(parts == [0, 4] || parts == [4, 0], "{parts:?}");
    merge(here, &["1-2", "2-2"]).assert_exit(0, &["1 namespace", "verdict  conformant"]);
}

#[test]
fn invalid_input_is_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    write("torn.yaml", "a: b\n---\na: [b\n");
    write("kindless.yaml", "---\napiVersion: v1\nmetadata: {name: a}\n");
    write("text.yaml", "--- \njust words\n");
    write("list.yaml", "apiVersion: v1\nkind: List\nitems: [{metadata: {name: a}}]\n");
    write("others.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\n");
    write("good.yaml", &yaml(&emitted("shoot--a")));
    let table: [(&[&str], i32, &str); 11] = [
        (&[], 2, "<--file <PATH>...|--kubeconfig <FILE>>"),
        (&["-f", "none"], 2, "failed to read none"),
        (&["-f", "empty"], 2, "there is no .yaml, .yml or .json file below empty"),
        (&["-f", "torn.yaml"], 2, "torn.yaml:1: an object without apiVersion"),
        (&["-f", "kindless.yaml"], 2, "kindless.yaml:2: an object without kind"),
        (&["-f", "text.yaml"], 2, "text.yaml:2: an object without apiVersion"),
        (&["-f", "list.yaml"], 2, "list.yaml:1: an object without apiVersion"),
        (
            &["-f", "others.yaml"],
            4,
            "no object of the kinds that clauses are about: ControlPlane, Deployment",
        ),
        (&["-f", "good.yaml", "--namespace", "b"], 2, "is in the namespace \"b\""),
        (&["-f", "good.yaml", "--clause", "CP-013"], 2, "CP-013 is not a clause about what Gardener emits"),
        (&["-f", "good.yaml", "--gardener", "new"], 2, "not a release; write for example v1.82.0"),
    ];
    for (arguments, code, words) in table {
        check(folder.path(), arguments).assert_exit(code, &[words]);
    }
    write("torn.yaml", "apiVersion: v1\nkind: Pod\n---\na: [b\n");
    check(folder.path(), &["-f", "torn.yaml"]).assert_exit(2, &["torn.yaml:4:", "not valid YAML"]);
    check(folder.path(), &["--kubeconfig", "none"]).assert_exit(2, &["failed to read kubeconfig none"]);
}

#[test]
fn breaches_in_a_cluster_that_webhooks_may_have_caused_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let cluster = runtime.block_on(substrate::embedded::Embedded::start(true, None)).unwrap();
    let kubeconfig = cluster.kubeconfig().unwrap().display().to_string();
    let live =
        |arguments: &[&str]| check(folder.path(), &[&["--kubeconfig", &kubeconfig][..], arguments].concat());
    live(&[]).assert_exit(4, &["no namespace of", "has the label gardener.cloud/role=shoot"]);
    let entered = runtime.enter();
    let client = cluster.client();
    drop(entered);
    runtime.block_on(create(&client, emitted("shoot--a")));
    let mut b = emitted("shoot--b");
    add_flag(&mut b, "kube-controller-manager", "--cloud-provider=external");
    runtime.block_on(create(&client, b));
    live(&["--namespace", "shoot--a"]).assert_exit(0, &["objects of the cluster", "verdict  conformant"]);
    live(&[]).assert_exit(0, &["verdict  partial", "1 object"]);
    let result = live(&["--no-webhooks"]);
    result.assert_exit(
        1,
        &["✗ CP-050", "CP-050/shoot--b/deployment/kube-controller-manager", "--cloud-provider: external"],
    );
    live(&["--namespace", "shoot--c"])
        .assert_exit(2, &["there is no namespace \"shoot--c\"", "kubectl get namespaces"]);
    let text = fs::read_to_string(&kubeconfig).unwrap();
    let server = text.lines().find_map(|line| line.trim().strip_prefix("server: ")).unwrap();
    fs::write(folder.path().join("gone"), text.replace(server, "https://127.0.0.1:1")).unwrap();
    check(folder.path(), &["--kubeconfig", "gone"])
        .assert_exit(3, &["failed to reach the cluster", "still valid"]);
}

/// Creates objects in a cluster without webhooks.
async fn create(client: &kube::Client, objects: Vec<Value>) {
    for mut object in objects {
        for field in
            ["uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "finalizers"]
        {
            object["metadata"].as_object_mut().unwrap().remove(field);
        }
        if object["kind"] == "Service" {
            // The server assigns addresses.
            let spec = object["spec"].as_object_mut().unwrap();
            spec.retain(|field, _| !field.starts_with("clusterIP"));
        }
        let (version, kind) = (object["apiVersion"].as_str().unwrap(), object["kind"].as_str().unwrap());
        let known = Kinds::gardener().of_object(version, kind).unwrap();
        let (group, version) = (known.group.as_str(), known.version.as_str());
        let resource =
            ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), &known.plural);
        let object: DynamicObject = serde_json::from_value(object.clone()).unwrap();
        let api: Api<DynamicObject> = match &object.metadata.namespace {
            Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        };
        api.create(&PostParams::default(), &object).await.unwrap();
    }
}
