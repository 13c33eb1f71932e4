//! Choices of a seed.

use fastrand::Rng;

/// Makes choices; the same seed makes the same ones.
#[derive(Clone, Debug)]
pub(crate) struct Dice(Rng);

impl Dice {
    /// The dice of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// Whether something that happens so often of a hundred times happens.
    pub(crate) fn percent(&mut self, chance: u32) -> bool {
        self.0.u32(..100) < chance
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    /// One of several, of which there is at least one.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// One of several, the heavier the likelier.
    pub(crate) fn weigh<T: Copy>(&mut self, of: &[(u32, T)]) -> T {
        let total: u32 = of.iter().map(|(weight, _)| weight).sum();
        let mut at = self.0.u32(..total);
        for (weight, one) in of {
            if at < *weight {
                return *one;
            }
            at -= weight;
        }
        of[0].1
    }
}
