//! `diff-run`: sends the same generated inputs to two targets and shows where their answers differ.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use conformance::differential::{self, FactsFrom, Options, controllers, outcome::Outcome};
use conformance::render;
use conformance::run::Interrupt;
use conformance::select::Selection;
use conformance::target::{Facts, Target};
use contract::document::SourceFile;
use contract::explanations::Explanations;
use contract::index::{Index, Outline};
use contract::load::{self, Errors};
use contract::model::Contract;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

use crate::arguments::{BUILT_IN, DEFAULT_SETTLE, DiffRunArguments, Format, RunningTargetArguments};
use crate::ending::Ending;
use crate::kubeconfig::cluster_client;
use crate::options::repeat_command::RepeatCommand;
use crate::progress::Progress;
use crate::targets::{self, Requested, TargetScope};
use crate::terminal::{Failure, Terminal};
use crate::{catalog, options, signals};

/// Runs both targets and prints the differences; returns 5 if a difference has no explanation.
pub(crate) fn diff_run(
    arguments: &DiffRunArguments,
    added: Option<&Path>,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let index = catalog::index(added)?;
    let controllers = controller_contracts(&index, arguments)?;
    let webhooks = if controllers.is_empty() || !arguments.webhook.is_empty() {
        webhook_contracts(&index, arguments, terminal)?
    } else {
        Vec::new()
    };
    let explanations = explanations(arguments, &index)?;
    let components: Vec<&str> =
        webhooks.iter().chain(&controllers).map(|contract| &*contract.component).collect();
    let (a, b) = (
        resolve(arguments, &arguments.a, &components, added)?,
        resolve(arguments, &arguments.b, &components, added)?,
    );
    let runtime = crate::runtime::multi_thread();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let runner = DiffRunner { runtime: &runtime, terminal, interrupt: &Interrupt::default() };
    let of_webhooks = if webhooks.is_empty() {
        None
    } else {
        Some(runner.run_webhooks(&webhooks, (a.as_ref(), b.as_ref()), &explanations, arguments)?)
    };
    let of_controllers = (!controllers.is_empty())
        .then(|| runner.run_controllers(&controllers, (&a, &b), &explanations, arguments));
    let mut outcome = match (of_webhooks, of_controllers) {
        (Some(one), Some(other)) => one.and(other),
        (one, other) => one.or(other).ok_or_else(|| {
            Failure::usage("no contract is about a webhook that diff-run supports".to_owned())
        })?,
    };
    outcome.command = Some(repeat_command(arguments, added).into_string());
    terminal.print(&match arguments.output {
        Format::Json => format!("{:#}", serde_json::json!(outcome)),
        Format::Text | Format::Markdown => render::differential(&outcome, &terminal.view(None)),
    });
    Ok(Ending::new(outcome.exit_code(), outcome.cause()).beside(arguments.output))
}

/// The contracts of the controllers of `--controller`.
fn controller_contracts(index: &Index, arguments: &DiffRunArguments) -> Result<Vec<Contract>, Failure> {
    let names = &arguments.controller;
    let is_supported = |contract: &&Outline| controllers::is_asked(contract.form, &contract.subject);
    let known: Vec<&Outline> = index.contracts().iter().filter(is_supported).collect();
    if let Some(unknown) = names.iter().find(|name| known.iter().all(|known| known.name != **name)) {
        let known: Vec<&str> = known.iter().map(|contract| contract.name.as_str()).collect();
        let known = known.join(", ");
        return Err(Failure::usage(format!(
            "--controller {unknown}: diff-run does not support this controller; it supports {known}"
        )));
    }
    let started = targets::is_started(&arguments.a)? && targets::is_started(&arguments.b)?;
    if !names.is_empty() && !started {
        let text = "--controller needs targets that the tool starts with their own clusters: for --a and --b use built-in, \
        command=…, image=… or a target file with one of the two";
        return Err(Failure::usage(text.to_owned()));
    }
    let chosen = known.into_iter().filter(|contract| names.contains(&contract.name));
    chosen.map(|contract| index.expand(contract).map_err(Failure::diagnostic)).collect()
}

