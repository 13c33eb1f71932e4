//! Provider profiles: the namespaces of control planes, errors, and what cases get of them.

use contract::document::SourceFile;
use contract::index::Index;
use contract::load;
use contract::model::Contract;
use serde_json::{Value, json};

const PROVIDERS: [&str; 8] =
    ["alicloud", "aws", "azure", "equinix-metal", "gcp", "local", "openstack", "vsphere"];

fn contract_of(name: &str) -> Contract {
    let index = Index::read(contracts::files()).expect("the contracts are well-formed");
    let found =
        index.contracts().iter().find(|outline| outline.component == "controlplane" && outline.name == name);
    index.expand(found.expect("there is such a contract")).expect("the contract is well-formed")
}

/// The objects of a case of a clause, for a provider.
fn surroundings(contract: &Contract, clause: &str, case: &str) -> (Vec<Value>, Vec<Value>) {
    let clause = contract.clauses.iter().find(|found| found.id == clause).expect("there is such a clause");
    let case = clause.cases.iter().find(|found| found.name.contains(case)).expect("there is such a case");
    (case.given.surroundings.as_deref().unwrap_or_default().to_vec(), case.given.cluster.clone())
}

fn object<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let found = objects.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.expect("there is such an object")
}

#[test]
fn the_public_providers_have_profiles_with_the_objects_that_their_webhooks_read() {
    let profiles = load::profiles(&contracts::files(), "controlplane").unwrap().unwrap();
    assert_eq!(profiles.names(), PROVIDERS);
    let contract = contract_of("deployments");
    for provider in PROVIDERS {
        let provider_type = profiles.type_of(provider).to_owned();
        let surrounded = contract.clone().of_provider(&provider_type).surrounded(Some(provider), &[]);
        let (objects, _) = surroundings(&surrounded, "CP-128", "1.22");
        let cluster = object(&objects, "Cluster", "shoot--dev--app");
        let api = format!("{provider_type}.provider.extensions.gardener.cloud/v1alpha1");
        let text = |path: &str| cluster.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        assert_eq!(text("/spec/cloudProfile/spec/providerConfig/apiVersion"), api);
        assert_eq!(text("/spec/cloudProfile/spec/type"), provider_type);
        assert_eq!(text("/spec/seed/spec/provider/type"), provider_type);
        assert_eq!(text("/spec/shoot/status/technicalID"), "shoot--dev--app");
        // The version of the kube-apiserver that the case is about.
        assert!(text("/spec/shoot/spec/kubernetes/version").starts_with("1.22."), "{provider}");
        for kind in ["Infrastructure", "ControlPlane", "Worker"] {
            let found = object(&objects, kind, "app");
            assert_eq!(found["spec"]["type"], provider_type.as_str(), "{kind}");
            assert_eq!(found["status"]["lastOperation"]["state"], "Succeeded", "{kind}");
        }
        if provider != "local" {
            assert_eq!(text("/spec/shoot/spec/provider/infrastructureConfig/apiVersion"), api);
            assert_eq!(text("/spec/shoot/spec/provider/controlPlaneConfig/apiVersion"), api);
            let infrastructure = object(&objects, "Infrastructure", "app");
            assert_eq!(infrastructure["status"]["providerStatus"]["apiVersion"], api.as_str());
            assert!(object(&objects, "Secret", "cloudprovider")["stringData"].is_object(), "{provider}");
        }
        let written = Value::from(objects).to_string();
        assert!(!written.contains("<region>") && !written.contains("<provider>"), "{provider}");
    }
}

#[test]
fn what_a_case_says_of_a_cluster_is_merged_over_the_profile() {
    let contract = contract_of("operating-system-configs");
    let hash =
        |contract: &Contract| contract.clauses.iter().map(|clause| clause.hash.clone()).collect::<Vec<_>>();
    let surrounded = contract.clone().of_provider("gcp").surrounded(Some("gcp"), &[]);
    assert_eq!(hash(&surrounded), hash(&contract));
    let (objects, facts) = surroundings(&surrounded, "CP-093", "osc-reconcile");
    assert!(!objects.iter().any(|object| object["kind"] == "Cluster"));
    let cluster = object(&facts, "Cluster", "shoot--dev--app");
    let shoot = &cluster["spec"]["shoot"]["spec"];
    assert_eq!(shoot["kubernetes"]["version"], "1.27.5");
    assert_eq!(
        cluster["spec"]["seed"]["spec"]["provider"],
        json!({"type": "gcp", "region": "europe-west1", "zones": ["europe-west1-b"]})
    );
    assert_eq!(cluster["spec"]["cloudProfile"]["spec"]["providerConfig"]["kind"], "CloudProfileConfig");
    let workers = shoot["provider"]["workers"].as_array().unwrap();
    let of_pool = |name: &str| workers.iter().find(|worker| worker["name"] == name).unwrap();
    assert_eq!(of_pool("pool-a")["machine"]["type"], "n1-standard-4");
    assert_eq!(of_pool("pool-b")["kubernetes"]["version"], "1.24.17");
}

