//! `versions explain`: which versions CloudProfiles offer at a time, and to which version maintenance moves each.

use std::fmt;

use api::garden::cloud_profile::{Classification, ExpirableVersion, MachineImageVersion};
use api::garden::{CloudProfile, Shoot};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use versions::forecast::{self, Forecast, Step};
use versions::kubernetes::{self, KubernetesError};
use versions::offer::Offered;
use versions::rule::{self, Rule};

use super::read::{self, Garden};
use super::{groups, shoot_name, subject, time_or_now};
use crate::arguments::{ExplainVersionsArguments, Format};
use crate::commands::layout::{hang, shoots, table, wrap};
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Prints each profile, and what the next maintenance of each Shoot does.
pub(super) fn explain(arguments: &ExplainVersionsArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let garden = read::read(&arguments.garden, terminal)?;
    let at = time_or_now("--at", arguments.at.as_ref())?;
    terminal.print(&match arguments.output {
        Format::Json => format!("{:#}", to_json(&garden, at)),
        Format::Text | Format::Markdown => to_text(&garden, at, terminal.width),
    });
    Ok(Ending::done())
}

/// What the next maintenance does with a Kubernetes version.
enum Transition {
    /// The version stays.
    None,
    /// Maintenance moves to another version.
    Move { to: String, rule: Rule },
    /// The version must be left, but there is no version to move to.
    Stuck { error: KubernetesError },
}

impl Transition {
    fn of(version: &ExpirableVersion, auto_update: bool, profile: &CloudProfile, at: Timestamp) -> Self {
        let offered = &profile.spec.kubernetes.versions;
        match kubernetes::target(&version.version, auto_update, offered, at) {
            Ok(None) => Self::None,
            Ok(Some(to)) => {
                let rule = rule::of_kubernetes(&version.version, &to.to, offered, at);
                Self::Move { to: to.to, rule }
            }
            Err(error) => Self::Stuck { error },
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Move { to, rule } => json!({"to": to, "rule": rule.to_string(), "clause": rule.clause()}),
            Self::Stuck { error } => {
                json!({"stuck": error.to_string(), "clause": rule::of_stuck_kubernetes(error)})
            }
        }
    }
}

impl fmt::Display for Transition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("stays"),
            Self::Move { to, .. } => write!(formatter, "→ {to}"),
            Self::Stuck { error: KubernetesError::NoPath(_) } => formatter.write_str("no path"),
            Self::Stuck { .. } => formatter.write_str("undecided"),
        }
    }
}

impl Transition {
    /// Why, with the clause that demands it; `None` if the version stays.
    fn reason(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Move { rule, .. } => Some(format!("{rule} ({})", rule.clause())),
            Self::Stuck { error } => Some(format!("{error} ({})", rule::of_stuck_kubernetes(error))),
        }
    }
}

fn to_text(garden: &Garden, at: Timestamp, width: usize) -> String {
    let mut text = String::new();
    for (name, profile) in &garden.profiles {
        text.extend(["cloud profile ", name, " at ", &at.to_string(), "\n\nkubernetes\n\n"]);
        text.push_str(&kubernetes_text(profile, at, width));
        for image in &profile.spec.machine_images {
            text.extend(["\nmachine image ", &image.name, "\n\n"]);
            let head = ["version", "state", "expires", "architectures", "cri"].map(str::to_owned).to_vec();
            let versions = image.versions.iter().map(|version| image_row(version, at));
            text.push_str(&table(&std::iter::once(head).chain(versions).collect::<Vec<_>>(), width));
        }
        text.push('\n');
    }
    text.push_str(&shoots_text(garden, at, width));
    text.trim_end().to_owned()
}

/// The versions of Kubernetes, and below them why maintenance leaves each.
fn kubernetes_text(profile: &CloudProfile, at: Timestamp, width: usize) -> String {
    let mut rows =
        vec![["version", "state", "expires", "auto-update", "otherwise"].map(str::to_owned).to_vec()];
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for version in &profile.spec.kubernetes.versions {
        let transitions = [true, false].map(|auto_update| Transition::of(version, auto_update, profile, at));
        let [state, expires] = state_and_expiry(version, at);
        let mut row = vec![version.version.clone(), state, expires];
        row.extend(transitions.iter().map(ToString::to_string));
        rows.push(row);
        for transition in &transitions {
            let Some(reason) = transition.reason() else { continue };
            let moved = format!("{} {transition}", version.version);
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, versions)) if versions.contains(&moved) => {}
                Some((_, versions)) => versions.push(moved),
                None => reasons.push((reason, vec![moved])),
            }
        }
    }
    let mut text = table(&rows, width);
    if !reasons.is_empty() {
        text.push('\n');
    }
    for (reason, versions) in reasons {
        text.push_str(&hang(&format!("{}: {reason}", versions.join(", ")), width, "  "));
    }
    text
}

