//! `record`: reviews of a live cluster become cases. The cluster is asked for one more registration, which lets everything
//! through, and loses it again at the end; the webhook itself is asked in dry runs, about objects without their secrets.

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
use substrate::kubeconfig;
use webhook::review::ReviewVersion;

use crate::arguments::RecordArguments;
use crate::terminal::{Failure, Terminal};
use crate::{catalog, options, signals};
use facts::Facts;
use folder::Folder;
use registration::{Listened, Registered};

/// Records until it is interrupted, the time is over, or there are enough cases.
pub(crate) fn record(arguments: &RecordArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let time = arguments.time.as_deref().map(|text| options::duration("--for", text)).transpose()?;
    if arguments.listen.ip().is_unspecified() && arguments.host.is_none() {
        let remedy = "say with --host how the API server reaches this machine";
        return Err(Failure::usage(format!("--listen {}: it is every address; {remedy}", arguments.listen)));
    }
    let facts = Facts::read(&arguments.fact)?;
    let folder = Folder::new(&arguments.into)?;
    let known = catalog::index(None)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::environment(format!("failed to start: {error}")))?;
    runtime.block_on(async {
        let client = kubeconfig::client(&arguments.kubeconfig)
            .await
            .map_err(|error| Failure::environment(error.to_string()))?;
        let cluster = Cluster::new(client);
        let registered = Registered::find(&cluster, arguments).await?;
        let tap = Tap::open(arguments.listen, arguments.host.as_deref())
            .await
            .map_err(|error| Failure::environment(error.to_string()))?;
        let mut recorder = Recorder {
            cluster,
            registered,
            facts,
            folder,
            known,
            told: BTreeSet::new(),
            counts: Counts::default(),
        };
        let led = recorder.registered.lead_to(&recorder.cluster, &tap, terminal).await?;
        terminal.note(&format!(
            "recording {} of {}; {} ends it",
            recorder.registered.words(),
            arguments.registration,
            time.map_or_else(
                || "Ctrl-C".to_owned(),
                |_| format!("{} or Ctrl-C", arguments.time.as_deref().unwrap_or_default())
            ),
        ));
        let done = recorder.listen(tap, time, arguments.count.into(), terminal).await;
        let left = led.take_back(&recorder.cluster).await;
        done?;
        left?;
        recorder.conclude(arguments, terminal)
    })
}

/// What became of reviews.
#[derive(Default)]
struct Counts {
    cases: usize,
    same: usize,
    left_out: usize,
    unanswered: usize,
    lost: usize,
}

struct Recorder {
    cluster: Cluster,
    registered: Registered,
    facts: Facts,
    folder: Folder,
    known: Index,
    /// What was asked already.
    told: BTreeSet<String>,
    counts: Counts,
}

impl Recorder {
    async fn listen(
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
        let mut signal = std::pin::pin!(signals::either());
        while self.counts.cases < count {
            let taken = tokio::select! {
                () = &mut end => break,
                _ = &mut signal => break,
                taken = tap.next() => taken,
            };
            let Some(taken) = taken else { break };
            self.take(&taken, terminal).await?;
        }
        self.counts.lost = tap.lost();
        Ok(())
    }

    /// One review: read, asked again without its secrets, and written.
    async fn take(&mut self, taken: &Taken, terminal: &Terminal) -> Result<(), Failure> {
        let Some(webhook) = self.registered.at(&taken.path) else { return Ok(()) };
        let subject = match recording::seen(&taken.body) {
            Ok(subject) => subject,
            Err(why) => {
                self.counts.left_out += 1;
                terminal.note(&format!("  left out: {why}"));
                return Ok(());
            }
        };
        if !self.told.insert(identity(&taken.path, &subject)) {
            self.counts.same += 1;
            return Ok(());
        }
        let answer = match ask(webhook, &subject).await {
            Ok(answer) => answer,
            Err(why) => {
                self.counts.unanswered += 1;
                terminal
                    .note(&format!("  ! {} of {} was not answered: {why}", webhook.name, subject.kind.kind));
                return Ok(());
            }
        };
        let (name, component) = webhook.known_as(&self.known);
        let recorded = Recorded {
            number: self.counts.cases + 1,
            webhook: name,
            component,
            phase: self.registered.phase,
            namespace: facts::namespace(&self.cluster, &subject).await?,
            cluster: self.facts.of(&self.cluster, &subject, terminal).await?,
            subject,
            answer,
            by: webhook.name.clone(),
            on: Timestamp::now().strftime("%Y-%m-%d").to_string(),
        };
        self.folder.keep(&recorded)?;
        self.counts.cases += 1;
        terminal.print(&format!(
            "  REC-{:03}  {}  {}",
            recorded.number,
            recorded.title(),
            recorded.outcome()
        ));
        Ok(())
    }

    /// What was recorded, and what comes next.
    fn conclude(&self, arguments: &RecordArguments, terminal: &Terminal) -> Result<u8, Failure> {
        let Counts { cases, same, left_out, unanswered, lost } = self.counts;
        let further = [
            (same, "the same as another"),
            (left_out, "left out"),
            (unanswered, "not answered"),
            (lost, "lost: more came at once than can wait"),
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
                "nothing was recorded{further}: no request came that {} is registered for",
                arguments.registration
            );
            let code = if unanswered > 0 { 3 } else { 4 };
            return Err(Failure { code, text });
        }
        let noun = if cases == 1 { "case" } else { "cases" };
        terminal.print(&format!("wrote    {cases} {noun} to {into}{further}"));
        terminal.print(&format!("next     gardener-conformance replay {into} --target provider.yaml"));
        Ok(0)
    }
}

/// What makes two reviews one: the webhook and what it is asked about.
fn identity(path: &str, subject: &Subject) -> String {
    let object =
        |object: &Option<serde_json::Value>| object.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("{path} {:?} {} {}", subject.operation, object(&subject.object), object(&subject.old_object))
}

async fn ask(webhook: &Listened, subject: &Subject) -> Result<exchange::Answer, String> {
    let version = if webhook.speaks_v1 { ReviewVersion::V1 } else { ReviewVersion::V1beta1 };
    let mut question = exchange::question(subject, version, "conformance-record");
    question.dry_run = true;
    let exchange = exchange::ask(webhook.dialer.as_ref(), &webhook.path, &question, webhook.timeout).await;
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
