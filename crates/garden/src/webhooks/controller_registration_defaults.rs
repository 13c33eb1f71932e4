//! Defaults of a ControllerRegistration.

use serde_json::{Map, Value};
use webhook::object::{self, WrongType};

/// Kind of the resources that have defaults of their own.
pub(super) const EXTENSION: &str = "Extension";

/// Fills in the resources and, if there is one, the deployment: GDN-CRF-001 to -005.
pub(super) fn default(registration: &mut Value) -> Result<(), WrongType> {
    if !object::list(registration, &["spec", "resources"])?.is_empty() {
        for resource in object::list_mut(registration, &["spec", "resources"])? {
            default_resource(resource)?;
        }
    }
    if object::map(registration, &["spec", "deployment"])?.is_some() {
        default_text(registration, &["spec", "deployment", "policy"], "OnDemand")?;
    }
    Ok(())
}

fn default_resource(resource: &mut Value) -> Result<(), WrongType> {
    if object::boolean(resource, &["primary"])?.is_none() {
        object::set(resource, &["primary"], true)?;
    }
    if object::text(resource, &["kind"])? == EXTENSION {
        if object::boolean(resource, &["globallyEnabled"])?.is_none() {
            object::set(resource, &["globallyEnabled"], false)?;
        }
        default_text(resource, &["reconcileTimeout"], "3m0s")?;
        if object::map(resource, &["lifecycle"])?.is_none() {
            object::set(resource, &["lifecycle"], Map::new())?;
        }
    }
    // A lifecycle of another kind gets defaults, too; validation refuses it.
    if object::map(resource, &["lifecycle"])?.is_some() {
        default_text(resource, &["lifecycle", "reconcile"], "AfterKubeAPIServer")?;
        default_text(resource, &["lifecycle", "delete"], "BeforeKubeAPIServer")?;
        default_text(resource, &["lifecycle", "migrate"], "BeforeKubeAPIServer")?;
    }
    Ok(())
}

/// An empty text is a value.
fn default_text(of: &mut Value, path: &[&str], text: &str) -> Result<(), WrongType> {
    if object::get(of, path)?.is_none() {
        object::set(of, path, text)?;
    }
    Ok(())
}
