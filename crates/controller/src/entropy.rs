//! Randomness as an argument: jitter and ids from one seed, so that a test sees the same every time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use uuid::{Builder, Uuid};

/// A source of random numbers. Cheap to clone; clones share one sequence.
#[derive(Clone, Debug)]
pub struct Entropy {
    state: Arc<AtomicU64>,
}

impl Entropy {
    /// The sequence that belongs to a seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { state: Arc::new(AtomicU64::new(seed)) }
    }

    /// A sequence that nobody can foretell.
    #[must_use]
    pub fn system() -> Self {
        let (high, low) = Uuid::new_v4().as_u64_pair();
        Self::seeded(high ^ low)
    }

    /// A number from 0 (included) to 1 (excluded).
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit a floating point number")]
    pub fn fraction(&self) -> f64 {
        const BITS: u32 = 53;
        (self.next() >> (u64::BITS - BITS)) as f64 / (1_u64 << BITS) as f64
    }

    /// `duration`, up to `factor` of it longer.
    #[must_use]
    pub fn jitter(&self, duration: Duration, factor: f64) -> Duration {
        duration.saturating_add(duration.mul_f64(self.fraction() * factor))
    }

    /// A random id, as UUID of version 4.
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.next().to_be_bytes());
        bytes[8..].copy_from_slice(&self.next().to_be_bytes());
        Builder::from_random_bytes(bytes).into_uuid()
    }

    /// SplitMix64: one addition per number, so that threads can share it without a lock.
    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_everything() {
        let (one, same, other) = (Entropy::seeded(7), Entropy::seeded(7), Entropy::seeded(8));
        let ids = [one.uuid(), same.uuid(), other.uuid()];
        assert_eq!(ids[0], ids[1]);
        assert_ne!(ids[0], ids[2]);
        assert_eq!(ids[0].get_version_num(), 4);
        assert_ne!(Entropy::system().uuid(), Entropy::system().uuid());
    }

    #[test]
    fn jitter_only_adds_and_at_most_its_factor() {
        let entropy = Entropy::seeded(1);
        let second = Duration::from_secs(1);
        let all: Vec<Duration> = (0..1000).map(|_| entropy.jitter(second, 1.2)).collect();
        let (least, most) = (all.iter().min().unwrap(), all.iter().max().unwrap());
        assert!(*least >= second && *least < second.mul_f64(1.05), "{least:?}");
        assert!(*most < second.mul_f64(2.2) && *most > second.mul_f64(2.1), "{most:?}");
        assert_eq!(entropy.jitter(second, 0.0), second);
    }
}
