//! `schedule simulate`: which Seeds the Shoots of a landscape get if they are reassigned, or if Seeds change.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use super::assignment::{Assignment, Assignments, Scope, assign};
use super::landscape;
use super::seed_row::{self, SeedRow};
use super::{get, page};
use crate::arguments::{Format, SimulateScheduleArguments};
use crate::commands::layout::{hang, shoots, table, wrap};
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Prints where the Shoots go; returns 1 if one gets no Seed.
pub(super) fn simulate(
    arguments: &SimulateScheduleArguments,
    terminal: &Terminal,
) -> Result<Ending, Failure> {
    let landscape = landscape::read(&arguments.landscape, terminal)?;
    if landscape.shoots.is_empty() {
        return Err(Failure::usage(
            "there is no Shoot to assign; name files with --objects, or a garden cluster with --kubeconfig",
        ));
    }
    let scope = if arguments.keep { Scope::WithoutSeed } else { Scope::All };
    let assignments = assign(&landscape, scope);
    let seeds = seed_row::all(&landscape, &assignments);
    if let Some(path) = &arguments.html {
        let page = page::html(&assignments, &seeds)
            .map_err(|error| Failure::environment(format!("failed to write the page: {error}")))?;
        fs::write(path, page)
            .map_err(|error| Failure::environment(format!("failed to write {}: {error}", path.display())))?;
    }
    terminal.print(&match arguments.output {
        Format::Json => format!("{:#}", to_json(&assignments, &seeds)),
        Format::Text | Format::Markdown => to_text(&assignments, &seeds, terminal.width),
    });
    Ok(ending(&assignments).beside(arguments.output))
}

fn ending(assignments: &Assignments) -> Ending {
    match assignments.shoots.iter().filter(|shoot| shoot.to.is_err()).count() {
        0 => Ending::new(0, "every shoot gets a seed"),
        without => Ending::new(1, format!("{} no seed", get(without))),
    }
}

/// Shoots by an outcome that they share, in its order.
fn group<'a, K: Ord>(
    shoots: &'a [Assignment],
    outcome: impl Fn(&'a Assignment) -> Option<K>,
) -> BTreeMap<K, Vec<&'a Assignment>> {
    let mut groups: BTreeMap<K, Vec<&Assignment>> = BTreeMap::new();
    for shoot in shoots {
        if let Some(outcome) = outcome(shoot) {
            groups.entry(outcome).or_default().push(shoot);
        }
    }
    groups
}

fn names(shoots: &[&Assignment]) -> String {
    shoots.iter().map(|shoot| shoot.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn to_text(assignments: &Assignments, seeds: &[SeedRow], width: usize) -> String {
    let all = &assignments.shoots;
    let mut rows = vec![["seed", "now", "then", "limit"].map(str::to_owned).to_vec()];
    rows.extend(seeds.iter().map(|seed| {
        let limit = seed.allocatable.clone().unwrap_or_else(|| "none".to_owned());
        vec![seed.name.clone(), seed.before.to_string(), seed.after.to_string(), limit]
    }));
    let mut text = format!("{} assigned\n\n{}", shoots(all.len()), table(&rows, width));
    let moved = group(all, |shoot| {
        let to = shoot.to.as_ref().ok().filter(|_| !shoot.stays())?;
        Some((shoot.from.as_deref(), to.as_str()))
    });
    for ((from, to), group) in moved {
        let head = format!("{} → {to}: {}", from.unwrap_or("(no seed)"), shoots(group.len()));
        text.extend(["\n", &hang(&head, width, ""), &wrap(&names(&group), width, "    ")]);
        let reasons = group.iter().filter_map(|shoot| shoot.leaves.as_ref().map(ToString::to_string));
        for reason in reasons.collect::<std::collections::BTreeSet<_>>() {
            text.push_str(&hang(&format!("because {reason}"), width, "    "));
        }
    }
    let without = group(all, |shoot| shoot.to.as_ref().err().map(ToString::to_string));
    for (reason, group) in &without {
        let head = format!("no seed: {}: {}", shoots(group.len()), names(group));
        text.extend(["\n", &hang(&head, width, ""), &hang(reason, width, "    ")]);
    }
    let staying: Vec<&Assignment> = all.iter().filter(|shoot| shoot.stays()).collect();
    if !staying.is_empty() {
        let line = format!("no change: {}: {}", shoots(staying.len()), names(&staying));
        text.extend(["\n", &hang(&line, width, "")]);
    }
    if !assignments.left_alone.is_empty() {
        let line = format!(
            "left alone (deleted, or of another scheduler): {}: {}",
            shoots(assignments.left_alone.len()),
            assignments.left_alone.join(", ")
        );
        text.extend(["\n", &hang(&line, width, "")]);
    }
    text.trim_end().to_owned()
}

fn to_json(assignments: &Assignments, seeds: &[SeedRow]) -> Value {
    let shoots: Vec<Value> = assignments.shoots.iter().map(Assignment::to_json).collect();
    json!({"seeds": seeds, "shoots": shoots, "leftAlone": assignments.left_alone})
}
