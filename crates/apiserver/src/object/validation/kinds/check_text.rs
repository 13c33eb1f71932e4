//! The texts of checks in the tables.

use formats::name;

use super::check::Check;
use super::named;

/// Parses the text after the colon; a test of the tables parses all of them.
pub(super) fn parse(text: &str) -> Check {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let number = |text: &str| text.parse::<i64>().unwrap_or_default();
    match (word, rest) {
        ("required", why) => Check::Required(why.to_owned()),
        ("one", list) => Check::OneOf(words(list)),
        ("text", list) => Check::TextOf(words(list)),
        ("at", least) => Check::AtLeast(number(least.trim_start_matches("least "))),
        ("more", than) => Check::MoreThan(number(than.trim_start_matches("than "))),
        ("between", limits) => {
            let (from, to) = limits.split_once(' ').unwrap_or_default();
            Check::Between(number(from), number(to))
        }
        ("dns", "label") => Check::Name(name::dns1123_label),
        ("dns", "1035 label") => Check::Name(name::dns1035_label),
        ("dns", _) => Check::Name(name::dns1123_subdomain),
        ("key", _) => Check::Name(name::label_key),
        ("labels", _) => Check::Labels,
        ("port", "name") => Check::PortName,
        ("port", _) => Check::Port,
        ("percent", rest) => Check::Percent { at_most_100: rest == "at most all" },
        ("address", _) => Check::Address,
        ("range", _) => Check::Range,
        ("unique", field) => Check::Unique(field.to_owned()),
        ("immutable", _) => Check::Immutable,
        ("amounts", _) => Check::Amounts,
        ("file", _) => Check::FileMode,
        (name, _) => Check::Named(named::find(name).expect("every row is read by a test")),
    }
}

/// The words after `of`.
fn words(list: &str) -> Vec<String> {
    let words = list.trim_start_matches("of ").split(',').map(|word| word.trim().trim_matches('"'));
    words.map(str::to_owned).collect()
}
