//! `init provider`: finds out what a provider's webhook serves, writes a target file, and prints the next command.

mod assumed;
mod description;
mod probe;
mod registration;
mod seed;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use conformance::target::{Facts, Running, Setup, TargetError};
use contract::document::{SourceFile, target};
use serde_json::json;
use substrate::embedded::Embedded;
use webhook::dial::{DialError, Dialer};

use crate::arguments::{InitCommand, InitProviderArguments, RunningTargetArguments, TrustArguments};
use crate::commands::write::failed;
use crate::ending::Ending;
use crate::session;
use crate::targets::{self, NOTHING_FOR_EXTENSIONS, Requested};
use crate::terminal::{Failure, Terminal};
use description::Description;
use probe::{ProbeAnswer, ProbedPath};
use registration::RegistrationInfo;

/// Executes an `init` command.
pub(crate) fn execute(command: &InitCommand, terminal: &Terminal) -> Result<Ending, Failure> {
    let InitCommand::Provider(arguments) = command;
    provider(arguments, terminal)
}

fn provider(arguments: &InitProviderArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    check_overwrite(&arguments.file, arguments.force)?;
    check_parent("--file", &arguments.file)?;
    description::check(arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let description = runtime.block_on(async {
        match &arguments.namespace {
            Some(namespace) => in_seed(arguments, namespace, terminal).await,
            None => outside(arguments, terminal).await,
        }
    })?;
    for (path, content) in &description.further_files {
        check_overwrite(path, arguments.force)?;
        write(path, content)?;
        terminal.print(&format!("wrote    {}", path.display()));
    }
    let text = description.to_yaml();
    // Check that `verify` can read the file.
    target::read(&SourceFile::new(arguments.file.display().to_string(), text.as_str()))
        .map_err(Failure::diagnostic)?;
    if let Err(failure) = write(&arguments.file, &text) {
        // What was found out is not lost.
        terminal.print(&text);
        return Err(failure);
    }
    terminal.print(&format!("wrote    {}", arguments.file.display()));
    if let Some(assumed) = description.assumed() {
        terminal.print(&format!("assumed  {assumed}"));
    }
    for line in description.next_commands() {
        terminal.print(&line);
    }
    Ok(Ending::done())
}

/// Inspects a webhook in a seed, through the proxy of the API server.
async fn in_seed(
    arguments: &InitProviderArguments,
    namespace: &str,
    terminal: &Terminal,
) -> Result<Description, Failure> {
    let kubeconfig = arguments.kubeconfig.as_deref().unwrap_or(Path::new(""));
    let (registration, dialer) = seed::find(kubeconfig, namespace).await?;
    let address = format!("Service {namespace}/{}", registration.service.0);
    let not_ours = &registration.not_ours;
    let probed = probe_paths(&dialer, &registration.paths(), (&address, not_ours), terminal).await?;
    Description::in_seed(arguments, &registration, probed)
}

/// Inspects a webhook that runs already, or that the tool starts.
async fn outside(arguments: &InitProviderArguments, terminal: &Terminal) -> Result<Description, Failure> {
    let file = arguments.mutating_webhook_configuration.as_deref();
    let registration = file.map(RegistrationInfo::read).transpose()?;
    let url = address(arguments, registration.as_ref())?;
    let authority = registration.as_ref().and_then(|registration| registration.authority.as_ref());
    let paths =
        registration.as_ref().map_or_else(|| registration::candidate_paths(&[]), RegistrationInfo::paths);
    let running = match (&arguments.command, &url) {
        (Some(line), _) => start(line, arguments).await?,
        (None, url) => {
            let url = url.clone().unwrap_or_default();
            let failed = |error| start_failure(arguments, error);
            let folder = tempfile::tempdir().map_err(|error| {
                Failure::environment(format!("failed to create a temporary folder: {error}"))
            })?;
            let insecure = arguments.trust.insecure;
            let ca = match (&arguments.trust.ca, authority) {
                (None, Some(pem)) if !insecure => {
                    let path = folder.path().join("ca.crt");
                    write(&path, pem)?;
                    Some(path)
                }
                (ca, _) => ca.clone(),
            };
            let trust = TrustArguments { ca, insecure };
            let running = RunningTargetArguments { trust, ..RunningTargetArguments::default() };
            let target = targets::resolve(&format!("url={url}"), [], &running, Requested::default())?;
            let config = json!({});
            target.start(setup(&config, None)).await.map_err(failed)?
        }
    };
    let address = url.clone().unwrap_or_else(|| "the command".to_owned());
    let not_ours = registration.as_ref().map(|registration| &*registration.not_ours).unwrap_or_default();
    let probed = probe_paths(running.dialer().as_ref(), &paths, (&address, not_ours), terminal).await;
    running.stop().await;
    Description::outside(arguments, (url, registration.as_ref()), probed?)
}

/// The address of a running webhook; `None` for one that the tool starts.
fn address(
    arguments: &InitProviderArguments,
    registration: Option<&RegistrationInfo>,
) -> Result<Option<String>, Failure> {
    if arguments.command.is_some() {
        return Ok(None);
    }
    let url =
        arguments.url.as_ref().or_else(|| registration.and_then(|registration| registration.url.as_ref()));
    let Some(url) = url else {
        return Err(Failure::usage(
            "the registration names a Service, which this machine cannot reach: add --url https://HOST:PORT (for example of a \
            kubectl port-forward) or --command, or use --namespace and --kubeconfig instead of the file",
        ));
    };
    Ok(Some(url.trim_end_matches('/').to_owned()))
}

/// Starts the command line of `--command` and an API server for it to read.
async fn start(line: &str, arguments: &InitProviderArguments) -> Result<Box<dyn Running>, Failure> {
    let running = RunningTargetArguments {
        trust: arguments.trust.clone(),
        config: arguments.config.clone(),
        kubeconfig: None,
        provider: None,
    };
    let requested = Requested { gardener: arguments.gardener.as_deref(), kubernetes: None, added: None };
    let target = targets::resolve(&format!("command={line}"), [], &running, requested)?;
    let server = Embedded::start_with(target.needs().served_api(None), true, None).await;
    let server = server.map_err(|error| Failure::environment(error.to_string()))?;
    let config = json!({});
    let failed = |error| start_failure(arguments, error);
    let running = target.start(setup(&config, Some(Facts::in_process(&server)))).await.map_err(failed)?;
    Ok(Box::new(WithServer { running, _server: server }))
}

fn setup(config: &serde_json::Value, facts: Option<Facts>) -> Setup<'_> {
    let component = "controlplane";
    Setup { component, now: None, config, instance: "seed", controller: None, facts, clusters: None }
}

