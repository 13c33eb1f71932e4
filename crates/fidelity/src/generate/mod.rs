//! Sequences of requests from a seed: a few objects of a kind or two, and everything that may be done with them.

mod dice;
mod objects;
mod options;
mod patches;
mod reads;
mod writes;

use dice::Dice;

use crate::kinds::Kind;
use crate::request::{Request, Sequence};

/// The fewest and the most requests of a sequence.
const LENGTH: (usize, usize) = (8, 32);

/// What is done.
#[derive(Clone, Copy)]
enum Deed {
    Create,
    Update,
    Json,
    Merge,
    Strategic,
    Apply,
    Get,
    List,
    Watch,
    Delete,
    DeleteCollection,
    Odd,
}

/// How often each is done.
const DEEDS: &[(u32, Deed)] = &[
    (18, Deed::Create),
    (13, Deed::Update),
    (8, Deed::Json),
    (9, Deed::Merge),
    (8, Deed::Strategic),
    (11, Deed::Apply),
    (5, Deed::Get),
    (8, Deed::List),
    (5, Deed::Watch),
    (9, Deed::Delete),
    (4, Deed::DeleteCollection),
    (4, Deed::Odd),
];

/// Where a request is made: the kind, the name of the object, and the choices.
struct Maker<'a> {
    dice: &'a mut Dice,
    kind: &'a Kind,
    name: &'static str,
}

/// The sequence of this number of a seed; kinds take turns.
///
/// # Panics
/// Without kinds.
#[must_use]
pub fn sequence(seed: u64, number: u64, kinds: &[&Kind]) -> Sequence {
    let mut dice = Dice::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number));
    let turn = usize::try_from(number % kinds.len() as u64).expect("less than the number of kinds");
    let (main, other) = (kinds[turn], *dice.pick(kinds));
    let length = LENGTH.0 + dice.below(LENGTH.1 - LENGTH.0 + 1);
    let mut requests = Vec::with_capacity(length);
    for name in ["a", "b"] {
        if dice.percent(85) {
            requests.push(Maker { dice: &mut dice, kind: main, name }.plain());
        }
    }
    while requests.len() < length {
        let kind = if dice.percent(85) { main } else { other };
        let name = dice.weigh(&[(5, "a"), (3, "b"), (1, "c"), (1, "absent")]);
        requests.push(Maker { dice: &mut dice, kind, name }.request());
    }
    if main.resource == "pods" && dice.percent(50) {
        requests.extend(Maker { dice: &mut dice, kind: main, name: "c" }.protected());
    }
    Sequence { name: format!("seed {seed}, sequence {number}: {}", main.name()), requests }
}

impl Maker<'_> {
    fn request(&mut self) -> Request {
        match self.dice.weigh(DEEDS) {
            Deed::Create => self.create(),
            Deed::Update => self.update(),
            Deed::Json => self.json_patch(),
            Deed::Merge => self.merge_patch(),
            Deed::Strategic => self.strategic_patch(),
            Deed::Apply => self.apply(),
            Deed::Get => self.get(),
            Deed::List => self.list(),
            Deed::Watch => self.watch(),
            Deed::Delete => self.delete(),
            Deed::DeleteCollection => self.delete_collection(),
            Deed::Odd => self.odd(),
        }
    }

    /// The path of the object, or of one of its subresources.
    fn path(&self, subresource: &str) -> String {
        let slash = if subresource.is_empty() { "" } else { "/" };
        format!("{}/{}{slash}{subresource}", self.kind.collection(), self.kind.named(self.name))
    }

    /// A subresource of the kind, sometimes; empty for the object itself.
    fn subresource(&mut self) -> &'static str {
        let known = &self.kind.subresources;
        if known.is_empty() || !self.dice.percent(22) {
            return if self.dice.percent(1) { "status" } else { "" };
        }
        if self.dice.pick(known) == "scale" { "scale" } else { "status" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds;

    #[test]
    fn the_same_seed_makes_the_same_requests_and_another_others() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let of = |seed| (0..20).map(|number| sequence(seed, number, &kinds).requests).collect::<Vec<_>>();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
