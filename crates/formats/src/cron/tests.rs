//! Schedules, compared with what the library of the original computes.

use rstest::rstest;

use super::*;
use crate::zone;

fn activations(text: &str, place: &str, after: &str, count: usize) -> Vec<String> {
    let (schedule, zone) = (Schedule::parse(text).unwrap(), zone::load(place).unwrap());
    let first = schedule.next(after.parse().unwrap(), &zone);
    let all = std::iter::successors(first, |time| schedule.next(*time, &zone));
    all.take(count).map(|time| time.to_string()).collect()
}

/// Computed with robfig/cron v1.2.0, but for the schedules that it does not end with.
#[rstest]
#[case::the_next_second_counts("* * * * *", "UTC", "2022-04-12T07:00:00Z", &["2022-04-12T07:01:00Z"])]
#[case::after_a_fraction("0 7 * * *", "UTC", "2022-04-12T06:59:59.5Z", &["2022-04-12T07:00:00Z"])]
#[case::strictly_after("0 7 * * *", "UTC", "2022-04-12T07:00:00Z", &["2022-04-13T07:00:00Z"])]
#[case::a_zone("0 2 * * *", "Europe/Berlin", "2022-04-12T02:00:00Z", &["2022-04-13T00:00:00Z"])]
#[case::a_gap("0 2 * * *", "Europe/Berlin", "2022-03-25T12:00:00Z", &["2022-03-26T01:00:00Z", "2022-03-28T00:00:00Z"])]
#[case::twice("0 2 * * *", "Europe/Berlin", "2022-10-29T12:00:00Z", &["2022-10-30T00:00:00Z", "2022-10-30T01:00:00Z", "2022-10-31T01:00:00Z"])]
#[case::twice_in_the_west("0 1 * * *", "America/Los_Angeles", "2022-11-05T12:00:00Z", &["2022-11-06T08:00:00Z", "2022-11-06T09:00:00Z"])]
#[case::a_gap_at_midnight("0 0 * * *", "Asia/Beirut", "2022-03-25T12:00:00Z", &["2022-03-25T22:00:00Z", "2022-03-27T21:00:00Z"])]
#[case::either_day("0 0 13 * 5", "UTC", "2022-05-01T00:00:00Z", &["2022-05-06T00:00:00Z", "2022-05-13T00:00:00Z", "2022-05-20T00:00:00Z", "2022-05-27T00:00:00Z", "2022-06-03T00:00:00Z", "2022-06-10T00:00:00Z", "2022-06-13T00:00:00Z"])]
#[case::both_days("0 0 ? * MON", "UTC", "2022-05-01T00:00:00Z", &["2022-05-02T00:00:00Z", "2022-05-09T00:00:00Z"])]
#[case::a_step("*/20 8 * * *", "UTC", "2022-05-01T08:30:00Z", &["2022-05-01T08:40:00Z", "2022-05-02T08:00:00Z"])]
#[case::a_value_with_a_step("50/5 8 * * *", "UTC", "2022-05-01T08:30:00Z", &["2022-05-01T08:50:00Z", "2022-05-01T08:55:00Z", "2022-05-02T08:50:00Z"])]
#[case::names("0 0 1 Feb-apr/2 *", "UTC", "2022-05-01T00:00:00Z", &["2023-02-01T00:00:00Z", "2023-04-01T00:00:00Z"])]
#[case::a_leap_day("0 0 29 2 *", "UTC", "2022-05-01T00:00:00Z", &["2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z"])]
#[case::weekdays("0 8 * * 1-5", "Europe/Sofia", "2022-04-15T06:00:00Z", &["2022-04-18T05:00:00Z"])]
#[case::the_last_month("30 23 31 * *", "UTC", "2022-03-31T23:30:00Z", &["2022-05-31T23:30:00Z", "2022-07-31T23:30:00Z"])]
#[case::yearly("@yearly", "UTC", "2022-05-01T00:00:00Z", &["2023-01-01T00:00:00Z"])]
#[case::monthly("@monthly", "UTC", "2022-05-01T00:00:00Z", &["2022-06-01T00:00:00Z"])]
#[case::weekly("@weekly", "UTC", "2022-05-01T00:00:00Z", &["2022-05-08T00:00:00Z"])]
#[case::midnight("@midnight", "UTC", "2022-05-01T00:00:00Z", &["2022-05-02T00:00:00Z"])]
#[case::hourly("@hourly", "UTC", "2022-05-01T00:00:00Z", &["2022-05-01T01:00:00Z"])]
#[case::every("@every 1h30m0.9s", "UTC", "2022-05-01T00:00:00.7Z", &["2022-05-01T01:30:00Z", "2022-05-01T03:00:00Z"])]
#[case::at_least_a_second("@every 1ms", "UTC", "2022-05-01T00:00:00Z", &["2022-05-01T00:00:01Z"])]
#[case::never("0 0 31 2 *", "UTC", "2022-05-01T00:00:00Z", &[])]
#[case::a_day_that_is_left_out("0 12 * * 1", "Pacific/Apia", "2011-12-29T08:00:00Z", &["2012-01-01T22:00:00Z"])]
#[case::no_value(", * * * *", "UTC", "2022-05-01T00:00:00Z", &[])]
fn a_schedule_is_active(#[case] text: &str, #[case] place: &str, #[case] after: &str, #[case] want: &[&str]) {
    assert_eq!(activations(text, place, after, want.len().max(1)), want);
}

