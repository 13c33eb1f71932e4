//! Limits on the nesting of values. Go reads 10,000 levels; code that handles a value recurses through all of them.

use serde_json::Value;

/// The limit of Go's decoders.
pub const DEEPEST: usize = 10_000;

/// Go's error message for a deeper value.
pub const TOO_DEEP: &str = "exceeded max depth of 10000";

/// This many levels fit on every stack.
const SHALLOW: usize = 128;

/// Stack that one level may use, in bytes: more than twice the measured need of dropping, cloning, comparing or printing
/// it, because a server also validates, prunes and applies the value.
const LEVEL: usize = if cfg!(debug_assertions) { 5 * 1024 } else { 2 * 1024 };

/// A stack in bytes on which a value of [`DEEPEST`] levels fits. Threads and runtimes that handle outside input have it: memory is
/// used only where the stack is.
pub const STACK: usize = (DEEPEST + 1000) * LEVEL;

/// Runs a function on a stack of [`STACK`] bytes, which a thread that others have started may lack.
pub fn on_large_stack<R>(function: impl FnOnce() -> R) -> R {
    stacker::grow(STACK, function)
}

/// Whether a value of so many levels is within Go's limit and fits on the remaining stack of this thread.
#[must_use]
pub fn fits(levels: usize) -> bool {
    levels <= SHALLOW
        || (levels <= DEEPEST && stacker::remaining_stack().is_none_or(|left| left > levels * LEVEL))
}

/// The nesting depth of lists and maps in a value; 0 for a scalar.
#[must_use]
pub fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or_default(),
        Value::Object(fields) => 1 + fields.values().map(levels).max().unwrap_or_default(),
        _ => 0,
    }
}
