//! Generated names and UIDs; the same seed gives the same sequence.

use fastrand::Rng;
use parking_lot::Mutex;
use uuid::Builder;

/// Characters of generated names: no vowels, so that no word appears.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The maximum length of a `generateName` prefix: 63 without the five random characters.
const LONGEST_PREFIX: usize = 58;

/// A generator of names and UIDs.
#[derive(Debug)]
pub(crate) struct Ids(Mutex<Rng>);

impl Ids {
    /// A generator with this seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Mutex::new(Rng::with_seed(seed)))
    }

    /// A generator that continues with the same sequence.
    pub(crate) fn fork(&self) -> Self {
        Self(Mutex::new(self.0.lock().clone()))
    }

    /// A UID in the form of a version 4 UUID.
    pub(crate) fn uid(&self) -> String {
        let mut bytes = [0; 16];
        self.0.lock().fill(&mut bytes);
        Builder::from_random_bytes(bytes).into_uuid().to_string()
    }

    /// A number below `end`; 0 if there is none.
    pub(crate) fn number_below(&self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.0.lock().u64(..end) }
    }

    /// A name with this prefix and five random characters.
    pub(crate) fn name(&self, prefix: &str) -> String {
        let mut end = prefix.len().min(LONGEST_PREFIX);
        while !prefix.is_char_boundary(end) {
            end -= 1;
        }
        let mut name = prefix[..end].to_owned();
        let mut random = self.0.lock();
        name.extend((0..5).map(|_| char::from(*random.choice(ALPHABET).expect("there are letters"))));
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_prefix_and_fit_a_label() {
        let ids = Ids::seeded(1);
        let name = ids.name("web-");
        assert_eq!((name.len(), &name[..4]), (9, "web-"));
        assert_eq!(ids.name(&"x".repeat(70)).len(), 63);
    }

    #[test]
    fn uids_differ_and_have_the_form_of_version_4() {
        let ids = Ids::seeded(1);
        let (a, b) = (ids.uid(), ids.uid());
        assert_ne!(a, b);
        assert_eq!((a.len(), a.as_bytes()[14]), (36, b'4'));
        assert!(matches!(a.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{a}");
    }
}
