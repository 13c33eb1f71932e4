//! The time of day as an argument: the system's time, or a time that moves with tokio's clock.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rustls_pki_types::UnixTime;
use tokio::time::Instant;

/// Returns the time of day. Cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Time of day at an instant of tokio's clock; `None` for the system's time.
    start: Option<(Timestamp, Instant)>,
}

impl Clock {
    /// The system's time, including any steps of its clock.
    #[must_use]
    pub const fn system() -> Self {
        Self { start: None }
    }

    /// A clock that starts at `now` and moves with tokio's clock, which a test may pause.
    #[must_use]
    pub fn starting_at(now: Timestamp) -> Self {
        Self { start: Some((now, Instant::now())) }
    }

    /// The time of day.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        match self.start {
            None => Timestamp::now(),
            Some((shown, instant)) => {
                let passed = SignedDuration::try_from(instant.elapsed()).unwrap_or(SignedDuration::MAX);
                shown.saturating_add(passed).unwrap_or(Timestamp::MAX)
            }
        }
    }

    /// Time since 1970; zero before 1970.
    #[must_use]
    pub fn since_epoch(&self) -> Duration {
        Duration::try_from(self.now().duration_since(Timestamp::UNIX_EPOCH)).unwrap_or_default()
    }
}

impl rustls::time_provider::TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(self.since_epoch()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_clock_moves_with_tokio() {
        let start: Timestamp = "2026-11-21T02:00:00Z".parse().unwrap();
        let clock = Clock::starting_at(start);
        assert_eq!(clock.now(), start);
        tokio::time::sleep(Duration::from_hours(26)).await;
        assert_eq!(clock.now().to_string(), "2026-11-22T04:00:00Z");
        let seconds = clock.since_epoch().as_secs();
        assert_eq!(i64::try_from(seconds).unwrap(), start.as_second() + 26 * 3600);
    }

    #[test]
    fn the_system_clock_runs() {
        let clock = Clock::system();
        let first = clock.now();
        assert!(clock.now() >= first);
        assert!(first > Timestamp::UNIX_EPOCH);
    }
}