#[rstest]
#[case("", "Empty spec string")]
#[case("  ", "Expected exactly 5 fields, found 0:   ")]
#[case("0 0 * *", "Expected exactly 5 fields, found 4: 0 0 * *")]
#[case("0 0 * * * *", "Expected exactly 5 fields, found 6: 0 0 * * * *")]
#[case("x 0 * * *", r#"Failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax"#)]
#[case("-1 0 * * *", r#"Failed to parse int from : strconv.Atoi: parsing "": invalid syntax"#)]
#[case("99999999999999999999 0 * * *", r#"Failed to parse int from 99999999999999999999: strconv.Atoi: parsing "99999999999999999999": value out of range"#)]
#[case("*/-1 0 * * *", "Negative number (-1) not allowed: -1")]
#[case("1-2-3 0 * * *", "Too many hyphens: 1-2-3")]
#[case("1/2/3 0 * * *", "Too many slashes: 1/2/3")]
#[case("0 0 0 * *", "Beginning of range (0) below minimum (1): 0")]
#[case("60 0 * * *", "End of range (60) above maximum (59): 60")]
#[case("0 0 * * 7", "End of range (7) above maximum (6): 7")]
#[case("5-1 0 * * *", "Beginning of range (5) beyond end of range (1): 5-1")]
#[case("*/0 0 * * *", "FieldStep of range should be a positive number: */0")]
#[case("mon 0 * * *", r#"Failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax"#)]
#[case("@every one", r#"Failed to parse duration @every one: time: invalid duration "one""#)]
#[case("@reboot", "Unrecognized descriptor: @reboot")]
fn a_malformed_schedule_is_refused(#[case] text: &str, #[case] want: &str) {
    assert_eq!(Schedule::parse(text).unwrap_err().to_string(), want);
}

#[test]
fn the_last_activation_is_after_one_time_and_not_after_another() {
    let (schedule, zone) = (Schedule::parse("0 2 * * *").unwrap(), zone::load("Europe/Berlin").unwrap());
    let last = |after: &str, until: &str| {
        let last = schedule.last_between(after.parse().unwrap(), until.parse().unwrap(), &zone);
        last.map(|time| time.to_string())
    };
    assert_eq!(last("2022-04-10T02:00:00Z", "2022-04-12T02:00:00Z").as_deref(), Some("2022-04-12T00:00:00Z"));
    assert_eq!(last("2022-04-12T01:00:00Z", "2022-04-12T02:00:00Z"), None);
    assert_eq!(last("2022-04-11T00:00:00Z", "2022-04-12T00:00:00Z").as_deref(), Some("2022-04-12T00:00:00Z"));
    assert_eq!(last("2022-04-12T00:00:00Z", "2022-04-12T02:00:00Z"), None);
}

/// Random schedules around changes of the clocks, with the activations that robfig/cron v1.2.0 computes.
#[test]
fn random_schedules_are_active_when_the_original_says() {
    for line in include_str!("vectors.txt").lines() {
        let [text, place, after, want] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let want: Vec<&str> = want.split(' ').filter(|time| !time.is_empty()).collect();
        assert_eq!(activations(text, place, after, 3), want, "{line}");
    }
}
