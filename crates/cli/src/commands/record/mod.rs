//! `record`: turns the reviews of a live cluster into cases. It adds a webhook configuration that allows every request, and
//! deletes it at the end; it calls the webhook itself in dry runs, with objects without their secrets.

mod facts;
mod folder;
mod registration;

use std::collections::BTreeSet;
use std::time::Duration;

use conformance::exchange::{self, Outcome, Subject};
use conformance::recording::{self, Recorded, Taken, Tap};
use contract::index::Index;
use jiff::Timestamp;
use substrate::cluster::Cluster;
use webhook::review::ReviewVersion;

use crate::arguments::RecordArguments;
use crate::ending::Ending;
use crate::kubeconfig::cluster_client;
use crate::terminal::{Failure, Terminal};
use crate::{catalog, options, signals};
use facts::CaseFacts;
use folder::RecordingFolder;
use registration::{RecordedConfiguration, RecordedWebhook};

/// Records until a signal, the end of `--for`, or `--count` cases.
pub(crate) fn record(arguments: &RecordArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let time = arguments.time.as_deref().map(|text| options::duration("--for", text)).transpose()?;
    if arguments.listen.ip().is_unspecified() && arguments.host.is_none() {
        let remedy = "add --host with the name or address at which the API server reaches this machine";
        return Err(Failure::usage(format!(
            "--listen {}: this means all addresses of this machine; {remedy}",
            arguments.listen
        )));
    }
    let facts = CaseFacts::parse(&arguments.fact)?;
    let folder = RecordingFolder::new(&arguments.into)?;
    let contracts = catalog::index(None)?;
    let runtime = crate::runtime::multi_thread();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    runtime.block_on(async {
        let client = cluster_client(&arguments.kubeconfig).await?;
        let cluster = Cluster::new(client);
        let configuration = RecordedConfiguration::find(&cluster, arguments).await?;
        let tap = Tap::open(arguments.listen, arguments.host.as_deref())
            .await
            .map_err(|error| Failure::environment(error.to_string()))?;
        let mut recorder = Recorder {
            cluster,
            configuration,
            facts,
            folder,
            contracts,
            seen: BTreeSet::new(),
            counts: ReviewCounts::default(),
        };
        let tapped = recorder.configuration.register_tap(&recorder.cluster, &tap, terminal).await?;
        terminal.note(&format!(
            "recording {} of {} until {}",
            recorder.configuration.describe_webhooks(),
            arguments.registration,
            time.map_or_else(
                || "Ctrl-C".to_owned(),
                |_| format!("{} have passed, or Ctrl-C", arguments.time.as_deref().unwrap_or_default())
            ),
        ));
        let result = recorder.record(tap, time, arguments.count.into(), terminal).await;
        let deleted = tapped.delete(&recorder.cluster).await;
        all_succeeded(result, deleted)?;
        recorder.print_summary(arguments, terminal)
    })
}

/// One failure for both: neither hides the other.
fn all_succeeded(first: Result<(), Failure>, second: Result<(), Failure>) -> Result<(), Failure> {
    match (first, second) {
        (Err(first), Err(second)) => {
            Err(Failure { text: format!("{}; {}", first.text, second.text), ..first })
        }
        (first, second) => first.and(second),
    }
}

/// How many reviews became cases, and how many did not, by reason.
#[derive(Default)]
struct ReviewCounts {
    cases: usize,
    duplicates: usize,
    left_out: usize,
    unanswered: usize,
    lost: usize,
}

struct Recorder {
    cluster: Cluster,
    configuration: RecordedConfiguration,
    facts: CaseFacts,
    folder: RecordingFolder,
    contracts: Index,
    /// The reviews so far, by [`identity`].
    seen: BTreeSet<String>,
    counts: ReviewCounts,
}

impl Recorder {
    async fn record(
        &mut self,
        mut tap: Tap,
        time: Option<Duration>,
        count: usize,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        let end = async move {
            match time {
                Some(time) => tokio::time::sleep(time).await,
                None => std::future::pending().await,
            }
        };
        let mut end = std::pin::pin!(end);
        let mut signal = std::pin::pin!(signals::interrupt_or_terminate());
        while self.counts.cases < count {
            let taken = tokio::select! {
                () = &mut end => break,
                _ = &mut signal => break,
                taken = tap.next() => taken,
            };
            let Some(taken) = taken else { break };
            self.record_review(&taken, terminal).await?;
        }
        self.counts.lost = tap.lost();
        Ok(())
    }

