//! An HTML page with a row per Shoot and a column per month. It needs no network and can be printed.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::groups::{self, StuckGroup};
use super::simulation::{SimulatedShoot, Simulation};
use super::subject;
use crate::commands::layout::by_time;

const PAGE: &str = include_str!("../../../templates/timeline.html");

#[derive(Serialize)]
struct TimelinePage {
    style: &'static str,
    from: String,
    until: String,
    months: Vec<String>,
    shoots: Vec<ShootRow>,
    skipped: Vec<(String, String)>,
    forced: usize,
    stuck: usize,
    unchanged: usize,
    causes: Vec<CauseRow>,
}

/// Why shoots end without a version to move to.
#[derive(Serialize)]
struct CauseRow {
    cause: String,
    shoots: usize,
    names: String,
    why: String,
}

#[derive(Serialize)]
struct ShootRow {
    name: String,
    profile: String,
    /// What happens to it, for the filter: `stuck`, `forced`, `updated`, `unchanged`, separated by spaces.
    states: String,
    /// One cell per month.
    cells: Vec<Vec<TimelineEvent>>,
}

#[derive(Serialize)]
struct TimelineEvent {
    sign: &'static str,
    class: &'static str,
    text: String,
    more: String,
}

/// Renders the page.
pub(super) fn html(simulation: &Simulation) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("timeline", PAGE)?;
    let months = months(simulation);
    let page = TimelinePage {
        style: conformance::render::PAGE_STYLE,
        from: simulation.from.strftime("%F").to_string(),
        until: simulation.until.strftime("%F").to_string(),
        shoots: simulation.shoots.iter().map(|shoot| row(shoot, &months)).collect(),
        months,
        skipped: simulation.skipped.clone(),
        forced: simulation.forced(),
        stuck: simulation.stuck(),
        unchanged: simulation.unchanged().len(),
        causes: groups::stuck(simulation.forecasts()).iter().map(cause_row).collect(),
    };
    environment.get_template("timeline")?.render(Serde(&page))
}

fn cause_row(group: &StuckGroup<'_>) -> CauseRow {
    CauseRow {
        cause: group.cause.to_owned(),
        shoots: group.shoots.len(),
        names: by_time(&group.shoots, "%F"),
        why: format!("{} ({})", group.why, group.clause),
    }
}

/// Every month of the time span.
fn months(simulation: &Simulation) -> Vec<String> {
    let date = |at: jiff::Timestamp| at.to_zoned(jiff::tz::TimeZone::UTC).date().first_of_month();
    let last = date(simulation.until);
    let mut months = Vec::new();
    for month in date(simulation.from).series(jiff::ToSpan::months(1)) {
        // A time span that ends at the beginning of a month does not include it.
        let begins = month.to_zoned(jiff::tz::TimeZone::UTC).map(|month| month.timestamp());
        if month > last || begins.is_ok_and(|begins| begins >= simulation.until) {
            break;
        }
        months.push(month.strftime("%Y-%m").to_string());
    }
    months
}

fn row(shoot: &SimulatedShoot, months: &[String]) -> ShootRow {
    let month = |at: jiff::Timestamp| at.strftime("%Y-%m").to_string();
    let cell = |wanted: &String| {
        let steps = shoot.forecast.steps.iter().filter(|step| &month(step.at) == wanted).map(|step| {
            let (sign, class) = if step.rule.is_forced() { ("!", "warn") } else { ("✓", "good") };
            TimelineEvent {
                sign,
                class,
                text: format!("{}: {} → {}", subject(&step.subject), step.from, step.to),
                more: format!("{} · {} · {}", step.at.strftime("%F %H:%M"), step.rule, step.rule.clause()),
            }
        });
        let stuck = shoot.forecast.stuck.iter().filter(|stuck| &month(stuck.at) == wanted).map(|stuck| {
            TimelineEvent {
                sign: "✗",
                class: "bad",
                text: format!("without a path ({})", stuck.clause),
                more: stuck.why.clone(),
            }
        });
        steps.chain(stuck).collect()
    };
    ShootRow {
        name: shoot.name.clone(),
        profile: shoot.profile.clone(),
        states: states(shoot),
        cells: months.iter().map(cell).collect(),
    }
}

fn states(shoot: &SimulatedShoot) -> String {
    let forecast = &shoot.forecast;
    let of = [
        ("stuck", !forecast.stuck.is_empty()),
        ("forced", forecast.steps.iter().any(|step| step.rule.is_forced())),
        ("updated", forecast.steps.iter().any(|step| !step.rule.is_forced())),
        ("unchanged", forecast.steps.is_empty() && forecast.stuck.is_empty()),
    ];
    of.into_iter().filter(|(_, is)| *is).map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}
