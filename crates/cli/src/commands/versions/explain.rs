//! `versions explain`: what profiles offer at a time, and where each version is moved.

use api::garden::cloud_profile::{Classification, ExpirableVersion, MachineImageVersion};
use api::garden::{CloudProfile, Shoot};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use versions::forecast::{self, Forecast};
use versions::kubernetes::{self, KubernetesError};
use versions::offer::Offered;
use versions::rule;

use super::read::{self, Garden};
use super::{aligned, named, subject, time_or_now};
use crate::arguments::{ExplainVersionsArguments, Format};
use crate::terminal::{Failure, Terminal};

/// Tells each profile, and what the next maintenance of each shoot does.
pub(super) fn explain(arguments: &ExplainVersionsArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let garden = read::read(&arguments.garden)?;
    let at = time_or_now("--at", arguments.at.as_ref())?;
    terminal.print(&match arguments.output {
        Format::Json => format!("{:#}", told(&garden, at)),
        Format::Text | Format::Markdown => text(&garden, at),
    });
    Ok(0)
}

/// What a version of Kubernetes becomes, and by which clause.
struct Fate {
    wanted: String,
    otherwise: String,
}

fn fate(version: &ExpirableVersion, profile: &CloudProfile, at: Timestamp) -> Fate {
    let offered = &profile.spec.kubernetes.versions;
    let told = |auto_update: bool| match kubernetes::target(&version.version, auto_update, offered, at) {
        Ok(None) => "stays".to_owned(),
        Ok(Some(to)) => {
            let rule = rule::of_kubernetes(&version.version, &to.to, offered, at);
            format!("→ {} ({})", to.to, rule.clause())
        }
        Err(KubernetesError::NoPath(_)) => "no path (GDN-KUB-007)".to_owned(),
        Err(error) => format!("not decided: {error}"),
    };
    Fate { wanted: told(true), otherwise: told(false) }
}

fn text(garden: &Garden, at: Timestamp) -> String {
    let mut parts = Vec::new();
    for (name, profile) in &garden.profiles {
        parts.push(format!("cloud profile {name} at {at}\n\nkubernetes\n"));
        let head =
            ["version", "state", "expires", "with auto-update", "otherwise"].map(str::to_owned).to_vec();
        let row = |version: &ExpirableVersion| {
            let fate = fate(version, profile, at);
            let [state, expires] = offer(version, at);
            vec![version.version.clone(), state, expires, fate.wanted, fate.otherwise]
        };
        let versions = profile.spec.kubernetes.versions.iter().map(row);
        parts.push(aligned(&std::iter::once(head).chain(versions).collect::<Vec<_>>()));
        for image in &profile.spec.machine_images {
            parts.push(format!("\nmachine image {}\n", image.name));
            let head = ["version", "state", "expires", "architectures", "cri"].map(str::to_owned).to_vec();
            let versions = image.versions.iter().map(|version| of_image(version, at));
            parts.push(aligned(&std::iter::once(head).chain(versions).collect::<Vec<_>>()));
        }
        parts.push("\n".to_owned());
    }
    for shoot in &garden.shoots {
        parts.push(format!("shoot {}\n{}", named(shoot), of_shoot(garden, shoot, at)));
    }
    parts.concat().trim_end().to_owned()
}

fn offer(version: &impl Offered, at: Timestamp) -> [String; 2] {
    let state = match version.classification() {
        _ if version.is_expired(at) => "expired".to_owned(),
        Some(state) => word(state),
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

fn word(state: &Classification) -> String {
    match serde_json::to_value(state) {
        Ok(Value::String(word)) => word,
        _ => "unclassified".to_owned(),
    }
}

fn of_image(version: &MachineImageVersion, at: Timestamp) -> Vec<String> {
    let [state, expires] = offer(version, at);
    let architectures =
        if version.architectures.is_empty() { "amd64".to_owned() } else { version.architectures.join(", ") };
    let cri: Vec<&str> = version.cri.iter().map(|cri| cri.name.as_str()).collect();
    let cri = if cri.is_empty() { "docker".to_owned() } else { cri.join(", ") };
    vec![version.version.clone(), state, expires, architectures, cri]
}

/// The maintenance in the window that is open at a time, or else in the next one.
fn next_maintenance(garden: &Garden, shoot: &Shoot, at: Timestamp) -> Result<Forecast, String> {
    let profile = garden.profile_of(shoot)?;
    let until = at.checked_add(SignedDuration::from_hours(24)).map_err(|error| error.to_string())?;
    Ok(forecast::forecast(&shoot.spec, profile, at, until))
}

fn of_shoot(garden: &Garden, shoot: &Shoot, at: Timestamp) -> String {
    let forecast = match next_maintenance(garden, shoot, at) {
        Ok(forecast) => forecast,
        Err(why) => return format!("  not looked at: {why}\n"),
    };
    let mut rows: Vec<Vec<String>> = forecast
        .steps
        .iter()
        .map(|step| {
            let moved = format!("{} → {}", step.from, step.to);
            vec![subject(&step.subject), moved, step.rule.to_string(), step.rule.clause().to_owned()]
        })
        .collect();
    rows.extend(forecast.stuck.iter().map(|stuck| vec![format!("stuck: {}", stuck.why)]));
    if rows.is_empty() { "  stays as it is\n".to_owned() } else { aligned(&rows) }
}

fn told(garden: &Garden, at: Timestamp) -> Value {
    let profiles = garden.profiles.iter().map(|(name, profile)| {
        let versions = profile.spec.kubernetes.versions.iter().map(|version| {
            let fate = fate(version, profile, at);
            json!({
                "version": version.version, "state": offer(version, at)[0], "expires": version.expires(),
                "withAutoUpdate": fate.wanted, "otherwise": fate.otherwise,
            })
        });
        let images = profile.spec.machine_images.iter().map(|image| {
            let version = |version: &MachineImageVersion| {
                json!({"version": version.version, "state": offer(version, at)[0], "expires": version.expires()})
            };
            json!({"name": image.name, "versions": image.versions.iter().map(version).collect::<Vec<_>>()})
        });
        json!({
            "name": name, "kubernetes": versions.collect::<Vec<_>>(), "machineImages": images.collect::<Vec<_>>(),
        })
    });
    let shoots = garden.shoots.iter().map(|shoot| match next_maintenance(garden, shoot, at) {
        Ok(forecast) => super::simulate::told(&named(shoot), &shoot.spec.cloud_profile_name, &forecast),
        Err(why) => json!({"name": named(shoot), "notLookedAt": why}),
    });
    json!({"at": at, "cloudProfiles": profiles.collect::<Vec<_>>(), "shoots": shoots.collect::<Vec<_>>()})
}
