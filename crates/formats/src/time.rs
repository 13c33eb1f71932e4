//! Points in time as Kubernetes writes them: RFC 3339, `2024-06-01T00:00:00Z`.

use jiff::Timestamp;

/// Nanoseconds since 1970 of an RFC 3339 text; absent for any other text, a date alone included.
#[must_use]
pub fn nanos(text: &str) -> Option<i128> {
    let date_and_time =
        text.len() >= "2024-06-01T00:00:00Z".len() && text.as_bytes()[10].eq_ignore_ascii_case(&b't');
    let timestamp: Timestamp = date_and_time.then(|| text.parse().ok()).flatten()?;
    Some(timestamp.as_nanosecond())
}

/// The time as RFC 3339 in UTC, with a fraction only where there is one; absent outside of the years 0 to 9999.
#[must_use]
pub fn to_string(nanos: i128) -> Option<String> {
    let text = Timestamp::from_nanosecond(nanos).ok()?.to_string();
    (!text.starts_with('-')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_with_zone_and_fraction() {
        assert_eq!(nanos("1970-01-01T00:00:01Z"), Some(1_000_000_000));
        assert_eq!(nanos("1970-01-01T01:00:00.5+01:00"), Some(500_000_000));
        assert_eq!(nanos("1970-01-01"), None);
        assert_eq!(nanos("1970-01-01 00:00:00Z"), None);
        assert_eq!(nanos("no time at all, however long"), None);
    }

    #[test]
    fn a_time_is_written_in_utc() {
        assert_eq!(to_string(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(to_string(1_500_000_000).as_deref(), Some("1970-01-01T00:00:01.5Z"));
        assert_eq!(to_string(i128::MAX), None);
    }
}
