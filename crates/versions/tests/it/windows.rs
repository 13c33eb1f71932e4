//! Property tests of windows and parsers, over random texts and times.

use formats::version::Version;
use formats::version::constraint::Constraint;
use jiff::{Timestamp, ToSpan as _};
use proptest::prelude::*;
use versions::window::{TimeOfDay, Window};

/// A window that a shoot may have: any beginning, half an hour to six hours.
fn windows() -> impl Strategy<Value = Window> {
    (0..86_400_i64, 1_800..=21_600_i64).prop_map(|(begin, length)| {
        let begin = TimeOfDay::of_seconds(begin);
        Window { begin, end: begin.plus(length) }
    })
}

/// Any second of a month.
fn times() -> impl Strategy<Value = Timestamp> {
    (0..31 * 86_400_i64)
        .prop_map(|second| Timestamp::from_second(1_717_200_000 + second).expect("within range"))
}

fn after(time: Timestamp, span: std::time::Duration) -> Timestamp {
    time + i64::try_from(span.as_nanos()).expect("some days").nanoseconds()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_next_time_is_in_a_window_within_thirty_hours(window in windows(), now in times(), part in 0.0..1.0_f64) {
        prop_assert!(window.check().is_ok());
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a day")]
        let below = |most: u64| (most as f64 * part) as u64;
        for in_this in [false, true] {
            let next = window.until_next(now, in_this, below);
            prop_assert!(window.contains(after(now, next)), "{window}: {next:?} after {now}");
            prop_assert!(next < std::time::Duration::from_hours(30));
        }
        let rest = window.until_next(now, true, below);
        prop_assert!(!window.contains(now) || rest <= window.length());
    }

    #[test]
    fn the_effective_window_is_inside_the_window(window in windows(), now in times()) {
        prop_assert!(!window.effective().contains(now) || window.contains(now));
    }

    #[test]
    fn written_windows_are_parsed_again(window in windows(), text in "\\PC{0,12}") {
        let [begin, end] = [window.begin.formatted(), window.end.formatted()];
        prop_assert_eq!(Window::parse(&begin, &end), Ok(window));
        // No text panics.
        let _ = (TimeOfDay::parse(&text), Version::parse(&text).is_ok(), Constraint::parse(&text).is_ok());
    }
}
