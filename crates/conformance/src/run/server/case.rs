//! One case on a server: what it sends, what came before the target and what after.

use std::time::Instant;

use contract::case::When;
use serde_json::{Value, json};
use substrate::cluster::{ClusterError, Reply};
use substrate::facts;
use webhook::dial::DialError;
use webhook::review::Operation;

use super::{Ground, alive, inside, recorder, send, trace};
use crate::exchange::Subject;
use crate::matching;
use crate::observation::Observation;
use crate::plan::{self, CaseRef, Looked};
use crate::report::{Check, Reason, ReasonCode, Status};
use crate::run::attempt;
use crate::run::direct::{self, Attempt};
use crate::run::{Asked, prepare, shared_namespace, subject};

/// What a case sends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ask {
    Create(Value),
    Update(Value),
    Delete(Value),
    DeleteAll { resource: String, namespace: String },
}

/// A case before the target is registered.
pub(super) struct Prepared {
    pub(super) at: CaseRef,
    state: State,
}

enum State {
    /// What it sends and what came back without the target.
    Ready { facts: prepare::Prepared, ask: Ask, input: Option<Value> },
    /// A server cannot bring it about; it is asked directly.
    Direct(prepare::Prepared, String),
    /// The server failed before the target was asked.
    Broken(prepare::Prepared, String),
    /// It cannot be asked.
    Silent(Status, Reason),
}

/// Why the server did not take the request of a case.
pub(super) enum Unsent {
    /// It is asked directly, for this reason.
    Direct(String),
    /// The server failed.
    Broken(String),
}

impl Prepared {
    /// What was written for it.
    pub(super) fn facts(&self) -> Option<&prepare::Prepared> {
        match &self.state {
            State::Ready { facts, .. } | State::Direct(facts, _) | State::Broken(facts, _) => Some(facts),
            State::Silent(..) => None,
        }
    }

    fn told_as_written(&self, attempt: Attempt) -> Attempt {
        match self.facts() {
            Some(facts) => attempt.told_as_written(&facts.placed),
            None => attempt,
        }
    }
}

/// Writes facts and old objects and sends the request without the target.
pub(super) async fn prepare(ground: &Ground<'_>, at: CaseRef) -> Prepared {
    let context = ground.started;
    let looked = plan::look(context.shared.contracts, at);
    // The count of the target tells who asked, so that requests of many may go to one namespace.
    let common = ground.stage.is_whole().then(|| shared_namespace::name(context.shared, looked.case));
    let fresh = common.flatten().unwrap_or_else(|| prepare::namespace_name(context, at, 0));
    let facts = match prepare::prepare(context, looked, &fresh).await {
        Ok(facts) => facts,
        Err((status, reason)) => return Prepared { at, state: State::Silent(status, reason) },
    };
    let state = match first(ground, looked, &facts).await {
        Ok((ask, input)) => State::Ready { facts, ask, input },
        Err(Unsent::Direct(reason)) => State::Direct(facts, reason),
        Err(Unsent::Broken(error)) => State::Broken(facts, error),
    };
    Prepared { at, state }
}

/// A server that refuses what is sent cannot bring the case about; one that fails says nothing about it.
impl From<ClusterError> for Unsent {
    fn from(error: ClusterError) -> Self {
        match error {
            ClusterError::Send { .. } | ClusterError::Read { .. } => Self::Broken(error.to_string()),
            ClusterError::Kind { .. } | ClusterError::Refused { .. } => Self::Direct(error.to_string()),
        }
    }
}

