//! RBAC objects that give the members of a Project their rights.

use std::collections::{BTreeMap, BTreeSet};

use api::garden::project::ProjectMember;
use api::garden::{GROUP, Project, reference};
use k8s_openapi::api::rbac::v1::{
    AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, RoleBinding, RoleRef, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::{Resource, ResourceExt as _};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::namespace::owner;
use crate::controllers::labels::{PROJECT_NAME, ROLE};

const RBAC: &str = "rbac.authorization.k8s.io";
/// Prefix of the names of roles; `gardener.cloud:system:project-member:dev` is one.
const SYSTEM: &str = "gardener.cloud:system:project";
/// Prefix of the names of extension roles.
const EXTENSION: &str = "gardener.cloud:extension:project:";
/// Prefix of a member's extension role.
const EXTENSION_ROLE: &str = "extension:";
/// Value of the label `gardener.cloud/role` of objects of extension roles.
const EXTENSION_LABEL: &str = "extension-project-role";
/// Label of ClusterRoles that make up an extension role.
const AGGREGATE: &str = "rbac.gardener.cloud/aggregate-to-extension-role";

/// The objects of one role; they are written in this order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RoleObjects {
    pub(super) cluster_role: Option<ClusterRole>,
    pub(super) cluster_role_binding: Option<ClusterRoleBinding>,
    pub(super) role_binding: Option<RoleBinding>,
}

/// Whether a ClusterRole of this name may be one that this module describes.
pub(super) fn is_of_project(name: &str) -> bool {
    name.starts_with(SYSTEM) || name.starts_with(EXTENSION)
}

/// GCM-PRJ-020 to -023: the objects of all roles of a Project.
pub(super) fn wanted(project: &Project, namespace: &str) -> Vec<RoleObjects> {
    let name = project.name_any();
    let owner = project.spec.owner.iter().map(subject);
    let of = |roles: &[&str]| members(project, roles);
    let see = rule("", "namespaces", namespace, &["get"]);
    let work = |verbs: &[&str]| rule(GROUP, "projects", &name, verbs);
    let admin = [see.clone(), work(&["get", "patch", "manage-members", "update", "delete"])];
    let uam = [work(&["get", "manage-members", "patch", "update"])];
    let member = [see.clone(), work(&["get", "patch", "update", "delete"])];
    let viewer = [see, work(&["get"])];
    let system = |role: &str| format!("{SYSTEM}{role}:{name}");
    let described = Described { project, namespace };
    let mut managers: Vec<Subject> = owner.clone().collect();
    managers.extend(of(&["serviceaccountmanager", "owner"]));
    let mut all = vec![
        described.role(&system(""), owner.collect(), &admin, None),
        described.role(&system("-uam"), of(&["uam"]), &uam, None),
        RoleObjects {
            role_binding: Some(described.role_binding(&format!("{SYSTEM}-serviceaccountmanager"), managers)),
            ..RoleObjects::default()
        },
        described.role(
            &system("-member"),
            of(&["admin", "owner"]),
            &member,
            Some(format!("{SYSTEM}-member")),
        ),
        described.role(&system("-viewer"), of(&["viewer"]), &viewer, Some(format!("{SYSTEM}-viewer"))),
    ];
    all.extend(extension_roles(project).iter().map(|role| described.extension_role(role)));
    all
}

/// GCM-PRJ-026: the JSON merge patch that makes an object as it should be. The rules of an aggregated role stay: the control
/// plane fills them in.
pub(super) fn patch<K: Resource + Serialize>(found: &K, wanted: &K) -> Option<Value> {
    let values = [found, wanted].map(|object| serde_json::to_value(object).unwrap_or_default());
    let [found_fields, wanted_fields] = &values;
    let mut patch = Map::new();
    for field in ["aggregationRule", "rules", "roleRef", "subjects"] {
        let is_filled_in = field == "rules" && wanted_fields["aggregationRule"].is_object();
        let [before, after] = [found_fields, wanted_fields].map(|object| or_null(&object[field]));
        if before != after && !is_filled_in {
            patch.insert(field.to_owned(), after);
        }
    }
    let mut metadata = Map::new();
    if found.owner_references() != wanted.owner_references() {
        metadata.insert("ownerReferences".to_owned(), json!(wanted.owner_references()));
    }
    let mut labels: Map<String, Value> = found
        .labels()
        .keys()
        .filter(|key| !wanted.labels().contains_key(*key))
        .map(|key| (key.clone(), Value::Null))
        .collect();
    let changed = wanted.labels().iter().filter(|(key, value)| found.labels().get(*key) != Some(*value));
    labels.extend(changed.map(|(key, value)| (key.clone(), json!(value))));
    if !labels.is_empty() {
        metadata.insert("labels".to_owned(), Value::Object(labels));
    }
    if !metadata.is_empty() {
        patch.insert("metadata".to_owned(), Value::Object(metadata));
    }
    (!patch.is_empty()).then_some(Value::Object(patch))
}

/// GCM-PRJ-025: whether an object is labelled as one of the Project's extension roles, but of one that no member has.
pub(super) fn is_stale(project: &Project, object: &impl Resource) -> bool {
    let labels = extension_labels(project);
    let is_labelled = labels.iter().all(|(key, value)| object.labels().get(key) == Some(value));
    let prefix = format!("{EXTENSION}{}:", project.name_any());
    let name = object.name_any();
    is_labelled && !extension_roles(project).contains(name.strip_prefix(&prefix).unwrap_or(&name))
}

