//! A seeded order: the same seed gives the same one on every machine.

/// Shuffles in place (Fisher-Yates over SplitMix64); seed 0 keeps the order.
pub fn shuffle<T>(items: &mut [T], seed: u64) {
    if seed == 0 {
        return;
    }
    let mut state = seed;
    for end in (1..items.len()).rev() {
        let bound = u64::try_from(end).unwrap_or(u64::MAX) + 1;
        let other = usize::try_from(next(&mut state) % bound).unwrap_or_default();
        items.swap(end, other);
    }
}

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
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
