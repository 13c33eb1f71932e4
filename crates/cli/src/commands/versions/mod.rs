//! `versions`: which versions CloudProfiles offer, how maintenance moves Shoots, and problems of the profiles.

mod explain;
mod groups;
mod lint;
mod read;
mod simulate;
mod simulation;
mod timeline;

use api::garden::Shoot;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use versions::forecast::Subject;

use crate::arguments::VersionsCommand;
use crate::ending::Ending;
use crate::terminal::{Failure, Terminal};

/// Executes a `versions` command.
pub(crate) fn execute(command: &VersionsCommand, terminal: &Terminal) -> Result<Ending, Failure> {
    match command {
        VersionsCommand::Explain(arguments) => explain::explain(arguments, terminal),
        VersionsCommand::Simulate(arguments) => simulate::simulate(arguments, terminal),
        VersionsCommand::Lint(arguments) => lint::lint(arguments, terminal),
    }
}

/// Parses the time of an option; a day stands for its midnight in UTC.
fn time(option: &str, text: &str) -> Result<Timestamp, Failure> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let day = text.parse::<Date>().ok().and_then(|day| day.to_zoned(TimeZone::UTC).ok());
    day.map(|day| day.timestamp()).ok_or_else(|| {
        Failure::usage(format!(
            "{option} {text} is not a time; write a day (2024-05-01) or a time with its zone (2024-05-01T22:00:00Z)"
        ))
    })
}

/// The time of an option, or now in whole seconds, like expiration dates.
fn time_or_now(option: &str, text: Option<&String>) -> Result<Timestamp, Failure> {
    let now = || Timestamp::from_second(Timestamp::now().as_second()).unwrap_or(Timestamp::MIN);
    text.map_or_else(|| Ok(now()), |text| time(option, text))
}

/// `<namespace>/<name>`.
fn shoot_name(shoot: &Shoot) -> String {
    let name = shoot.metadata.name.as_deref().unwrap_or("(without a name)");
    shoot
        .metadata
        .namespace
        .as_deref()
        .map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"))
}

/// Describes what a version belongs to.
fn subject(subject: &Subject) -> String {
    match subject {
        Subject::ControlPlane => "control plane".to_owned(),
        Subject::Pool(pool) => format!("pool {pool}"),
        Subject::Image { pool, image } => format!("{image} of pool {pool}"),
    }
}
