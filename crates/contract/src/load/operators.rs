//! Keys that start with `$`: which there are, and what a map holds of them.

use super::report::{Report, nearest};
use super::tree::{Span, Tree};

/// Every operator that stands as a key.
pub(crate) const OPERATORS: [&str; 27] = [
    "$is",
    "$matches",
    "$contains",
    "$exactly",
    "$oneOf",
    "$count",
    "$each",
    "$between",
    "$cel",
    "$append",
    "$replace",
    "$flags",
    "$yaml",
    "$json",
    "$base64",
    "$jwt",
    "$certificateRequest",
    "$unit",
    "$parameter",
    "$members",
    "$unchangedBut",
    "$unchangedLike",
    "$repeat",
    "$absentOr",
    "$notMatches",
    "$anyKey",
    "$noKey",
];
/// Every operator that stands alone.
pub(crate) const WORDS: [&str; 5] = ["$absent", "$present", "$changed", "$unchanged", "$filled"];

/// What a map holds of operators.
pub(crate) enum Operand<'a> {
    /// It is an ordinary map.
    None,
    /// This operator and what it is given.
    One(&'static str, &'a Tree),
    /// Something that is no operator, or two; noted.
    Broken,
}

/// The operator of a map, if it is one.
pub(crate) fn operand<'a>(tree: &'a Tree, report: &Report<'_>) -> Operand<'a> {
    let entries = tree.map().unwrap_or_default();
    let is_operator = |name: &str| name.starts_with('$') && !name.starts_with("$$");
    let Some((key, value)) = entries.iter().find(|(key, _)| is_operator(&key.name)) else {
        return Operand::None;
    };
    let Some(name) = OPERATORS.into_iter().find(|known| *known == key.name) else {
        unknown(&key.name, key.span, report);
        return Operand::Broken;
    };
    let beside = |other: &str| matches!(name, "$matches" | "$notMatches" | "$cel") && other == "notFor";
    if let Some((other, _)) = entries.iter().find(|(other, _)| other.name != key.name && !beside(&other.name))
    {
        let message = format!("{name} stands alone in its map, {:?} beside it", other.name);
        report.add("operator", other.span, message, "an operator is a map of one key");
        return Operand::Broken;
    }
    Operand::One(name, value)
}

/// Notes a text or key that starts with `$` and is no operator.
pub(crate) fn unknown(name: &str, span: Span, report: &Report<'_>) {
    let near = nearest(name, OPERATORS.into_iter().chain(WORDS));
    report.add(
        "operator",
        span,
        format!("{name} is no operator"),
        format!("{near}; `$${}` is the literal text", &name[1..]),
    );
}
