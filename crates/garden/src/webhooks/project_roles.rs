//! The roles of a Project's members as one list, which the original keeps in its place of `role` and `roles`.

use api::garden::project::{ProjectMember, ProjectSpec};
use serde_json::Value;
use webhook::object::{self, WrongType};

const OWNER: &str = "owner";
const VIEWER: &str = "viewer";

/// The roles of each member, in the order of the members.
///
/// `role` is first and unique. If the Project has an owner, the member of its name has the role `owner`, and no other
/// member has it; as in the original, namespaces are not compared.
#[must_use]
pub fn roles(spec: &ProjectSpec) -> Vec<Vec<String>> {
    let of_member = |member: &ProjectMember| {
        let mut roles = member.roles.clone();
        if !member.role.is_empty() {
            roles.retain(|role| *role != member.role);
            roles.insert(0, member.role.clone());
        }
        let Some(owner) = &spec.owner else { return roles };
        let group = |group: &Option<String>| group.clone().unwrap_or_default();
        let is_owner = member.name == owner.name
            && member.kind == owner.kind
            && group(&member.api_group) == group(&owner.api_group);
        if !is_owner {
            roles.retain(|role| role != OWNER);
        } else if !roles.iter().any(|role| role == OWNER) {
            roles.push(OWNER.to_owned());
        }
        roles
    };
    spec.members.iter().map(of_member).collect()
}

/// Writes the roles as the original stores them: the first as `role`, the others as `roles`. A member that loses its only
/// role becomes a viewer.
///
/// GDN-PJR-001 to -005. A member that has a role twice stays as it is, so that validation sees it.
///
/// # Errors
/// When a field has the wrong type.
pub fn normalize(project: &mut Value, spec: &ProjectSpec) -> Result<(), WrongType> {
    if spec.members.is_empty() {
        return Ok(());
    }
    let members = object::list_mut(project, &["spec", "members"])?.iter_mut();
    for ((raw, member), roles) in members.zip(&spec.members).zip(roles(spec)) {
        if (1..roles.len()).any(|index| roles[..index].contains(&roles[index])) {
            continue;
        }
        let (first, others) = match roles.as_slice() {
            [] => (VIEWER, &[][..]),
            [first, others @ ..] => (first.as_str(), others),
        };
        if member.role != first {
            object::set(raw, &["role"], first)?;
        }
        if member.roles != others {
            match (others.is_empty(), raw.as_object_mut()) {
                (true, Some(fields)) => drop(fields.remove("roles")),
                _ => object::set(raw, &["roles"], others.to_vec())?,
            }
        }
    }
    Ok(())
}