/// Tries every path and prints which serve webhooks, and which webhooks are registered beside them.
async fn probe_paths(
    dialer: &dyn Dialer,
    paths: &BTreeMap<String, Vec<String>>,
    (address, not_ours): (&str, &[String]),
    terminal: &Terminal,
) -> Result<Vec<ProbedPath>, Failure> {
    let probed = probe::probe_all(dialer, paths).await.map_err(|error| dial_failure(&error))?;
    let served: Vec<String> = probed.iter().filter_map(ProbedPath::describe_served).collect();
    let missing: Vec<&str> = probed
        .iter()
        .filter(|probed| probed.answer == ProbeAnswer::NotServed)
        .map(|probed| probed.path.as_str())
        .collect();
    let unexpected: Vec<String> = probed.iter().filter_map(ProbedPath::describe_unexpected).collect();
    if served.is_empty() {
        let why = if unexpected.is_empty() {
            format!("{} answer 404", missing.join(", "))
        } else {
            unexpected.join("; ")
        };
        let remedy = if not_ours.is_empty() {
            "name its paths with --mutating-webhook-configuration FILE, or check that the port is that of the webhook and \
            not of its metrics"
                .to_owned()
        } else {
            format!(
                "if one of the registered webhooks is that of a control plane, write a target file that says so with \
                `paths: {{controlplane: PATH}}`: {}",
                not_ours.join("; ")
            )
        };
        return Err(Failure::usage(format!(
            "{address} serves no webhook that a contract is about: {why}; {remedy}\n{NOTHING_FOR_EXTENSIONS}"
        )));
    }
    terminal.print(&format!("tried    {address} … serves {}", served.join(", ")));
    if !missing.is_empty() {
        terminal.print(&format!("         not served, so verify leaves it out: {}", missing.join(", ")));
    }
    if !not_ours.is_empty() {
        let text = format!("registered, but no contract is about it: {}", not_ours.join("; "));
        terminal.print(&format!("         {text}"));
    }
    for unexpected in unexpected {
        terminal.print(&format!("         ! {unexpected}"));
    }
    Ok(probed)
}

