//! `schedule explain`: which Seed each Shoot gets, and why it does not get each other one.

use std::collections::BTreeMap;

use api::garden::Shoot;
use gardener_scheduler::decision::{Decision, Usage};
use serde_json::{Value, json};

use super::assignment::{observe, seed_of};
use super::get;
use super::landscape::{self, Key, Landscape, shoot_name};
use crate::arguments::{ExplainScheduleArguments, Format};
use crate::commands::layout::{hang, table};
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Prints the decision about each Shoot, and why no other Seed is chosen; returns 1 if one gets no Seed.
pub(super) fn explain(arguments: &ExplainScheduleArguments, terminal: &Terminal) -> Result<Ending, Failure> {
    let landscape = landscape::read(&arguments.landscape, terminal)?;
    let shoots = landscape::read_shoots(&arguments.shoot, terminal)?;
    let explained: Vec<Explained<'_>> = shoots
        .iter()
        .map(|(key, shoot)| Explained::new(key, shoot, usage_without(&landscape, key)))
        .collect();
    let decisions: Vec<(&Explained<'_>, Decision<'_>)> = explained
        .iter()
        .map(|explained| (explained, landscape.decide(explained.shoot, &explained.usage)))
        .collect();
    terminal.print(&match arguments.output {
        Format::Json => {
            let shoots: Vec<Value> =
                decisions.iter().map(|(shoot, decision)| to_json(shoot, decision)).collect();
            format!("{:#}", json!({"shoots": shoots}))
        }
        Format::Text | Format::Markdown => {
            let texts = decisions.iter().map(|(shoot, decision)| to_text(shoot, decision, terminal.width));
            texts.collect::<Vec<_>>().join("\n").trim_end().to_owned()
        }
    });
    let without = decisions.iter().filter(|(_, decision)| decision.seed.is_err()).count();
    let ending = match without {
        0 => Ending::new(0, "every shoot gets a seed"),
        without => Ending::new(1, format!("{} no seed", get(without))),
    };
    Ok(ending.beside(arguments.output))
}

/// A Shoot, and how many other Shoots each Seed has.
struct Explained<'a> {
    name: String,
    shoot: &'a Shoot,
    usage: Usage,
}

impl<'a> Explained<'a> {
    fn new(key: &Key, shoot: &'a Shoot, usage: Usage) -> Self {
        Self { name: shoot_name(key), shoot, usage }
    }
}

/// How many Shoots each Seed has, without this one.
fn usage_without(landscape: &Landscape, key: &Key) -> Usage {
    let others: BTreeMap<&Key, &Shoot> = landscape.shoots.iter().filter(|(other, _)| *other != key).collect();
    let mut usage = Usage::default();
    for (key, shoot) in others {
        observe(&mut usage, key, shoot);
    }
    usage
}

fn to_text(explained: &Explained<'_>, decision: &Decision<'_>, width: usize) -> String {
    let mut text = match &decision.seed {
        Ok(seed) => {
            let seed = seed.metadata.name.as_deref().unwrap_or_default();
            hang(&format!("shoot {} → seed {seed}", explained.name), width, "")
        }
        Err(error) => {
            let head = hang(&format!("shoot {}: no seed", explained.name), width, "");
            head + &hang(&format!("{error} ({})", error.clause()), width, "  ")
        }
    };
    if let Some(seed) = seed_of(explained.shoot) {
        text.push_str(&hang(&format!("at present on seed {seed}"), width, "  "));
    }
    if !decision.excluded.is_empty() {
        text.push('\n');
        let row = |exclusion: &gardener_scheduler::decision::Exclusion<'_>| {
            vec![exclusion.seed.to_owned(), format!("{} ({})", exclusion.reason, exclusion.filter.clause())]
        };
        text.push_str(&table(&decision.excluded.iter().map(row).collect::<Vec<_>>(), width));
    }
    text
}

fn to_json(explained: &Explained<'_>, decision: &Decision<'_>) -> Value {
    let excluded = decision.excluded.iter().map(|exclusion| {
        json!({
            "seed": exclusion.seed, "filter": exclusion.filter.to_string(), "reason": exclusion.reason,
            "clause": exclusion.filter.clause(),
        })
    });
    let seed = decision.seed.as_ref().ok().and_then(|seed| seed.metadata.name.as_deref());
    let error = decision.seed.as_ref().err();
    json!({
        "name": explained.name, "seed": seed, "at": seed_of(explained.shoot),
        "unschedulable": error.map(|error| json!({"reason": error.to_string(), "clause": error.clause()})),
        "excluded": excluded.collect::<Vec<_>>(),
    })
}
