//! How deep values may be nested. Go reads 10,000 levels; whoever handles a value goes down all of them on the stack.

use serde_json::Value;

/// As deep as Go's readers go.
pub const DEEPEST: usize = 10_000;

/// What is said of more.
pub const TOO_DEEP: &str = "exceeded max depth of 10000";

/// So many levels fit on every stack.
const SHALLOW: usize = 128;

/// What a level may take of the stack, in bytes: more than twice of what was measured to drop, copy, compare or print one, as
/// a server also validates, prunes, applies and compares what was read.
const LEVEL: usize = if cfg!(debug_assertions) { 5 * 1024 } else { 2 * 1024 };

/// Whether so many levels are read, and leave enough of the stack of this thread.
#[must_use]
pub fn fits(levels: usize) -> bool {
    levels <= SHALLOW
        || (levels <= DEEPEST && stacker::remaining_stack().is_none_or(|left| left > levels * LEVEL))
}

/// How many levels of lists and maps a value has; none where it is neither.
#[must_use]
pub fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(levels).max().unwrap_or_default(),
        _ => 0,
    }
}
