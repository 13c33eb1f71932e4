//! Windows: parsing, contained times, the next window.

use api::garden::shoot::maintenance::MaintenanceTimeWindow;
use rstest::rstest;

use super::*;

fn window(begin: &str, end: &str) -> Window {
    Window::parse(&format!("{begin}0000+0000"), &format!("{end}0000+0000")).unwrap()
}

fn at(time: &str) -> Timestamp {
    format!("2024-06-01T{time}Z").parse().unwrap()
}

#[rstest]
#[case("220000+0100", "21:00:00")]
#[case("003000+0100", "23:30:00")]
#[case("235959-0030", "00:29:59")]
#[case("120000+2460", "11:00:00")]
#[case("161523.75+0000", "16:15:23")]
fn a_time_of_day_is_read_in_utc(#[case] text: &str, #[case] wanted: &str) {
    assert_eq!(TimeOfDay::parse(text).map(|time| time.to_string()), Ok(wanted.to_owned()));
}

#[rstest]
#[case("", "\"\" as \"150405-0700\": cannot parse \"\" as \"15\"")]
#[case("2", "\"2\" as \"150405-0700\": cannot parse \"\" as \"04\"")]
#[case("2x", "\"2x\" as \"150405-0700\": cannot parse \"x\" as \"04\"")]
#[case("abcdef+0000", "\"abcdef+0000\" as \"150405-0700\": cannot parse \"abcdef+0000\" as \"15\"")]
#[case("240000+0100", "\"240000+0100\": hour out of range")]
#[case("126000+0100", "\"126000+0100\": minute out of range")]
#[case("120060+0100", "\"120060+0100\": second out of range")]
#[case("12:00+0100", "\"12:00+0100\" as \"150405-0700\": cannot parse \":00+0100\" as \"04\"")]
#[case("120000", "\"120000\" as \"150405-0700\": cannot parse \"\" as \"-0700\"")]
#[case("120000Z", "\"120000Z\" as \"150405-0700\": cannot parse \"Z\" as \"-0700\"")]
#[case("120000*0100", "\"120000*0100\" as \"150405-0700\": cannot parse \"*0100\" as \"-0700\"")]
#[case("120000+01:00", "\"120000+01:00\" as \"150405-0700\": cannot parse \"+01:00\" as \"-0700\"")]
#[case("120000+2500", "\"120000+2500\": time zone offset hour out of range")]
#[case("120000+0061", "\"120000+0061\": time zone offset minute out of range")]
#[case("120000+01000", "\"120000+01000\": extra text: \"0\"")]
fn invalid_times_have_the_error_of_go(#[case] text: &str, #[case] message: &str) {
    let message =
        format!("could not parse the value into the maintenanceTime format: parsing time {message}");
    assert_eq!(TimeOfDay::parse(text).map_err(|error| error.to_string()), Err(message));
}

#[test]
fn the_error_of_a_window_names_the_invalid_end() {
    let message = |begin, end| Window::parse(begin, end).unwrap_err().to_string();
    assert!(message("x", "120000+0000").starts_with("could not parse begin time: could not parse the value"));
    assert!(message("120000+0000", "x").starts_with("could not parse end time: could not parse the value"));
}

#[test]
fn times_are_added_within_a_day() {
    let time = TimeOfDay::parse("161523+0000").unwrap();
    assert_eq!(time.plus(14 * 3600 + 14 * 60 + 14).to_string(), "06:29:37");
    assert_eq!(time.plus(-17 * 3600).formatted(), "231523+0000");
}

#[rstest]
#[case("16", "19", 3)]
#[case("00", "01", 1)]
#[case("23", "01", 2)]
#[case("23", "00", 1)]
#[case("05", "05", 24)]
fn a_window_has_a_length(#[case] begin: &str, #[case] end: &str, #[case] hours: u64) {
    assert_eq!(window(begin, end).length(), Duration::from_secs(hours * 3600));
}

#[rstest]
#[case("120000+0000", "123000+0000", None)]
#[case("220000+0000", "040000+0000", None)]
#[case("120000+0100", "120000+0000", None)]
#[case("120000+0000", "122959+0000", Some("29m59s: time window must not be smaller than 30m0s"))]
#[case("120000+0000", "180001+0000", Some("6h0m1s: time window must not be greater than 6h0m0s"))]
#[case("120000+0000", "120000+0000", Some("24h0m0s: time window must not be greater than 6h0m0s"))]
fn a_window_is_half_an_hour_to_six_hours(
    #[case] begin: &str,
    #[case] end: &str,
    #[case] refused: Option<&str>,
) {
    let checked = Window::parse(begin, end).unwrap().check();
    let refused = refused.map(|refused| format!("Invalid value: {refused}"));
    assert_eq!(checked.err().map(|refusal| refusal.to_string()), refused);
}

