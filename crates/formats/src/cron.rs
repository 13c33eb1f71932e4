//! Cron schedules as Gardener reads them: five fields (minute, hour, day of month, month, day of week), or a descriptor
//! such as `@daily`.
//!
//! Syntax, messages and the treatment of daylight saving time are those of robfig/cron v1.2, `ParseStandard`. Unlike
//! there, the search ends where a schedule has no activation (`0 0 31 2 *`), and where a zone leaves out a day.

mod parse;

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

pub use self::parse::CronError;

/// Marks a field of days that is `*` or `?`.
const STAR: u64 = 1 << 63;
/// How many years ahead an activation is searched.
const YEARS: i16 = 5;

/// When something happens again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule(ScheduleKind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum ScheduleKind {
    Fields(Fields),
    /// After each of these periods of whole seconds, at least one.
    Every(SignedDuration),
}

/// The values of each field, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fields {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
}

/// How the search for an activation continues.
enum FieldStep {
    /// The field matches from here on.
    Matches(Timestamp),
    /// A greater field changed and must be checked again.
    Wrapped(Timestamp),
}

impl Schedule {
    /// Parses a schedule.
    ///
    /// # Errors
    /// If `cron.ParseStandard` refuses the text, with its message.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        parse::schedule(text).map(Self)
    }

    /// The first activation after `after`, by the clock of `zone`; `None` if there is none within five years.
    #[must_use]
    pub fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match &self.0 {
            ScheduleKind::Fields(fields) => fields.next(after, zone),
            ScheduleKind::Every(period) => whole_second(after).checked_add(*period).ok(),
        }
    }

    /// The last activation that is after `after` and not after `until`.
    #[must_use]
    pub fn last_between(&self, after: Timestamp, until: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let first = self.next(after, zone);
        let activations = std::iter::successors(first, |activation| self.next(*activation, zone));
        activations.take_while(|activation| *activation <= until).last()
    }
}

