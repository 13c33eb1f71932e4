//! Reading an object as its type.

use serde::de::DeserializeOwned;
use serde_json::Value;
use webhook::object::WrongType;
use webhook::rejection::Rejection;

/// Reads an object.
///
/// # Errors
/// 400 when a field has the wrong type.
pub(crate) fn read<T: DeserializeOwned>(kind: &str, object: &Value) -> Result<T, Rejection> {
    serde_json::from_value(object.clone())
        .map_err(|error| Rejection::undecodable(format!("failed to read the {kind}: {error}")))
}

/// Reads an object with its defaults. The original sets them whenever it decodes an object, so that it never compares an
/// object that has them with one that lacks them.
///
/// # Errors
/// 400 when a field has the wrong type.
pub(super) fn read_defaulted<T: DeserializeOwned>(
    kind: &str,
    object: &Value,
    default: fn(&mut Value) -> Result<(), WrongType>,
) -> Result<T, Rejection> {
    let mut defaulted = object.clone();
    if let Err(error) = default(&mut defaulted) {
        // The words of all types are those of `read`.
        read::<T>(kind, object)?;
        return Err(error.into());
    }
    read(kind, &defaulted)
}