/// The shoots that move, then those without a path by cause, then those that do not change, in one line.
fn shoots_text(garden: &Garden, at: Timestamp, width: usize) -> String {
    let mut text = String::new();
    let (mut forecasts, mut skipped) = (Vec::new(), Vec::new());
    for shoot in &garden.shoots {
        match next_maintenance(garden, shoot, at) {
            Ok(forecast) => forecasts.push((shoot_name(shoot), forecast)),
            Err(why) => skipped.push((shoot_name(shoot), why)),
        }
    }
    for (name, forecast) in forecasts.iter().filter(|(_, forecast)| !forecast.steps.is_empty()) {
        text.extend(["shoot ", name, "\n", &steps_text(forecast, width)]);
    }
    let by_name = forecasts.iter().map(|(name, forecast)| (name.as_str(), forecast));
    text.push_str(&groups::stuck_text(&groups::stuck(by_name), width));
    let unchanged = forecasts.iter().filter(|(_, found)| found.steps.is_empty() && found.stuck.is_empty());
    let unchanged: Vec<&str> = unchanged.map(|(name, _)| name.as_str()).collect();
    if !unchanged.is_empty() {
        let line = format!("no change: {}: {}", shoots(unchanged.len()), unchanged.join(", "));
        text.extend(["\n", &hang(&line, width, "")]);
    }
    for (why, names) in groups::skipped(&skipped) {
        let line = format!("skipped: {}: {}", shoots(names.len()), names.join(", "));
        text.extend(["\n", &hang(&line, width, ""), &wrap(why, width, "    ")]);
    }
    text
}

fn steps_text(forecast: &Forecast, width: usize) -> String {
    let row = |step: &Step| {
        let moved = format!("{} → {}", step.from, step.to);
        vec![subject(&step.subject), moved, format!("{} ({})", step.rule, step.rule.clause())]
    };
    table(&forecast.steps.iter().map(row).collect::<Vec<_>>(), width)
}

fn state_and_expiry(version: &impl Offered, at: Timestamp) -> [String; 2] {
    let state = match version.classification() {
        _ if version.is_expired(at) => "expired".to_owned(),
        Some(state) => classification_name(state),
        None => "unclassified".to_owned(),
    };
    let expires = version.expires().map_or_else(
        || "never".to_owned(),
        |expires| {
            let days = expires.duration_since(at).as_hours().div_euclid(24);
            let when = if days < 0 { format!("{} days ago", -days) } else { format!("in {days} days") };
            format!("{} ({when})", expires.strftime("%F"))
        },
    );
    [state, expires]
}

fn classification_name(state: &Classification) -> String {
    match serde_json::to_value(state) {
        Ok(Value::String(name)) => name,
        _ => "unclassified".to_owned(),
    }
}

fn image_row(version: &MachineImageVersion, at: Timestamp) -> Vec<String> {
    let [state, expires] = state_and_expiry(version, at);
    let architectures =
        if version.architectures.is_empty() { "amd64".to_owned() } else { version.architectures.join(", ") };
    let cri: Vec<&str> = version.cri.iter().map(|cri| cri.name.as_str()).collect();
    let cri = if cri.is_empty() { "docker".to_owned() } else { cri.join(", ") };
    vec![version.version.clone(), state, expires, architectures, cri]
}

/// The maintenance in the window that is open at this time, or else in the next one.
fn next_maintenance(garden: &Garden, shoot: &Shoot, at: Timestamp) -> Result<Forecast, String> {
    let profile = garden.profile_of(shoot)?;
    let until = at.checked_add(SignedDuration::from_hours(24)).map_err(|error| error.to_string())?;
    Ok(forecast::forecast(&shoot.spec, profile, at, until))
}

fn to_json(garden: &Garden, at: Timestamp) -> Value {
    let profiles = garden.profiles.iter().map(|(name, profile)| {
        let versions = profile.spec.kubernetes.versions.iter().map(|version| {
            let transition = |auto_update| Transition::of(version, auto_update, profile, at).json();
            json!({
                "version": version.version, "state": state_and_expiry(version, at)[0], "expires": version.expires(),
                "withAutoUpdate": transition(true), "otherwise": transition(false),
            })
        });
        let images = profile.spec.machine_images.iter().map(|image| {
            let version = |version: &MachineImageVersion| {
                let state = &state_and_expiry(version, at)[0];
                json!({"version": version.version, "state": state, "expires": version.expires()})
            };
            json!({"name": image.name, "versions": image.versions.iter().map(version).collect::<Vec<_>>()})
        });
        json!({
            "name": name, "kubernetes": versions.collect::<Vec<_>>(), "machineImages": images.collect::<Vec<_>>(),
        })
    });
    let shoots = garden.shoots.iter().map(|shoot| match next_maintenance(garden, shoot, at) {
        Ok(forecast) => {
            super::simulate::shoot_json(&shoot_name(shoot), &shoot.spec.cloud_profile_name, &forecast)
        }
        Err(why) => json!({"name": shoot_name(shoot), "notLookedAt": why}),
    });
    json!({"at": at, "cloudProfiles": profiles.collect::<Vec<_>>(), "shoots": shoots.collect::<Vec<_>>()})
}