/// Runs targets on the generated inputs.
struct DiffRunner<'a> {
    runtime: &'a Runtime,
    terminal: &'a Terminal,
    interrupt: &'a Interrupt,
}

impl DiffRunner<'_> {
    fn run_webhooks(
        &self,
        contracts: &[Contract],
        targets: (&dyn Target, &dyn Target),
        explanations: &[Explanations],
        arguments: &DiffRunArguments,
    ) -> Result<Outcome, Failure> {
        let settle = options::duration("--settle", &arguments.settle)?;
        self.runtime.block_on(async {
            let options = Options {
                objects: arguments.objects,
                seed: arguments.seed,
                settle,
                facts: facts(arguments).await?,
                explanations,
            };
            let (listener, progress) = (self.listener(), Progress::new(self.terminal));
            progress.set_total(contracts.len() * options.objects);
            let advance = |webhook: &str, inputs: usize| progress.advance(webhook, inputs);
            let outcome = differential::run(contracts, targets, &options, &advance, self.interrupt).await;
            progress.finish();
            listener.abort();
            Ok(outcome)
        })
    }

    fn run_controllers(
        &self,
        contracts: &[Contract],
        targets: (&Arc<dyn Target>, &Arc<dyn Target>),
        explanations: &[Explanations],
        arguments: &DiffRunArguments,
    ) -> Outcome {
        let options = controllers::ControllerOptions {
            worlds: arguments.objects,
            seed: arguments.seed,
            parallel: usize::from(arguments.parallel),
            tries: None,
            explanations,
        };
        let (listener, progress) = (self.listener(), Progress::new(self.terminal));
        progress.set_total(contracts.len() * options.worlds);
        let advance = |controller: &str, worlds: usize| progress.advance(controller, worlds);
        let outcome = controllers::run(contracts, targets, &options, &advance, self.interrupt);
        progress.finish();
        listener.abort();
        outcome
    }

    /// Raises the interrupt at a signal, until it is aborted.
    fn listener(&self) -> JoinHandle<()> {
        let interrupt = self.interrupt.clone();
        self.runtime.spawn(async move { interrupt.raise(signals::interrupt_or_terminate().await) })
    }
}

/// The command line that repeats this one, without the flags that select webhooks and controllers.
fn repeat_command(arguments: &DiffRunArguments, added: Option<&Path>) -> RepeatCommand {
    let running = &arguments.running;
    let command = RepeatCommand::new("diff-run", added)
        .unless_default("--a", &arguments.a, BUILT_IN)
        .with("--b", &arguments.b)
        .path("--ca", running.trust.ca.as_deref())
        .flag("--insecure", running.trust.insecure)
        .path("--config", running.config.as_deref())
        .path("--kubeconfig", running.kubeconfig.as_deref())
        .unless_default("--provider", running.provider.as_deref().unwrap_or_default(), "")
        .unless_default("--settle", &arguments.settle, DEFAULT_SETTLE)
        .with("--objects", &arguments.objects.to_string())
        .with("--seed", &arguments.seed.to_string());
    let files = arguments.explanations.iter();
    files.fold(command, |command, file| command.path("--explanations", Some(file.as_path())))
}

/// The contracts of the webhooks that the user names; without names, of all that both targets may serve.
fn webhook_contracts(
    index: &Index,
    arguments: &DiffRunArguments,
    terminal: &Terminal,
) -> Result<Vec<Contract>, Failure> {
    let names = &arguments.webhook;
    let supported = index.contracts().iter().filter(|contract| differential::is_asked(contract.form));
    let webhook =
        |contract: &Outline| contract.subject.webhook.clone().unwrap_or_else(|| contract.name.clone());
    let mut known: Vec<(String, &Outline)> =
        supported.map(|contract| (webhook(contract), contract)).collect();
    if let Some(unknown) = names.iter().find(|name| known.iter().all(|(known, _)| known != *name)) {
        let known: BTreeSet<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        let known: Vec<&str> = known.into_iter().collect();
        return Err(Failure::usage(format!(
            "--webhook {unknown}: there is no such webhook; there are {}",
            known.join(", ")
        )));
    }
    if names.is_empty() {
        for target in [&arguments.a, &arguments.b] {
            let scope = TargetScope::of(target, &arguments.running, &Selection::default())?;
            if let Some(left_out) = scope.restrict_webhooks(&mut known) {
                terminal.note(&terminal.wrap(&left_out, "  "));
            }
        }
    }
    let chosen = known.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name));
    chosen.map(|(_, contract)| index.expand(contract).map_err(Failure::diagnostic)).collect()
}