/// What is sent, and the object that comes back without the target.
async fn first(
    ground: &Ground<'_>,
    looked: Looked<'_>,
    facts: &prepare::Prepared,
) -> Result<(Ask, Option<Value>), Unsent> {
    let direct = |reason: &str| Err(Unsent::Direct(reason.to_owned()));
    if matches!(looked.case.when, When::Registration { .. }) {
        return direct("its registration is read, nothing is sent");
    }
    if looked.direct().is_some_and(|sending| sending.direct && sending.review.is_none()) {
        return direct("the case says so");
    }
    if looked.direct().is_some() {
        return direct("no server sends such a request");
    }
    let ask = ask(ground, looked, facts).await?;
    // Deleting twice is the same question, and a server asks nobody else about it.
    if matches!(ask, Ask::DeleteAll { .. }) {
        return Ok((ask, None));
    }
    let reply = send::send(&ground.cluster, &ask).await?;
    if reply.code >= 500 || reply.code == 429 {
        return Err(Unsent::Broken(format!("the server failed before the webhook: {}", reply.message())));
    }
    if !reply.is_success() {
        let message = reply.message();
        // Of a pod that may not change, kube-apiserver shows every difference behind the first line.
        let first = message.lines().next().unwrap_or_default();
        return Err(Unsent::Direct(format!("the server refuses the request before the webhook: {first}")));
    }
    let input = send::object(ground, &ask, &reply);
    Ok((ask, input))
}

/// Writes what is there before, and says what is sent then.
pub(super) async fn ask(
    ground: &Ground<'_>,
    looked: Looked<'_>,
    facts: &prepare::Prepared,
) -> Result<Ask, Unsent> {
    let given = &facts.placed.given;
    if let When::DeleteCollection { resource } = &looked.case.when {
        return Ok(Ask::DeleteAll { resource: resource.clone(), namespace: facts.placed.namespace.clone() });
    }
    let subject =
        subject::subject(looked, &facts.placed).map_err(|error| Unsent::Direct(error.to_string()))?;
    let object = subject.object.clone().unwrap_or_default();
    match subject.operation {
        Operation::Create if facts::is_deleting(&object) => {
            Err(Unsent::Direct("no object is created while it is deleted".to_owned()))
        }
        Operation::Create => Ok(Ask::Create(facts::stripped(&object))),
        Operation::Update => {
            let old = subject.old_object.clone().unwrap_or_default();
            // A deletion that the request speaks of has begun before it.
            let deleting = facts::is_deleting(&object) || facts::is_deleting(&old);
            let written = write_old(ground, &old, deleting).await?;
            let mut object = facts::stripped(&object);
            if deleting {
                object["metadata"]["finalizers"] = written["metadata"]["finalizers"].clone();
            }
            object["metadata"]["resourceVersion"] = written["metadata"]["resourceVersion"].clone();
            Ok(Ask::Update(object))
        }
        Operation::Delete => {
            let old = given.old.clone().or_else(|| given.object.clone()).unwrap_or_default();
            let written = write_old(ground, &old, facts::is_deleting(&old)).await?;
            Ok(Ask::Delete(written))
        }
        Operation::Connect => Err(Unsent::Direct("no object can be connected to".to_owned())),
    }
}

