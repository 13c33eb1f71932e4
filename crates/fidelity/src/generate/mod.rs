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
const LENGTH: (usize, usize) = (14, 32);

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

/// What is done in each sequence, to an object of its main kind as a whole: so each kind sees all of it soon.
const EACH: &[Deed] = &[
    Deed::Create,
    Deed::Update,
    Deed::Json,
    Deed::Merge,
    Deed::Strategic,
    Deed::Apply,
    Deed::Get,
    Deed::List,
    Deed::Watch,
    Deed::Delete,
    Deed::DeleteCollection,
];

/// How often each is done beside that.
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
    /// Whether it is the object itself that is asked for, and in a form that is known.
    whole: bool,
    /// Whether the server was let make up a name: of two, nobody knows the order.
    made_up: &'a mut bool,
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
    let made_up = &mut false;
    for name in ["a", "b"] {
        if dice.percent(85) {
            requests.push(Maker { dice: &mut dice, kind: main, name, whole: true, made_up }.plain());
        }
    }
    for deed in deeds(&mut dice, length - requests.len()) {
        let kind = if deed.is_some() || dice.percent(80) { main } else { other };
        let name = dice.weigh(&[(5, "a"), (3, "b"), (1, "c"), (1, "absent")]);
        let whole = deed.is_some();
        requests.push(Maker { dice: &mut dice, kind, name, whole, made_up }.request(deed));
    }
    if main.resource == "pods" {
        requests.extend(Maker { dice: &mut dice, kind: main, name: "c", whole: true, made_up }.protected());
    }
    Sequence { name: format!("seed {seed}, sequence {number}: {}", main.name()), requests }
}

/// So many deeds in any order: those that each sequence has, and as many that are left to chance.
fn deeds(dice: &mut Dice, count: usize) -> Vec<Option<Deed>> {
    let mut deeds: Vec<Option<Deed>> = EACH.iter().copied().map(Some).collect();
    deeds.resize(count.max(EACH.len()), None);
    for last in (1..deeds.len()).rev() {
        deeds.swap(last, dice.below(last + 1));
    }
    deeds
}

impl Maker<'_> {
    /// A request for a deed, or for any.
    fn request(&mut self, deed: Option<Deed>) -> Request {
        let any = self.dice.weigh(DEEDS);
        match deed.unwrap_or(any) {
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
        if self.whole {
            return "";
        }
        let known = &self.kind.subresources;
        if known.is_empty() || !self.dice.percent(22) {
            return if self.dice.percent(1) { "status" } else { "" };
        }
        if self.dice.pick(known) == "scale" { "scale" } else { "status" }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::exercise::Exercise;
    use crate::kinds;
    use crate::request::Body;
    use crate::tally::ASKED;

    #[test]
    fn the_same_seed_makes_the_same_requests_and_another_others() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let of = |seed| (0..20).map(|number| sequence(seed, number, &kinds).requests).collect::<Vec<_>>();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn a_sequence_lets_the_server_make_up_one_name_at_most() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        let is_nameless = |request: &Request| match &request.body {
            Some(Body::Json(object)) => {
                request.method == "POST"
                    && object["metadata"]["generateName"].is_string()
                    && object["metadata"]["name"].as_str().unwrap_or_default().is_empty()
            }
            _ => false,
        };
        let counts = (0..400).map(|number| {
            sequence(5, number, &kinds).requests.iter().filter(|request| is_nameless(request)).count()
        });
        assert_eq!(counts.max(), Some(1));
    }

    #[test]
    fn each_sequence_does_everything_to_its_kind() {
        let kinds: Vec<&Kind> = kinds::all().iter().collect();
        for number in 0..kinds.len() as u64 {
            let made = sequence(3, number, &kinds);
            let name = kinds[usize::try_from(number).unwrap()].name();
            let asked: BTreeSet<String> = made
                .requests
                .iter()
                .map(Exercise::of)
                .filter(|asked| asked.resource == name)
                .map(|asked| asked.words())
                .collect();
            let missing: Vec<&&str> = ASKED.iter().filter(|wanted| !asked.contains(**wanted)).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", made.name);
        }
    }
}
