//! `versions simulate`: when maintenance moves each Shoot, and which Shoots end without a version to move to.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::thread;

use api::garden::Shoot;
use jiff::Timestamp;
use serde_json::{Value, json};
use versions::forecast::{self, Forecast, Step};

use super::read::{self, Garden};
use super::{format_table, shoot_name, subject, time, time_or_now, timeline};
use crate::arguments::{Format, SimulateArguments};
use crate::terminal::{Failure, Terminal};

/// A simulated time span.
pub(super) struct Simulation {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
    /// The forecast of each Shoot, in the order of the garden.
    pub(super) shoots: Vec<SimulatedShoot>,
    /// Shoots that could not be simulated, and why.
    pub(super) skipped: Vec<(String, String)>,
}

/// The forecast of a Shoot.
pub(super) struct SimulatedShoot {
    pub(super) name: String,
    pub(super) profile: String,
    pub(super) forecast: Forecast,
}

/// Prints the simulation; returns 1 if a Shoot ends without a path or could not be simulated.
pub(super) fn simulate(arguments: &SimulateArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let from = time_or_now("--at", arguments.at.as_ref())?;
    let until = time("--until", &arguments.until)?;
    if until <= from {
        return Err(Failure::usage(format!("--until {until} is not after --at {from}")));
    }
    let garden = read::read(&arguments.garden)?;
    if garden.shoots.is_empty() {
        return Err(Failure::usage(
            "there is no Shoot to simulate; name files with --shoot, or a garden cluster with --kubeconfig",
        ));
    }
    let simulation = run(&garden, from, until);
    if let Some(path) = &arguments.html {
        let page = timeline::html(&simulation)
            .map_err(|error| Failure::environment(format!("failed to write the timeline: {error}")))?;
        fs::write(path, page)
            .map_err(|error| Failure::environment(format!("failed to write {}: {error}", path.display())))?;
    }
    terminal.print(&match arguments.output {
        Format::Json => format!("{:#}", simulation.to_json()),
        Format::Text | Format::Markdown => simulation.to_text(),
    });
    Ok(u8::from(simulation.stuck() > 0 || !simulation.skipped.is_empty()))
}

fn run(garden: &Garden, from: Timestamp, until: Timestamp) -> Simulation {
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let share = garden.shoots.len().div_ceil(workers).max(1);
    let simulate_share = |shoots: &[Shoot]| {
        let simulate = |shoot: &Shoot| {
            let profile = garden.profile_of(shoot).map_err(|why| (shoot_name(shoot), why))?;
            let forecast = forecast::forecast(&shoot.spec, profile, from, until);
            let profile = shoot.spec.cloud_profile_name.clone();
            Ok(SimulatedShoot { name: shoot_name(shoot), profile, forecast })
        };
        shoots.iter().map(simulate).collect::<Vec<Result<SimulatedShoot, (String, String)>>>()
    };
    let results: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> =
            garden.shoots.chunks(share).map(|shoots| scope.spawn(move || simulate_share(shoots))).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("decisions do not panic")).collect()
    });
    let mut simulation = Simulation { from, until, shoots: Vec::new(), skipped: Vec::new() };
    for result in results {
        match result {
            Ok(shoot) => simulation.shoots.push(shoot),
            Err(skipped) => simulation.skipped.push(skipped),
        }
    }
    simulation
}

impl Simulation {
    /// The number of Shoots that end without a version to move to.
    pub(super) fn stuck(&self) -> usize {
        self.shoots.iter().filter(|shoot| !shoot.forecast.stuck.is_empty()).count()
    }

    /// The number of Shoots that maintenance moves by force.
    pub(super) fn forced(&self) -> usize {
        self.shoots
            .iter()
            .filter(|shoot| shoot.forecast.steps.iter().any(|step| step.rule.is_forced()))
            .count()
    }

    fn to_text(&self) -> String {
        let mut months: BTreeMap<String, Vec<(&SimulatedShoot, &Step)>> = BTreeMap::new();
        for shoot in &self.shoots {
            for step in &shoot.forecast.steps {
                months.entry(step.at.strftime("%Y-%m").to_string()).or_default().push((shoot, step));
            }
        }
        let mut parts = vec![format!(
            "{} from {} to {}\n",
            shoots(self.shoots.len()),
            self.from.strftime("%F"),
            self.until.strftime("%F")
        )];
        for (month, mut steps) in months {
            let forced = steps.iter().filter(|(_, step)| step.rule.is_forced()).count();
            parts.push(format!("\n{month}   {forced} forced, {} by auto-update\n", steps.len() - forced));
            steps.sort_by_key(|(_, step)| step.at);
            parts.push(format_table(&steps.iter().map(|(shoot, step)| row(shoot, step)).collect::<Vec<_>>()));
        }
        let stuck =
            self.shoots.iter().flat_map(|shoot| shoot.forecast.stuck.iter().map(move |stuck| (shoot, stuck)));
        let stuck = stuck.map(|(shoot, stuck)| {
            vec![
                shoot.name.clone(),
                format!("since {}", stuck.at.strftime("%F")),
                stuck.clause.to_owned(),
                stuck.why.clone(),
            ]
        });
        parts.extend(section("without a path", &stuck.collect::<Vec<_>>()));
        let skipped = self.skipped.iter().map(|(name, why)| vec![name.clone(), why.clone()]);
        parts.extend(section("skipped", &skipped.collect::<Vec<_>>()));
        parts.push(format!(
            "\n{}: {} moved by force, {} without a path, {} skipped",
            shoots(self.shoots.len() + self.skipped.len()),
            self.forced(),
            self.stuck(),
            self.skipped.len()
        ));
        parts.concat()
    }

    fn to_json(&self) -> Value {
        let shoots = self.shoots.iter().map(|shoot| shoot_json(&shoot.name, &shoot.profile, &shoot.forecast));
        let skipped = self.skipped.iter().map(|(name, why)| json!({"name": name, "why": why}));
        json!({
            "from": self.from, "until": self.until, "shoots": shoots.collect::<Vec<_>>(),
            "notLookedAt": skipped.collect::<Vec<_>>(),
        })
    }
}

/// The forecast of a Shoot as JSON.
pub(super) fn shoot_json(name: &str, profile: &str, forecast: &Forecast) -> Value {
    let steps = forecast.steps.iter().map(|step| {
        json!({
            "at": step.at, "subject": subject(&step.subject), "from": step.from, "to": step.to,
            "rule": step.rule.to_string(), "clause": step.rule.clause(), "forced": step.rule.is_forced(),
        })
    });
    let stuck =
        forecast.stuck.iter().map(|stuck| json!({"at": stuck.at, "why": stuck.why, "clause": stuck.clause}));
    json!({
        "name": name, "cloudProfile": profile, "steps": steps.collect::<Vec<_>>(),
        "stuck": stuck.collect::<Vec<_>>(),
    })
}

fn row(shoot: &SimulatedShoot, step: &Step) -> Vec<String> {
    vec![
        step.at.strftime("%m-%d %H:%M").to_string(),
        shoot.name.clone(),
        subject(&step.subject),
        format!("{} → {}", step.from, step.to),
        step.rule.to_string(),
        step.rule.clause().to_owned(),
    ]
}

/// Rows under a title; `None` if there are no rows.
fn section(title: &str, rows: &[Vec<String>]) -> Option<String> {
    (!rows.is_empty()).then(|| format!("\n{title}\n{}", format_table(rows)))
}

fn shoots(count: usize) -> String {
    if count == 1 { "1 shoot".to_owned() } else { format!("{count} shoots") }
}
