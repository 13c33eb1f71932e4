//! CustomVerbAuthorizer: who changes some fields of a Project needs a verb of its own.

use std::collections::BTreeSet;

use api::garden::Project;
use api::garden::project::{ProjectMember, ProjectTolerations};
use api::garden::reference::Subject;
use schema::admission_plugins;
use serde_json::Value;
use webhook::field::quote;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::{Action, Attributes, Plugin, User, Validate, messages};
use crate::webhooks::reading;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::CUSTOM_VERB_AUTHORIZER,
    is_on_by_default: true,
    admit: None,
    validate: Some(Validate::Plain(validate)),
};

const KIND: &str = "Project";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// As in the original, a change of the whitelist hides a change of the members: GPL-CVA-001, GPL-CVA-002, GPL-CVA-005.
fn validate(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<(), Rejection> {
    if attributes.kind != KIND || !matches!(attributes.operation, Operation::Create | Operation::Update) {
        return Ok(());
    }
    let object = messages::given(object, "could not convert resource into Project object")?;
    let new = reading::read::<Project>(KIND, object)?.spec;
    let old = match attributes.operation {
        Operation::Update => {
            let old = messages::given(attributes.old, "could not convert old resource into Project object")?;
            reading::read::<Project>(KIND, old)?.spec
        }
        _ => Project::default().spec,
    };
    if changes_whitelist(old.tolerations.as_ref(), new.tolerations.as_ref()) {
        let (verb, operation) = ("modify-spec-tolerations-whitelist", "modify .spec.tolerations.whitelist");
        return authorize(attributes, object, verb, operation);
    }
    // GPL-CVA-003, GPL-CVA-004: the owner is that of the new object, which has one.
    let owner = new.owner.as_ref();
    if !is_owner(attributes.user, owner) && people(&old.members, owner) != people(&new.members, owner) {
        let operation = "manage human users or groups in .spec.members";
        return authorize(attributes, object, "manage-members", operation);
    }
    Ok(())
}

fn authorize(
    attributes: &Attributes<'_>,
    object: &Value,
    verb: &str,
    operation: &str,
) -> Result<(), Rejection> {
    let (resource, group) = attributes.resource.split_once('.').unwrap_or((attributes.resource, ""));
    let Attributes { namespace, name, user, .. } = *attributes;
    let action = Action { verb, group, version: "", resource, subresource: "", namespace, name };
    if attributes.authorizer.is_allowed(user, &action) {
        return Ok(());
    }
    let why = format!("user {} is not allowed to {operation} for {}", quote(&user.name), quote(resource));
    Err(messages::forbidden(attributes, Some(object), why))
}

/// A section that appears or disappears counts as a change, even without a whitelist.
fn changes_whitelist(old: Option<&ProjectTolerations>, new: Option<&ProjectTolerations>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => old.whitelist != new.whitelist,
        (old, new) => old.is_some() != new.is_some(),
    }
}

fn is_owner(user: &User, owner: Option<&Subject>) -> bool {
    let Some(owner) = owner else { return true };
    match owner.kind.as_str() {
        "ServiceAccount" => {
            let namespace = owner.namespace.as_deref().unwrap_or_default();
            let named = user.name.strip_prefix(SERVICE_ACCOUNT).and_then(|rest| rest.split_once(':'));
            named == Some((namespace, owner.name.as_str()))
        }
        "User" => owner.name == user.name,
        "Group" => user.groups.contains(&owner.name),
        _ => false,
    }
}

