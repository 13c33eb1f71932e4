//! `init provider`: finds out what a provider's webhook serves, writes a target file and says what comes next.

mod ask;
mod description;
mod registered;
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

use crate::arguments::{InitCommand, InitProviderArguments, RunningArguments, TrustArguments};
use crate::targets;
use crate::terminal::{Failure, Terminal};
use ask::{Answer, Asked};
use description::Description;
use registered::Registered;

/// Writes what was asked for.
pub(crate) fn execute(command: &InitCommand, terminal: &Terminal) -> Result<u8, Failure> {
    let InitCommand::Provider(arguments) = command;
    provider(arguments, terminal)
}

fn provider(arguments: &InitProviderArguments, terminal: &Terminal) -> Result<u8, Failure> {
    spare(&arguments.file, arguments.force)?;
    description::check(arguments)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    let description = runtime.block_on(async {
        match &arguments.namespace {
            Some(namespace) => in_seed(arguments, namespace, terminal).await,
            None => outside(arguments, terminal).await,
        }
    })?;
    for (path, content) in &description.beside {
        spare(path, arguments.force)?;
        write(path, content)?;
        terminal.print(&format!("wrote    {}", path.display()));
    }
    let text = description.text();
    // What is written is read the way `verify` will read it.
    target::read(&SourceFile::new(arguments.file.display().to_string(), text.as_str()))
        .map_err(Failure::diagnostic)?;
    write(&arguments.file, &text)?;
    terminal.print(&format!("wrote    {}", arguments.file.display()));
    for line in description.next() {
        terminal.print(&line);
    }
    Ok(0)
}

/// A webhook in a seed, asked through the proxy of the API server.
async fn in_seed(
    arguments: &InitProviderArguments,
    namespace: &str,
    terminal: &Terminal,
) -> Result<Description, Failure> {
    let kubeconfig = arguments.kubeconfig.as_deref().unwrap_or(Path::new(""));
    let (registered, dialer) = seed::find(kubeconfig, namespace).await?;
    let place = format!("Service {namespace}/{}", registered.service.0);
    let asked = asked(&dialer, &registered.paths(), &place, terminal).await?;
    Description::in_seed(arguments, &registered, asked)
}

/// A webhook that runs already, or is started.
async fn outside(arguments: &InitProviderArguments, terminal: &Terminal) -> Result<Description, Failure> {
    let file = arguments.mutating_webhook_configuration.as_deref();
    let registered = file.map(Registered::read).transpose()?;
    let url = address(arguments, registered.as_ref())?;
    let authority = registered.as_ref().and_then(|registered| registered.authority.as_ref());
    let paths = registered.as_ref().map_or_else(|| registered::known(&[]), Registered::paths);
    let running = match (&arguments.command, &url) {
        (Some(line), _) => started(line, arguments).await?,
        (None, url) => {
            let url = url.clone().unwrap_or_default();
            let known = |error| unreachable(arguments, error);
            let folder = tempfile::tempdir()
                .map_err(|error| Failure::environment(format!("failed to make a folder: {error}")))?;
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
            let trusted = RunningArguments { trust, ..RunningArguments::default() };
            let named = targets::named(&format!("url={url}"), [], &trusted, None)?;
            let nothing = json!({});
            named.start(setup(&nothing, None)).await.map_err(known)?
        }
    };
    let place = url.clone().unwrap_or_else(|| "the command".to_owned());
    let asked = asked(running.dialer().as_ref(), &paths, &place, terminal).await;
    running.stop().await;
    Description::outside(arguments, (url, registered.as_ref()), asked?)
}

/// Where a webhook that runs already is asked; nothing for one that is started.
fn address(
    arguments: &InitProviderArguments,
    registered: Option<&Registered>,
) -> Result<Option<String>, Failure> {
    if arguments.command.is_some() {
        return Ok(None);
    }
    let url = arguments.url.as_ref().or_else(|| registered.and_then(|registered| registered.url.as_ref()));
    let Some(url) = url else {
        return Err(Failure::usage(
            "the registration leads to a Service, which is not reached from here: say --url https://HOST:PORT (kubectl \
             port-forward), --command, or --namespace and --kubeconfig in place of the file",
        ));
    };
    Ok(Some(url.trim_end_matches('/').to_owned()))
}

