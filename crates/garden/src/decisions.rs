//! Answers questions about versions: converts the objects of a question for the crate `versions`, and its decision to
//! a document.

use api::garden::shoot::ShootSpec;
use api::garden::{CloudProfile, Shoot};
use component::{Cause, Decided, Question};
use formats::duration::GoDuration;
use formats::version::Version;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use versions::Refusal;
use versions::maintenance::{self, Maintained};
use versions::pool_hash::Pool;
use versions::support::{Range, Role};
use versions::window::Window;

/// Parameters of a question about rolling a pool.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RollingParameters {
    /// Strings that the provider's extension adds to the hash.
    additional: Vec<String>,
}

/// Parameters of the question whether a release of Gardener supports a version of Kubernetes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SupportParameters {
    /// The release of Gardener.
    gardener: String,
    /// Role of the cluster: `garden`, `seed`, `shoot`.
    cluster: String,
    /// The cluster's version of Kubernetes.
    version: String,
}

/// The decision; an error is the reason why it is missing.
type DecisionResult = Result<Decided, String>;

/// Answers a question about versions.
#[must_use]
pub fn decide(question: &Question<'_>) -> Decided {
    let answer = match question.about {
        "admission" => admission(question),
        "maintenance" => maintenance(question),
        "window" => shoot(question.object).map(|shoot| window(&shoot.spec, question.now)),
        "rolling" => parameters(question)
            .and_then(|parameters: RollingParameters| rolling(question, &parameters.additional)),
        "support" => parameters(question).and_then(|parameters: SupportParameters| support(&parameters)),
        other => Err(format!("the garden does not decide about {other}")),
    };
    answer.unwrap_or_else(Decided::Undecided)
}

fn parameters<T: DeserializeOwned>(question: &Question<'_>) -> Result<T, String> {
    serde_json::from_value(question.parameters.clone())
        .map_err(|error| format!("failed to read the parameters of {}: {error}", question.about))
}

fn admission(question: &Question<'_>) -> DecisionResult {
    let mut spec = shoot(question.object)?.spec;
    let old = question.old.map(|old| shoot(Some(old))).transpose()?;
    let refused = versions::admission::admit(
        &mut spec,
        old.as_ref().map(|old| &old.spec),
        &profile(question)?,
        question.now,
    );
    if refused.is_empty() {
        return Ok(Decided::Document(json!({"shoot": with_spec(question, &spec)?})));
    }
    Ok(Decided::Refused(refused.into_iter().map(cause).collect()))
}

fn maintenance(question: &Question<'_>) -> DecisionResult {
    let mut spec = shoot(question.object)?.spec;
    let done = maintenance::maintain(&mut spec, &profile(question)?, question.now)
        .map_err(|error| error.to_string())?;
    let failures: Vec<String> = done.failures.iter().map(ToString::to_string).collect();
    let operations: Vec<&str> = done.operations().collect();
    let mut document = Map::from_iter([("shoot".to_owned(), with_spec(question, &spec)?)]);
    let reasons = reasons(&done);
    let texts = [("told", json!(operations)), ("failures", json!(failures)), ("reason", json!(reasons))];
    let present = texts.into_iter().filter(|(_, value)| *value != json!([]) && *value != json!(""));
    document.extend(present.map(|(name, value)| (name.to_owned(), value)));
    Ok(Decided::Document(Value::Object(document)))
}

/// The reasons for version updates, each once.
fn reasons(done: &Maintained) -> String {
    let sentences = done.images.iter().chain(&done.kubernetes);
    let mut reasons: Vec<&str> = Vec::new();
    for (_, reason) in sentences.filter_map(|sentence| sentence.rsplit_once(" Reason: ")) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons.join(", ")
}

/// The effective window, and the bounds of the next maintenance time.
fn window(shoot: &ShootSpec, now: Timestamp) -> Decided {
    let window = Window::of(shoot.maintenance.as_ref());
    let until = |in_this: bool| {
        let span = |below: fn(u64) -> u64| {
            let seconds = window.until_next(now, in_this, below).as_secs();
            GoDuration::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX)).to_string()
        };
        json!({"from": span(|_| 0), "to": span(|most| most)})
    };
    Decided::Document(json!({
        "window": {"begin": window.begin.to_string(), "end": window.end.to_string()},
        "maintained": window.contains(now),
        "next": until(false),
        "inThis": until(true),
    }))
}

