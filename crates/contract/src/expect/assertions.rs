//! The single assertions of an expectation, each with its place: what a proof has to damage.

use serde_json::Value;

use super::compare::{element, key_step, present};
use super::opened::inside;
use super::{Expect, Operator, Path, Rules, Step};

/// One thing that an expectation asserts at one place.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// Where.
    pub path: Path,
    /// What: a value, an operator, a list as a whole (the elements of an ordered one are assertions of their own), or an
    /// empty map or keyed list (there is one).
    pub expect: Expect,
    /// What is known of the place.
    pub rules: Rules,
    /// The key, where the place is an element of a list by key.
    pub key: Vec<(String, Value)>,
}

/// The assertions of an expectation, in the order of its tree. Strings that hold a notation are opened as the answer
/// holds them; `$any` asserts nothing.
#[must_use]
pub fn assertions(expect: &Expect, answer: Option<&Value>, rules: &Rules) -> Vec<Assertion> {
    let mut found = Vec::new();
    collect(&mut found, &Path::default(), expect, present(answer), rules, &[]);
    found
}

fn collect(
    found: &mut Vec<Assertion>,
    path: &Path,
    expect: &Expect,
    answer: Option<&Value>,
    rules: &Rules,
    key: &[(String, Value)],
) {
    let mut leaf = |expect: &Expect| {
        found.push(Assertion {
            path: path.clone(),
            expect: expect.clone(),
            rules: rules.clone(),
            key: key.to_vec(),
        });
    };
    match expect {
        Expect::Operator(Operator::Any) => {}
        Expect::Map(fields) if fields.is_empty() => leaf(expect),
        Expect::Map(fields) => {
            for (name, expect) in fields {
                let below = step(path, Step::Field(name.clone()));
                let answer = answer.and_then(|answer| present(answer.get(name)));
                collect(found, &below, expect, answer, &rules.field(name), &[]);
            }
        }
        Expect::Keyed { items, .. } if items.is_empty() => leaf(expect),
        Expect::Keyed { keys, items } => {
            for item in items {
                let below = step(path, key_step(&item.key));
                let answer = answer.and_then(|list| element(Some(list), keys, &item.key, rules));
                collect(found, &below, &item.expect, answer, &rules.item(), &item.key);
            }
        }
        Expect::List { items, ordered } => {
            leaf(expect);
            if *ordered {
                for (index, expect) in items.iter().enumerate() {
                    let answer = answer.and_then(|list| present(list.get(index)));
                    collect(found, &step(path, Step::Index(index)), expect, answer, &rules.item(), &[]);
                }
            }
        }
        Expect::Operator(Operator::Opened(notation, content)) => {
            let opened = answer.and_then(|answer| inside(*notation, answer));
            let rules = opened.as_ref().map_or_else(Rules::unknown, Rules::opened);
            collect(found, &step(path, Step::Opened(*notation)), content, opened.as_ref(), &rules, &[]);
        }
        Expect::Operator(Operator::AbsentOr(wanted)) if answer.is_some() => {
            let mut inner = Vec::new();
            collect(&mut inner, path, wanted, answer, rules, key);
            found.extend(inner.into_iter().map(|assertion| optional(assertion, path)));
        }
        Expect::Value(_) | Expect::Operator(_) => leaf(expect),
    }
}

/// An assertion about what may be absent at a place: where it is about the place itself, or all that a string there holds,
/// absence keeps it.
fn optional(assertion: Assertion, place: &Path) -> Assertion {
    let whole = assertion.path.0[place.0.len()..].iter().all(|step| matches!(step, Step::Opened(_)));
    let Assertion { path, expect, rules, key } = assertion;
    let wanted = if whole { Expect::Operator(Operator::AbsentOr(Box::new(expect))) } else { expect };
    Assertion { path, expect: wanted, rules, key }
}

fn step(path: &Path, step: Step) -> Path {
    let mut below = path.clone();
    below.0.push(step);
    below
}
