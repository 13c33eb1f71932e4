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
use super::simulation::{SimulatedShoot, Simulation};
use super::{groups, shoot_name, subject, time, time_or_now, timeline};
use crate::arguments::{Format, SimulateArguments};
use crate::commands::layout::{by_time, hang, shoots, wrap};
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Prints the simulation; returns 1 if a Shoot ends without a path or could not be simulated.
pub(super) fn simulate(arguments: &SimulateArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let from = time_or_now("--at", arguments.at.as_ref())?;
    let until = time("--until", &arguments.until)?;
    if until <= from {
        return Err(Failure::usage(format!("--until {until} is not after --at {from}")));
    }
    let garden = read::read(&arguments.garden, terminal)?;
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
        Format::Text | Format::Markdown => simulation.to_text(terminal.width),
    });
    Ok(simulation.ending().beside(arguments.output))
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
    fn ending(&self) -> Ending {
        match (self.stuck(), self.skipped.len()) {
            (0, 0) => Ending::new(0, "every shoot has a version to move to"),
            (0, skipped) => Ending::new(1, format!("{} skipped", were(skipped))),
            (stuck, 0) => Ending::new(1, format!("{} without a version to move to", end(stuck))),
            (stuck, skipped) => {
                let text = format!("{} without a version to move to, {} skipped", end(stuck), were(skipped));
                Ending::new(1, text)
            }
        }
    }

    /// The simulation in lines of this width.
    fn to_text(&self, width: usize) -> String {
        let mut months: BTreeMap<String, Vec<(&SimulatedShoot, &Step)>> = BTreeMap::new();
        for shoot in &self.shoots {
            for step in &shoot.forecast.steps {
                months.entry(step.at.strftime("%Y-%m").to_string()).or_default().push((shoot, step));
            }
        }
        let (from, until) = (self.from.strftime("%F"), self.until.strftime("%F"));
        let mut text = format!("{} from {from} to {until}\n", shoots(self.shoots.len()));
        for (month, steps) in months {
            let forced = steps.iter().filter(|(_, step)| step.rule.is_forced()).count();
            let summary = format!("{month}   {forced} forced, {} by auto-update", steps.len() - forced);
            text.extend(["\n", &summary, "\n"]);
            text.push_str(&changes(steps, width));
        }
        text.push_str(&groups::stuck_text(&groups::stuck(self.forecasts()), width));
        let unchanged: Vec<&str> = self.unchanged().iter().map(|shoot| shoot.name.as_str()).collect();
        if !unchanged.is_empty() {
            let line = format!("no change: {}: {}", shoots(unchanged.len()), unchanged.join(", "));
            text.push('\n');
            text.push_str(&hang(&line, width, ""));
        }
        for (why, names) in groups::skipped(&self.skipped) {
            let line = format!("skipped: {}: {}", shoots(names.len()), names.join(", "));
            text.extend(["\n", &hang(&line, width, ""), &wrap(why, width, "    ")]);
        }
        let summary = format!(
            "{}: {} moved by force, {} without a path, {} skipped",
            shoots(self.shoots.len() + self.skipped.len()),
            self.forced(),
            self.stuck(),
            self.skipped.len()
        );
        format!("{text}\n{summary}")
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
    let stuck = forecast
        .stuck
        .iter()
        .map(|stuck| json!({"at": stuck.at, "cause": stuck.cause, "why": stuck.why, "clause": stuck.clause}));
    json!({
        "name": name, "cloudProfile": profile, "steps": steps.collect::<Vec<_>>(),
        "stuck": stuck.collect::<Vec<_>>(),
    })
}

/// The changes of a month: each once, with the shoots that it moves.
fn changes(mut steps: Vec<(&SimulatedShoot, &Step)>, width: usize) -> String {
    steps.sort_by_key(|(_, step)| step.at);
    let mut changes: Vec<(String, Vec<(Timestamp, &str)>)> = Vec::new();
    for (shoot, step) in steps {
        let head = format!(
            "{} {} → {}, {} ({})",
            subject(&step.subject),
            step.from,
            step.to,
            step.rule,
            step.rule.clause()
        );
        let entry = (step.at, shoot.name.as_str());
        match changes.iter_mut().find(|(known, _)| *known == head) {
            Some((_, shoots)) => shoots.push(entry),
            None => changes.push((head, vec![entry])),
        }
    }
    let change = |(head, entries): &(String, Vec<(Timestamp, &str)>)| {
        let head = format!("{head}: {}", shoots(entries.len()));
        format!("{}{}", hang(&head, width, "  "), wrap(&by_time(entries, "%m-%d %H:%M"), width, "    "))
    };
    changes.iter().map(change).collect()
}

fn end(shoots: usize) -> String {
    if shoots == 1 { "1 shoot ends".to_owned() } else { format!("{shoots} shoots end") }
}

fn were(shoots: usize) -> String {
    if shoots == 1 { "1 shoot was".to_owned() } else { format!("{shoots} shoots were") }
}
