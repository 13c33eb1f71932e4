//! A seeded order: the same seed gives the same order on every machine.

/// Shuffles in place; seed 0 keeps the order.
pub fn shuffle<T>(items: &mut [T], seed: u64) {
    if seed != 0 {
        fastrand::Rng::with_seed(seed).shuffle(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_order_of_all_items() {
        let shuffled = |seed: u64| {
            let mut items: Vec<u32> = (0..20).collect();
            shuffle(&mut items, seed);
            items
        };
        assert_eq!(shuffled(0), (0..20).collect::<Vec<_>>());
        assert_eq!(shuffled(4711), shuffled(4711));
        assert_ne!(shuffled(4711), shuffled(4712));
        let mut sorted = shuffled(4711);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
