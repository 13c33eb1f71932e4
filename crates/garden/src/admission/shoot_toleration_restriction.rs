//! ShootTolerationRestriction: tolerations that new Shoots get, and which ones a Shoot may have.

use std::collections::BTreeSet;

use api::garden::project::ProjectTolerations;
use api::garden::reference::Toleration;
use schema::admission_plugins;
use serde_json::Value;
use webhook::field::Path;
use webhook::rejection::Rejection;
use webhook::review::Operation;

use super::shoot_support::{
    NO_SHOOT, configuration, forbidden, internal_text, is_shoot, listed, project_of, read_shoot,
    write_changes,
};
use super::{Admit, Attributes, Configuration, Plugin, Validate};
use crate::webhooks::tolerations;

pub(super) static PLUGIN: Plugin = Plugin {
    name: admission_plugins::SHOOT_TOLERATION_RESTRICTION,
    is_on_by_default: true,
    admit: Some(Admit::Configured(admit)),
    validate: Some(Validate::Configured(validate)),
};

/// Reads the plugin's configuration: the tolerations that Shoots get, and those that they may have.
///
/// # Errors
/// When it is another document, or has wrong tolerations.
pub(super) fn configure(document: &Value) -> Result<(Vec<Value>, Vec<Value>), String> {
    configuration(document, "shoottolerationrestriction.admission.gardener.cloud/v1alpha1")?;
    let listed_at = |field: &str| document[field].as_array().cloned().unwrap_or_default();
    let (defaults, whitelist) = (listed_at("defaults"), listed_at("whitelist"));
    let mut errors = tolerations::validate(&read(&defaults)?, &Path::new("defaults"));
    errors.extend(tolerations::validate(&read(&whitelist)?, &Path::new("whitelist")));
    if errors.is_empty() {
        Ok((defaults, whitelist))
    } else {
        Err(format!("invalid config: {}", listed(&errors)))
    }
}

/// Appends the default tolerations of all Shoots and of the Project to a new Shoot, but for keys that it has:
/// GPL-SHTOL-001.
fn admit(
    configuration: &Configuration,
    attributes: &Attributes<'_>,
    object: Option<&mut Value>,
) -> Result<(), Rejection> {
    if !is_shoot(attributes) || attributes.operation != Operation::Create {
        return Ok(());
    }
    let shoot = read_shoot(object.as_deref(), NO_SHOOT)?;
    let of_project = of_project(attributes, object.as_deref())?;
    let keys: BTreeSet<&str> =
        shoot.spec.tolerations.iter().map(|toleration| toleration.key.as_str()).collect();
    let mut defaults = read(&configuration.default_tolerations).unwrap_or_default();
    defaults.extend(of_project.defaults);
    defaults.retain(|toleration| !keys.contains(toleration.key.as_str()));
    let mut completed = shoot.clone();
    completed.spec.tolerations.extend(defaults);
    object.map_or(Ok(()), |object| write_changes(object, &shoot, &completed))
}

/// All tolerations of a new Shoot, and the new ones of another, are allowed. As in the original, the error's index
/// counts those that are checked: GPL-SHTOL-002 to -004.
fn validate(
    configuration: &Configuration,
    attributes: &Attributes<'_>,
    object: Option<&Value>,
) -> Result<(), Rejection> {
    if !is_shoot(attributes) || !matches!(attributes.operation, Operation::Create | Operation::Update) {
        return Ok(());
    }
    let mut checked = read_shoot(object, NO_SHOOT)?.spec.tolerations;
    if let (Operation::Update, Some(old)) = (attributes.operation, attributes.old) {
        let old = read_shoot(Some(old), "could not convert old resource into Shoot object")?;
        let known: BTreeSet<String> = old.spec.tolerations.iter().map(tolerations::written).collect();
        checked.retain(|toleration| !known.contains(&tolerations::written(toleration)));
    }
    let mut allowed = read(&configuration.toleration_whitelist).unwrap_or_default();
    allowed.extend(of_project(attributes, object)?.whitelist);
    let at = Path::new("spec").child("tolerations");
    let errors = tolerations::validate_allowed(&checked, &allowed, &at);
    if errors.is_empty() {
        return Ok(());
    }
    let text = format!("error while validating tolerations against allowlist: {}", listed(&errors));
    Err(forbidden(attributes, object, &text))
}

/// The tolerations of the namespace's Project; that there is none is an error of the server inside of a 403.
fn of_project(attributes: &Attributes<'_>, object: Option<&Value>) -> Result<ProjectTolerations, Rejection> {
    let project = project_of(attributes.objects, attributes.namespace).map_err(|why| {
        let text = internal_text(&format!("could not find referenced project: {why}"));
        forbidden(attributes, object, &text)
    })?;
    Ok(project.spec.tolerations.unwrap_or_default())
}

