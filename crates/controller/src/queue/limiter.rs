//! When a failed item may be retried: with growing delays per item, and an overall rate.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::bucket::TokenBucket;

/// Computes how long a failed item must wait before it is retried.
#[derive(Clone, Debug)]
pub struct RateLimiter<T> {
    first: Duration,
    most: Duration,
    failures: BTreeMap<T, u32>,
    bucket: Option<TokenBucket>,
}

impl<T: Ord> Default for RateLimiter<T> {
    /// The default of controllers: 5 ms, doubled up to 1000 s, and over all items 10 a second with a burst of 100.
    fn default() -> Self {
        let limiter = Self::exponential(Duration::from_millis(5), Duration::from_secs(1000));
        limiter.with_bucket(TokenBucket::new(10.0, 100))
    }
}

impl<T: Ord> RateLimiter<T> {
    /// An item waits for `first`, then twice as long each time, at most `most`.
    #[must_use]
    pub fn exponential(first: Duration, most: Duration) -> Self {
        Self { first, most, failures: BTreeMap::new(), bucket: None }
    }

    /// Adds a rate limit over all items.
    #[must_use]
    pub fn with_bucket(mut self, bucket: TokenBucket) -> Self {
        self.bucket = Some(bucket);
        self
    }

    /// How long `item` must wait this time: the longer of its own delay and the overall one.
    pub(super) fn when(&mut self, item: T, now: Instant) -> Duration {
        let failures = self.failures.entry(item).or_default();
        let doubled = i32::try_from(*failures).ok().map(|times| self.first.as_secs_f64() * 2_f64.powi(times));
        *failures = failures.saturating_add(1);
        let own = doubled.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let own = own.map_or(self.most, |own| own.min(self.most));
        let common = self.bucket.as_mut().map_or(Duration::ZERO, |bucket| bucket.reserve(now));
        own.max(common)
    }

    pub(super) fn forget(&mut self, item: &T) {
        self.failures.remove(item);
    }

    pub(super) fn failures(&self, item: &T) -> u32 {
        self.failures.get(item).copied().unwrap_or_default()
    }
}
