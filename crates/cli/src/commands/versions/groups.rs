//! Shoots of a simulation by what happens to them: those that are stuck for one cause, those that are skipped for one reason.

use jiff::Timestamp;
use versions::forecast::Forecast;

use crate::commands::layout::{by_time, hang, shoots, wrap};

/// Shoots that end without a version to move to, for one cause.
pub(super) struct StuckGroup<'a> {
    /// `suse-chost 15.4.20240801 ends 2027-03-31`.
    pub(super) cause: &'a str,
    /// The error of maintenance, of the first of them.
    pub(super) why: &'a str,
    pub(super) clause: &'static str,
    /// The shoots, and since when.
    pub(super) shoots: Vec<(Timestamp, &'a str)>,
}

/// The causes of these shoots, the most frequent first.
pub(super) fn stuck<'a>(shoots: impl IntoIterator<Item = (&'a str, &'a Forecast)>) -> Vec<StuckGroup<'a>> {
    let mut groups: Vec<StuckGroup<'_>> = Vec::new();
    for (name, forecast) in shoots {
        for stuck in &forecast.stuck {
            let entry = (stuck.at, name);
            match groups.iter_mut().find(|group| group.cause == stuck.cause) {
                Some(group) if group.shoots.iter().any(|(_, known)| *known == name) => {}
                Some(group) => group.shoots.push(entry),
                None => groups.push(StuckGroup {
                    cause: &stuck.cause,
                    why: &stuck.why,
                    clause: stuck.clause,
                    shoots: vec![entry],
                }),
            }
        }
    }
    groups.sort_by(|a, b| b.shoots.len().cmp(&a.shoots.len()).then_with(|| a.cause.cmp(b.cause)));
    groups
}

/// The causes as text, each with its shoots and the error of maintenance; empty without causes.
pub(super) fn stuck_text(groups: &[StuckGroup<'_>], width: usize) -> String {
    if groups.is_empty() {
        return String::new();
    }
    let mut text = "\nwithout a path\n".to_owned();
    for group in groups {
        let head = format!("{}: {}", group.cause, shoots(group.shoots.len()));
        text.push_str(&hang(&head, width, "  "));
        text.push_str(&wrap(&format!("since {}", by_time(&group.shoots, "%F")), width, "    "));
        text.push_str(&wrap(&format!("{} ({})", group.why, group.clause), width, "    "));
    }
    text
}

/// The skipped shoots by reason.
pub(super) fn skipped(skipped: &[(String, String)]) -> Vec<(&str, Vec<&str>)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, why) in skipped {
        match groups.iter_mut().find(|(known, _)| *known == why.as_str()) {
            Some((_, names)) => names.push(name.as_str()),
            None => groups.push((why.as_str(), vec![name.as_str()])),
        }
    }
    groups
}