impl Fields {
    fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let mut time = whole_second(after).checked_add(SignedDuration::from_secs(1)).ok()?;
        let last_year = zone.to_datetime(time).year().saturating_add(YEARS);
        // Fields below one that moved begin anew, once: afterwards they are at their beginning.
        let mut moved = false;
        'search: while zone.to_datetime(time).year() <= last_year {
            for field in [Self::month, Self::day, Self::hour, Self::minute, Self::second] {
                match field(self, time, zone, &mut moved)? {
                    FieldStep::Matches(at) => time = at,
                    FieldStep::Wrapped(at) => {
                        time = at;
                        continue 'search;
                    }
                }
            }
            return Some(time);
        }
        None
    }

    fn month(&self, mut time: Timestamp, zone: &TimeZone, moved: &mut bool) -> Option<FieldStep> {
        loop {
            let mut now = zone.to_datetime(time);
            if has(self.months, now.month()) {
                return Some(FieldStep::Matches(time));
            }
            if !*moved {
                *moved = true;
                now = existing(now.date().first_of_month().to_datetime(Time::midnight()), zone)?;
            }
            time = ahead(time, instant(next_month(now)?, zone)?)?;
            if zone.to_datetime(time).month() == 1 {
                return Some(FieldStep::Wrapped(time));
            }
        }
    }

    fn day(&self, mut time: Timestamp, zone: &TimeZone, moved: &mut bool) -> Option<FieldStep> {
        loop {
            let mut now = zone.to_datetime(time);
            if self.has_day(now) {
                return Some(FieldStep::Matches(time));
            }
            if !*moved {
                *moved = true;
                now = existing(now.date().to_datetime(Time::midnight()), zone)?;
            }
            time = ahead(time, instant(now.date().tomorrow().ok()?.to_datetime(now.time()), zone)?)?;
            if zone.to_datetime(time).day() == 1 {
                return Some(FieldStep::Wrapped(time));
            }
        }
    }

    /// Days of month and of week restrict each other if one of them is `*`; else either suffices.
    fn has_day(&self, now: DateTime) -> bool {
        let (day, weekday) =
            (has(self.days, now.day()), has(self.weekdays, now.weekday().to_sunday_zero_offset()));
        if (self.days | self.weekdays) & STAR != 0 { day && weekday } else { day || weekday }
    }

    fn hour(&self, mut time: Timestamp, zone: &TimeZone, moved: &mut bool) -> Option<FieldStep> {
        loop {
            let now = zone.to_datetime(time);
            if has(self.hours, now.hour()) {
                return Some(FieldStep::Matches(time));
            }
            if !*moved {
                *moved = true;
                time = instant(now.date().at(now.hour(), 0, 0, 0), zone)?;
            }
            time = time.checked_add(SignedDuration::from_hours(1)).ok()?;
            if zone.to_datetime(time).hour() == 0 {
                return Some(FieldStep::Wrapped(time));
            }
        }
    }

    fn minute(&self, mut time: Timestamp, zone: &TimeZone, moved: &mut bool) -> Option<FieldStep> {
        loop {
            if has(self.minutes, zone.to_datetime(time).minute()) {
                return Some(FieldStep::Matches(time));
            }
            if !*moved {
                *moved = true;
                time = Timestamp::from_second(time.as_second() - time.as_second().rem_euclid(60)).ok()?;
            }
            time = time.checked_add(SignedDuration::from_mins(1)).ok()?;
            if zone.to_datetime(time).minute() == 0 {
                return Some(FieldStep::Wrapped(time));
            }
        }
    }

    /// The second is always 0.
    #[expect(clippy::unused_self, reason = "one of the five fields that are searched alike")]
    fn second(&self, time: Timestamp, zone: &TimeZone, moved: &mut bool) -> Option<FieldStep> {
        match i64::from(zone.to_datetime(time).second()) {
            0 => Some(FieldStep::Matches(time)),
            second => {
                *moved = true;
                let rest = SignedDuration::from_secs(60 - second);
                time.checked_add(rest).ok().map(FieldStep::Wrapped)
            }
        }
    }
}

fn has(bits: u64, value: i8) -> bool {
    u32::try_from(value).is_ok_and(|value| bits & (1 << value) != 0)
}

fn whole_second(time: Timestamp) -> Timestamp {
    let second = time.as_nanosecond().div_euclid(1_000_000_000);
    i64::try_from(second).ok().and_then(|second| Timestamp::from_second(second).ok()).unwrap_or(time)
}

/// The same day of the next month; days that it does not have are counted on, as Go's `AddDate` does.
fn next_month(now: DateTime) -> Option<DateTime> {
    let first = now.date().last_of_month().tomorrow().ok()?;
    let day = first.checked_add(Span::new().days(now.day() - 1)).ok()?;
    Some(day.to_datetime(now.time()))
}

/// The later time; where a zone leaves out a whole day the next midnight is not later, and the original does not end.
fn ahead(time: Timestamp, next: Timestamp) -> Option<Timestamp> {
    if next > time { Some(next) } else { time.checked_add(SignedDuration::from_hours(24)).ok() }
}

/// What the clock shows instead of a reading that a gap leaves out.
fn existing(reading: DateTime, zone: &TimeZone) -> Option<DateTime> {
    instant(reading, zone).map(|time| zone.to_datetime(time))
}

/// The instant of a clock's reading, as Go's `time.Date` finds it: where a reading does not exist, or exists twice, the
/// offset is the one that the zone has at the reading taken as UTC minus its offset there.
fn instant(reading: DateTime, zone: &TimeZone) -> Option<Timestamp> {
    let as_utc = TimeZone::UTC.to_timestamp(reading).ok()?;
    let offset_at = |time: Timestamp| i64::from(zone.to_offset(time).seconds());
    let before = |offset: i64| as_utc.checked_sub(SignedDuration::from_secs(offset)).ok();
    before(offset_at(before(offset_at(as_utc))?))
}

#[cfg(test)]
mod tests;
