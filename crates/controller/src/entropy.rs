//! Randomness as an argument: jitter and ids from one seed, so that a test sees the same every time.

use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use parking_lot::Mutex;
use rustls::crypto::SecureRandom;
use rustls::crypto::aws_lc_rs::default_provider;
use uuid::{Builder, Uuid};

/// A source of random numbers. Cheap to clone; clones share one sequence.
#[derive(Clone, Debug)]
pub struct Entropy {
    random: Arc<Mutex<Rng>>,
    /// The constant value of each fraction, if the source is not random.
    always: Option<f64>,
    /// What secrets are made of; `None`: of the sequence.
    secure: Option<&'static dyn SecureRandom>,
}

/// The system has no random numbers for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to get random bytes of the system")]
pub struct SecretError;

impl Entropy {
    /// The sequence of a seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { random: Arc::new(Mutex::new(Rng::with_seed(seed))), always: None, secure: None }
    }

    /// A source whose fractions all have this value, from 0 to 1. 1 is the bound that random fractions never reach:
    /// tests use both bounds to check the range of a random time.
    #[must_use]
    pub fn always(fraction: f64) -> Self {
        Self { always: Some(fraction.clamp(0.0, 1.0)), ..Self::seeded(0) }
    }

    /// A sequence with an unpredictable seed.
    #[must_use]
    pub fn system() -> Self {
        let (high, low) = Uuid::new_v4().as_u64_pair();
        Self { secure: Some(default_provider().secure_random), ..Self::seeded(high ^ low) }
    }

    /// A number from 0 (included) to 1 (excluded).
    #[must_use]
    pub fn fraction(&self) -> f64 {
        self.always.unwrap_or_else(|| self.random.lock().f64())
    }

    /// `duration` plus up to `factor` times itself.
    #[must_use]
    pub fn jitter(&self, duration: Duration, factor: f64) -> Duration {
        duration.saturating_add(duration.mul_f64(self.fraction() * factor))
    }

    /// A secret: this many letters and digits, of the system's cryptographic generator unless a seed decides them.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn secret(&self, length: usize) -> Result<String, SecretError> {
        const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        // Bytes from the largest multiple of 62 on would favour the first characters.
        const BOUND: u8 = 248;
        let mut secret = String::with_capacity(length);
        while secret.len() < length {
            let mut bytes = [0; 64];
            match self.secure {
                Some(secure) => secure.fill(&mut bytes).map_err(|_failed| SecretError)?,
                None => self.random.lock().fill(&mut bytes),
            }
            let chosen =
                bytes.iter().filter(|byte| **byte < BOUND).map(|byte| usize::from(*byte) % ALPHABET.len());
            secret.extend(chosen.take(length - secret.len()).map(|at| char::from(ALPHABET[at])));
        }
        Ok(secret)
    }

    /// A random id, a UUID of version 4.
    #[must_use]
    pub fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        self.random.lock().fill(&mut bytes);
        Builder::from_random_bytes(bytes).into_uuid()
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
    fn a_secret_has_every_letter_and_digit_with_the_same_probability() {
        for entropy in [Entropy::seeded(1), Entropy::system()] {
            let secret = entropy.secret(62_000).unwrap();
            let count = |wanted: char| secret.chars().filter(|found| *found == wanted).count();
            assert_eq!(secret.len(), 62_000);
            for letter in ('0'..='9').chain('A'..='Z').chain('a'..='z') {
                assert!((750..1250).contains(&count(letter)), "{letter}: {}", count(letter));
            }
            assert_ne!(entropy.secret(32), entropy.secret(32));
        }
        assert_eq!(Entropy::seeded(7).secret(32), Entropy::seeded(7).secret(32));
        assert_ne!(Entropy::system().secret(32), Entropy::system().secret(32));
    }

    #[test]
    fn what_is_always_the_same_shows_both_ends_of_a_jitter() {
        let second = Duration::from_secs(1);
        let jitter = |fraction| Entropy::always(fraction).jitter(second, 0.5);
        assert_eq!([jitter(0.0), jitter(1.0)], [second, second.mul_f64(1.5)]);
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
