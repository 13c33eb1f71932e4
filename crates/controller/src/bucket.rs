//! A token bucket that also hands out future tokens and returns how long to wait for them.

use std::time::Duration;

use tokio::time::Instant;

/// Refills at a steady rate, up to `burst` tokens.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    per_second: f64,
    burst: f64,
    /// Negative while reserved tokens have not been refilled.
    tokens: f64,
    seen: Option<Instant>,
}

impl TokenBucket {
    /// A full bucket: `burst` tokens, and `per_second` new ones each second.
    #[must_use]
    pub fn new(per_second: f64, burst: u32) -> Self {
        let burst = f64::from(burst);
        Self { per_second, burst, tokens: burst, seen: None }
    }

    /// Takes a token if one is available, and returns whether it did.
    pub fn take(&mut self, now: Instant) -> bool {
        self.refill(now);
        let there = self.tokens >= 1.0;
        if there {
            self.tokens -= 1.0;
        }
        there
    }

    /// Reserves a token and returns how long to wait before using it. Tokens are reserved in the order of the calls.
    pub fn reserve(&mut self, now: Instant) -> Duration {
        self.refill(now);
        self.tokens -= 1.0;
        if self.tokens >= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(-self.tokens / self.per_second).unwrap_or(Duration::MAX)
    }

    /// Returns a reserved token that was not used.
    pub fn give_back(&mut self) {
        self.tokens = (self.tokens + 1.0).min(self.burst);
    }

    fn refill(&mut self, now: Instant) {
        let passed = self.seen.map_or(Duration::ZERO, |seen| now.saturating_duration_since(seen));
        self.seen = Some(self.seen.map_or(now, |seen| seen.max(now)));
        self.tokens = (self.tokens + passed.as_secs_f64() * self.per_second).min(self.burst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn beyond_the_burst_tokens_come_at_the_rate() {
        let mut bucket = TokenBucket::new(10.0, 3);
        let mut waits = || bucket.reserve(Instant::now()).as_millis();
        assert_eq!([waits(), waits(), waits(), waits(), waits()], [0, 0, 0, 100, 200]);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!([waits(), waits()], [0, 100]);
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!([waits(), waits(), waits(), waits()], [0, 0, 0, 100]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_that_does_not_wait_takes_no_token() {
        let mut bucket = TokenBucket::new(0.5, 2);
        let mut take = || bucket.take(Instant::now());
        assert_eq!([take(), take(), take(), take()], [true, true, false, false]);
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!([take(), take()], [true, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_rate_nothing_is_refilled() {
        let mut bucket = TokenBucket::new(0.0, 1);
        assert_eq!(bucket.reserve(Instant::now()), Duration::ZERO);
        assert_eq!(bucket.reserve(Instant::now()), Duration::MAX);
    }
}
