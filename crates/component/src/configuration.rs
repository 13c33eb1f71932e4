//! How a component reads its configuration file.

use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

/// The configuration with all defaults filled in, and warnings about the file; the error says why the component
/// refuses it.
pub type Loaded = Result<(Value, Vec<String>), String>;

/// Converts the result of a component's own configuration reader to text and JSON.
///
/// # Errors
/// The reader's error as text, or that the configuration cannot be written as JSON.
pub fn to_load_result<C: Serialize, W: Display, E: Display>(read: Result<(C, Vec<W>), E>) -> Loaded {
    let (config, warnings) = read.map_err(|error| error.to_string())?;
    let effective = serde_json::to_value(&config).map_err(|error| error.to_string())?;
    Ok((effective, warnings.iter().map(ToString::to_string).collect()))
}
