//! Bodies that JSON libraries read differently: the same object in odd words, and broken ones.

use serde_json::Value;

use super::Dice;

/// Numbers at the borders of Go's types, and numbers that libraries print or round differently.
const NUMBERS: &[&str] = &[
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "1.0",
    "8e1",
    "80.0",
    "1E2",
    "1e15",
    "1e16",
    "1e21",
    "1e-7",
    "1e400",
    "-1e400",
    "-0",
    "-0.0",
    "0.1e1",
    "1.50",
    "123456789.12345679",
    "9007199254740993",
    "9007199254740993.0",
    "12345678901234567890",
    "100000000000000000000",
    "5e-324",
    "1e-400",
];
/// Escapes and characters in texts.
const TEXTS: &[&str] = &[
    r"cut \ud83d",
    r"\ude00 cut",
    r"\ud83d\ude00",
    r"\ud83d\ud83d\ude00",
    r"\u0000",
    r"\/\b\f",
    r"\u003cb\u003e",
    "\u{2028}",
    "\u{7f}",
    r"\uFFFF",
    "<&>",
];

/// The text with one thing in another form that Go's decoders accept, or accept in their own way.
pub(super) fn reworded(dice: &mut Dice, text: &str) -> String {
    match dice.below(7) {
        0 => replace_one(dice, text, scalars, |dice, _| (*dice.pick(NUMBERS)).to_owned()),
        1 => replace_one(dice, text, scalars, |dice, _| format!("\"{}\"", dice.pick(TEXTS))),
        2 => replace_one(dice, text, scalars, |_, _| "null".to_owned()),
        3 => replace_one(dice, text, keys, |_, key| capitalized(key)),
        4 => replace_one(dice, text, members, |dice, member| {
            let other = *dice.pick(&["null", "null", "3", "1.5", "\"x\"", "true", "[]", "{}"]);
            match dice.below(5) {
                0 => format!("{member},{member}"),
                1 | 2 => format!("{member},{}:{other}", member_key(member)),
                _ => format!("{}:{other},{member}", member_key(member)),
            }
        }),
        5 => replace_one(dice, text, members, |dice, member| {
            let levels = *dice.pick(&[126, 127, 128, 129, 150, 500]);
            format!("{member},\"deep\":{}{}", "[".repeat(levels), "]".repeat(levels))
        }),
        _ => format!("\n \t{}\r\n ", text.replace(',', " , ").replace("\":", "\" : ")),
    }
}

/// The text with one syntax error.
pub(super) fn broken(dice: &mut Dice, text: &str) -> String {
    let cut = |dice: &mut Dice| {
        let mut end = dice.below(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        &text[..end]
    };
    match dice.below(10) {
        0 => format!("{text}{text}"),
        1 => format!("{text} x"),
        2 => cut(dice).to_owned(),
        3 => format!("\u{feff}{text}"),
        4 => text.replacen('}', ",}", 1),
        5 => text.replacen('"', "'", 2),
        6 => format!("/* comment */{text}"),
        7 => replace_one(dice, text, scalars, |dice, _| {
            (*dice.pick(&[
                "01",
                "+1",
                ".5",
                "1.",
                "1e",
                "0x1",
                "NaN",
                "Infinity",
                "nul",
                "True",
                "-",
                "\"\\x\"",
                "\"\\u12\"",
                "\"a\nb\"",
                "\"\t\"",
            ]))
            .to_owned()
        }),
        8 => {
            let levels = 10_001;
            replace_one(dice, text, members, |_, member| {
                format!("{member},\"deep\":{}{}", "[".repeat(levels), "]".repeat(levels))
            })
        }
        _ => format!("{}{}", cut(dice), "}}]"),
    }
}

/// YAML that libraries read differently, around a valid object.
pub(super) fn yaml(dice: &mut Dice, object: &Value) -> String {
    let text = formats::yaml::to_string(object).unwrap_or_default();
    let extra = *dice.pick(&[
        "extra: yes\n",
        "extra: 010\n",
        "extra: 0o10\n",
        "extra: 1_000\n",
        "extra: .inf\n",
        "extra: 1.0\n",
        "extra: 2020-01-01\n",
        "extra: ~\n",
        "extra: 0x1F\n",
        "extra: 1e3\n",
        "extra: 12345678901234567890\n",
        "extra: &a {b: 1}\nmore: *a\n",
        "extra: {<<: {b: 1}, c: 2}\n",
        "extra: !!binary YWJj\n",
        "extra: !!str 1\n",
        "extra: {a: 1, a: 2}\n",
        "extra: |\n  text\n",
        "extra: '\n",
        "extra: [\n",
        "extra: \"\\ud83d\"\n",
        "---\nkind: Other\n",
        "...\n",
        "extra:\n\t- a\n",
        "extra: {\"a\":\t1}\n",
        "1: a\n",
        "true: a\n",
        "? a\n: b\n",
        "extra: 60:30\n",
        "extra: -.5\n",
        "extra: +1\n",
        "extra: 1.\n",
        "extra: @a\n",
        "extra: `a\n",
        "extra: %a\n",
        "extra: {1: a, 1: b, '1': c}\n",
        "extra: {yes: a, true: b}\n",
        "extra: {1.5: a, 1.50: b, \"\\x7f\": c, \"\\x7f\": d}\n",
        "extra: {a: 1, <<: {a: 2}}\n",
    ]);
    if dice.percent(30) { format!("%YAML 1.1\n---\n{text}{extra}") } else { format!("{text}{extra}") }
}

/// Replaces one of the ranges that `find` finds in the text.
fn replace_one(
    dice: &mut Dice,
    text: &str,
    find: fn(&str) -> Vec<(usize, usize)>,
    replacement: impl Fn(&mut Dice, &str) -> String,
) -> String {
    let found = find(text);
    if found.is_empty() {
        return text.to_owned();
    }
    let (start, end) = *dice.pick(&found);
    let other = replacement(dice, &text[start..end]);
    format!("{}{other}{}", &text[..start], &text[end..])
}

/// The ranges of all strings of compact JSON, with their quotes.
fn strings(text: &str) -> Vec<(usize, usize)> {
    let (mut found, mut start, mut escaped) = (Vec::new(), None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (start, byte) {
            _ if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(begin), b'"') => {
                found.push((begin, at + 1));
                start = None;
            }
            (None, b'"') => start = Some(at),
            _ => {}
        }
    }
    found
}

