//! Defaults of a Project.

use api::garden::Project;
use serde_json::{Value, json};
use webhook::object::{self, WrongType};
use webhook::rejection::Rejection;

use super::{project_roles, reading};

/// API group of users and groups.
pub(super) const RBAC_GROUP: &str = "rbac.authorization.k8s.io";
const GARDEN: &str = "garden";
const PROTECTED: &str = "seed.gardener.cloud/protected";

/// Sets the defaults, then the roles of the members.
///
/// # Errors
/// 400 when it is not a Project.
pub fn default(project: &mut Value) -> Result<(), Rejection> {
    reading::read::<Project>("Project", project)?;
    set_defaults(project)?;
    let spec = reading::read::<Project>("Project", project)?.spec;
    Ok(project_roles::normalize(project, &spec)?)
}

/// Groups of owner and members, a role of each member, tolerations of the namespace `garden`: GDN-PJD-001 to -003.
pub(super) fn set_defaults(project: &mut Value) -> Result<(), WrongType> {
    if object::map(project, &["spec", "owner"])?.is_some() {
        default_group(project, &["spec", "owner"])?;
    }
    if object::text(project, &["spec", "namespace"])? == GARDEN {
        for list in ["whitelist", "defaults"] {
            tolerate_protected(project, &["spec", "tolerations", list])?;
        }
    }
    if object::list(project, &["spec", "members"])?.is_empty() {
        return Ok(());
    }
    for member in object::list_mut(project, &["spec", "members"])? {
        default_group(member, &[])?;
        if object::text(member, &["role"])?.is_empty() && object::list(member, &["roles"])?.is_empty() {
            object::set(member, &["role"], "viewer")?;
        }
    }
    Ok(())
}

/// The API group of a user or group; the creator of the Project gets no default.
fn default_group(project: &mut Value, subject: &[&str]) -> Result<(), WrongType> {
    let field = |name| [subject, &[name]].concat();
    let has_group = !object::text(project, &field("apiGroup"))?.is_empty();
    if !has_group && matches!(object::text(project, &field("kind"))?, "User" | "Group") {
        object::set(project, &field("apiGroup"), RBAC_GROUP)?;
    }
    Ok(())
}

/// A toleration of the same key with a value is another one.
fn tolerate_protected(project: &mut Value, list: &[&str]) -> Result<(), WrongType> {
    for toleration in object::list(project, list)? {
        let has_value = object::get(toleration, &["value"])?.is_some();
        if object::text(toleration, &["key"])? == PROTECTED && !has_value {
            return Ok(());
        }
    }
    object::list_mut(project, list)?.push(json!({"key": PROTECTED}));
    Ok(())
}
