//! Whether an answer keeps what is expected, and where it does not.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use super::scalar::{bare, between};
use super::{
    Expect, KeyedItem, Mismatch, Notation, Operator, Path, Rules, Step, changes, equal, open, words,
};

/// The assertions that an answer does not keep; empty: all hold. `input` is what the answer was made from.
#[must_use]
pub fn compare(
    expect: &Expect,
    input: Option<&Value>,
    answer: Option<&Value>,
    rules: &Rules,
) -> Vec<Mismatch> {
    let mut walk = Walk { path: Path::default(), found: Vec::new() };
    walk.compare(expect, present(input), present(answer), rules);
    walk.found
}

/// Whether an answer keeps what is expected.
#[must_use]
pub fn holds(expect: &Expect, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) -> bool {
    compare(expect, input, answer, rules).is_empty()
}

/// Null is absence.
pub(super) fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

/// The whole string matches.
pub(super) fn matches(regex: &str, text: &str) -> bool {
    Regex::new(&format!("^(?s:{regex})$")).is_ok_and(|regex| regex.is_match(text))
}

struct Walk {
    path: Path,
    found: Vec<Mismatch>,
}

impl Walk {
    fn compare(&mut self, expect: &Expect, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) {
        match expect {
            Expect::Value(wanted) => {
                let kept = answer.is_some_and(|got| equal(wanted, got, rules));
                self.check(kept, expect, answer);
            }
            Expect::Map(fields) => match answer.map(|got| (got, got.as_object())) {
                Some((_, Some(_))) => self.map(fields, input, answer, rules),
                // Where only absences are wanted, an absent map has none of them.
                None if !fields.is_empty() => self.map(fields, input, None, rules),
                _ => self.check(false, expect, answer),
            },
            Expect::Keyed { keys, items } => match answer {
                Some(Value::Array(_)) | None => self.keyed(keys, items, input, answer, rules),
                Some(_) => self.check(false, expect, answer),
            },
            Expect::List { items, ordered } => match answer {
                Some(Value::Array(got)) => self.list(expect, items, *ordered, input, got, rules),
                _ => self.check(false, expect, answer),
            },
            Expect::Operator(operator) => self.operator(expect, operator, input, answer, rules),
        }
    }

    fn check(&mut self, kept: bool, expect: &Expect, got: Option<&Value>) {
        if !kept {
            self.found.push(Mismatch { path: self.path.clone(), want: words(expect), got: got.cloned() });
        }
    }

    fn within(&mut self, step: Step, compare: impl FnOnce(&mut Self)) {
        self.path.0.push(step);
        compare(self);
        self.path.0.pop();
    }

    fn map(
        &mut self,
        fields: &BTreeMap<String, Expect>,
        input: Option<&Value>,
        answer: Option<&Value>,
        rules: &Rules,
    ) {
        for (name, expect) in fields {
            let of = |object: Option<&'_ Value>| present(object?.get(name)).cloned();
            let (input, answer) = (of(input), of(answer));
            self.within(Step::Field(name.clone()), |walk| {
                walk.compare(expect, input.as_ref(), answer.as_ref(), &rules.field(name));
            });
        }
    }

    fn keyed(
        &mut self,
        keys: &[String],
        items: &[KeyedItem],
        input: Option<&Value>,
        answer: Option<&Value>,
        rules: &Rules,
    ) {
        for item in items {
            let input = element(input, keys, item, rules);
            let answer = element(answer, keys, item, rules);
            let step = key_step(&item.key);
            self.within(step, |walk| walk.compare(&item.expect, input, answer, &rules.item()));
        }
    }

    fn list(
        &mut self,
        whole: &Expect,
        items: &[Expect],
        ordered: bool,
        input: Option<&Value>,
        got: &[Value],
        rules: &Rules,
    ) {
        let array = || Value::Array(got.to_vec());
        if !ordered {
            return self.check(pairs_up(items, got, &rules.item(), true), whole, Some(&array()));
        }
        if items.len() != got.len() {
            return self.check(false, whole, Some(&array()));
        }
        for (index, (expect, got)) in items.iter().zip(got).enumerate() {
            let input = input.and_then(|input| present(input.get(index)));
            self.within(Step::Index(index), |walk| {
                walk.compare(expect, input, present(Some(got)), &rules.item())
            });
        }
    }