async fn started(line: &str, arguments: &InitProviderArguments) -> Result<Box<dyn Running>, Failure> {
    let running = RunningArguments {
        trust: arguments.trust.clone(),
        config: arguments.config.clone(),
        kubeconfig: None,
    };
    let named = targets::named(&format!("command={line}"), [], &running, None)?;
    let server = Embedded::start(true, None).await;
    let server = server.map_err(|error| Failure::environment(error.to_string()))?;
    let nothing = json!({});
    let known = |error| unreachable(arguments, error);
    let running = named.start(setup(&nothing, Some(Facts::in_process(&server)))).await.map_err(known)?;
    Ok(Box::new(Beside { running, _server: server }))
}

fn setup(config: &serde_json::Value, facts: Option<Facts>) -> Setup<'_> {
    Setup { component: "controlplane", now: None, config, instance: "seed", facts, clusters: None }
}

/// Asks every path, and tells what is served.
async fn asked(
    dialer: &dyn Dialer,
    paths: &BTreeMap<String, Vec<String>>,
    place: &str,
    terminal: &Terminal,
) -> Result<Vec<Asked>, Failure> {
    let asked = ask::all(dialer, paths).await.map_err(|error| dialled(&error))?;
    let told: Vec<String> = asked.iter().filter_map(Asked::served).collect();
    let missing: Vec<&str> = asked
        .iter()
        .filter(|asked| asked.answer == Answer::NotServed)
        .map(|asked| asked.path.as_str())
        .collect();
    let strange: Vec<String> = asked.iter().filter_map(Asked::strange).collect();
    if told.is_empty() {
        let why = if strange.is_empty() {
            format!("{} answer 404", missing.join(", "))
        } else {
            strange.join("; ")
        };
        return Err(Failure::usage(format!(
            "{place} serves no webhook that contracts speak of: {why}; say which paths it has with \
             --mutating-webhook-configuration FILE, or see that it is the webhook's port and not that of its metrics"
        )));
    }
    terminal.print(&format!("asked    {place} … serves {}", told.join(", ")));
    if !missing.is_empty() {
        terminal.print(&format!("         not served, and not asked by verify: {}", missing.join(", ")));
    }
    for strange in strange {
        terminal.print(&format!("         ! {strange}"));
    }
    Ok(asked)
}

/// What is to be done about a webhook that cannot be asked.
fn unreachable(arguments: &InitProviderArguments, error: TargetError) -> Failure {
    match error {
        TargetError::Unreachable { source } => dialled(&source),
        error if arguments.command.is_some() => Failure::environment(format!(
            "{error}\nsee that --command starts the webhook as it stands: ports and files are filled in for <port>, \
             <certDir>, <config> and <sourceKubeconfig>"
        )),
        error => Failure::environment(error.to_string()),
    }
}

fn dialled(error: &DialError) -> Failure {
    let remedy = match error {
        DialError::Connect { .. } => "start the webhook, or say another --url",
        DialError::Tls { .. } => {
            "name the authority that signed its certificate with --ca FILE (PEM), or trust any with --insecure"
        }
        DialError::Timeout { .. } => {
            "see that the address is the webhook's and that nothing between holds it up"
        }
        DialError::Exchange { .. } => {
            "see what the webhook wrote last: it closed the connection in the middle"
        }
        DialError::NotPut { .. } => "ask a webhook",
    };
    Failure::environment(format!("could not ask the webhook: {error}; {remedy}"))
}

/// Refuses to write over a file.
fn spare(path: &Path, force: bool) -> Result<(), Failure> {
    if path.exists() && !force {
        return Err(Failure::usage(format!(
            "{} is there already; --force writes over it, --file names another",
            path.display()
        )));
    }
    Ok(())
}

fn write(path: &Path, content: &str) -> Result<(), Failure> {
    fs::write(path, content)
        .map_err(|error| Failure::usage(format!("failed to write {}: {error}", path.display())))
}

/// A started webhook and the API server that it reads.
struct Beside {
    running: Box<dyn Running>,
    _server: Embedded,
}

#[async_trait::async_trait]
impl Running for Beside {
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
