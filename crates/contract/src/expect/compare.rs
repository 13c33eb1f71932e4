//! Compares an answer with an expectation.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex::Regex;
use serde_json::{Map, Value};

use super::keys;
use super::notation::open_value;
use super::scalar::{bare, between};
use super::{
    Expect, KeyedItem, ListRule, Mismatch, Notation, Operator, Path, Rules, Step, changes, same, words,
};

/// The assertions that an answer does not satisfy; empty: all hold. `input` is the object of the request.
#[must_use]
pub fn compare(
    expect: &Expect,
    input: Option<&Value>,
    answer: Option<&Value>,
    rules: &Rules,
) -> Vec<Mismatch> {
    let mut comparison = Comparison { path: Path::default(), mismatches: Vec::new() };
    comparison.compare(expect, present(input), present(answer), rules);
    comparison.mismatches
}

/// Whether an answer satisfies an expectation.
#[must_use]
pub fn holds(expect: &Expect, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) -> bool {
    compare(expect, input, answer, rules).is_empty()
}

/// Treats null as absent.
pub(super) fn present(value: Option<&Value>) -> Option<&Value> {
    value.filter(|value| !value.is_null())
}

/// Whether the whole string matches; no string matches an invalid expression. Expressions are compiled once per process.
pub(super) fn matches(regex: &str, text: &str) -> bool {
    // Shared, not cloned: a clone of a Regex has its own caches, which the first match fills again.
    static COMPILED: LazyLock<Mutex<BTreeMap<String, Option<Arc<Regex>>>>> = LazyLock::new(Mutex::default);
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if !compiled.contains_key(regex) {
        let expression = Regex::new(&format!("^(?s:{regex})$")).ok();
        compiled.insert(regex.to_owned(), expression.map(Arc::new));
    }
    let regex = compiled.get(regex).and_then(Clone::clone);
    drop(compiled);
    regex.is_some_and(|regex| regex.is_match(text))
}

struct Comparison {
    path: Path,
    mismatches: Vec<Mismatch>,
}

