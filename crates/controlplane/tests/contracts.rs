//! Runs the contracts of a provider's webhooks in process, without sockets, TLS and files, and on the binary.

use controller::config::Configuration as _;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use conformance::report::Status;
use conformance::run::{Interrupt, run};
use conformance::target::built_in::BuiltIn;
use conformance::target::command::CommandTarget;
use conformance::target::url::TargetDescription;
use conformance::testing::{self, findings, options};
use contract::document::{SourceFile, target};
use contract::model::Form;
use gardener_controlplane::COMPONENT;
use gardener_controlplane::config::ControlPlaneWebhooksConfiguration;
use gardener_controlplane::registrations::{Address, registration};
use gardener_controlplane::webhooks::paths;

#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    let contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    testing::assert_keeps(&COMPONENT, contracts).await;
}

/// Only clauses that depend on CSI: the others have the same results for both.
#[tokio::test(start_paused = true)]
async fn a_provider_without_csi_keeps_what_depends_on_it() {
    let mut contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    for contract in &mut contracts {
        contract.clauses.retain(|clause| clause.needs.iter().any(|need| need == "not csi"));
    }
    contracts.retain(|contract| !contract.clauses.is_empty());
    testing::assert_kept(contracts, Arc::new(without_csi())).await;
}

#[tokio::test]
async fn the_binary_keeps_every_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    // Objects that Gardener creates are only sent to targets in this process.
    contracts.retain(|contract| contract.form != Form::Objects);
    for contract in &mut contracts {
        // CP-006 holds for releases since v1.98, and the binary's configuration has an older one.
        contract.clauses.retain(|clause| clause.id != "CP-006");
    }
    testing::assert_kept(contracts, Arc::new(binary(folder.path()))).await;
}

/// A registration that selects by the label is for releases that write it: the target's release decides which clauses
/// apply.
#[tokio::test]
async fn a_registration_by_label_is_for_releases_of_gardener_that_write_the_label() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    contracts.retain(|contract| contract.name == "deployments");
    let ids = ["CP-002", "CP-006", "CP-133"];
    contracts[0].clauses.retain(|clause| ids.contains(&clause.id.as_str()));
    let (passed, failed, skipped) = (Status::Passed, Status::Failed, Status::Skipped);
    for (registered, gardener, want) in [
        ("v1.98.0", Some("v1.98.0"), [passed, passed, skipped]),
        ("v1.98.0", None, [failed, skipped, failed]),
        ("v1.82.0", None, [passed, skipped, passed]),
        ("v1.82.0", Some("v1.79.3"), [passed, skipped, passed]),
        // The webhook also receives objects without the label, which is allowed.
        ("v1.82.0", Some("v1.98.0"), [passed, failed, skipped]),
    ] {
        let mut target = binary(folder.path());
        let config = serde_json::json!({"provider": "local", "gardenerVersion": registered});
        let (config, _) = ControlPlaneWebhooksConfiguration::from_value(&config).expect("it is right");
        let registrations = registration(&config, &Address::service_of("local"), None).into_iter().collect();
        target.known.registrations = BTreeMap::from([(String::new(), registrations)]);
        target.known.gardener = gardener.map(str::to_owned);
        let contracts = contracts.clone().into();
        let report = run(contracts, Arc::new(target), &options(), &|_| {}, &Interrupt::default()).await;
        let found = |id: &&str| report.contracts[0].clauses.iter().find(|clause| clause.id == *id);
        let found = ids.iter().map(|id| found(id).expect("it was asked").status);
        assert_eq!(found.collect::<Vec<_>>(), want, "registered for {registered}, asked for {gardener:?}");
        assert_eq!(report.run.gardener.as_deref(), gardener.or(Some("v1.82.0")));
    }
}