fn rolling(question: &Question<'_>, additional: &[String]) -> DecisionResult {
    let additional: Vec<&str> = additional.iter().map(String::as_str).collect();
    let hash = |object: Option<&Value>| hash(&shoot(object)?, &additional);
    let now = hash(question.object)?;
    let mut document = json!({"hash": now});
    if question.old.is_some() {
        document["rolls"] = json!(hash(question.old)? != now);
    }
    Ok(Decided::Document(document))
}

fn hash(shoot: &Shoot, additional: &[&str]) -> Result<String, String> {
    let pool = shoot.spec.provider.workers.first().ok_or("the shoot has no pool")?;
    let image = pool.machine.image.as_ref();
    let rotation = shoot.status.credentials.as_ref().and_then(|credentials| credentials.rotation.as_ref());
    let config = pool.provider_config.as_ref().map(ToString::to_string);
    let pool = Pool {
        kubernetes: versions::update::effective(&shoot.spec, pool),
        machine_type: &pool.machine.type_,
        image: image.map_or("", |image| image.name.as_str()),
        image_version: image.and_then(|image| image.version.as_deref()).unwrap_or_default(),
        volume: pool.volume.as_ref().map(|volume| (volume.size.as_str(), volume.type_.as_deref())),
        provider_config: config.as_deref(),
        additional,
        cri: pool.cri.as_ref().map(|cri| cri.name.as_str()),
        certificate_authorities: rotation.and_then(|rotation| {
            Some(rotation.certificate_authorities.as_ref()?.last_initiation_time.as_ref()?.0)
        }),
        service_account_key: rotation.and_then(|rotation| {
            Some(rotation.service_account_key.as_ref()?.last_initiation_time.as_ref()?.0)
        }),
        node_local_dns: shoot
            .spec
            .system_components
            .as_ref()
            .and_then(|components| components.node_local_dns.as_ref())
            .is_some_and(|cache| cache.enabled),
    };
    pool.hash().map_err(|error| error.to_string())
}

fn support(parameters: &SupportParameters) -> DecisionResult {
    let role = match parameters.cluster.as_str() {
        "garden" => Role::Garden,
        "seed" => Role::Seed,
        _ => Role::Shoot,
    };
    let range = Range::of(&parameters.gardener, role).map_err(|error| error.to_string())?;
    let range = range.ok_or_else(|| {
        format!("the Kubernetes versions that Gardener {} supports are unknown", parameters.gardener)
    })?;
    let version = Version::parse(&parameters.version).map_err(|error| error.to_string())?;
    Ok(Decided::Document(json!({"supported": range.contains(&version)})))
}

fn profile(question: &Question<'_>) -> Result<CloudProfile, String> {
    read(question.cluster.first(), "CloudProfile")
}

fn shoot(object: Option<&Value>) -> Result<Shoot, String> {
    read(object, "Shoot")
}

fn read<T: DeserializeOwned>(object: Option<&Value>, kind: &str) -> Result<T, String> {
    let object = object.cloned().ok_or_else(|| format!("there is no {kind}"))?;
    serde_json::from_value(object).map_err(|error| format!("failed to read the {kind}: {error}"))
}

/// The Shoot of the question with another spec.
fn with_spec(question: &Question<'_>, spec: &ShootSpec) -> Result<Value, String> {
    let mut shoot = question.object.cloned().unwrap_or_default();
    shoot["spec"] = serde_json::to_value(spec).map_err(|error| error.to_string())?;
    Ok(shoot)
}

fn cause((field, refusal): (String, Refusal)) -> Cause {
    let reason = match &refusal {
        Refusal::Invalid { .. } => "FieldValueInvalid",
        Refusal::Forbidden { .. } => "FieldValueForbidden",
        Refusal::NotSupported { .. } => "FieldValueNotSupported",
    };
    Cause { field, reason: reason.to_owned(), message: refusal.to_string() }
}