async fn write_old(ground: &Ground<'_>, old: &Value, deleting: bool) -> Result<Value, Unsent> {
    let mut old = old.clone();
    if deleting && !facts::is_deleting(&old) {
        old["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    }
    let written = facts::write(&ground.cluster, &old).await.map_err(|error| match Unsent::from(error) {
        Unsent::Direct(reason) => Unsent::Direct(format!("the old object cannot be written: {reason}")),
        broken @ Unsent::Broken(_) => broken,
    })?;
    ground.left.lock().await.push(written.clone());
    Ok(written)
}

/// Asks with the target registered, again while the case fails and informers may lag.
pub(super) async fn settle(ground: &Ground<'_>, prepared: &Prepared) -> Asked {
    let context = ground.started;
    let looked = plan::look(context.shared.contracts, prepared.at);
    let started = Instant::now();
    let (mut attempts, mut failed) = (0, 0);
    let repeats = context.shared.options.repeat.max(1);
    let mut kept: Option<Asked> = None;
    for _ in 0..repeats {
        let (asked, tries) = once(ground, prepared, looked).await;
        attempts += tries;
        failed += u16::from(asked.result.status != Status::Passed);
        if kept.as_ref().is_none_or(|kept| kept.result.status == Status::Passed) {
            kept = Some(asked);
        }
    }
    let mut asked = kept.expect("a case is asked at least once");
    asked.result.attempts = attempts;
    asked.result.duration_ms = attempt::milliseconds(started.elapsed());
    asked.result.failed_repeats = (repeats > 1).then_some(failed);
    asked
}

async fn once(ground: &Ground<'_>, prepared: &Prepared, looked: Looked<'_>) -> (Asked, u32) {
    let ask = async || {
        let attempt = attempt_once(ground, prepared, looked).await;
        let asked = attempt::conclude(prepared.at, looked, prepared.told_as_written(attempt));
        if asked.result.status != Status::Failed {
            return asked;
        }
        instead(ground, prepared, looked, &asked.result.checks).await.unwrap_or(asked)
    };
    attempt::until_settled(ground.started.shared.options.settle, looked.has_facts(), ask).await
}

/// A case that fails where the server did not let through what it gives is asked directly.
async fn instead(
    ground: &Ground<'_>,
    prepared: &Prepared,
    looked: Looked<'_>,
    failed: &[Check],
) -> Option<Asked> {
    let State::Ready { facts: ready, ask, input } = &prepared.state else { return None };
    let given = match ask {
        Ask::Create(_) | Ask::Update(_) => ready.placed.given.object.as_ref()?,
        Ask::Delete(_) => ready.placed.given.old.as_ref().or(ready.placed.given.object.as_ref())?,
        Ask::DeleteAll { .. } => return None,
    };
    // What only a server sets is nobody's to keep.
    let given = &facts::stripped(given);
    let kept = match ask {
        Ask::Delete(written) => Some(written),
        _ => input.as_ref(),
    };
    let rules = matching::rules_of_raw(looked.contract, Some(given));
    let lost = matching::changes(Some(given), kept, &rules);
    let lost: Vec<String> = lost
        .iter()
        .filter(|path| matching::get(given, path).is_some())
        .map(ToString::to_string)
        .filter(|path| failed.iter().any(|check| speaks_of(check, path)))
        .take(3)
        .collect();
    let is_mounted =
        ground.stage.is_whole() && failed.iter().any(|check| alive::speaks_of_mounts(given, check));
    let reason = match lost.as_slice() {
        [] if is_mounted => "the API server of a whole cluster mounts a token itself".to_owned(),
        [] => return None,
        lost => format!("a server does not keep {} as given", lost.join(", ")),
    };
    let _beside_others = ground.turns.read().await;
    let attempt = with_reason(direct::ask(ground.started, looked, ready).await, &reason);
    Some(attempt::conclude(prepared.at, looked, attempt.told_as_written(&ready.placed)))
}

/// Whether a failed check may owe its failure to another value at a path: one of the object to a value there, above or
/// below; a verdict to any.
fn speaks_of(check: &Check, path: &str) -> bool {
    let within = |whole: &str, part: &str| {
        part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    match check.part.as_str() {
        "law" | "called" => false,
        "object" => check.path.is_empty() || within(&check.path, path) || within(path, &check.path),
        _ => true,
    }
}

fn with_reason(attempt: Attempt, reason: &str) -> Attempt {
    match attempt {
        Attempt::Answered { observation, trace, evidence, .. } => {
            let asked = Some(format!("asked directly: {reason}"));
            Attempt::Answered { observation, trace, evidence, asked }
        }
        other => other,
    }
}

async fn attempt_once(ground: &Ground<'_>, prepared: &Prepared, looked: Looked<'_>) -> Attempt {
    match &prepared.state {
        State::Silent(status, reason) => Attempt::Silent(*status, reason.clone()),
        State::Broken(_, error) => environment(error.clone()),
        State::Direct(facts, reason) => {
            let _beside_others = ground.turns.read().await;
            with_reason(direct::ask(ground.started, looked, facts).await, reason)
        }
        State::Ready { facts, ask, input } => {
            // Requests for one name in one namespace could not be told apart, where requests are.
            let is_at_home = facts.placed.renamed_from.is_some()
                && subject_of(looked, facts).is_none_or(|subject| subject.namespaced);
            let alike = !ground.stage.is_whole() && !is_at_home;
            let _turn = if alike { Some(ground.alike.lock().await) } else { None };
            second(ground, looked, facts, ask, input.as_ref()).await
        }
    }
}

fn subject_of(looked: Looked<'_>, facts: &prepare::Prepared) -> Option<Subject> {
    subject::subject(looked, &facts.placed).ok()
}

/// Sends the request with the target registered.
async fn second(
    ground: &Ground<'_>,
    looked: Looked<'_>,
    facts: &prepare::Prepared,
    ask: &Ask,
    input: Option<&Value>,
) -> Attempt {
    let Some(subject) = subject_of(looked, facts) else {
        return environment("the case has no subject".to_owned());
    };
    let sent = if ground.stage.is_whole() {
        inside::ask(ground, looked, facts, (&subject, ask, input)).await
    } else {
        recorder::ask(ground, &subject, ask).await
    };
    let inside::Sent { reply, called, calls } = match sent {
        Ok(sent) => sent,
        Err(error) => return environment(error.to_string()),
    };
    if let Some(failed) = calls.iter().find_map(|call| call.failed.clone())
        && matches!(failed, DialError::Connect { .. } | DialError::Tls { .. })
    {
        return Attempt::Unreachable(failed, None);
    }
    let mut answer = send::answer(ground, ask, &reply);
    if send::is_refusal_of_server(&reply, called) {
        return environment(format!("the server refuses the request, not a webhook: {}", reply.message()));
    }
    if ground.stage.is_whole() && inside::is_unreached(&reply) {
        return environment(reply.message());
    }
    if !answer.allowed && called && is_failed_call(&reply.body) {
        return garbled(ground, looked, facts, (&reply, &calls)).await;
    }
    let rules = matching::rules_of_raw(looked.contract, input);
    answer.patched = answer.object.is_some() && !matching::same(input, answer.object.as_ref(), &rules);
    let observation = Observation { called: Some(called), input: input.cloned(), answer };
    let _beside_others = ground.turns.read().await;
    let (trace, evidence) = trace::traces(ground, looked, facts, &calls).await;
    Attempt::Answered {
        observation: Box::new(observation),
        trace: trace.map(Box::new),
        evidence,
        asked: None,
    }
}

/// The target was asked, and what it answered is none to an API server.
async fn garbled(
    ground: &Ground<'_>,
    looked: Looked<'_>,
    facts: &prepare::Prepared,
    (reply, calls): (&Reply, &[recorder::Call]),
) -> Attempt {
    let check = Check {
        part: "answer".to_owned(),
        path: String::new(),
        want: "an answer that an API server accepts".to_owned(),
        got: reply.message(),
    };
    let (trace, evidence) = trace::traces(ground, looked, facts, calls).await;
    match trace {
        Some(trace) => Attempt::Garbled(vec![check], Box::new(trace), evidence),
        None => environment(reply.message()),
    }
}

fn environment(text: String) -> Attempt {
    Attempt::Silent(Status::Errored, Reason::new(ReasonCode::Environment, text))
}

/// kube-apiserver's words for a webhook that gave no proper answer.
fn is_failed_call(status: &Value) -> bool {
    status["message"].as_str().is_some_and(|message| message.contains("failed calling webhook"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_laid_at_a_lost_value_only_where_it_may_be_its_doing() {
        let table = [
            ("object", "spec.replicas", "spec.replicas", true),
            ("object", "spec.replicas", "spec", true),
            ("object", "spec.containers[0]", "spec.containers[0].image", true),
            ("object", "spec.replicas", "metadata.labels", false),
            ("object", "spec.replicas", "spec.replicasOfOld", false),
            ("object", "", "spec.x", true),
            ("causes", "spec.type", "spec.other", true),
            ("law", "deterministic", "spec.x", false),
            ("called", "", "metadata.labels", false),
        ];
        for (part, path, lost, want) in table {
            let text = str::to_owned;
            let check = Check { part: text(part), path: text(path), want: String::new(), got: String::new() };
            assert_eq!(speaks_of(&check, lost), want, "{part} {path}, lost {lost}");
        }
    }
}