#[rstest]
#[case("16", "19", &["16:00:00", "17:00:00", "19:00:00", "19:00:00.9"], &["15:59:59", "19:00:01", "19:01:00"])]
#[case("00", "01", &["00:00:00", "00:30:00", "01:00:00"], &["23:59:59", "02:00:00"])]
#[case("23", "01", &["23:00:00", "00:59:00", "01:00:00"], &["22:59:59", "02:00:00"])]
#[case("23", "00", &["23:00:00", "23:45:00", "00:00:00"], &["22:59:59", "01:00:00"])]
fn a_window_contains_both_ends(
    #[case] begin: &str,
    #[case] end: &str,
    #[case] within: &[&str],
    #[case] without: &[&str],
) {
    let window = window(begin, end);
    for time in within {
        assert!(window.contains(at(time)), "{time} in {window}");
    }
    for time in without {
        assert!(!window.contains(at(time)), "{time} not in {window}");
    }
}

#[rstest]
#[case("16", "19", "17:00:00", 26 * 3600, 2 * 3600)]
#[case("16", "19", "15:00:00", 4 * 3600, 4 * 3600)]
#[case("16", "19", "20:00:00", 23 * 3600, 23 * 3600)]
#[case("00", "01", "00:30:00", 24 * 3600 + 1800, 1800)]
#[case("00", "01", "19:00:00", 6 * 3600, 6 * 3600)]
#[case("00", "01", "01:59:01", 23 * 3600 + 59, 23 * 3600 + 59)]
#[case("23", "01", "00:00:00", 25 * 3600, 3600)]
#[case("23", "01", "21:00:00", 4 * 3600, 4 * 3600)]
#[case("23", "01", "02:00:00", 23 * 3600, 23 * 3600)]
#[case("23", "00", "23:30:00", 24 * 3600 + 1800, 1800)]
#[case("23", "00", "20:00:00", 4 * 3600, 4 * 3600)]
#[case("23", "00", "00:59:01", 23 * 3600 + 59, 23 * 3600 + 59)]
#[case("16", "19", "16:00:00", 3 * 3600, 3 * 3600)]
#[case("16", "19", "19:00:00.5", 23 * 3600 + 59 * 60 + 59, 0)]
fn the_next_window_is_counted_from_now(
    #[case] begin: &str,
    #[case] end: &str,
    #[case] now: &str,
    #[case] next: u64,
    #[case] in_this: u64,
) {
    let window = window(begin, end);
    // With the largest random number: the whole window.
    let until = |in_this| window.until_next(at(now), in_this, |most| most).as_secs();
    assert_eq!((until(false), until(true)), (next, in_this));
}

#[test]
fn a_random_window_begins_at_a_full_hour_and_lasts_one() {
    let ends: Vec<[String; 2]> = [0, 22]
        .map(|hour| Window::random(|_| hour))
        .map(|window| [window.begin.formatted(), window.end.formatted()])
        .into();
    assert_eq!(ends, [["000000+0000", "010000+0000"], ["220000+0000", "230000+0000"]]);
    let _hour = Window::random(|below| {
        assert_eq!(below, 23);
        0
    });
}

#[test]
fn the_effective_window_of_a_shoot_ends_early() {
    let maintenance = |begin: &str, end: &str| Maintenance {
        time_window: Some(MaintenanceTimeWindow {
            begin: begin.to_owned(),
            end: end.to_owned(),
            ..MaintenanceTimeWindow::default()
        }),
        ..Maintenance::default()
    };
    let effective = |maintenance: Option<&Maintenance>| Window::of(maintenance).to_string();
    assert_eq!(effective(Some(&maintenance("220000+0000", "230000+0000"))), "begin=22:00:00, end=22:45:00");
    assert_eq!(effective(Some(&maintenance("230000+0000", "001000+0000"))), "begin=23:00:00, end=23:55:00");
    let always = "begin=00:00:00, end=23:59:59";
    assert_eq!(effective(None), always);
    assert_eq!(effective(Some(&Maintenance::default())), always);
    assert_eq!(effective(Some(&maintenance("22:00", "23:00"))), always);
}