/// Labels of objects of a Project's extension roles.
fn extension_labels(project: &Project) -> BTreeMap<String, String> {
    [(ROLE, EXTENSION_LABEL.to_owned()), (PROJECT_NAME, project.name_any())]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
}

/// What the objects of a Project have in common.
struct Described<'a> {
    project: &'a Project,
    namespace: &'a str,
}

impl Described<'_> {
    fn role(
        &self,
        name: &str,
        subjects: Vec<Subject>,
        rules: &[PolicyRule],
        in_namespace: Option<String>,
    ) -> RoleObjects {
        let cluster_role = ClusterRole {
            metadata: self.metadata(name),
            rules: Some(rules.to_vec()),
            aggregation_rule: None,
        };
        let cluster_role_binding = ClusterRoleBinding {
            metadata: self.metadata(name),
            role_ref: role_ref(name),
            subjects: list(subjects.clone()),
        };
        RoleObjects {
            cluster_role: Some(cluster_role),
            cluster_role_binding: Some(cluster_role_binding),
            role_binding: in_namespace.map(|name| self.role_binding(&name, subjects)),
        }
    }

    /// GCM-PRJ-023: operators say by labelled ClusterRoles what an extension role allows.
    fn extension_role(&self, role: &str) -> RoleObjects {
        let name = format!("{EXTENSION}{}:{role}", self.project.name_any());
        let labels = Some(extension_labels(self.project));
        let selected = BTreeMap::from([(AGGREGATE.to_owned(), role.to_owned())]);
        let selector = LabelSelector { match_labels: Some(selected), ..LabelSelector::default() };
        let cluster_role = ClusterRole {
            metadata: ObjectMeta { labels: labels.clone(), ..self.metadata(&name) },
            aggregation_rule: Some(AggregationRule { cluster_role_selectors: Some(vec![selector]) }),
            rules: None,
        };
        let members = members(self.project, &[format!("{EXTENSION_ROLE}{role}").as_str()]);
        let mut role_binding = self.role_binding(&name, members);
        role_binding.metadata.labels = labels;
        RoleObjects {
            cluster_role: Some(cluster_role),
            cluster_role_binding: None,
            role_binding: Some(role_binding),
        }
    }

    fn role_binding(&self, name: &str, subjects: Vec<Subject>) -> RoleBinding {
        let namespace = Some(self.namespace.to_owned());
        RoleBinding {
            metadata: ObjectMeta { namespace, ..self.metadata(name) },
            role_ref: role_ref(name),
            subjects: list(subjects),
        }
    }

    fn metadata(&self, name: &str) -> ObjectMeta {
        ObjectMeta {
            name: Some(name.to_owned()),
            owner_references: Some(vec![owner(self.project, false)]),
            ..ObjectMeta::default()
        }
    }
}

fn role_ref(name: &str) -> RoleRef {
    RoleRef { api_group: Some(RBAC.to_owned()), kind: "ClusterRole".to_owned(), name: name.to_owned() }
}

fn rule(group: &str, resource: &str, name: &str, verbs: &[&str]) -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(vec![resource.to_owned()]),
        resource_names: Some(vec![name.to_owned()]),
        verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        ..PolicyRule::default()
    }
}

/// Members that have one of the roles, in their order.
fn members(project: &Project, wanted: &[&str]) -> Vec<Subject> {
    let members = project.spec.members.iter();
    let with_roles = members.flat_map(|member| roles(member).map(move |role| (member, role)));
    with_roles.filter(|(_, role)| wanted.contains(role)).map(|(member, _)| member_subject(member)).collect()
}

/// The roles of a member; one without any is a viewer.
fn roles(member: &ProjectMember) -> impl Iterator<Item = &str> {
    let all = std::iter::once(&member.role).chain(&member.roles).map(String::as_str);
    let default = member.role.is_empty() && member.roles.is_empty();
    all.chain(default.then_some("viewer"))
}

/// Extension roles that members have.
fn extension_roles(project: &Project) -> BTreeSet<&str> {
    let roles = project.spec.members.iter().flat_map(roles);
    roles.filter_map(|role| role.strip_prefix(EXTENSION_ROLE)).collect()
}

fn member_subject(member: &ProjectMember) -> Subject {
    let ProjectMember { kind, api_group, name, namespace, .. } = member;
    with_group(kind, api_group.as_deref(), name, namespace.as_ref())
}

fn subject(subject: &reference::Subject) -> Subject {
    let reference::Subject { kind, api_group, name, namespace, .. } = subject;
    with_group(kind, api_group.as_deref(), name, namespace.as_ref())
}

/// A subject with the default group of its kind, as both gardener-apiserver and kube-apiserver fill it in.
fn with_group(kind: &str, group: Option<&str>, name: &str, namespace: Option<&String>) -> Subject {
    let default = matches!(kind, "User" | "Group").then_some(RBAC);
    Subject {
        api_group: group.filter(|group| !group.is_empty()).or(default).map(str::to_owned),
        kind: kind.to_owned(),
        name: name.to_owned(),
        namespace: namespace.filter(|namespace| !namespace.is_empty()).cloned(),
    }
}

/// Subjects without repetitions; `None` if there are none.
fn list(subjects: Vec<Subject>) -> Option<Vec<Subject>> {
    let mut unique: Vec<Subject> = Vec::new();
    for subject in subjects {
        if !unique.contains(&subject) {
            unique.push(subject);
        }
    }
    (!unique.is_empty()).then_some(unique)
}

/// A field's value; an empty list is as good as none.
fn or_null(value: &Value) -> Value {
    if value.as_array().is_some_and(Vec::is_empty) { Value::Null } else { value.clone() }
}
