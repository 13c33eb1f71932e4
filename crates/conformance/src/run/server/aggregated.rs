//! Cases that the API server answers itself: it serves the kind of their object as an aggregated API server does, by the rules that
//! a component's webhooks have where the kind is a custom resource. No webhook is registered.
//!
//! A request is sent twice, as a dry run: without the rules, which gives the input, and with them. What a server does to any object
//! (it sets uid and times, drops the status of a new object, …) is in both, and does not count as a change.
//!
//! Where the configuration of the cases turns on admission plugins, these belong to the rules: the answer is the server's in every
//! case, because no webhook has them.
//!
//! The reply is read as the answer of a webhook. What differs by nature is translated here, and nowhere else:
//! - A refusal of admission, 403, names its object: `shoots.core.gardener.cloud "app" is forbidden: why`. A webhook says `why`, behind
//!   `admission webhook "…" denied the request: `, which is taken off elsewhere.
//! - Errors of fields come with code 422 and reason Invalid, as our webhooks answer them, too: nothing is translated.
//! - Whether a registration sends the request to a webhook is unknown, and laws about webhooks are not checked.

use contract::case::When;
use contract::gardener::decision::Question;
use contract::model::Form;
use serde_json::{Map, Value};
use substrate::cluster::{Asker, Reply};
use substrate::facts;

use super::case::{environment, lost_values, with_reason};
use super::request::{NotAccepted, ServerRequest, build_request, send_first};
use super::{WebhookContext, send};
use crate::exchange::Answer;
use crate::mask;
use crate::matching;
use crate::observation::Observation;
use crate::plan::{CaseRef, LocatedCase};
use crate::report::{Evidence, Status};
use crate::run::direct::{self, Attempt};
use crate::run::prepare::{self, PreparedCase};
use crate::run::{Aggregated, CaseRun, attempt};

/// A request that the server answers itself.
pub(super) struct PreparedRequest {
    request: ServerRequest,
    /// The user whom the case names.
    user: Option<Asker>,
    /// The object without the rules; as it was sent, if the server refuses it without them, too.
    input: Option<Value>,
    /// The refusal without the rules.
    refusal: Option<Reply>,
}

/// Writes the old object and sends the request without the rules.
pub(super) async fn prepare(
    context: &WebhookContext<'_>,
    api: &Aggregated,
    located: LocatedCase<'_>,
    facts: &PreparedCase,
) -> Result<PreparedRequest, NotAccepted> {
    if let Some(reason) = only_for_webhooks(api, located) {
        return Err(NotAccepted::Direct(reason.to_owned()));
    }
    if !context.started.shared.target.is_ours() {
        let text =
            format!("the API server of the substrate {} answers the request, not the target", api.name);
        return Err(NotAccepted::NotSupported(text));
    }
    let request = build_request(context, located, facts).await?;
    let reply = send_first(context, &request).await?;
    let (input, refusal) = if reply.is_success() {
        (send::object(context, &request, &reply), None)
    } else {
        (request.object().cloned(), Some(reply))
    };
    let user = located.overrides().and_then(|fields| user(fields.get("userInfo")?));
    Ok(PreparedRequest { request, user, input, refusal })
}