/// The explanations of `--explanations`, followed by those of the contracts.
fn explanations(arguments: &DiffRunArguments, index: &Index) -> Result<Vec<Explanations>, Failure> {
    let mut all = Vec::new();
    for path in &arguments.explanations {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Failure::usage(format!("failed to read explanations {}: {error}", path.display()))
        })?;
        let read = load::read(&[SourceFile::new(path.display().to_string(), text)]);
        if !read.errors.is_empty() {
            return Err(Failure::diagnostic(Errors(read.errors)));
        }
        if read.records.explanations.is_empty() {
            return Err(Failure::usage(format!("{} is not a file of kind Explanations", path.display())));
        }
        all.extend(read.records.explanations);
    }
    all.extend(catalog::records(index)?.explanations);
    let clauses = all.iter().flat_map(|file| &file.entries).filter_map(|entry| entry.clause.as_deref());
    if let Some(unknown) = clauses.into_iter().find(|id| index.clause(id).is_none()) {
        return Err(Failure::usage(format!(
            "an explanation names the clause {unknown}, which no contract has"
        )));
    }
    Ok(all)
}

/// Resolves a target; `--ca`, `--insecure` and `--config` apply to a running target only.
fn resolve(
    arguments: &DiffRunArguments,
    target: &str,
    components: &[&str],
    added: Option<&Path>,
) -> Result<Arc<dyn Target>, Failure> {
    let requested = Requested { added, ..Requested::default() };
    let started = RunningTargetArguments::default();
    let running = if targets::is_started(target)? { &started } else { &arguments.running };
    targets::resolve(target, components.iter().copied(), running, requested)
}

/// The cluster from which both targets read facts: that of `--kubeconfig`; an API server of this process if the tool starts both;
/// else none.
async fn facts(arguments: &DiffRunArguments) -> Result<FactsFrom, Failure> {
    let both_started = targets::is_started(&arguments.a)? && targets::is_started(&arguments.b)?;
    let Some(path) = &arguments.running.kubeconfig else {
        if both_started && arguments.running.describes_target() {
            let text =
                "--ca, --insecure and --config are for a running target, but the tool starts both targets";
            return Err(Failure::usage(text));
        }
        return Ok(if both_started { FactsFrom::Embedded } else { FactsFrom::Nowhere });
    };
    let client = cluster_client(path).await?;
    Ok(FactsFrom::Given(Facts { client, kubeconfig: Some(path.clone()) }))
}

#[cfg(test)]
mod tests {
    use conformance::differential::outcome::Group;
    use conformance::target::built_in::BuiltIn;
    use conformance::target::{Facts, Identity, Setup, TargetError};
    use http::{Method, Request};
    use kube::client::Body;
    use serde_json::json;

    use super::*;

    fn resource_manager() -> BuiltIn {
        BuiltIn::of(&gardener_resource_manager::COMPONENT)
    }

    /// An error that a test adds to our resource-manager.
    #[derive(Clone, Copy)]
    enum Fault {
        /// It writes a wrong label.
        WrongLabel,
        /// It deletes nothing.
        NoDeletions,
    }

    /// Our resource-manager with an error.
    struct Sabotaged(Fault);

    #[async_trait::async_trait]
    impl Target for Sabotaged {
        fn identity(&self) -> Identity {
            resource_manager().identity()
        }