/// Cases are written for provider local; a target of another provider gets nothing unless its provider is known.
#[tokio::test]
async fn the_binary_of_another_provider_gets_cases_for_that_provider() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    for contract in &mut contracts {
        // A clause that demands a change, and clauses that distinguish namespaces of this and another provider.
        contract
            .clauses
            .retain(|clause| ["CP-002", "CP-003", "CP-008", "CP-027"].contains(&clause.id.as_str()));
    }
    contracts.retain(|contract| !contract.clauses.is_empty());
    let target = binary_of(folder.path(), "aws");
    let aware = Arc::new(target.clone());
    let report = run(contracts.clone().into(), aware, &options(), &|_| {}, &Interrupt::default()).await;
    // The clauses that would notice more changes are left out here.
    let found = findings(&report).into_iter().filter(|line| !line.contains("no case would miss"));
    assert_eq!(found.collect::<Vec<_>>(), Vec::<String>::new());

    let known = TargetDescription { provider: None, ..target.known };
    let unaware = Arc::new(CommandTarget { known, ..target });
    let report = run(contracts.into(), unaware, &options(), &|_| {}, &Interrupt::default()).await;
    let failed = findings(&report).iter().filter(|line| line.contains("Failed")).count();
    assert!(failed > 0, "a target that is sent nothing passes");
}

/// The report names a provider's flag that no clause covers, with its path, until the target file declares it.
#[tokio::test]
async fn a_foreign_flag_is_named_in_the_report_until_it_is_declared() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    contracts.retain(|contract| contract.name == "kube-apiserver-flags");
    for contract in &mut contracts {
        contract.clauses.retain(|clause| clause.id == "CP-019");
    }
    let place = "spec.template.spec.containers[name=kube-apiserver]<Flags>.--foreign-flag";
    let mut target = binary(folder.path());
    let foreign = "apiVersion: controlplane-webhooks.conformance.gardener.cloud/v1alpha1
kind: ControlPlaneWebhooksConfiguration
provider: local
kubeAPIServer: {flags: {--foreign-flag: x}}
";
    std::fs::write(folder.path().join("config.yaml"), foreign).expect("it is written");
    for (extras, want) in [
        (vec![], vec![format!("{place} became x")]),
        (vec!["kube-scheduler --foreign-flag"], vec![format!("{place} became x")]),
        (vec!["kube-apiserver --foreign-*"], vec![]),
    ] {
        target.known.extras = extras.iter().map(|extra| (*extra).to_owned()).collect();
        let target = Arc::new(target.clone());
        let report = run(contracts.clone().into(), target, &options(), &|_| {}, &Interrupt::default()).await;
        let found = report.contracts.iter().flat_map(|contract| &contract.unexplained);
        let found: Vec<String> =
            found.map(|found| format!("{} became {}", found.path, found.became)).collect();
        assert_eq!(found, want, "{extras:?}");
        assert_eq!(report.exit_code == 1, !want.is_empty(), "{extras:?}");
    }
}

fn binary(folder: &Path) -> CommandTarget {
    binary_of(folder, "local")
}

