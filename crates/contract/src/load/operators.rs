//! Operators: keys and strings that start with `$`.

use super::report::{Report, nearest};
use super::tree::{Span, Tree};

/// Every operator that is a key.
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
/// Every operator that is a string of its own.
pub(crate) const WORDS: [&str; 5] = ["$absent", "$present", "$changed", "$unchanged", "$filled"];

/// The operator in a map.
pub(crate) enum MapOperator<'a> {
    /// None: an ordinary map.
    None,
    /// This operator and its argument.
    Operator(&'static str, &'a Tree),
    /// An unknown operator, or several keys; reported.
    Invalid,
}

/// The operator in a map.
pub(crate) fn map_operator<'a>(tree: &'a Tree, report: &Report<'_>) -> MapOperator<'a> {
    let entries = tree.map().unwrap_or_default();
    let is_operator = |name: &str| name.starts_with('$') && !name.starts_with("$$");
    let Some((key, value)) = entries.iter().find(|(key, _)| is_operator(&key.name)) else {
        return MapOperator::None;
    };
    let Some(name) = OPERATORS.into_iter().find(|known| *known == key.name) else {
        report_unknown(&key.name, key.span, report);
        return MapOperator::Invalid;
    };
    let beside = |other: &str| matches!(name, "$matches" | "$notMatches" | "$cel") && other == "notFor";
    if let Some((other, _)) = entries.iter().find(|(other, _)| other.name != key.name && !beside(&other.name))
    {
        let message = format!("{name} cannot be combined with {:?} in one map", other.name);
        report.add("operator", other.span, message, "write the operator as the only key of its map");
        return MapOperator::Invalid;
    }
    MapOperator::Operator(name, value)
}

/// Reports a string or key that starts with `$` and is not an operator.
pub(crate) fn report_unknown(name: &str, span: Span, report: &Report<'_>) {
    let near = nearest(name, OPERATORS.into_iter().chain(WORDS));
    report.add(
        "operator",
        span,
        format!("unknown operator {name}"),
        format!("{near}; write `$${}` for the literal text", &name[1..]),
    );
}