/// The ranges of keys, with their quotes.
fn keys(text: &str) -> Vec<(usize, usize)> {
    strings(text).into_iter().filter(|(_, end)| text[*end..].starts_with(':')).collect()
}

/// The ranges of scalar values.
fn scalars(text: &str) -> Vec<(usize, usize)> {
    let quoted = strings(text).into_iter().filter(|(_, end)| !text[*end..].starts_with(':'));
    let ends = |of: &str| of.find([',', '}', ']']).unwrap_or(of.len());
    let bare = keys(text).into_iter().filter_map(|(_, end)| {
        let value = &text[end + 1..];
        (!value.starts_with(['"', '{', '['])).then(|| (end + 1, end + 1 + ends(value)))
    });
    quoted.chain(bare).collect()
}

/// The ranges of members with a scalar value: `"a":1`.
fn members(text: &str) -> Vec<(usize, usize)> {
    let values = scalars(text);
    let value_at = |at: usize| values.iter().find(|(start, _)| *start == at).map(|(_, end)| *end);
    keys(text).into_iter().filter_map(|(start, end)| Some((start, value_at(end + 1)?))).collect()
}

fn member_key(member: &str) -> &str {
    keys(member).first().map_or("\"\"", |(start, end)| &member[*start..*end])
}

fn capitalized(key: &str) -> String {
    let mut letters = key.trim_matches('"').chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("\"{first}{}\"", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"a":"x\"y","b":{"c":12,"d":[true,"e"]},"f":null}"#;

    #[test]
    fn keys_scalars_and_members_are_found() {
        let shown = |ranges: Vec<(usize, usize)>| -> Vec<&str> {
            ranges.into_iter().map(|(start, end)| &TEXT[start..end]).collect()
        };
        assert_eq!(shown(keys(TEXT)), [r#""a""#, r#""b""#, r#""c""#, r#""d""#, r#""f""#]);
        assert_eq!(shown(scalars(TEXT)), [r#""x\"y""#, r#""e""#, "12", "null"]);
        assert_eq!(shown(members(TEXT)), [r#""a":"x\"y""#, r#""c":12"#, r#""f":null"#]);
        assert_eq!(capitalized("\"kind\""), "\"Kind\"");
        assert_eq!(member_key(r#""a":1"#), r#""a""#);
    }

    #[test]
    fn texts_are_changed_in_many_ways() {
        let mut dice = Dice::new(7);
        let odd: std::collections::BTreeSet<String> = (0..300)
            .map(|_| reworded(&mut dice, TEXT))
            .chain((0..300).map(|_| broken(&mut Dice::new(3), TEXT)))
            .collect();
        assert!(odd.len() > 80, "{}", odd.len());
        let twice = r#""c":12,"c":"#;
        let has_other_type = |text: &String| {
            let other = text.split_once(twice).map(|(_, other)| other);
            other.is_some_and(|other| !other.starts_with("null") && !other.starts_with("12"))
        };
        assert!((0..2000).any(|_| has_other_type(&reworded(&mut dice, TEXT))));
        let unchanged = (0..300).filter(|_| broken(&mut dice, TEXT) == TEXT).count();
        assert_eq!(unchanged, 0);
    }
}