#[test]
fn objects_of_the_target_replace_those_of_the_profile_or_are_added() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cloudprovider"}, "stringData": {"own": "x"}});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own"}});
    let own = [secret.clone(), map.clone()];
    let contract = contract_of("deployments");
    let surrounded = |provider: &str| {
        let contract = contract.clone().of_provider(provider).surrounded(Some(provider), &own);
        surroundings(&contract, "CP-128", "1.27").0
    };
    let objects = surrounded("gcp");
    assert_eq!(*object(&objects, "Secret", "cloudprovider"), secret);
    assert_eq!(*object(&objects, "ConfigMap", "own"), map);
    assert!(objects.iter().any(|object| object["metadata"]["name"] == "cloud-provider-config"));
    // Without a profile there are Gardener's own objects.
    let unknown = surrounded("acme");
    assert_eq!(object(&unknown, "Infrastructure", "app")["spec"]["type"], "acme");
    assert_eq!(*object(&unknown, "Secret", "cloudprovider"), secret);
}

const HEAD: &str = "apiVersion: conformance.gardener.cloud/v1alpha1\n";

/// The errors of a namespace and a profile with these objects.
fn errors(component: &str, objects: &str) -> Vec<String> {
    let namespace = format!(
        "{HEAD}kind: ControlPlaneNamespace\nmetadata: {{name: base}}\nspec: {{component: sample, namespace: shoot--dev--app, \
         kubernetes: 1.27.5, values: {{region: a}}, objects: []}}\n"
    );
    let profile = format!(
        "{HEAD}kind: ProviderProfile\nmetadata: {{name: acme}}\nspec:\n  component: {component}\n  source: docs\n  objects:\n{objects}"
    );
    let files = [("base", namespace), ("acme", profile)];
    let files =
        files.map(|(name, text)| SourceFile::new(format!("contracts/sample/providers/{name}.yaml"), text));
    let found = load::profiles(&files, "sample").err();
    let found = found.map_or_else(Vec::new, |load::Errors(errors)| errors);
    found.iter().map(|error| format!("{} {error}", error.code)).collect()
}

#[test]
fn errors_of_profiles_have_a_line() {
    let secret = "  - {apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {a: <region>}}\n";
    assert_eq!(errors("sample", secret), Vec::<String>::new());
    let table = [
        ("sample", secret.replace("<region>", "<zone>"), 8, "placeholder <zone> without a value"),
        (
            "sample",
            secret.replace("name: a", "name: a, namespace: garden"),
            8,
            "is in the namespace garden, not in shoot--dev--app",
        ),
        ("sample", format!("{secret}{secret}"), 9, "Secret a is there twice"),
        (
            "sample",
            "  - {kind: Secret}\n".to_owned(),
            8,
            "apiVersion, kind or metadata.name of the object is missing",
        ),
        (
            "sample",
            "  - {apiVersion: v1, kind: Node, metadata: {name: a}}\n".to_owned(),
            8,
            "Node a is in no namespace",
        ),
        ("sample", format!("{secret}  zones: 1\n"), 9, "zones"),
        ("other", secret.to_owned(), 1, "component \"other\" has no control plane namespace"),
    ];
    for (component, objects, line, words) in table {
        let found = errors(component, &objects);
        let place = format!("profile contracts/sample/providers/acme.yaml:{line}:");
        assert_eq!(found.len(), 1, "{objects}: {found:?}");
        assert!(found[0].starts_with(&place) && found[0].contains(words), "{objects}: {found:?}");
    }
}

#[test]
fn two_profiles_of_one_type_are_an_error() {
    let profile = |name: &str, rest: &str| {
        let text = format!(
            "{HEAD}kind: ProviderProfile\nmetadata: {{name: {name}}}\nspec: {{component: controlplane, source: docs, objects: []{rest}}}\n"
        );
        SourceFile::new(format!("contracts/controlplane/providers/z-{name}.yaml"), text)
    };
    let errors = |added: SourceFile| {
        let files = contracts::files().into_iter().chain([added]).collect::<Vec<_>>();
        load::profiles(&files, "controlplane")
            .map(drop)
            .map_err(|load::Errors(errors)| errors[0].message.clone())
    };
    assert_eq!(errors(profile("acme", "")), Ok(()));
    let wanted = Err("profile acme has the name or type of profile equinix-metal".to_owned());
    assert_eq!(errors(profile("acme", ", type: equinixmetal")), wanted);
}
