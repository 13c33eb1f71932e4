//! Projects: creator and owner, and a namespace that no other Project has.

use api::garden::Project;
use api::garden::project::ProjectMember;
use api::garden::reference::Subject;
use serde_json::{Value, json};
use webhook::field::quote;
use webhook::object;
use webhook::rejection::Rejection;

use crate::admission::lookup::PROJECTS;
use crate::admission::{Attributes, messages};
use crate::webhooks::{project_roles, reading};

const KIND: &str = "Project";
const OWNER: &str = "owner";

/// As in the original, the owner becomes a member even if the namespace is refused: GPL-RRM-040 to -043.
pub(super) fn admit(
    attributes: &Attributes<'_>,
    old: Option<&Value>,
    project: &mut Value,
) -> Result<(), Rejection> {
    if old.is_none() {
        let created_by = json!({
            "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": attributes.user.name,
        });
        object::set(project, &["spec", "createdBy"], created_by.clone())?;
        if object::get(project, &["spec", "owner"])?.is_none() {
            let owner = first_owner(&reading::read(KIND, project)?).unwrap_or(created_by);
            object::set(project, &["spec", "owner"], owner)?;
        }
    }
    let has_namespace =
        |project: &Value| Ok::<_, Rejection>(object::get(project, &["spec", "namespace"])?.is_some());
    let is_new = match old {
        None => true,
        Some(old) => !has_namespace(old)? && has_namespace(project)?,
    };
    let checked = if is_new { check_namespace(attributes, project) } else { Ok(()) };
    let typed: Project = reading::read(KIND, project)?;
    if let Some(owner) = &typed.spec.owner
        && !typed.spec.members.iter().any(|member| is_same(&subject(member), owner))
    {
        let mut member = project["spec"]["owner"].clone();
        object::set(&mut member, &["role"], "admin")?;
        object::set(&mut member, &["roles"], vec![OWNER])?;
        object::list_mut(project, &["spec", "members"])?.push(member);
    }
    checked
}

/// The first member that has the role, without its roles.
fn first_owner(project: &Project) -> Option<Value> {
    let roles = project_roles::roles(&project.spec);
    let mut members = project.spec.members.iter().zip(roles);
    let (owner, _) = members.find(|(_, roles)| roles.iter().any(|role| role == OWNER))?;
    serde_json::to_value(subject(owner)).ok()
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

/// In the original, an absent field is an empty one.
fn is_same(a: &Subject, b: &Subject) -> bool {
    let fields = |of: &Subject| {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        (of.kind.clone(), text(&of.api_group), of.name.clone(), text(&of.namespace))
    };
    fields(a) == fields(b)
}

fn check_namespace(attributes: &Attributes<'_>, project: &Value) -> Result<(), Rejection> {
    let Some(namespace) = object::get(project, &["spec", "namespace"])? else { return Ok(()) };
    let name = &project["metadata"]["name"];
    let is_used =
        |other: &Value| &other["spec"]["namespace"] == namespace && &other["metadata"]["name"] != name;
    if !attributes.objects.list(PROJECTS).iter().any(is_used) {
        return Ok(());
    }
    let namespace = quote(namespace.as_str().unwrap_or_default());
    Err(messages::plain(format!("namespace {namespace} is already used by another project")))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use webhook::review::Operation;

    use super::super::admit;
    use super::*;
    use crate::admission::testing::TestGarden;

    const GROUP: &str = "rbac.authorization.k8s.io";

    fn user(name: &str) -> Value {
        json!({"apiGroup": GROUP, "kind": "User", "name": name})
    }

    fn member(name: &str, role: &str, roles: &[&str]) -> Value {
        let mut member = user(name);
        member["role"] = json!(role);
        if !roles.is_empty() {
            member["roles"] = json!(roles);
        }
        member
    }

    fn project(spec: &Value) -> Value {
        json!({"metadata": {"name": "dev"}, "spec": spec})
    }

    fn admitted(garden: &TestGarden, old: Option<&Value>, new: &Value) -> (Option<String>, Value) {
        let operation = if old.is_some() { Operation::Update } else { Operation::Create };
        let mut object = new.clone();
        let attributes = Attributes { old, ..garden.attributes(operation, KIND, new) };
        let refused = admit(&attributes, Some(&mut object)).err();
        (refused.map(|rejection| rejection.message), object["spec"].clone())
    }

    #[rstest]
    #[case::creator(json!({}), user("alice"), json!([member("alice", "admin", &["owner"])]))]
    #[case::given(json!({"owner": user("bob"), "createdBy": user("eve")}), user("bob"),
        json!([member("bob", "admin", &["owner"])]))]
    #[case::first_member_with_the_role(
        json!({"members": [member("bob", "admin", &[]), member("carol", "viewer", &["owner"]),
            member("dan", "owner", &[])]}),
        user("carol"),
        json!([member("bob", "admin", &[]), member("carol", "viewer", &["owner"]), member("dan", "owner", &[])])
    )]
    #[case::another_group_is_another_subject(
        json!({"owner": user("bob"), "members": [{"kind": "User", "name": "bob", "role": "viewer"}]}),
        user("bob"),
        json!([{"kind": "User", "name": "bob", "role": "viewer"}, member("bob", "admin", &["owner"])])
    )]
    fn a_new_project_has_a_creator_and_an_owner(
        #[case] spec: Value,
        #[case] owner: Value,
        #[case] members: Value,
    ) {
        let (refused, spec) = admitted(&TestGarden::default(), None, &project(&spec));
        assert_eq!(refused, None);
        assert_eq!(
            (&spec["createdBy"], &spec["owner"], &spec["members"]),
            (&user("alice"), &owner, &members)
        );
    }

    #[test]
    fn an_update_adds_the_owner_and_leaves_the_creator() {
        let old = project(&json!({"createdBy": user("eve"), "owner": user("bob")}));
        let (refused, spec) = admitted(&TestGarden::default(), Some(&old), &old);
        let want = json!({"createdBy": user("eve"), "owner": user("bob"),
            "members": [member("bob", "admin", &["owner"])]});
        assert_eq!((refused, spec), (None, want));
        let mut terminating = old.clone();
        terminating["metadata"]["deletionTimestamp"] = json!("t");
        let (refused, spec) = admitted(&TestGarden::default(), Some(&old), &terminating);
        assert_eq!((refused, &spec), (None, &old["spec"]));
    }

    #[rstest]
    #[case::new(None, json!({"namespace": "garden-x"}), false)]
    #[case::first_set(Some(json!({})), json!({"namespace": "garden-x"}), false)]
    #[case::unchanged(Some(json!({"namespace": "garden-x"})), json!({"namespace": "garden-x"}), true)]
    #[case::own(None, json!({"namespace": "garden-own"}), true)]
    #[case::free(None, json!({"namespace": "garden-y"}), true)]
    #[case::none(None, json!({}), true)]
    fn a_namespace_has_one_project(
        #[case] old: Option<Value>,
        #[case] spec: Value,
        #[case] is_accepted: bool,
    ) {
        let other = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
        let garden = TestGarden::default()
            .with(PROJECTS, other("other", json!({"namespace": "garden-x"})))
            .with(PROJECTS, other("none", json!({})))
            .with(PROJECTS, other("dev", json!({"namespace": "garden-own"})));
        let old = old.map(|spec| project(&spec));
        let (refused, _) = admitted(&garden, old.as_ref(), &project(&spec));
        let message = "projects.core.gardener.cloud \"dev\" is forbidden: namespace \"garden-x\" is already used by another project";
        assert_eq!(refused.as_deref(), (!is_accepted).then_some(message));
    }
}