    fn operator(
        &mut self,
        expect: &Expect,
        operator: &Operator,
        input: Option<&Value>,
        answer: Option<&Value>,
        rules: &Rules,
    ) {
        if let Operator::Opened(notation, content) = operator {
            return self.opened(expect, *notation, content, input, answer);
        }
        if let (Operator::Unchanged, Some(_), Some(_)) = (operator, input, answer) {
            // One line per change says more than two objects.
            for change in changes(input, answer, rules) {
                let mut path = self.path.clone();
                path.0.extend(change.path.0);
                let want = change.before.as_ref().map_or_else(|| "absent".to_owned(), bare);
                self.found.push(Mismatch { path, want, got: change.after });
            }
            return;
        }
        self.check(keeps(operator, input, answer, rules), expect, answer);
    }

    fn opened(
        &mut self,
        whole: &Expect,
        notation: Notation,
        content: &Expect,
        input: Option<&Value>,
        answer: Option<&Value>,
    ) {
        let opened = |value: Option<&Value>| open(notation, value?.as_str()?);
        let (input, Some(answer)) = (opened(input), opened(answer)) else {
            return self.check(false, whole, answer);
        };
        let rules = Rules::opened(&answer);
        self.within(Step::Opened(notation), |walk| {
            walk.compare(content, input.as_ref(), Some(&answer), &rules)
        });
    }
}

fn keeps(operator: &Operator, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) -> bool {
    let items = || answer.and_then(Value::as_array);
    match operator {
        Operator::Any => true,
        Operator::Absent => answer.is_none(),
        Operator::Present => answer.is_some(),
        Operator::Unchanged => changes(input, answer, rules).is_empty(),
        Operator::Changed => !changes(input, answer, rules).is_empty(),
        Operator::Matches { regex, .. } => {
            answer.and_then(Value::as_str).is_some_and(|text| matches(regex, text))
        }
        Operator::Contains(wanted) => match answer {
            Some(Value::Array(got)) => pairs_up(wanted, got, &rules.item(), false),
            Some(Value::String(text)) => wanted.iter().all(|part| match part {
                Expect::Value(part) => text.contains(&bare(part)),
                _ => false,
            }),
            _ => false,
        },
        Operator::Exactly(wanted) => items().is_some_and(|got| pairs_up(wanted, got, &rules.item(), true)),
        Operator::OneOf(values) => {
            answer.is_some_and(|got| values.iter().any(|value| equal(value, got, rules)))
        }
        // No list is a list of none.
        Operator::Count(number) => match answer {
            Some(Value::Array(got)) => got.len() == *number,
            Some(Value::Object(got)) => got.len() == *number,
            None => *number == 0,
            Some(_) => false,
        },
        Operator::Each(expect) => {
            items().is_some_and(|got| got.iter().all(|item| holds(expect, None, Some(item), &rules.item())))
        }
        Operator::Between(low, high) => answer.is_some_and(|got| between(got, low, high) == Some(true)),
        Operator::Cel { .. } | Operator::Opened(..) => false,
    }
}

/// Whether each expectation can be given an element of its own (and, `all`, no element is left): a matching, so that
/// a lenient expectation does not take the element that a strict one needs.
pub(super) fn pairs_up(wanted: &[Expect], got: &[Value], rules: &Rules, all: bool) -> bool {
    if wanted.len() > got.len() || (all && wanted.len() != got.len()) {
        return false;
    }
    let fits: Vec<Vec<usize>> = wanted
        .iter()
        .map(|expect| (0..got.len()).filter(|at| holds(expect, None, Some(&got[*at]), rules)).collect())
        .collect();
    let mut taken: Vec<Option<usize>> = vec![None; got.len()];
    (0..wanted.len()).all(|expect| assign(expect, &fits, &mut taken, &mut vec![false; got.len()]))
}

fn assign(expect: usize, fits: &[Vec<usize>], taken: &mut Vec<Option<usize>>, tried: &mut Vec<bool>) -> bool {
    for &at in &fits[expect] {
        if std::mem::replace(&mut tried[at], true) {
            continue;
        }
        if taken[at].is_none_or(|other| assign(other, fits, taken, tried)) {
            taken[at] = Some(expect);
            return true;
        }
    }
    false
}

/// The element of a list that an expected one is about.
fn element<'a>(
    list: Option<&'a Value>,
    keys: &[String],
    item: &KeyedItem,
    rules: &Rules,
) -> Option<&'a Value> {
    let same = |key: &[(String, Value)]| key.iter().zip(&item.key).all(|((_, a), (_, b))| bare(a) == bare(b));
    list?.as_array()?.iter().find(|element| rules.key_of(keys, element).is_some_and(|key| same(&key)))
}

/// The step to an element with this key.
pub(crate) fn key_step(key: &[(String, Value)]) -> Step {
    Step::Key(key.iter().map(|(name, value)| (name.clone(), bare(value))).collect())
}