    /// Sends a review without its secrets to the webhook again, and writes both as a case.
    async fn record_review(&mut self, taken: &Taken, terminal: &Terminal) -> Result<(), Failure> {
        let Some(webhook) = self.configuration.webhook_at(&taken.path) else { return Ok(()) };
        let subject = match recording::seen(&taken.body) {
            Ok(subject) => subject,
            Err(why) => {
                self.counts.left_out += 1;
                terminal.note(&format!("  left out: {why}"));
                return Ok(());
            }
        };
        if !self.seen.insert(identity(&taken.path, &subject)) {
            self.counts.duplicates += 1;
            return Ok(());
        }
        let answer = match call(webhook, &subject).await {
            Ok(answer) => answer,
            Err(why) => {
                self.counts.unanswered += 1;
                terminal.note(&format!(
                    "  ! {} did not answer a request about a {}: {why}",
                    webhook.name, subject.kind.kind
                ));
                return Ok(());
            }
        };
        let (name, component) = webhook.contract_name(&self.contracts);
        let recorded = Recorded {
            number: self.counts.cases + 1,
            webhook: name,
            component,
            phase: self.configuration.phase,
            namespace: facts::read_namespace(&self.cluster, &subject).await?,
            cluster: self.facts.read_for(&self.cluster, &subject, terminal).await?,
            subject,
            answer,
            by: webhook.name.clone(),
            on: Timestamp::now().strftime("%Y-%m-%d").to_string(),
        };
        self.folder.write_case(&recorded)?;
        self.counts.cases += 1;
        terminal.print(&format!(
            "  REC-{:03}  {}  {}",
            recorded.number,
            recorded.title(),
            recorded.outcome()
        ));
        Ok(())
    }

    /// Prints what was recorded, and the next command.
    fn print_summary(&self, arguments: &RecordArguments, terminal: &Terminal) -> Result<Ending, Failure> {
        let ReviewCounts { cases, duplicates, left_out, unanswered, lost } = self.counts;
        let further = [
            (duplicates, "duplicates"),
            (left_out, "left out"),
            (unanswered, "not answered"),
            (lost, "lost because too many came at once"),
        ];
        let further: Vec<String> = further
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let further = if further.is_empty() { String::new() } else { format!(" ({})", further.join(", ")) };
        let into = arguments.into.display();
        if cases == 0 {
            let text = format!(
                "nothing was recorded{further}: the cluster sent no request for which {} is registered and that could be recorded",
                arguments.registration
            );
            let code = if unanswered > 0 { 3 } else { 4 };
            return Err(Failure { code, text });
        }
        let noun = if cases == 1 { "case" } else { "cases" };
        terminal.print(&format!("wrote    {cases} {noun} to {into}{further}"));
        terminal.print(&format!("next     gardener-conformance replay {into} --target provider.yaml"));
        Ok(Ending::done())
    }
}

/// Identifies a review: two reviews with the same webhook, operation and objects are duplicates.
fn identity(path: &str, subject: &Subject) -> String {
    let object =
        |object: &Option<serde_json::Value>| object.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{path} {:?} {} {}", subject.operation, object(&subject.object), object(&subject.old_object))
}

/// Sends a review to the webhook and returns its answer without secrets.
async fn call(webhook: &RecordedWebhook, subject: &Subject) -> Result<exchange::Answer, String> {
    let version = if webhook.speaks_v1 { ReviewVersion::V1 } else { ReviewVersion::V1beta1 };
    let mut request = exchange::question(subject, version, "conformance-record");
    request.dry_run = true;
    let exchange = exchange::ask(webhook.dialer.as_ref(), &webhook.path, &request, webhook.timeout).await;
    match exchange.outcome {
        Outcome::Answered(answer) => Ok(exchange::Answer {
            object: answer.object.as_ref().map(recording::kept),
            message: answer.message.as_deref().map(conformance::mask::masked_text),
            ..answer
        }),
        Outcome::Garbled(bad) => Err(bad.to_string()),
        Outcome::Late(timeout) => Err(format!("no answer within {timeout:?}")),
        Outcome::NotServed => Err(format!("{} answers 404", webhook.path)),
        Outcome::NotPut(reason) => Err(reason),
        Outcome::Unreachable(error) => Err(error.to_string()),
    }
}