/// The members that are people, without the owner.
fn people<'a>(members: &'a [ProjectMember], owner: Option<&Subject>) -> BTreeSet<&'a str> {
    let is_person = |kind: &str, name: &str| kind == "User" && !name.starts_with(SERVICE_ACCOUNT);
    let owner = owner.filter(|owner| is_person(&owner.kind, &owner.name)).map(|owner| owner.name.as_str());
    let people = members.iter().filter(|member| is_person(&member.kind, &member.name));
    people.map(|member| member.name.as_str()).filter(|name| Some(*name) != owner).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::testing::TestGarden;

    const WHITELIST: &str =
        "user \"alice\" is not allowed to modify .spec.tolerations.whitelist for \"projects\"";
    const MEMBERS: &str =
        "user \"alice\" is not allowed to manage human users or groups in .spec.members for \"projects\"";

    fn user(name: &str) -> Value {
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name})
    }

    fn garden() -> TestGarden {
        TestGarden::default()
            .denying("modify-spec-tolerations-whitelist core.gardener.cloud/ projects /dev")
            .denying("manage-members core.gardener.cloud/ projects /dev")
    }

    fn refusal(garden: &TestGarden, old: Option<&Value>, new: &Value) -> Option<String> {
        let object = json!({"metadata": {"name": "dev"}, "spec": new});
        let old = old.map(|spec| json!({"metadata": {"name": "dev"}, "spec": spec}));
        let operation = if old.is_some() { Operation::Update } else { Operation::Create };
        let attributes = Attributes { old: old.as_ref(), ..garden.attributes(operation, KIND, &object) };
        let refused = validate(&attributes, Some(&object)).err()?;
        let prefix = "projects.core.gardener.cloud \"dev\" is forbidden: ";
        Some(refused.message.strip_prefix(prefix).expect("a 403 of the project").to_owned())
    }

    #[rstest]
    #[case::section_appears(json!({}), json!({"defaults": [{"key": "a"}]}), true)]
    #[case::empty_section_appears(json!({}), json!({}), true)]
    #[case::section_disappears(json!({"tolerations": {"defaults": [{"key": "a"}]}}), Value::Null, true)]
    #[case::only_defaults(json!({"tolerations": {"defaults": [{"key": "a"}]}}), json!({"defaults": [{"key": "b"}]}),
        false)]
    #[case::whitelist(json!({"tolerations": {"whitelist": [{"key": "a"}]}}), json!({"whitelist": [{"key": "b"}]}),
        true)]
    #[case::empty_whitelist(json!({"tolerations": {"whitelist": []}}), json!({}), false)]
    fn a_change_of_the_whitelist_needs_a_verb(
        #[case] old: Value,
        #[case] new: Value,
        #[case] is_asked: bool,
    ) {
        let mut spec = json!({"members": [user("bob")], "owner": user("carol")});
        if !new.is_null() {
            spec["tolerations"] = new;
        }
        let mut old = old;
        old["members"] = spec["members"].clone();
        assert_eq!(refusal(&garden(), Some(&old), &spec), is_asked.then(|| WHITELIST.to_owned()));
        assert_eq!(refusal(&TestGarden::default(), Some(&old), &spec), None);
        spec["members"] = json!([]);
        let want = if is_asked { WHITELIST } else { MEMBERS };
        assert_eq!(refusal(&garden(), Some(&old), &spec), Some(want.to_owned()));
    }

    #[rstest]
    #[case::a_person(json!([user("bob"), user("dan")]), user("carol"), true)]
    #[case::fewer(json!([]), user("carol"), true)]
    #[case::the_owner(json!([user("bob"), user("carol")]), user("carol"), false)]
    #[case::asked_by_the_new_owner(json!([user("dan")]), user("alice"), false)]
    #[case::no_owner(json!([user("dan")]), Value::Null, false)]
    #[case::of_the_owning_group(json!([user("dan")]), json!({"kind": "Group", "name": "devs"}), false)]
    #[case::of_another_group(json!([user("dan")]), json!({"kind": "Group", "name": "ops"}), true)]
    #[case::roles_alone(json!([{"kind": "User", "name": "bob", "role": "admin"}]), user("carol"), false)]
    #[case::a_group(json!([user("bob"), {"kind": "Group", "name": "g"}]), user("carol"), false)]
    #[case::a_service_account(json!([user("bob"), user("system:serviceaccount:n:s"),
        {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]), user("carol"), false)]
    fn a_change_of_people_needs_a_verb(#[case] members: Value, #[case] owner: Value, #[case] is_asked: bool) {
        let old = json!({"members": [user("bob")], "owner": user("carol")});
        let new = json!({"members": members, "owner": owner});
        assert_eq!(refusal(&garden(), Some(&old), &new), is_asked.then(|| MEMBERS.to_owned()));
        assert_eq!(refusal(&TestGarden::default(), Some(&old), &new), None);
    }

    #[test]
    fn a_service_account_may_own_a_project() {
        let owner = json!({"kind": "ServiceAccount", "name": "s", "namespace": "n"});
        let spec = json!({"members": [user("bob")], "owner": owner});
        let asked_by = |user: &str| refusal(&garden().asked_by(user), None, &spec).is_some();
        assert!(!asked_by("system:serviceaccount:n:s"));
        assert!(asked_by("system:serviceaccount:m:s"));
        assert!(asked_by("s"));
    }
}
