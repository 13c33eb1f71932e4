//! Names and uids that the server makes up; the same seed gives the same ones.

use parking_lot::Mutex;

/// Letters of generated names: no vowels, so that no word appears.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// How long a name before its random part may be: 63 without the five letters.
const LONGEST_PREFIX: usize = 58;

/// A source of names and uids.
#[derive(Debug)]
pub(crate) struct Ids(Mutex<u64>);

impl Ids {
    /// The source of this seed.
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Mutex::new(seed))
    }

    /// A uid: a version 4 UUID in form.
    pub(crate) fn uid(&self) -> String {
        let (high, low) = (self.next(), self.next());
        let (time, middle, version) = (high >> 32, (high >> 16) & 0xffff, high & 0x0fff | 0x4000);
        let (variant, node) = ((low >> 48) & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
        format!("{time:08x}-{middle:04x}-{version:04x}-{variant:04x}-{node:012x}")
    }

    /// A name that begins with `prefix` and ends in five random letters.
    pub(crate) fn name(&self, prefix: &str) -> String {
        let mut end = prefix.len().min(LONGEST_PREFIX);
        while !prefix.is_char_boundary(end) {
            end -= 1;
        }
        let mut name = prefix[..end].to_owned();
        let mut random = self.next();
        for _ in 0..5 {
            let letters = ALPHABET.len() as u64;
            let at = usize::try_from(random % letters).expect("a remainder of 27 fits");
            name.push(char::from(ALPHABET[at]));
            random /= letters;
        }
        name
    }

    /// `SplitMix64`: every seed walks through all numbers once.
    fn next(&self) -> u64 {
        let mut state = self.0.lock();
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = *state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
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