impl Comparison {
    fn compare(&mut self, expect: &Expect, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) {
        match expect {
            Expect::Value(wanted) => self.check(same(Some(wanted), answer, rules), expect, answer),
            Expect::Map(fields) => match answer {
                Some(Value::Object(_)) => self.map(fields, input, answer, rules),
                // An absent map satisfies assertions that its fields are absent.
                None if !fields.is_empty() => self.map(fields, input, None, rules),
                _ => self.check(false, expect, answer),
            },
            Expect::Keyed { keys, items } => match answer {
                Some(Value::Array(_)) => self.keyed(keys, items, input, answer, rules),
                None if !items.is_empty() => self.keyed(keys, items, input, None, rules),
                _ => self.check(false, expect, answer),
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
            self.mismatches.push(Mismatch {
                path: self.path.clone(),
                want: words(expect),
                got: got.cloned(),
            });
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
            let input = present(input.and_then(|object| object.get(name)));
            let answer = present(answer.and_then(|object| object.get(name)));
            self.within(Step::Field(name.clone()), |comparison| {
                comparison.compare(expect, input, answer, &rules.field(name));
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
            let input = element(input, keys, &item.key, rules);
            let answer = element(answer, keys, &item.key, rules);
            self.within(key_step(&item.key), |comparison| match &item.expect {
                Expect::Operator(_) => comparison.compare(&item.expect, input, answer, &rules.item()),
                expect => match answer {
                    Some(_) => comparison.compare(expect, input, answer, &rules.item()),
                    None => comparison.check(false, expect, None),
                },
            });
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
            self.within(Step::Index(index), |comparison| {
                comparison.compare(expect, input, present(Some(got)), &rules.item());
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
        if let Operator::Each(each) = operator {
            return self.each(expect, each, input, answer, rules);
        }
        if let Operator::AbsentOr(wanted) = operator {
            if answer.is_some() {
                self.compare(wanted, input, answer, rules);
            }
            return;
        }
        if let (Operator::UnchangedBut(but), Some(_), Some(_)) = (operator, input, answer) {
            let (input, answer) = (without(input, but), without(answer, but));
            return self.operator(expect, &Operator::Unchanged, input.as_ref(), answer.as_ref(), rules);
        }
        if let (Operator::UnchangedLike(patterns), Some(_), Some(_)) = (operator, input, answer) {
            let (input, answer) = (keys::only(patterns, input), keys::only(patterns, answer));
            return self.like(expect, input.as_ref(), answer.as_ref(), rules);
        }
        if let (Operator::Unchanged, Some(_), Some(_)) = (operator, input, answer) {
            // One mismatch per change says more than two objects.
            for change in changes(input, answer, rules) {
                let mut path = self.path.clone();
                path.0.extend(change.path.0);
                let want = change.before.as_ref().map_or_else(|| "absent".to_owned(), bare);
                self.mismatches.push(Mismatch { path, want, got: change.after });
            }
            return;
        }
        self.check(keeps(operator, input, answer, rules), expect, answer);
    }

    /// Compares keys with the input: one mismatch per change, also if all keys were added or removed.
    fn like(&mut self, expect: &Expect, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) {
        let none = Value::Object(Map::new());
        let (input, answer) = (input.unwrap_or(&none), answer.unwrap_or(&none));
        self.operator(expect, &Operator::Unchanged, Some(input), Some(answer), rules);
    }

    fn opened(
        &mut self,
        whole: &Expect,
        notation: Notation,
        content: &Expect,
        input: Option<&Value>,
        answer: Option<&Value>,
    ) {
        let opened = |value: Option<&Value>| open_value(notation, value?);
        let (before, after) = (opened(input), opened(answer));
        if answer.is_some() && after.is_none() {
            return self.check(false, whole, answer);
        }
        let rules = after.as_ref().or(before.as_ref()).map_or_else(Rules::unknown, Rules::opened);
        self.within(Step::Opened(notation), |comparison| {
            comparison.compare(content, present(before.as_ref()), present(after.as_ref()), &rules);
        });
    }

    fn each(
        &mut self,
        whole: &Expect,
        each: &Expect,
        input: Option<&Value>,
        answer: Option<&Value>,
        rules: &Rules,
    ) {
        let Some(Value::Array(got)) = answer else { return self.check(false, whole, answer) };
        let keys = match rules.list() {
            ListRule::Keyed(keys) => keys,
            ListRule::Unordered | ListRule::Ordered => Vec::new(),
        };
        for (index, got) in got.iter().enumerate() {
            let key = rules.key_of(&keys, got).filter(|key| !key.is_empty());
            let (step, input) = match key {
                Some(key) => (key_step(&key), element(input, &keys, &key, rules)),
                None => (Step::Index(index), present(input.and_then(|input| input.get(index)))),
            };
            self.within(step, |comparison| {
                comparison.compare(each, input, present(Some(got)), &rules.item());
            });
        }
    }
}

fn keeps(operator: &Operator, input: Option<&Value>, answer: Option<&Value>, rules: &Rules) -> bool {
    let items = || answer.and_then(Value::as_array);
    match operator {
        Operator::Any => true,
        Operator::Absent => answer.is_none(),
        Operator::Present => answer.is_some(),
        Operator::Unchanged => changes(input, answer, rules).is_empty(),
        Operator::UnchangedBut(but) => {
            same(without(input, but).as_ref(), without(answer, but).as_ref(), rules)
        }
        Operator::UnchangedLike(patterns) => {
            same(keys::only(patterns, input).as_ref(), keys::only(patterns, answer).as_ref(), rules)
        }
        Operator::Changed => !changes(input, answer, rules).is_empty(),
        Operator::Matches { regex, .. } => {
            answer.and_then(Value::as_str).is_some_and(|text| matches(regex, text))
        }
        Operator::Contains(wanted) => match answer {
            Some(Value::Array(got)) => pairs_up(wanted, got, &rules.item(), false),
            Some(Value::String(text)) => wanted.iter().all(|part| match part {
                Expect::Value(part) => text.contains(&bare(part)),
                part => holds(part, None, answer, rules),
            }),
            _ => false,
        },
        Operator::Exactly(wanted) => items().is_some_and(|got| pairs_up(wanted, got, &rules.item(), true)),
        Operator::OneOf(values) => values.iter().any(|value| same(Some(value), answer, rules)),
        // An absent list has no elements.
        Operator::Count(number) => match answer {
            Some(Value::Array(got)) => got.len() == *number,
            Some(Value::Object(got)) => got.len() == *number,
            None => *number == 0,
            Some(_) => false,
        },
        Operator::Between(low, high) => answer.is_some_and(|got| between(got, low, high, rules)),
        Operator::Cel { expression, .. } => super::cel::holds(expression, answer),
        Operator::NotMatches { regex, .. } => match answer {
            Some(Value::String(text)) => !matches(regex, text),
            other => other.is_none(),
        },
        Operator::AnyKey(patterns) => keys::any(patterns, answer),
        Operator::NoKey(patterns) => !keys::any(patterns, answer),
        Operator::Filled => match answer {
            Some(Value::Array(got)) => !got.is_empty(),
            Some(Value::Object(got)) => !got.is_empty(),
            Some(Value::String(got)) => !got.is_empty(),
            _ => false,
        },
        // A parameter is replaced before the comparison; `Comparison` compares the others.
        Operator::Parameter { .. } | Operator::Each(_) | Operator::AbsentOr(_) | Operator::Opened(..) => {
            false
        }
    }
}

/// The part of a map whose keys match these patterns; `None` if there is no such key.
#[must_use]
pub fn only(value: Option<&Value>, patterns: &[String]) -> Option<Value> {
    keys::only(patterns, value)
}

/// A map without these keys; `None` if it has no others.
#[must_use]
pub fn without(value: Option<&Value>, keys: &[String]) -> Option<Value> {
    let Some(Value::Object(map)) = value else { return value.cloned() };
    let left: Map<String, Value> = map
        .iter()
        .filter(|(key, _)| !keys.contains(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!left.is_empty()).then_some(Value::Object(left))
}

/// Whether each expectation can be assigned its own element (and, if `all`, no element is left).
fn pairs_up(wanted: &[Expect], got: &[Value], rules: &Rules, all: bool) -> bool {
    wanted.len() <= got.len()
        && (!all || wanted.len() == got.len())
        && pairs(wanted, got, rules).iter().all(Option::is_some)
}

/// For each expectation the position of its own element that satisfies it: a bipartite matching, so that a lenient
/// expectation does not take the element that a strict one needs.
pub(super) fn pairs(wanted: &[Expect], got: &[Value], rules: &Rules) -> Vec<Option<usize>> {
    let fits: Vec<Vec<usize>> = wanted
        .iter()
        .map(|expect| (0..got.len()).filter(|at| holds(expect, None, Some(&got[*at]), rules)).collect())
        .collect();
    let mut taken: Vec<Option<usize>> = vec![None; got.len()];
    for expect in 0..wanted.len() {
        assign(expect, &fits, &mut taken, &mut vec![false; got.len()]);
    }
    (0..wanted.len()).map(|expect| taken.iter().position(|by| *by == Some(expect))).collect()
}

fn assign(expect: usize, fits: &[Vec<usize>], taken: &mut [Option<usize>], tried: &mut [bool]) -> bool {
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

/// The element of a list with this key; a missing key field, in the element or in `key`, has the schema's default.
pub(super) fn element<'a>(
    list: Option<&'a Value>,
    keys: &[String],
    key: &[(String, Value)],
    rules: &Rules,
) -> Option<&'a Value> {
    let item = rules.item();
    let has_key = |element: &&Value| {
        keys.iter().all(|name| {
            let default = rules.default_key(name);
            let wanted = key.iter().find(|(key, _)| key == name).map(|(_, value)| value).or(default.as_ref());
            let got = present(element.get(name)).or(default.as_ref());
            wanted.is_none() || same(wanted, got, &item.field(name))
        })
    };
    list?.as_array()?.iter().find(has_key)
}

/// The step to an element with this key.
pub(crate) fn key_step(key: &[(String, Value)]) -> Step {
    Step::Key(key.iter().map(|(name, value)| (name.clone(), bare(value))).collect())
}
