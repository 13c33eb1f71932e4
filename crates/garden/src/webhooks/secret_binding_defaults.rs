//! Defaults of a SecretBinding.

use serde_json::Value;
use webhook::object::{self, WrongType};

/// Secret and quotas are of the binding's own namespace, unless it says otherwise: GDN-SBD-001, GDN-SBD-002.
pub(super) fn default(binding: &mut Value) -> Result<(), WrongType> {
    let namespace = object::text(binding, &["metadata", "namespace"])?.to_owned();
    if namespace.is_empty() {
        return Ok(());
    }
    if object::text(binding, &["secretRef", "namespace"])?.is_empty() {
        object::set(binding, &["secretRef", "namespace"], namespace.as_str())?;
    }
    if object::list(binding, &["quotas"])?.is_empty() {
        return Ok(());
    }
    for quota in object::list_mut(binding, &["quotas"])? {
        if object::text(quota, &["namespace"])?.is_empty() {
            object::set(quota, &["namespace"], namespace.as_str())?;
        }
    }
    Ok(())
}
