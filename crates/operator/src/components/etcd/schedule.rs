//! When an Etcd is defragmented and backed up: at a time that differs from Garden to Garden and stays the same for each.

use api::operator::Garden;
use versions::window::{TimeOfDay, Window};

use crate::components::error::RenderError;

/// The days of a schedule, in cron's notation.
pub(super) const DAILY: &str = "* * *";
/// Every third day of a month.
pub(super) const EVERY_THIRD_DAY: &str = "*/3 * *";
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
/// Backups begin in the hour that ends so long before the maintenance window.
const BACKUP_MARGIN: i64 = 15 * MINUTE;
/// The polynomial of CRC-32 as IEEE 802.3 has it, reversed.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// When to defragment: within the maintenance window. OPC-063.
pub(super) fn defragmentation(garden: &Garden, days: &str) -> Result<String, RenderError> {
    at(garden, days, |window, number| {
        let minutes = window.length().as_secs() / MINUTE.unsigned_abs();
        window.begin.plus(remainder(number, minutes) * MINUTE)
    })
}

/// When to back up whole: in the hour that ends a quarter of an hour before the maintenance window. OPC-063.
pub(super) fn full_snapshot(garden: &Garden) -> Result<String, RenderError> {
    at(garden, DAILY, |window, number| {
        let begin = window.begin.plus(-BACKUP_MARGIN - HOUR);
        begin.plus(remainder(number, 60) * MINUTE)
    })
}

/// Without a window, or with one of a whole day, the time of day when the Garden was created.
fn at(
    garden: &Garden,
    days: &str,
    within: impl FnOnce(Window, u32) -> TimeOfDay,
) -> Result<String, RenderError> {
    let window = &garden.spec.virtual_cluster.maintenance.time_window;
    let is_given = !window.begin.is_empty() && !window.end.is_empty();
    let window = if is_given { Some(Window::parse(&window.begin, &window.end)?) } else { None };
    let time = if let Some(window) = window.filter(|window| *window != Window::ALWAYS) {
        within(window, checksum(garden.metadata.uid.as_deref().unwrap_or_default()))
    } else {
        let created = garden.metadata.creation_timestamp.as_ref();
        created.map_or(Window::ALWAYS.begin, |created| TimeOfDay::at(created.0))
    };
    let [hour, minute] = hour_and_minute(time);
    Ok(format!("{minute} {hour} {days}"))
}

/// A number below `below`, which is not 0 for a valid window.
fn remainder(number: u32, below: u64) -> i64 {
    i64::try_from(u64::from(number) % below.max(1)).unwrap_or_default()
}

fn hour_and_minute(time: TimeOfDay) -> [u8; 2] {
    let text = time.to_string();
    let mut numbers = text.split(':').map(|number| number.parse().unwrap_or_default());
    [numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default()]
}

/// CRC-32.
fn checksum(text: &str) -> u32 {
    let step = |rest: u32, _| if rest & 1 == 1 { (rest >> 1) ^ POLYNOMIAL } else { rest >> 1 };
    !text.bytes().fold(!0, |rest, byte| (0..8).fold(rest ^ u32::from(byte), step))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::components::fixture::Fixture;

    /// As `crc32.ChecksumIEEE` of Go computes it.
    #[rstest]
    #[case("", 0)]
    #[case("123456789", 0xcbf4_3926)]
    #[case("0ae0f2f0-7a0b-4a6c-9f0d-000000000001", UID_CHECKSUM)]
    fn checksums_are_those_of_go(#[case] text: &str, #[case] want: u32) {
        assert_eq!(checksum(text), want);
    }

    const UID: &str = "0ae0f2f0-7a0b-4a6c-9f0d-000000000001";
    const UID_CHECKSUM: u32 = 0x50c8_2050;

    /// The number modulo 60 is 32, modulo 100 it is 52.
    #[rstest]
    #[case::an_hour("220000+0000", "230000+0000", "32 22 * * *", "17 21 * * *")]
    #[case::over_midnight("233000+0000", "011000+0000", "22 0 * * *", "47 22 * * *")]
    #[case::with_an_offset("010000+0200", "020000+0200", "32 23 * * *", "17 22 * * *")]
    #[case::the_whole_day("000000+0000", "235959+0000", "34 12 * * *", "34 12 * * *")]
    #[case::none("", "", "34 12 * * *", "34 12 * * *")]
    fn schedules_follow_window_and_uid(
        #[case] begin: &str,
        #[case] end: &str,
        #[case] defragmented: &str,
        #[case] backed_up: &str,
    ) {
        let fixture = Fixture::with(&json!({
            "metadata": {"uid": UID, "creationTimestamp": "2023-11-14T12:34:56Z"},
            "spec": {"virtualCluster": {"maintenance": {"timeWindow": {"begin": begin, "end": end}}}},
        }));
        assert_eq!(defragmentation(&fixture.garden, DAILY).unwrap(), defragmented);
        assert_eq!(full_snapshot(&fixture.garden).unwrap(), backed_up);
    }

    #[test]
    fn a_window_that_is_none_is_refused() {
        let window = json!({"spec": {"virtualCluster": {"maintenance": {"timeWindow": {"begin": "22:00"}}}}});
        let error = defragmentation(&Fixture::with(&window).garden, DAILY).unwrap_err().to_string();
        assert!(error.starts_with("could not parse begin time: "), "{error}");
    }
}
