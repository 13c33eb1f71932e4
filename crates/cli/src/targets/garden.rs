//! The garden of this project: what the crate `versions` decides, asked with whole objects and told as documents.

use std::collections::BTreeSet;

use api::garden::shoot::ShootSpec;
use api::garden::{CloudProfile, Shoot};
use async_trait::async_trait;
use conformance::exchange::FieldCause;
use conformance::target::{Decided, Identity, Running, Setup, Target, TargetError, TargetKind};
use contract::case::Given;
use contract::decision::{Decision, Question};
use contract::model::Form;
use formats::duration::GoDuration;
use formats::version::Version;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use versions::Refusal;
use versions::maintenance::{self, Maintained};
use versions::pool_hash::Pool;
use versions::support::{Range, Role};
use versions::window::Window;

/// Name of the component, as contracts say it.
pub(super) const COMPONENT: &str = "garden";

/// The pure decisions; nothing of a garden that runs.
pub(crate) struct Garden;

/// What comes of a question; an error says in words why it cannot be decided.
type Answer = Result<Decided, String>;

#[async_trait]
impl Target for Garden {
    fn identity(&self) -> Identity {
        Identity {
            name: "garden".to_owned(),
            version: Some(super::STANDS_FOR.to_owned()),
            kind: TargetKind::BuiltIn,
            endpoint: "in process".to_owned(),
        }
    }

    fn features(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn is_ours(&self) -> bool {
        true
    }

    fn is_outside(&self) -> bool {
        false
    }

    fn is_asked_of(&self, _component: &str, form: Form) -> bool {
        form == Form::Versions
    }

    fn decide(&self, decision: &Decision, given: &Given) -> Option<Decided> {
        let now = decision.now;
        let answer = match &decision.asks {
            Question::Admission { .. } => admission(given, now),
            Question::Maintenance { .. } => maintenance(given, now),
            Question::Window => shoot(given.object.as_ref()).map(|shoot| window(&shoot.spec, now)),
            Question::Rolling { additional } => rolling(given, additional),
            Question::Support { gardener, cluster, version } => support(gardener, cluster, version),
        };
        Some(answer.unwrap_or_else(Decided::Undecided))
    }

    async fn start(&self, _setup: Setup<'_>) -> Result<Box<dyn Running>, TargetError> {
        let reason = "it decides, and serves nothing".to_owned();
        Err(TargetError::Configuration { name: "garden".to_owned(), reason })
    }
}

fn admission(given: &Given, now: Timestamp) -> Answer {
    let mut spec = shoot(given.object.as_ref())?.spec;
    let old = given.old.as_ref().map(|old| shoot(Some(old))).transpose()?;
    let refused =
        versions::admission::admit(&mut spec, old.as_ref().map(|old| &old.spec), &profile(given)?, now);
    if refused.is_empty() {
        return Ok(Decided::Told(json!({"shoot": with_spec(given, &spec)?})));
    }
    Ok(Decided::Refused(refused.into_iter().map(cause).collect()))
}

fn maintenance(given: &Given, now: Timestamp) -> Answer {
    let mut spec = shoot(given.object.as_ref())?.spec;
    let done = maintenance::maintain(&mut spec, &profile(given)?, now).map_err(|error| error.to_string())?;
    let failures: Vec<String> = done.failures.iter().map(ToString::to_string).collect();
    let told: Vec<&str> = done.operations().collect();
    let mut document = Map::from_iter([("shoot".to_owned(), with_spec(given, &spec)?)]);
    let reasons = reasons(&done);
    let texts = [("told", json!(told)), ("failures", json!(failures)), ("reason", json!(reasons))];
    let said = texts.into_iter().filter(|(_, said)| *said != json!([]) && *said != json!(""));
    document.extend(said.map(|(name, said)| (name.to_owned(), said)));
    Ok(Decided::Told(Value::Object(document)))
}

/// Why versions were moved, each reason once.
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

/// The effective window, and the earliest and the latest time in the next one.
fn window(shoot: &ShootSpec, now: Timestamp) -> Decided {
    let window = Window::of(shoot.maintenance.as_ref());
    let until = |in_this: bool| {
        let span = |below: fn(u64) -> u64| {
            let seconds = window.until_next(now, in_this, below).as_secs();
            GoDuration::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX)).to_string()
        };
        json!({"from": span(|_| 0), "to": span(|most| most)})
    };
    Decided::Told(json!({
        "window": {"begin": window.begin.to_string(), "end": window.end.to_string()},
        "maintained": window.contains(now),
        "next": until(false),
        "inThis": until(true),
    }))
}

fn rolling(given: &Given, additional: &[String]) -> Answer {
    let additional: Vec<&str> = additional.iter().map(String::as_str).collect();
    let hash = |object: Option<&Value>| hash(&shoot(object)?, &additional);
    let now = hash(given.object.as_ref())?;
    let mut document = json!({"hash": now});
    if given.old.is_some() {
        document["rolls"] = json!(hash(given.old.as_ref())? != now);
    }
    Ok(Decided::Told(document))
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

fn support(gardener: &str, cluster: &str, version: &str) -> Answer {
    let role = match cluster {
        "garden" => Role::Garden,
        "seed" => Role::Seed,
        _ => Role::Shoot,
    };
    let range = Range::of(gardener, role).map_err(|error| error.to_string())?;
    let range = range.ok_or_else(|| format!("nothing is known of Gardener {gardener}"))?;
    let version = Version::parse(version).map_err(|error| error.to_string())?;
    Ok(Decided::Told(json!({"supported": range.contains(&version)})))
}

fn profile(given: &Given) -> Result<CloudProfile, String> {
    read(given.cluster.first(), "CloudProfile")
}

fn shoot(object: Option<&Value>) -> Result<Shoot, String> {
    read(object, "Shoot")
}

fn read<T: DeserializeOwned>(object: Option<&Value>, kind: &str) -> Result<T, String> {
    let object = object.cloned().ok_or_else(|| format!("there is no {kind}"))?;
    serde_json::from_value(object).map_err(|error| format!("failed to read the {kind}: {error}"))
}

/// The Shoot as it was given, with another spec.
fn with_spec(given: &Given, spec: &ShootSpec) -> Result<Value, String> {
    let mut shoot = given.object.clone().unwrap_or_default();
    shoot["spec"] = serde_json::to_value(spec).map_err(|error| error.to_string())?;
    Ok(shoot)
}

fn cause((field, refusal): (String, Refusal)) -> FieldCause {
    let reason = match &refusal {
        Refusal::Invalid { .. } => "FieldValueInvalid",
        Refusal::Forbidden { .. } => "FieldValueForbidden",
        Refusal::NotSupported { .. } => "FieldValueNotSupported",
    };
    FieldCause { field, reason: reason.to_owned(), message: refusal.to_string() }
}