/// Why a case is about a webhook, and not about a request to a server; `None`: the request goes to the server.
fn only_for_webhooks(api: &Aggregated, located: LocatedCase<'_>) -> Option<&'static str> {
    let (given, then) = (&located.case.given, &located.case.then);
    let is_request = match &located.case.when {
        When::Registration { .. } => return Some("the case reads the registration and sends no request"),
        When::Admission { .. } => true,
        When::DeleteCollection { resource } => return of_deletions(api, located, resource),
        When::Decision(decision) => matches!(decision.asks, Question::Admission { .. }),
        _ => false,
    };
    let is_typed = |object: &Value| {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        api.api.serves(text("apiVersion"), text("kind"))
    };
    let is_of_form =
        matches!(located.contract.form, Form::Mutation | Form::Validation | Form::Versions) && is_request;
    if !is_of_form || !given.object.as_ref().or(given.old.as_ref()).is_some_and(is_typed) {
        return Some("the server has no specific rules for the kind of its object");
    }
    if then.called.is_some() {
        return Some("the case is about whether the registration selects the request");
    }
    if matches!((then.allowed, &then.message), (Some(true), Some(_))) {
        return Some("no server passes on the message of a request that is allowed");
    }
    let is_special = located.direct().is_some_and(|sending| sending.direct || sending.review.is_some());
    let is_overridden = located.overrides().is_some_and(|fields| !is_said_by_requests(fields));
    (is_special || is_overridden).then_some("no server sends such a request")
}

/// The same for the deletion of all objects of a resource.
fn of_deletions(api: &Aggregated, located: LocatedCase<'_>, resource: &str) -> Option<&'static str> {
    if !api.api.serves_resource(resource) {
        return Some("the server has no rules of its own for the kind of the objects");
    }
    located.case.then.called.is_some().then_some("the case asks whether the registration selects the request")
}

/// Whether a request to a server says these fields of an AdmissionRequest: who asks, and the subresource.
fn is_said_by_requests(fields: &Map<String, Value>) -> bool {
    fields.iter().all(|(field, value)| match field.as_str() {
        "userInfo" => user(value).is_some(),
        "subResource" => value.is_string(),
        _ => false,
    })
}

/// The user, if the fields contain nothing that a request cannot say.
fn user(info: &Value) -> Option<Asker> {
    let info = info.as_object()?;
    if info.keys().any(|key| !matches!(key.as_str(), "username" | "groups")) {
        return None;
    }
    let name = info.get("username")?.as_str()?.to_owned();
    let groups = info.get("groups").and_then(Value::as_array).into_iter().flatten();
    Some(Asker { name, groups: groups.filter_map(Value::as_str).map(str::to_owned).collect() })
}

/// Sends the request with the rules, as the case's user. If rules that a webhook may have, too, change nothing about a refusal, it
/// is the server's own, and the webhook is called.
pub(super) async fn send(
    context: &WebhookContext<'_>,
    located: LocatedCase<'_>,
    facts: &PreparedCase,
    prepared: &PreparedRequest,
) -> Attempt {
    let user = prepared.user.clone();
    let requests = user.map_or_else(|| context.requests.clone(), |user| context.requests.speaking_for(user));
    let reply = match send::send(&requests, &prepared.request).await {
        Ok(reply) => reply,
        Err(error) => return environment(error.to_string()),
    };
    let has_plugins = is_about_plugins(context);
    let is_same = |refusal: &&Reply| (refusal.code, &refusal.body) == (reply.code, &reply.body);
    if let Some(refusal) = prepared.refusal.as_ref().filter(is_same).filter(|_| !has_plugins) {
        let message = refusal.message();
        let first = message.lines().next().unwrap_or_default();
        let reason = format!("the server refuses the request before its rules: {first}");
        return with_reason(direct::attempt(context.started, located, facts).await, &reason);
    }
    if !has_plugins && is_of_mutation_alone(located, &reply) {
        let message = reply.message();
        let first = message.lines().next().unwrap_or_default();
        let reason = format!("the server refuses what the mutation results in: {first}");
        return with_reason(direct::attempt(context.started, located, facts).await, &reason);
    }
    let input = prepared.input.as_ref();
    let rules = matching::rules_of_raw(located.contract, input);
    let mut answer = answer(send::answer(context, &prepared.request, &reply));
    if located.contract.form == Form::Validation && located.contract.only_touches.is_empty() {
        // The contract is about what is refused alone, not about what the server's other rules change.
        answer.object.clone_from(&prepared.input);
    }
    answer.patched = answer.object.is_some() && !matching::same(input, answer.object.as_ref(), &rules);
    let observation = Observation { called: None, input: input.cloned(), answer };
    Attempt::Answered {
        observation: Box::new(observation),
        trace: None,
        evidence: Some(evidence(&prepared.request, &reply)),
        deviation: None,
    }
}

/// Whether the cases are about admission plugins, which no webhook has.
fn is_about_plugins(context: &WebhookContext<'_>) -> bool {
    let group = context.started.group;
    let api = context.server.answering(&group.component);
    api.is_some_and(|api| api.is_about_plugins(&group.config))
}

/// Whether a case is about a mutation, and the server's validation refuses the result, so that it is invisible.
fn is_of_mutation_alone(located: LocatedCase<'_>, reply: &Reply) -> bool {
    located.contract.form == Form::Mutation && reply.code == 422 && located.case.then.allowed != Some(false)
}

/// The answer as a webhook would give it.
fn answer(answer: Answer) -> Answer {
    let is_refused = answer.code == Some(403);
    let message = answer.message.map(|message| {
        let why = if is_refused { without_object(&message) } else { &message };
        why.to_owned()
    });
    Answer { message, ..answer }
}

/// `why` of `shoots.core.gardener.cloud "app" is forbidden: why`.
fn without_object(message: &str) -> &str {
    let is_object = |object: &str| {
        let parts = object.split_once(' ');
        parts.is_some_and(|(resource, name)| {
            let quoted = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
            resource.contains('.') && quoted.is_some_and(|name| !name.contains(['"', ' ']))
        })
    };
    match message.split_once(" is forbidden: ") {
        Some((object, why)) if is_object(object) => why,
        _ => message,
    }
}

/// Request and reply, secrets masked.
fn evidence(request: &ServerRequest, reply: &Reply) -> Evidence {
    let object = request.object();
    let subject = object.map(prepare::describe).unwrap_or_default();
    Evidence {
        asked: format!("{} {subject}", request.operation()),
        request: object.map(mask::masked).unwrap_or_default(),
        status: Some(reply.code),
        response: mask::masked(&reply.body),
        output: String::new(),
    }
}

/// Asks the webhook about a failed case whose outcome depends on values that no server keeps, such as the status of a new object.
/// If the webhook says what the case wants of the object without them, too, the server's rules are wrong, and the failure stands.
pub(super) async fn send_directly(
    context: &WebhookContext<'_>,
    at: CaseRef,
    located: LocatedCase<'_>,
    (sent, prepared): (&PreparedCase, &PreparedRequest),
) -> Option<CaseRun> {
    let given = sent.placed.given.object.as_ref()?;
    let lost = lost_values(located, &facts::stripped(given), prepared.input.as_ref());
    if prepared.refusal.is_some() || lost.is_empty() || is_about_plugins(context) {
        return None;
    }
    let mut kept = sent.clone();
    let mut object = prepared.input.clone()?;
    if facts::is_deleting(given) {
        object["metadata"]["deletionTimestamp"] = given["metadata"]["deletionTimestamp"].clone();
    }
    kept.placed.given.object = Some(object);
    let lost: Vec<String> = lost.into_iter().take(3).collect();
    let reason = format!("the server does not keep {} as given", lost.join(", "));
    let ask = async |case: &PreparedCase| {
        let attempt = with_reason(direct::attempt(context.started, located, case).await, &reason);
        attempt::conclude(at, located, attempt.with_original_names(&case.placed))
    };
    if ask(&kept).await.result.status == Status::Passed {
        return None;
    }
    Some(ask(sent).await)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_name_of_the_refused_object_is_taken_off() {
        for (message, want) in [
            (r#"shoots.core.gardener.cloud "app" is forbidden: no: really"#, "no: really"),
            (r#"shoots.core.gardener.cloud "app" is forbidden: a is forbidden: b"#, "a is forbidden: b"),
            (r#"pods "app" is forbidden: no"#, r#"pods "app" is forbidden: no"#),
            ("to do this is forbidden: no", "to do this is forbidden: no"),
            ("no", "no"),
        ] {
            assert_eq!(without_object(message), want, "{message}");
        }
        let refused = |code: u16| Answer {
            code: Some(code),
            message: Some(r#"a.b "c" is forbidden: d"#.to_owned()),
            ..Answer::default()
        };
        assert_eq!(answer(refused(403)).message.as_deref(), Some("d"));
        assert_eq!(answer(refused(422)), refused(422));
    }

    #[test]
    fn a_case_may_name_its_user_and_the_subresource_and_nothing_else_of_a_request() {
        let info = json!({"username": "ada", "groups": ["a", "b"]});
        let ada = Asker { name: "ada".to_owned(), groups: vec!["a".to_owned(), "b".to_owned()] };
        assert_eq!(user(&info), Some(ada));
        let is_said = |fields: &Value| is_said_by_requests(fields.as_object().unwrap());
        assert!(is_said(&json!({"userInfo": info, "subResource": "status"})));
        for other in [
            json!({"object": null}),
            json!({"userInfo": info, "dryRun": true}),
            json!({"userInfo": {"username": "ada", "uid": "1"}}),
            json!({"userInfo": {"groups": []}}),
        ] {
            assert!(!is_said(&other), "{other}");
        }
    }
}
