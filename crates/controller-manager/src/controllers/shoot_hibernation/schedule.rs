//! When schedules hibernate a Shoot and wake it.

use api::garden::shoot::maintenance::HibernationSchedule;
use formats::cron::{CronError, Schedule};
use formats::zone::{self, ZoneError};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// What an activation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Hibernate,
    WakeUp,
}

/// Why a schedule is malformed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ScheduleError {
    #[error(transparent)]
    Cron(#[from] CronError),
    #[error(transparent)]
    Zone(#[from] ZoneError),
}

/// All schedules of a Shoot, in their order; of each its start before its end.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Activations(Vec<Entry>);

#[derive(Debug, PartialEq, Eq)]
struct Entry {
    operation: Operation,
    schedule: Schedule,
    zone: TimeZone,
}

impl Activations {
    /// One malformed schedule spoils all: half of a pair would leave a Shoot asleep.
    pub(super) fn parse(schedules: &[HibernationSchedule]) -> Result<Self, ScheduleError> {
        let mut entries = Vec::new();
        for HibernationSchedule { start, end, location, .. } in schedules {
            let zone = zone::load(location.as_deref().unwrap_or("UTC"))?;
            for (text, operation) in [(start, Operation::Hibernate), (end, Operation::WakeUp)] {
                let Some(text) = text else { continue };
                entries.push(Entry { operation, schedule: Schedule::parse(text)?, zone: zone.clone() });
            }
        }
        Ok(Self(entries))
    }

    /// The operation of the newest activation after `since`, up to and including `now`; of several at once the first.
    pub(super) fn newest(&self, since: Timestamp, now: Timestamp) -> Option<Operation> {
        let mut newest: Option<(Timestamp, Operation)> = None;
        for Entry { operation, schedule, zone } in &self.0 {
            let Some(time) = schedule.last_between(since, now, zone) else { continue };
            if newest.is_none_or(|(known, _)| time > known) {
                newest = Some((time, *operation));
            }
        }
        newest.map(|(_, operation)| operation)
    }

    /// The next activation.
    pub(super) fn next(&self, now: Timestamp) -> Option<Timestamp> {
        self.0.iter().filter_map(|entry| entry.schedule.next(now, &entry.zone)).min()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const DAILY: [[Option<&str>; 3]; 1] = [[Some("0 7 * * *"), Some("0 2 * * *"), None]];
    const WORLD: [[Option<&str>; 3]; 3] = [
        [Some("0 7 * * *"), Some("0 2 * * *"), Some("Europe/Berlin")],
        [Some("0 8 * * 1,2,3,4,5"), Some("0 19 * * 1,2,3,4,5"), Some("Europe/Sofia")],
        [Some("0 2 * * *"), Some("0 7 * * *"), None],
    ];

    fn activations(schedules: &[[Option<&str>; 3]]) -> Result<Activations, ScheduleError> {
        let schedules = schedules.iter().map(|texts| {
            let [start, end, location] = texts.map(|text| text.map(str::to_owned));
            HibernationSchedule { start, end, location, ..HibernationSchedule::default() }
        });
        Activations::parse(&schedules.collect::<Vec<_>>())
    }

    /// The original's table: Tuesday, 2022-04-12.
    #[rstest]
    #[case(&DAILY, "11T01:59:30", "12T01:59:30", Some(Operation::Hibernate), "12T02:00:00")]
    #[case(&DAILY, "11T06:59:59", "12T06:59:59", Some(Operation::WakeUp), "12T07:00:00")]
    #[case(&DAILY, "11T07:00:01", "12T07:00:01", Some(Operation::Hibernate), "13T02:00:00")]
    #[case(&DAILY, "12T06:59:30", "12T07:00:00", Some(Operation::Hibernate), "13T02:00:00")]
    #[case(&DAILY, "12T07:00:00", "12T07:00:00", None, "13T02:00:00")]
    #[case(&DAILY, "12T19:00:00", "12T19:00:01", None, "13T02:00:00")]
    #[case(&DAILY, "12T02:00:00", "12T06:59:59", None, "12T07:00:00")]
    #[case(&DAILY, "12T07:00:01", "12T07:00:11", None, "13T02:00:00")]
    #[case(&WORLD, "11T07:00:01", "12T07:00:01", Some(Operation::WakeUp), "12T16:00:00")]
    #[case(&[[Some("0 7 * * *"), Some("0 7 * * *"), None]], "11T07:00:01", "12T07:00:01", Some(Operation::Hibernate), "13T07:00:00")]
    fn the_newest_activation_decides(
        #[case] schedules: &[[Option<&str>; 3]],
        #[case] since: &str,
        #[case] now: &str,
        #[case] due: Option<Operation>,
        #[case] next: &str,
    ) {
        let time = |text: &str| -> Timestamp { format!("2022-04-{text}Z").parse().unwrap() };
        let activations = activations(schedules).unwrap();
        assert_eq!(activations.newest(time(since), time(now)), due);
        assert_eq!(activations.next(time(now)), Some(time(next)));
    }

    #[test]
    fn a_malformed_schedule_spoils_all() {
        let good = [Some("0 7 * * *"), None, None];
        assert!(matches!(
            activations(&[good, [Some(""), None, None]]),
            Err(ScheduleError::Cron(CronError::Empty))
        ));
        assert!(matches!(activations(&[good, [None, None, Some("nowhere")]]), Err(ScheduleError::Zone(_))));
        assert_eq!(activations(&[[None, None, None]]), Ok(Activations::default()));
    }

    #[test]
    fn a_schedule_that_never_comes_ends() {
        let never = activations(&[[Some("0 0 31 2 *"), None, None]]).unwrap();
        let now = "2022-04-12T00:00:00Z".parse().unwrap();
        assert_eq!((never.next(now), never.newest(Timestamp::UNIX_EPOCH, now)), (None, None));
    }
}
