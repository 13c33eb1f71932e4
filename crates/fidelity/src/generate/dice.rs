//! Pseudo-random choices from a seed.

use fastrand::Rng;

/// Makes pseudo-random choices; the same seed gives the same choices.
#[derive(Clone, Debug)]
pub(crate) struct Dice(Rng);

impl Dice {
    /// Choices from this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// True with a probability of `chance` per cent.
    pub(crate) fn percent(&mut self, chance: u32) -> bool {
        self.0.u32(..100) < chance
    }

    /// A number below `end`, which must not be 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    /// One element of a slice, which must not be empty.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// One element, with a probability in proportion to its weight.
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
