//! The single assertions of an expectation, each with its path: a proof falsifies each of them.

use serde_json::Value;

use super::compare::{element, key_step, present};
use super::notation::open_value;
use super::{Expect, Operator, Path, Rules, Step};

/// One assertion about one value.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The path of the value.
    pub path: Path,
    /// A value, an operator, a list as a whole (elements of an ordered list are separate assertions), or an
    /// empty map or keyed list (the value is present).
    pub expect: Expect,
    /// Types and list keys of the value.
    pub rules: Rules,
    /// The key, if the value is an element of a keyed list.
    pub key: Vec<(String, Value)>,
}

/// The assertions of an expectation, in the order of its tree. Strings in a notation are parsed as the answer
/// has them; `$any` asserts nothing.
#[must_use]
pub fn assertions(expect: &Expect, answer: Option<&Value>, rules: &Rules) -> Vec<Assertion> {
    let mut assertions = Vec::new();
    collect(&mut assertions, &Path::default(), expect, present(answer), rules, &[]);
    assertions
}

fn collect(
    assertions: &mut Vec<Assertion>,
    path: &Path,
    expect: &Expect,
    answer: Option<&Value>,
    rules: &Rules,
    key: &[(String, Value)],
) {
    let mut leaf = |expect: &Expect| {
        assertions.push(Assertion {
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
                collect(assertions, &below, expect, answer, &rules.field(name), &[]);
            }
        }
        Expect::Keyed { items, .. } if items.is_empty() => leaf(expect),
        Expect::Keyed { keys, items } => {
            for item in items {
                let below = step(path, key_step(&item.key));
                let answer = answer.and_then(|list| element(Some(list), keys, &item.key, rules));
                collect(assertions, &below, &item.expect, answer, &rules.item(), &item.key);
            }
        }
        Expect::List { items, ordered } => {
            leaf(expect);
            if *ordered {
                for (index, expect) in items.iter().enumerate() {
                    let answer = answer.and_then(|list| present(list.get(index)));
                    collect(assertions, &step(path, Step::Index(index)), expect, answer, &rules.item(), &[]);
                }
            }
        }
        Expect::Operator(Operator::Opened(notation, content)) => {
            let opened = answer.and_then(|answer| open_value(*notation, answer));
            let rules = opened.as_ref().map_or_else(Rules::unknown, Rules::opened);
            collect(assertions, &step(path, Step::Opened(*notation)), content, opened.as_ref(), &rules, &[]);
        }
        Expect::Operator(Operator::AbsentOr(wanted)) if answer.is_some() => {
            let mut inner = Vec::new();
            collect(&mut inner, path, wanted, answer, rules, key);
            assertions.extend(inner.into_iter().map(|assertion| optional(assertion, path)));
        }
        Expect::Value(_) | Expect::Operator(_) => leaf(expect),
    }
}

/// An assertion inside `$absentOr` at `place`: if it is about the place itself, or about the whole content of a
/// string there, an absent value satisfies it.
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
