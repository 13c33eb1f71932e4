//! `versions explain`: which versions CloudProfiles offer at a time, and to which version maintenance moves each.

use std::fmt;

use api::garden::cloud_profile::{Classification, ExpirableVersion, MachineImageVersion};
use api::garden::{CloudProfile, Shoot};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use versions::forecast::{self, Forecast};
use versions::kubernetes::{self, KubernetesError};
use versions::offer::Offered;
use versions::rule::{self, Rule};

use super::read::{self, Garden};
use super::{format_table, shoot_name, subject, time_or_now};
use crate::arguments::{ExplainVersionsArguments, Format};
use crate::terminal::{Failure, Terminal};

/// Prints each profile, and what the next maintenance of each Shoot does.
pub(super) fn explain(arguments: &ExplainVersionsArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let garden = read::read(&arguments.garden)?;
    let at = time_or_now("--at", arguments.at.as_ref())?;
    terminal.print(&match arguments.output {
        Format::Json => format!("{:#}", to_json(&garden, at)),
        Format::Text | Format::Markdown => to_text(&garden, at),
    });
    Ok(0)
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
            Self::Move { to, rule } => write!(formatter, "→ {to} ({})", rule.clause()),
            Self::Stuck { error: error @ KubernetesError::NoPath(_) } => {
                write!(formatter, "no path ({})", rule::of_stuck_kubernetes(error))
            }
            Self::Stuck { error } => {
                write!(formatter, "undecided: {error} ({})", rule::of_stuck_kubernetes(error))
            }
        }
    }
}

fn to_text(garden: &Garden, at: Timestamp) -> String {
    let mut parts = Vec::new();
    for (name, profile) in &garden.profiles {
        parts.push(format!("cloud profile {name} at {at}\n\nkubernetes\n"));
        let head =
            ["version", "state", "expires", "with auto-update", "otherwise"].map(str::to_owned).to_vec();
        let row = |version: &ExpirableVersion| {
            let transition = |auto_update| Transition::of(version, auto_update, profile, at).to_string();
            let [state, expires] = state_and_expiry(version, at);
            vec![version.version.clone(), state, expires, transition(true), transition(false)]
        };
        let versions = profile.spec.kubernetes.versions.iter().map(row);
        parts.push(format_table(&std::iter::once(head).chain(versions).collect::<Vec<_>>()));
        for image in &profile.spec.machine_images {
            parts.push(format!("\nmachine image {}\n", image.name));
            let head = ["version", "state", "expires", "architectures", "cri"].map(str::to_owned).to_vec();
            let versions = image.versions.iter().map(|version| image_row(version, at));
            parts.push(format_table(&std::iter::once(head).chain(versions).collect::<Vec<_>>()));
        }
        parts.push("\n".to_owned());
    }
    for shoot in &garden.shoots {
        parts.push(format!("shoot {}\n{}", shoot_name(shoot), shoot_text(garden, shoot, at)));
    }
    parts.concat().trim_end().to_owned()
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

fn shoot_text(garden: &Garden, shoot: &Shoot, at: Timestamp) -> String {
    let forecast = match next_maintenance(garden, shoot, at) {
        Ok(forecast) => forecast,
        Err(why) => return format!("  skipped: {why}\n"),
    };
    let mut rows: Vec<Vec<String>> = forecast
        .steps
        .iter()
        .map(|step| {
            let moved = format!("{} → {}", step.from, step.to);
            vec![subject(&step.subject), moved, step.rule.to_string(), step.rule.clause().to_owned()]
        })
        .collect();
    let stuck = forecast.stuck.iter().map(|stuck| vec![format!("stuck: {} ({})", stuck.why, stuck.clause)]);
    rows.extend(stuck);
    if rows.is_empty() { "  does not change\n".to_owned() } else { format_table(&rows) }
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