fn read(tolerations: &[Value]) -> Result<Vec<Toleration>, String> {
    let read =
        |toleration: &Value| serde_json::from_value(toleration.clone()).map_err(|error| error.to_string());
    tolerations.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::admission::shoot_testing::{Stored, outcome};

    fn stored() -> Stored {
        let tolerations = json!({"defaults": [{"key": "c"}], "whitelist": [{"key": "c"}]});
        let spec = json!({"namespace": "garden-dev", "tolerations": tolerations});
        let project = json!({"metadata": {"name": "dev"}, "spec": spec});
        Stored::default().with("projects.core.gardener.cloud", project)
    }

    fn configured() -> Configuration {
        Configuration {
            default_tolerations: vec![json!({"key": "a"})],
            toleration_whitelist: vec![json!({"key": "a"}), json!({"key": "b", "value": "1"})],
            ..Configuration::default()
        }
    }

    fn shoot(tolerations: &Value) -> Value {
        json!({"metadata": {"name": "app"}, "spec": {"tolerations": tolerations}})
    }

    const NOT_ALLOWED: &str = "shoots.core.gardener.cloud \"app\" is forbidden: error while validating tolerations \
        against allowlist: [spec.tolerations[INDEX]: Forbidden: only the following tolerations are allowed: [a b=1 c]]";

    /// GPL-V-09.
    #[rstest]
    #[case::nothing(json!([]), json!([{"key": "a"}, {"key": "c"}]), None)]
    #[case::own_value(json!([{"key": "a", "value": "x"}]), json!([{"key": "a", "value": "x"}, {"key": "c"}]), None)]
    #[case::without_value(json!([{"key": "b"}]), json!([{"key": "b"}, {"key": "a"}, {"key": "c"}]), Some("0"))]
    #[case::value(json!([{"key": "b", "value": "1"}]), json!([{"key": "b", "value": "1"}, {"key": "a"},
        {"key": "c"}]), None)]
    #[case::other_value(
        json!([{"key": "c"}, {"key": "b", "value": "2"}]),
        json!([{"key": "c"}, {"key": "b", "value": "2"}, {"key": "a"}]),
        Some("1"),
    )]
    fn a_new_shoot_gets_defaults_and_may_have_what_is_allowed(
        #[case] given: Value,
        #[case] want: Value,
        #[case] refused: Option<&str>,
    ) {
        let stored = stored();
        let attributes = stored.attributes(Operation::Create);
        let mut object = shoot(&given);
        assert_eq!(admit(&configured(), &attributes, Some(&mut object)), Ok(()));
        assert_eq!(object["spec"]["tolerations"], want);
        let message = refused.map(|index| NOT_ALLOWED.replace("INDEX", index));
        let want = (if message.is_some() { 403 } else { 0 }, message.unwrap_or_default());
        assert_eq!(outcome(validate(&configured(), &attributes, Some(&object))), want);
    }

    #[rstest]
    #[case::kept(json!([{"key": "b", "value": "2"}]), None)]
    #[case::changed(json!([{"key": "a"}, {"key": "b", "value": "3"}]), Some("1"))]
    #[case::only_changed(json!([{"key": "b", "value": "2"}, {"key": "b", "value": "3"}]), Some("0"))]
    fn an_update_may_add_what_is_allowed(#[case] new: Value, #[case] refused: Option<&str>) {
        let (stored, old) = (stored(), shoot(&json!([{"key": "b", "value": "2"}])));
        let attributes = Attributes { old: Some(&old), ..stored.attributes(Operation::Update) };
        let mut object = shoot(&new);
        assert_eq!(admit(&configured(), &attributes, Some(&mut object)), Ok(()));
        assert_eq!(object, shoot(&new));
        let message = refused.map(|index| NOT_ALLOWED.replace("INDEX", index));
        let want = (if message.is_some() { 403 } else { 0 }, message.unwrap_or_default());
        assert_eq!(outcome(validate(&configured(), &attributes, Some(&object))), want);
    }

    #[test]
    fn a_namespace_without_project_has_no_shoots() {
        let stored = stored().without("projects.core.gardener.cloud");
        let want = "shoots.core.gardener.cloud \"app\" is forbidden: Internal error occurred: could not find \
            referenced project: Project.core.gardener.cloud \"garden-dev\" not found";
        let want = (403, want.to_owned());
        let create = stored.attributes(Operation::Create);
        let mut object = shoot(&json!([]));
        assert_eq!(outcome(admit(&configured(), &create, Some(&mut object))), want);
        assert_eq!(outcome(validate(&configured(), &create, Some(&object))), want);
        let update = Attributes { subresource: "status", ..stored.attributes(Operation::Update) };
        assert_eq!(outcome(admit(&configured(), &update, Some(&mut object))), (0, String::new()));
        assert_eq!(outcome(validate(&configured(), &update, Some(&object))), want);
    }

    #[rstest]
    #[case::complete(json!({"defaults": [{"key": "a"}], "whitelist": [{"key": "b", "value": "1"}], "later": 1}), "")]
    #[case::empty(json!({}), "")]
    #[case::wrong(
        json!({"defaults": [{}], "whitelist": [{"key": "a"}, {"key": "a"}]}),
        "invalid config: [defaults[0].key: Required value: cannot be empty whitelist[1]: Duplicate value: \"a\"]",
    )]
    #[case::other_kind(
        json!({"kind": "Other"}),
        "no kind \"Other\" is registered for version \"shoottolerationrestriction.admission.gardener.cloud/v1alpha1\"",
    )]
    fn a_configuration_has_valid_tolerations(#[case] fields: Value, #[case] want: &str) {
        let version = "shoottolerationrestriction.admission.gardener.cloud/v1alpha1";
        let mut document = json!({"apiVersion": version, "kind": "Configuration"});
        document.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        assert_eq!(configure(&document).err().unwrap_or_default(), want);
    }
}
