//! The choice of the Seed with the fewest Shoots.

use api::garden::Seed;

use super::{Excluded, Filter, Usage, name};

/// The Seed with the fewest Shoots; of several, the first. SCH-LST-001, SCH-LST-002.
pub(super) fn choose<'a>(seeds: &[&'a Seed], usage: &Usage, excluded: &mut Excluded<'a>) -> &'a Seed {
    let count = |seed: &Seed| usage.of(name(seed));
    // `min_by_key` returns the first of equals. The strategy passes no empty list on.
    let best = seeds.iter().copied().min_by_key(|seed| count(seed)).expect("there are candidates");
    let fewest = count(best);
    for seed in seeds.iter().copied().filter(|seed| name(seed) != name(best)) {
        let number = count(seed);
        let reason = if number == fewest {
            format!("it has {number} shoots, as has {}, which comes first", name(best))
        } else {
            format!("it has {number} shoots, {} has {fewest}", name(best))
        };
        excluded.add(seed, Filter::LeastUsed, reason);
    }
    best
}
