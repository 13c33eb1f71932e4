//! What a component makes of its configuration file.

use std::fmt::Display;

use serde::Serialize;
use serde_json::Value;

/// The configuration with all defaults and the warnings about the file; an error is the reason why the component refuses it.
pub type Loaded = Result<(Value, Vec<String>), String>;

/// What a component's own reader returned, as text and JSON.
///
/// # Errors
/// The reader's own, as text, and a configuration that is no JSON.
pub fn loaded<C: Serialize, W: Display, E: Display>(read: Result<(C, Vec<W>), E>) -> Loaded {
    let (config, warnings) = read.map_err(|error| error.to_string())?;
    let effective = serde_json::to_value(&config).map_err(|error| error.to_string())?;
    Ok((effective, warnings.iter().map(ToString::to_string).collect()))
}
