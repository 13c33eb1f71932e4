//! Reads expectations: trees of `then`, with the types of the asserted object.

use std::collections::BTreeMap;

use regex::Regex;
use schema::Shape;
use serde_json::Value;

use super::lists::{self, check_field, is_scalar, shape_name};
use super::operators::{self, MapOperator, map_operator};
use super::report::Report;
use super::tree::{BareWord, Key, Tree, TreeData, literal};
use crate::expect::{Expect, KeyedItem, ListRule, Notation, Operator, Rules, cel, non_matching};

/// Reads an expectation of a value with these rules; errors are reported and assert nothing.
pub(crate) fn read(tree: &Tree, rules: &Rules, report: &Report<'_>) -> Expect {
    ExpectationReader { report }.read(tree, rules)
}

struct ExpectationReader<'a> {
    report: &'a Report<'a>,
}

const ASSERTS_NOTHING: Expect = Expect::Operator(Operator::Any);

impl ExpectationReader<'_> {
    fn read(&self, tree: &Tree, rules: &Rules) -> Expect {
        match &tree.data {
            TreeData::Scalar(Value::Null) => Expect::Operator(Operator::Absent),
            TreeData::BareWord(word) => Expect::Operator(word.operator()),
            TreeData::Scalar(Value::String(text)) => self.text(text, tree, rules),
            TreeData::Scalar(value) => self.value(value.clone(), tree, rules),
            TreeData::List(items) => self.list(items, tree, rules),
            TreeData::Map(entries) => match map_operator(tree, self.report) {
                MapOperator::None => self.map(entries, tree, rules),
                MapOperator::Operator(name, value) => self.operator(name, value, tree, rules),
                MapOperator::Invalid => ASSERTS_NOTHING,
            },
        }
    }

    fn text(&self, text: &str, tree: &Tree, rules: &Rules) -> Expect {
        let operator = match text {
            "$absent" => Operator::Absent,
            "$present" => Operator::Present,
            "$changed" => Operator::Changed,
            "$unchanged" => Operator::Unchanged,
            "$filled" => Operator::Filled,
            _ if text.starts_with('$') && !text.starts_with("$$") => {
                operators::report_unknown(text, tree.span, self.report);
                Operator::Any
            }
            _ => return self.value(Value::from(literal(text)), tree, rules),
        };
        Expect::Operator(operator)
    }

    fn value(&self, value: Value, tree: &Tree, rules: &Rules) -> Expect {
        let shape = rules.ty().shape();
        let fits = match shape {
            Shape::String | Shape::Time | Shape::MicroTime | Shape::Duration | Shape::Bytes => {
                value.is_string()
            }
            Shape::Integer(_) | Shape::Number => value.is_number(),
            Shape::Boolean => value.is_boolean(),
            Shape::IntOrString | Shape::Quantity => value.is_string() || value.is_number(),
            Shape::Any => true,
            Shape::Object | Shape::Map | Shape::List => false,
        };
        if !fits {
            let message = format!("{value} is not allowed here: expected a {}", shape_name(shape));
            let is_bare = shape == Shape::String && (value.is_boolean() || value.is_number());
            let remedy = if is_bare { lists::quoted(&value) } else { String::new() };
            self.report.add("type", tree.span, message, remedy);
        }
        Expect::Value(value)
    }

    fn map(&self, entries: &[(Key, Tree)], tree: &Tree, rules: &Rules) -> Expect {
        if is_scalar(rules.ty()) || rules.ty().shape() == Shape::List {
            let message = format!("a map is not allowed here: expected a {}", shape_name(rules.ty().shape()));
            self.report.add("type", tree.span, message, "");
            return ASSERTS_NOTHING;
        }
        let mut fields = BTreeMap::new();
        for (key, value) in entries {
            let name = literal(&key.name);
            check_field(name, key.span, rules, self.report);
            fields.insert(name.to_owned(), self.read(value, &rules.field(name)));
        }
        Expect::Map(fields)
    }

    fn list(&self, items: &[Tree], tree: &Tree, rules: &Rules) -> Expect {
        let shape = rules.ty().shape();
        if !matches!(shape, Shape::List | Shape::Any) {
            let message = format!("a list is not allowed here: expected a {}", shape_name(shape));
            self.report.add("type", tree.span, message, "");
            return ASSERTS_NOTHING;
        }
        match rules.list() {
            ListRule::Keyed(keys) => {
                if items.is_empty() {
                    let remedy =
                        "this list is partial, as its elements have keys: write `~` or `{$count: 0}`";
                    self.report.add("nothing-asserted", tree.span, "an empty list asserts nothing", remedy);
                }
                let items = items.iter().filter_map(|item| self.keyed(item, &keys, rules)).collect();
                Expect::Keyed { keys, items }
            }
            rule => Expect::List { items: self.items(items, rules), ordered: rule == ListRule::Ordered },
        }
    }

    fn items(&self, items: &[Tree], rules: &Rules) -> Vec<Expect> {
        items.iter().map(|item| self.read(item, &rules.item())).collect()
    }

    fn keyed(&self, tree: &Tree, keys: &[String], rules: &Rules) -> Option<KeyedItem> {
        let element = lists::element(tree, keys, rules, self.report)?;
        let is = element.is.map(|is| self.is(is, &rules.item()));
        let expect = match is {
            Some(Expect::Operator(Operator::Present)) | None => {
                self.map(&element.fields, tree, &rules.item())
            }
            Some(other) => other,
        };
        Some(KeyedItem { key: element.key, expect })
    }

    /// The argument of `$is`: an operator that a cell names, or a value.
    fn is(&self, tree: &Tree, rules: &Rules) -> Expect {
        match tree.text().and_then(BareWord::of) {
            Some(word) => Expect::Operator(word.operator()),
            None => self.read(tree, rules),
        }
    }

    fn operator(&self, name: &str, value: &Tree, operator_map: &Tree, rules: &Rules) -> Expect {
        let operator = match name {
            "$is" => return self.is(value, rules),
            "$matches" => self.matches(value, operator_map),
            "$contains" => {
                self.list_argument(value).map(|items| Operator::Contains(self.parts(items, rules)))
            }
            "$exactly" => self.list_argument(value).map(|items| Operator::Exactly(self.items(items, rules))),
            "$oneOf" => self
                .list_argument(value)
                .map(|items| Operator::OneOf(items.iter().map(Tree::to_value).collect())),
            "$count" => self.count(value),
            "$each" => Some(Operator::Each(Box::new(self.read(value, &rules.item())))),
            "$between" => self.between(value),
            "$cel" => self.cel(value, operator_map),
            "$yaml" => Some(self.notation(Notation::Yaml, value)),
            "$json" => Some(self.notation(Notation::Json, value)),
            "$base64" => Some(self.notation(Notation::Base64, value)),
            "$jwt" => Some(self.notation(Notation::Jwt, value)),
            "$unit" => Some(self.notation(Notation::Unit, value)),
            "$flags" => Some(self.notation(Notation::Flags, value)),
            "$absentOr" => Some(Operator::AbsentOr(Box::new(self.read(value, rules)))),
            "$notMatches" => self.not_matches(value, operator_map),
            "$anyKey" => Some(Operator::AnyKey(self.patterns(value))),
            "$noKey" => Some(Operator::NoKey(self.patterns(value))),
            "$parameter" | "$members" => self.parameter(value, name == "$members"),
            "$unchangedLike" => Some(Operator::UnchangedLike(self.patterns(value))),
            "$unchangedBut" => Some(Operator::UnchangedBut(self.patterns(value))),
            _ => {
                self.report.add(
                    "operator",
                    operator_map.span,
                    format!("{name} is allowed only in `given`"),
                    "use an operator for assertions, such as `$contains`",
                );
                None
            }
        };
        operator.map_or(ASSERTS_NOTHING, Expect::Operator)
    }

    fn list_argument<'a>(&self, tree: &'a Tree) -> Option<&'a [Tree]> {
        if tree.list().is_none_or(<[Tree]>::is_empty) {
            self.report.add(
                "operator",
                tree.span,
                "the operator takes a list with elements",
                "write `[a, b]`",
            );
        }
        tree.list()
    }

    fn parameter(&self, tree: &Tree, members: bool) -> Option<Operator> {
        if tree.text().is_none() {
            let remedy = "write `{$parameter: csiFeatureGates}`";
            self.report.add("operator", tree.span, "the operator takes the name of a parameter", remedy);
        }
        tree.text().map(|name| Operator::Parameter { name: name.to_owned(), members })
    }

    fn patterns(&self, tree: &Tree) -> Vec<String> {
        let items = self.list_argument(tree).unwrap_or_default().iter();
        items.filter_map(Tree::text).map(str::to_owned).collect()
    }

    /// Members of a list, or parts of a string.
    fn parts(&self, items: &[Tree], rules: &Rules) -> Vec<Expect> {
        if is_scalar(rules.ty()) {
            return items.iter().map(|item| self.read(item, rules)).collect();
        }
        self.items(items, rules)
    }

    fn matches(&self, value: &Tree, operator_map: &Tree) -> Option<Operator> {
        let regex = self.regex(value)?;
        let not_for = operator_map.get("notFor").map(Tree::to_value);
        if not_for.is_none() && non_matching(&regex).is_none() {
            let remedy = "add a string that it must not match: `{$matches: …, notFor: …}`";
            self.report.add(
                "not-for",
                value.span,
                "notFor is missing: no string is known that the expression does not match",
                remedy,
            );
        }
        if let Some(Value::String(text)) = &not_for
            && is_match(&regex, text)
        {
            self.report.add(
                "not-for",
                operator_map.span,
                format!("the expression matches the value of notFor, {text:?}"),
                "write a string that it does not match",
            );
        }
        Some(Operator::Matches { regex, not_for })
    }

    fn not_matches(&self, value: &Tree, operator_map: &Tree) -> Option<Operator> {
        let regex = self.regex(value)?;
        let not_for = operator_map.get("notFor").map(Tree::to_value);
        let Some(not_for) =
            not_for.filter(|not_for| not_for.as_str().is_some_and(|text| is_match(&regex, text)))
        else {
            let remedy = "add a string that matches: `{$notMatches: \"cloud.*\", notFor: cloudprovider}`";
            self.report.add(
                "not-for",
                operator_map.span,
                "$notMatches needs notFor, a string that matches the expression",
                remedy,
            );
            return None;
        };
        Some(Operator::NotMatches { regex, not_for })
    }

    fn regex(&self, value: &Tree) -> Option<String> {
        let Some(regex) = value.text() else {
            self.report.add(
                "operator",
                value.span,
                "the operator takes a regular expression",
                "write it as a quoted string",
            );
            return None;
        };
        let regex = literal(regex).to_owned();
        if let Err(error) = Regex::new(&regex) {
            let message = error
                .to_string()
                .lines()
                .last()
                .unwrap_or_default()
                .trim()
                .trim_start_matches("error: ")
                .to_owned();
            self.report.add("regex", value.span, format!("invalid regular expression: {message}"), "");
            return None;
        }
        Some(regex)
    }

    fn cel(&self, value: &Tree, operator_map: &Tree) -> Option<Operator> {
        let Some(expression) = value.text().map(literal) else {
            self.report.add(
                "operator",
                value.span,
                "$cel takes an expression",
                "write `{$cel: \"self > 1\"}`",
            );
            return None;
        };
        if let Some((message, remedy)) = cel::wrong(expression) {
            self.report.add("cel", operator_map.span, message, remedy);
            return None;
        }
        let Some(not_for) = operator_map.get("notFor").map(Tree::to_value) else {
            let remedy = "add a value for which it is false: `{$cel: …, notFor: …}`";
            self.report.add(
                "not-for",
                value.span,
                "notFor is missing: $cel needs a value for which the expression is false",
                remedy,
            );
            return None;
        };
        if cel::holds(expression, Some(&not_for)) {
            let message = format!("the expression is true for the value of notFor, {not_for}");
            self.report.add("not-for", operator_map.span, message, "write a value for which it is false");
        }
        Some(Operator::Cel { expression: expression.to_owned(), not_for: Some(not_for) })
    }

    fn count(&self, value: &Tree) -> Option<Operator> {
        let count = match &value.data {
            TreeData::Scalar(Value::Number(number)) => {
                number.as_u64().and_then(|number| usize::try_from(number).ok())
            }
            _ => None,
        };
        if count.is_none() {
            self.report.add("operator", value.span, "$count takes a number", "write `{$count: 1}`");
        }
        count.map(Operator::Count)
    }

    fn between(&self, value: &Tree) -> Option<Operator> {
        let Some([low, high]) = value.list() else {
            self.report.add(
                "operator",
                value.span,
                "$between takes two values",
                "write `{$between: [1, 5]}`",
            );
            return None;
        };
        Some(Operator::Between(low.to_value(), high.to_value()))
    }

    fn notation(&self, notation: Notation, value: &Tree) -> Operator {
        let head: Value = ["apiVersion", "kind"]
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), value.get(key)?.to_value())))
            .collect();
        let mut content = self.read(value, &Rules::of_object(&head));
        if notation == Notation::Unit {
            content = options(content, 0);
        }
        Operator::Opened(notation, Box::new(content))
    }
}

/// Whether the whole string matches.
fn is_match(regex: &str, text: &str) -> bool {
    Regex::new(&format!("^(?s:{regex})$")).is_ok_and(|regex| regex.is_match(text))
}

/// Turns the single value of an option of a unit into a list of one value.
fn options(expect: Expect, depth: usize) -> Expect {
    match expect {
        Expect::Map(fields) => {
            Expect::Map(fields.into_iter().map(|(name, field)| (name, options(field, depth + 1))).collect())
        }
        Expect::Value(value) if depth == 2 => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Expect::List { items: vec![Expect::Value(Value::from(text))], ordered: true }
        }
        other => other,
    }
}
