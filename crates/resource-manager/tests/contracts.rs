//! The contracts of this component, asked of it in process: no socket, no TLS, no file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use conformance::report::{Report, Status};
use conformance::run::{Event, FactsFrom, Ground, Interrupt, Options, run};
use conformance::target::built_in::{BuiltIn, Component, Ingredients, Loaded};
use contract::model::Contract;
use gardener_resource_manager::config::file::{from_partial, from_value};
use gardener_resource_manager::controllers::Running;
use gardener_resource_manager::registrations::{Instance, registrations};
use gardener_resource_manager::serving::{Clients, webhooks};
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const COMPONENT: &str = "resource-manager";

/// Set by `cargo xtask mutants`, which changes webhooks only and asks only whether some case fails.
const FAIL_FAST: &str = "FAIL_FAST";

/// The contract of the webhook whose code was written last comes first: what is wrong is most likely there.
#[tokio::test(start_paused = true)]
async fn every_contract_is_kept_and_proven_able_to_fail() {
    let mut asked = BTreeMap::new();
    for contracts in rounds() {
        let (contracts, target) = (contracts.into(), Arc::new(target()));
        let report = run(contracts, target, &options(), &first_failure_ends, &Interrupt::default()).await;
        assert_eq!(report.environment_errors, Vec::<String>::new());
        let failures = failures(&report);
        assert!(failures.is_empty(), "{} findings:\n{}", failures.len(), failures.join("\n"));
        asked.extend(report.contracts.into_iter().map(|contract| {
            let cases: usize = contract.clauses.iter().map(|clause| clause.cases.len()).sum();
            (contract.name, cases)
        }));
    }
    assert_eq!(asked.len(), rounds().iter().map(Vec::len).sum::<usize>(), "{asked:?}");
    assert!(asked.values().all(|cases| *cases > 0), "{asked:?}");
}

/// What is not as it should be, one line each.
fn failures(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for contract in &report.contracts {
        for clause in &contract.clauses {
            for case in clause.cases.iter().filter(|case| case.status != Status::Passed) {
                let reason = case.reason.as_ref().map(|reason| reason.text.as_str()).unwrap_or_default();
                lines.push(format!("{}/{}: {:?} {reason}", clause.id, case.name, case.status));
                let checks = case.checks.iter();
                lines.extend(checks.map(|check| {
                    format!("    {} {}: want {}, got {}", check.part, check.path, check.want, check.got)
                }));
            }
            let unproven = clause.proof.iter().filter(|proof| !proof.proven);
            lines.extend(unproven.map(|proof| {
                let survivors: Vec<&String> = proof.survivors.iter().map(|damage| &damage.text).collect();
                format!("{}: not proven able to fail: {survivors:?} {:?}", clause.id, proof.undamaged)
            }));
        }
        let broken =
            contract.laws.iter().flat_map(|law| law.broken.iter().map(move |breach| (law.law, breach)));
        lines.extend(broken.map(|(law, breach)| {
            format!("{}: {law:?} broken by {}: {}", contract.name, breach.case, breach.text)
        }));
        let unexplained = contract.unexplained.iter();
        lines.extend(unexplained.map(|change| {
            format!("{}: unexplained {} became {}", contract.name, change.path, change.became)
        }));
    }
    lines
}

/// With [`FAIL_FAST`] nobody reads more than that some case fails: no other is asked, nothing is proven.
#[expect(clippy::needless_pass_by_value, reason = "the harness gives it so")]
fn first_failure_ends(event: Event<'_>) {
    if let Event::Case { id, status: Status::Failed | Status::Errored, .. } = event {
        assert!(std::env::var_os(FAIL_FAST).is_none(), "{id} failed");
    }
}

/// The contract of the webhook whose code was written last, then the others.
fn rounds() -> [Vec<Contract>; 2] {
    let mut contracts = contracts::of_component(COMPONENT).expect("the contracts are well-formed");
    let controllers_too = std::env::var_os(FAIL_FAST).is_none();
    contracts.retain(|contract| controllers_too || !is_of_controller(contract));
    let first = written_last();
    let (first, others) = contracts.into_iter().partition(|contract| Some(&contract.name) == first.as_ref());
    [first, others]
}

