//! How many Shoots each Seed has: an index that follows events.

use std::collections::BTreeMap;

/// How many Shoots each Seed has. A Shoot that moves counts on both Seeds.
///
/// The index also contains Shoots that this process has assigned and that the cache does not show yet, so that several
/// decisions at once do not exceed a Seed's capacity.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// Seeds by namespace and name of the Shoot.
    shoots: BTreeMap<(String, String), Placement>,
    counts: BTreeMap<String, usize>,
}

/// The Seeds of one Shoot; empty texts name none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Placement {
    /// `spec.seedName`.
    spec: String,
    /// `status.seedName`.
    status: String,
    /// The Seed that this process has assigned; counts until `spec` is set.
    assigned: String,
}

impl Placement {
    /// The Seeds on which the Shoot counts.
    fn seeds(&self) -> impl Iterator<Item = &str> {
        let spec = if self.spec.is_empty() { &self.assigned } else { &self.spec };
        let status = Some(&self.status).filter(|status| *status != spec);
        std::iter::once(spec).chain(status).map(String::as_str).filter(|seed| !seed.is_empty())
    }
}

impl Usage {
    /// The number of Shoots of a Seed. SCH-USG-001 to -003.
    #[must_use]
    pub fn of(&self, seed: &str) -> usize {
        self.counts.get(seed).copied().unwrap_or_default()
    }

    /// A Shoot was read, with `spec.seedName` and `status.seedName`.
    pub fn observe(&mut self, shoot: (&str, &str), spec: Option<&str>, status: Option<&str>) {
        let (spec, status) = (spec.unwrap_or_default(), status.unwrap_or_default());
        self.change(shoot, |placement| {
            placement.spec = spec.to_owned();
            placement.status = status.to_owned();
            if !spec.is_empty() {
                placement.assigned.clear();
            }
        });
    }

    /// A Shoot is gone.
    pub fn forget(&mut self, shoot: (&str, &str)) {
        self.change(shoot, |placement| *placement = Placement::default());
    }

    /// This process assigns a Shoot to a Seed.
    pub fn assign(&mut self, shoot: (&str, &str), seed: &str) {
        self.change(shoot, |placement| seed.clone_into(&mut placement.assigned));
    }

    /// The Shoot could not be assigned.
    pub fn unassign(&mut self, shoot: (&str, &str)) {
        self.change(shoot, |placement| placement.assigned.clear());
    }

    fn change(&mut self, (namespace, name): (&str, &str), change: impl FnOnce(&mut Placement)) {
        let key = (namespace.to_owned(), name.to_owned());
        let placement = self.shoots.entry(key.clone()).or_default();
        for seed in placement.seeds() {
            if let Some(count) = self.counts.get_mut(seed) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(seed);
                }
            }
        }
        change(placement);
        for seed in placement.seeds() {
            *self.counts.entry(seed.to_owned()).or_default() += 1;
        }
        if *placement == Placement::default() {
            self.shoots.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: (&str, &str) = ("garden-dev", "app");

    fn counts(usage: &Usage) -> Vec<(&str, usize)> {
        usage.counts.iter().map(|(seed, count)| (seed.as_str(), *count)).collect()
    }

    #[test]
    fn a_shoot_counts_on_the_seeds_of_spec_and_status_once_each() {
        let table: [(Option<&str>, Option<&str>, &[(&str, usize)]); 7] = [
            (None, None, &[]),
            (Some(""), Some(""), &[]),
            (Some("a"), None, &[("a", 1)]),
            (Some("a"), Some("a"), &[("a", 1)]),
            (Some("a"), Some("b"), &[("a", 1), ("b", 1)]),
            (None, Some("b"), &[("b", 1)]),
            (Some("a"), Some(""), &[("a", 1)]),
        ];
        for (spec, status, want) in table {
            let mut usage = Usage::default();
            usage.observe(APP, spec, status);
            assert_eq!(counts(&usage), want, "{spec:?} {status:?}");
            usage.forget(APP);
            assert_eq!((counts(&usage), usage.shoots.len()), (Vec::new(), 0), "{spec:?} {status:?}");
        }
    }

    #[test]
    fn it_follows_shoots_that_move_and_go() {
        let mut usage = Usage::default();
        usage.observe(APP, Some("a"), None);
        usage.observe(("garden-dev", "other"), Some("a"), Some("a"));
        assert_eq!((usage.of("a"), usage.of("b")), (2, 0));
        usage.observe(APP, Some("b"), Some("a"));
        assert_eq!((usage.of("a"), usage.of("b")), (2, 1));
        usage.observe(APP, Some("b"), Some("b"));
        usage.forget(("garden-dev", "other"));
        usage.forget(("garden-dev", "unknown"));
        assert_eq!((usage.of("a"), usage.of("b")), (0, 1));
    }

    #[test]
    fn an_assignment_counts_until_the_cache_shows_a_seed_or_it_is_taken_back() {
        let mut usage = Usage::default();
        usage.assign(APP, "a");
        assert_eq!(counts(&usage), [("a", 1)]);
        usage.observe(APP, None, None);
        assert_eq!(counts(&usage), [("a", 1)], "the cache lags");
        usage.observe(APP, Some("b"), None);
        assert_eq!(counts(&usage), [("b", 1)], "somebody else was faster");
        usage.unassign(APP);
        assert_eq!(counts(&usage), [("b", 1)]);
        usage.observe(APP, None, None);
        usage.assign(APP, "a");
        usage.unassign(APP);
        assert_eq!(counts(&usage), []);
    }
}