        fn features(&self) -> BTreeSet<String> {
            BTreeSet::new()
        }

        fn is_outside(&self) -> bool {
            false
        }

        async fn start(
            &self,
            setup: Setup<'_>,
        ) -> Result<Box<dyn conformance::target::Running>, TargetError> {
            let (mut config, mut clusters) = (setup.config.clone(), setup.clusters.clone());
            match self.0 {
                Fault::WrongLabel => {
                    config["controllers"]["managedResource"]["managedByLabelValue"] = json!("other");
                }
                Fault::NoDeletions => {
                    for target in clusters.iter_mut().filter_map(|clusters| clusters.target.as_mut()) {
                        *target =
                            Facts { client: without_deletions(target.client.clone()), ..target.clone() };
                    }
                }
            }
            let target = resource_manager();
            target.start(Setup { config: &config, clusters, ..setup }).await
        }
    }

    /// A client that deletes nothing: it sends a GET instead, whose answer looks like that of an accepted deletion.
    fn without_deletions(client: kube::Client) -> kube::Client {
        let service = tower::service_fn(move |mut request: Request<Body>| {
            let client = client.clone();
            if *request.method() == Method::DELETE {
                *request.method_mut() = Method::GET;
                *request.body_mut() = Body::empty();
            }
            async move { client.send(request).await }
        });
        kube::Client::new(service, "default")
    }

    fn diff_with(other: impl Target + 'static, worlds: usize) -> Outcome {
        let contracts = contracts::of_component("resource-manager").unwrap().into_iter();
        let is_supported = |contract: &Contract| controllers::is_asked(contract.form, &contract.subject);
        let contracts: Vec<Contract> = contracts.filter(is_supported).collect();
        let options = controllers::ControllerOptions {
            worlds,
            seed: 1,
            parallel: 2,
            tries: Some(60),
            explanations: &[],
        };
        let ours: Arc<dyn Target> = Arc::new(resource_manager());
        let other: Arc<dyn Target> = Arc::new(other);
        controllers::run(&contracts, (&ours, &other), &options, &|_, _| {}, &Interrupt::default())
    }

    #[test]
    fn a_controller_differs_nowhere_from_itself() {
        let outcome = diff_with(resource_manager(), 20);
        let [found] = outcome.controllers.as_slice() else { unreachable!("{outcome:#?}") };
        assert_eq!((found.compared, found.differing, outcome.exit_code()), (20, 0, 0), "{outcome:#?}");
        // Worlds in which nothing happens would show nothing.
        assert!(found.effects["ApplySucceeded"] > 5 && found.effects.len() > 4, "{:?}", found.effects);
    }

    #[test]
    fn a_wrong_label_is_found_and_shown_in_a_small_world() {
        let outcome = diff_with(Sabotaged(Fault::WrongLabel), 3);
        let groups = &outcome.controllers[0].groups;
        let label = |group: &&Group| {
            group.place.starts_with("targetCluster.")
                && group.place.ends_with(".metadata.labels[resources.gardener.cloud/managed-by]")
        };
        let group = groups.iter().find(label).expect("an object differs");
        assert_eq!((&group.example.a, &group.example.b), (&Some(json!("gardener")), &Some(json!("other"))));
        let given = &group.example.given;
        assert_eq!(given.get("steps"), None, "{given:#}");
        assert_eq!(given["sourceCluster"].as_array().map(Vec::len), Some(2), "{given:#}");
        assert_eq!(outcome.exit_code(), 5);
    }

    #[test]
    fn deletions_that_are_not_done_are_found() {
        let outcome = diff_with(Sabotaged(Fault::NoDeletions), 6);
        let groups = &outcome.controllers[0].groups;
        let left = |group: &&Group| {
            group.place.starts_with("targetCluster.")
                && group.example.a.is_none()
                && group.example.b.is_some()
        };
        assert!(groups.iter().any(|group| left(&group)), "{groups:#?}");
        assert_eq!(outcome.exit_code(), 5);
    }
}