/// The program, configured by flags and a file, over TLS.
fn binary_of(folder: &Path, provider: &str) -> CommandTarget {
    let config = format!(
        "apiVersion: controlplane-webhooks.conformance.gardener.cloud/v1alpha1
kind: ControlPlaneWebhooksConfiguration
provider: {provider}
"
    );
    let text = format!(
        "apiVersion: conformance.gardener.cloud/v1alpha1
kind: Target
metadata: {{name: gardener-controlplane}}
spec:
  command:
  - {program}
  - --config=<config>
  - --kubeconfig=<sourceKubeconfig>
  - --webhook-config-server-host=127.0.0.1
  - --webhook-config-server-port=<port>
  - --webhook-config-cert-dir=<certDir>
  - --health-bind-address=127.0.0.1:<healthPort>
  - --metrics-bind-address=0
  config: {{file: config.yaml}}
  url: https://127.0.0.1:<port>
  ready: http://127.0.0.1:<healthPort>/readyz
",
        program = env!("CARGO_BIN_EXE_gardener-controlplane"),
    );
    std::fs::write(folder.join("config.yaml"), config).expect("it is written");
    let described = target::read(&SourceFile::new("target.yaml", text)).expect("it is a target");
    let (config, _) =
        ControlPlaneWebhooksConfiguration::from_value(&serde_json::json!({"provider": provider}))
            .expect("it is right");
    let registrations = registration(&config, &Address::service_of(provider), None).into_iter().collect();
    let known = TargetDescription {
        name: described.metadata.name,
        version: Some("v1.82.0".to_owned()),
        paths: paths().into_iter().map(|(name, path)| (name.to_owned(), vec![path])).collect(),
        registrations: BTreeMap::from([(String::new(), registrations)]),
        features: BTreeSet::from(["csi".to_owned()]),
        provider: Some(provider.to_owned()),
        ..TargetDescription::default()
    };
    CommandTarget { known, spec: described.spec, folder: folder.to_owned(), image: None, decisions: None }
}

/// The built-in target for a provider without CSI plugins.
fn without_csi() -> BuiltIn {
    BuiltIn::new(COMPONENT.program, COMPONENT.version, BTreeSet::new(), |mut options| {
        options.config["csi"] = false.into();
        (COMPONENT.start)(options)
    })
}

/// The report lists additions of a provider without stated parameters, with the clauses that would compare them;
/// stated parameters are compared.
#[tokio::test]
async fn a_providers_additions_are_compared_if_it_states_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut contracts = contracts::of_component(COMPONENT.name).expect("the contracts are well-formed");
    contracts.retain(|contract| contract.name == "deployments");
    let contract = &mut contracts[0];
    contract.clauses.retain(|clause| ["CP-013", "CP-029", "CP-031"].contains(&clause.id.as_str()));
    let config = contract.clauses[0].cases[0].config.clone();
    let mut target = binary(folder.path());
    let text = formats::yaml::to_string(&config).expect("it is YAML");
    let head = "apiVersion: controlplane-webhooks.conformance.gardener.cloud/v1alpha1\nkind: ControlPlaneWebhooksConfiguration\n";
    std::fs::write(folder.path().join("config.yaml"), format!("{head}{text}")).expect("it is written");
    // A foreign webhook does not read our configuration.
    let file = folder.path().join("config.yaml");
    for argument in &mut target.spec.command {
        *argument = argument.replace("<config>", &file.display().to_string());
    }
    target.spec.config = None;
    let env = |name: &str| serde_json::json!([{"name": name, "valueFrom": {"secretKeyRef": {"name": "cloudprovider", "key": "key"}}}]);
    for (stated, became) in [
        (None, Status::NotSupported),
        (Some(env("CLOUD_KEY")), Status::Passed),
        (Some(env("ANOTHER")), Status::Failed),
    ] {
        target.known.parameters =
            stated.into_iter().map(|value| ("kubeAPIServerEnv".to_owned(), value)).collect();
        let target = Arc::new(target.clone());
        let report = run(contracts.clone().into(), target, &options(), &|_| {}, &Interrupt::default()).await;
        let contract = &report.contracts[0];
        let clause = contract.clauses.iter().find(|clause| clause.id == "CP-029").expect("it is there");
        assert!(clause.cases.iter().all(|case| case.status == became), "{became:?}: {:?}", clause.cases);
        // A failed case notices no change.
        let missed = contract.gaps.iter().any(|gap| gap.path.contains("env"));
        assert_eq!(missed, became == Status::Failed, "{became:?}: {:?}", contract.gaps);
        let is_reported = contract.unasked.iter().any(|left| left.clauses.contains(&"CP-029".to_owned()));
        assert_eq!(is_reported, became == Status::NotSupported, "{became:?}: {:?}", contract.unasked);
    }
}
