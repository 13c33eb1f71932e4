//! The members of a Project and their roles.

use std::collections::BTreeSet;

use api::garden::project::{ProjectMember, ProjectSpec};
use api::garden::reference::Subject;
use webhook::field::{Error, Path, quote};

use super::field_errors::{FieldErrors, each_invalid};
use super::go_value::GoValue;
use super::{names, project_roles, project_subjects, references};

const ROLES: [&str; 5] = ["admin", "owner", "serviceaccountmanager", "uam", "viewer"];
const EXTENSION: &str = "extension:";
const LONGEST_EXTENSION: usize = 20;
/// How the name of a user begins who is a ServiceAccount.
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// The errors of the members: GDN-PJM-001 to -006.
#[must_use]
pub fn validate(spec: &ProjectSpec) -> FieldErrors {
    let at = Path::new("spec").child("members");
    let (mut errors, mut members, mut has_owner) = (FieldErrors::new(), BTreeSet::new(), false);
    for (index, (member, roles)) in spec.members.iter().zip(project_roles::roles(spec)).enumerate() {
        let at = at.index(index);
        let Some(identity) = identity(member) else {
            let text = format!("unsupported service account user name: {}", quote(&member.name));
            errors.push(Error::invalid(&at.child("name"), &member.name, &text));
            continue;
        };
        if !members.insert(identity) {
            errors.push(Error::duplicate(&at, &value(member, &roles)));
        }
        errors.extend(project_subjects::validate(&subject(member), &at));
        errors.extend(role_errors(&roles, &at.child("roles")));
        for (index, _) in roles.iter().enumerate().filter(|(_, role)| *role == "owner") {
            if has_owner {
                let text = "cannot have more than one member having the owner role";
                errors.push(Error::forbidden(&at.child("roles").index(index), text));
            }
            has_owner = true;
        }
    }
    errors
}

/// Who the member is: a user with the name of a ServiceAccount is this ServiceAccount. `None` if that name is incomplete.
fn identity(member: &ProjectMember) -> Option<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    if member.kind == "User" && member.name.starts_with(SERVICE_ACCOUNT) {
        let parts: Vec<&str> = member.name.split(':').collect();
        return Some(format!("_ServiceAccount_{}_{}", parts.get(2)?, parts.get(3)?));
    }
    let (group, namespace) = (text(&member.api_group), text(&member.namespace));
    Some(format!("{group}_{}_{namespace}_{}", member.kind, member.name))
}

fn role_errors(roles: &[String], at: &Path) -> FieldErrors {
    let (mut errors, mut seen) = (FieldErrors::new(), BTreeSet::new());
    for (index, role) in roles.iter().enumerate() {
        let at = at.index(index);
        if !seen.insert(role) {
            errors.push(Error::duplicate(&at, role));
        }
        match role.strip_prefix(EXTENSION) {
            None if !ROLES.contains(&role.as_str()) => {
                let all = [&ROLES[..], &["extension:*"]].concat();
                errors.push(Error::not_supported(&at, role, &all));
            }
            None => {}
            Some(name) => {
                if name.len() > LONGEST_EXTENSION {
                    errors.push(Error::too_long(&at, LONGEST_EXTENSION));
                }
                // The name becomes part of the name of a ClusterRole.
                let messages = names::path_segment(name);
                if !messages.is_empty() {
                    errors.extend(each_invalid(&at, role, &[messages.join(", ")]));
                }
            }
        }
    }
    errors
}

fn subject(member: &ProjectMember) -> Subject {
    Subject {
        kind: member.kind.clone(),
        api_group: member.api_group.clone(),
        name: member.name.clone(),
        namespace: member.namespace.clone(),
        ..Subject::default()
    }
}

fn value(member: &ProjectMember, roles: &[String]) -> GoValue {
    let fields = vec![("Subject", references::subject(&subject(member))), ("Roles", GoValue::texts(roles))];
    GoValue::Struct("core.ProjectMember", fields)
}