/// A failure to start or reach the webhook, with a remedy.
fn start_failure(arguments: &InitProviderArguments, error: TargetError) -> Failure {
    match error {
        TargetError::Unreachable { source } => dial_failure(&source),
        error if arguments.command.is_some() => Failure::environment(format!(
            "{error}\ncheck that the command of --command starts the webhook once the tool has replaced <port>, <certDir>, \
            <config> and <sourceKubeconfig>"
        )),
        error => Failure::environment(error.to_string()),
    }
}

fn dial_failure(error: &DialError) -> Failure {
    let remedy = match error {
        DialError::Connect { .. } => "start the webhook, or use another --url",
        // What rustls calls the first bytes of an answer in plain HTTP.
        DialError::Tls { source_text, .. } if source_text.contains("InvalidContentType") => {
            "it answers without TLS: use the port of the webhook, and not that of its metrics or health checks"
        }
        DialError::Tls { .. } => {
            "name the CA that signed its certificate with --ca FILE (PEM), or accept any certificate with --insecure"
        }
        DialError::Timeout { .. } => {
            "check that the address is that of the webhook, and that no firewall blocks it"
        }
        DialError::Exchange { .. } => {
            "it closed the connection before it answered; look at the webhook's log"
        }
        DialError::NotPut { .. } => "use the address of a webhook",
    };
    Failure::environment(format!("failed to call the webhook: {error}; {remedy}"))
}

/// Refuses to overwrite a file without `--force`.
fn check_overwrite(path: &Path, force: bool) -> Result<(), Failure> {
    if path.exists() && !force {
        return Err(Failure::usage(format!(
            "{} exists already; --force overwrites it, --file names another file",
            path.display()
        )));
    }
    Ok(())
}

/// Refuses a file of this flag that cannot be written, before anything is found out that would be lost.
fn check_parent(flag: &str, file: &Path) -> Result<(), Failure> {
    if file.is_dir() {
        return Err(Failure::usage(format!("{flag}: {} is a folder; name a file", file.display())));
    }
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    session::check_folder(flag, parent.unwrap_or(Path::new(".")))
}

fn write(path: &Path, content: &str) -> Result<(), Failure> {
    fs::write(path, content).map_err(|error| failed("write", path, &error))
}

/// A started webhook with the API server that it reads.
struct WithServer {
    running: Box<dyn Running>,
    _server: Embedded,
}

#[async_trait::async_trait]
impl Running for WithServer {
    fn dialer(&self) -> Arc<dyn Dialer> {
        self.running.dialer()
    }

    fn registrations(&self) -> Option<&[webhook::registration::WebhookConfiguration]> {
        self.running.registrations()
    }

    fn paths(&self, webhook: &str) -> Vec<String> {
        self.running.paths(webhook)
    }

    async fn stop(self: Box<Self>) {
        self.running.stop().await;
    }
}
