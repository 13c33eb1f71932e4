//! An HTML page with a row per Seed and a row per Shoot. It needs no network and can be printed.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::assignment::{Assignment, Assignments};
use super::seed_row::SeedRow;

const PAGE: &str = include_str!("../../../templates/schedule.html");

#[derive(Serialize)]
struct SchedulePage<'a> {
    style: &'static str,
    seeds: &'a [SeedRow],
    shoots: Vec<ShootRow<'a>>,
    left_alone: &'a [String],
    moved: usize,
    without: usize,
}

#[derive(Serialize)]
struct ShootRow<'a> {
    name: &'a str,
    from: &'a str,
    to: &'a str,
    /// What happens to it, for the filter: `moved`, `without`, `unchanged`.
    state: &'static str,
    reason: String,
}

/// Renders the page.
pub(super) fn html(assignments: &Assignments, seeds: &[SeedRow]) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("schedule", PAGE)?;
    let shoots: Vec<ShootRow<'_>> = assignments.shoots.iter().map(row).collect();
    let count = |state| shoots.iter().filter(|shoot| shoot.state == state).count();
    let page = SchedulePage {
        style: conformance::render::PAGE_STYLE,
        seeds,
        moved: count("moved"),
        without: count("without"),
        shoots,
        left_alone: &assignments.left_alone,
    };
    environment.get_template("schedule")?.render(Serde(&page))
}

fn row(shoot: &Assignment) -> ShootRow<'_> {
    let state = match &shoot.to {
        Err(_) => "without",
        Ok(_) if shoot.stays() => "unchanged",
        Ok(_) => "moved",
    };
    let reason = shoot.to.as_ref().err().or(shoot.leaves.as_ref());
    ShootRow {
        name: &shoot.name,
        from: shoot.from.as_deref().unwrap_or_default(),
        to: shoot.to.as_deref().unwrap_or_default(),
        state,
        reason: reason.map(ToString::to_string).unwrap_or_default(),
    }
}