/// Whether it tells what happens, not what is answered.
fn is_of_controller(contract: &Contract) -> bool {
    contract.clauses.iter().flat_map(|clause| &clause.cases).all(|case| case.when.scenario().is_some())
}

/// Name of the webhook whose code was written last.
fn written_last() -> Option<String> {
    let webhooks = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/webhooks");
    let modules = std::fs::read_dir(webhooks).expect("the webhooks are here").flatten();
    let latest = modules.max_by_key(|module| written(&module.path()))?.path();
    Some(latest.file_stem()?.to_str()?.replace('_', "-"))
}

/// When a file, or the newest file below a folder, was written.
fn written(path: &Path) -> Option<SystemTime> {
    if !path.is_dir() {
        return path.metadata().and_then(|of| of.modified()).ok();
    }
    let below = std::fs::read_dir(path).expect("the folder is readable").flatten();
    below.filter_map(|entry| written(&entry.path())).max()
}

fn target() -> BuiltIn {
    BuiltIn::new("gardener-resource-manager", env!("CARGO_PKG_VERSION"), BTreeSet::new(), make).loading(load)
}

fn load(config: &Value) -> Loaded {
    let (config, warnings) = from_value(config).map_err(|error| error.to_string())?;
    let effective = serde_json::to_value(&config).map_err(|error| error.to_string())?;
    Ok((effective, warnings.iter().map(ToString::to_string).collect()))
}

async fn make(ingredients: Ingredients) -> Result<Component, String> {
    let config = from_partial(&ingredients.config).map_err(|error| error.to_string())?;
    let client = ingredients.facts.ok_or("it needs a cluster")?.client;
    let instance = if ingredients.instance == "shoot" { Instance::Shoot } else { Instance::Seed };
    let registrations = registrations(&config, instance, None);
    let webhooks = webhooks(&config, &Clients { source: client.clone(), target: client });
    webhooks.synced().await;
    let running = ingredients.clusters.map(|clusters| {
        let target = clusters.target.map(|target| target.client);
        Arc::new(Running::at(&config, clusters.source.client, target, clusters.now))
    });
    let shown = running.clone();
    Ok(Component {
        service: webhooks.service.clone(),
        registrations,
        metrics: Box::new(move || shown.as_ref().map(|running| running.exposition()).unwrap_or_default()),
        guard: Box::new((webhooks, running)),
    })
}

fn options() -> Options {
    Options {
        ground: Ground::Direct(FactsFrom::Embedded),
        seed: 0,
        parallel: 4,
        repeat: 1,
        fail_fast: false,
        settle: Duration::from_secs(2),
        time_budget: Duration::from_secs(30),
        strict: false,
        waivers: Vec::new(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "cargo test -p gardener-resource-manager".to_owned(),
        expression: vec![format!("component {COMPONENT}")],
    }
}

/// The environment of the program once it waits for its configuration, as its process shows it.
fn environment_where(delay: Option<&str>) -> Option<String> {
    const DELAY: &str = "MIMALLOC_PURGE_DELAY";
    let mut command = Command::new(env!("CARGO_BIN_EXE_gardener-resource-manager"));
    command.args(["--config", "/dev/stdin"]).stdin(Stdio::piped()).env_remove(DELAY);
    command.envs(delay.map(|delay| (DELAY, delay)));
    let mut program = command.spawn().expect("it is there");
    let shown = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", program.id()));
    let set = || {
        let environment = shown("environ").ok()?;
        let line = environment.split('\0').find_map(|line| line.strip_prefix(DELAY)?.strip_prefix('='))?;
        Some(line.to_owned())
    };
    let found = (0..200).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        set()
    });
    let arguments = shown("cmdline").expect("it runs");
    assert!(arguments.ends_with("\0--config\0/dev/stdin\0"), "{arguments:?}");
    program.kill().expect("it runs");
    program.wait().expect("it ends");
    found
}

#[test]
fn the_program_gives_memory_back_at_once_unless_told_otherwise() {
    assert_eq!(environment_where(None).as_deref(), Some("0"));
    assert_eq!(environment_where(Some("7")).as_deref(), Some("7"));
}
