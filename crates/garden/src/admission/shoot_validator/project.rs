//! A new Shoot and its Project: names that fit together, and a Project that stays.

use api::garden::{Project, Shoot};
use webhook::field::{Error, Path};
use webhook::rejection::Rejection;

use crate::admission::shoot_support::invalid;

/// Bytes of the names of Project and Shoot together.
const LENGTH: usize = 21;
/// Bytes that a server adds to a generated name.
const GENERATED: usize = 5;

/// The names' length, and whether the Project is being deleted: GPL-SHVAL-010, GPL-SHVAL-011.
pub(super) fn check(project: &Project, shoot: &Shoot) -> Result<(), Rejection> {
    let name = shoot.metadata.name.as_deref().unwrap_or_default();
    let prefix = shoot.metadata.generate_name.as_deref().unwrap_or_default();
    let project_name = project.metadata.name.as_deref().unwrap_or_default();
    let is_generated = name.is_empty() && !prefix.is_empty();
    let (text, most) = if is_generated { (prefix, LENGTH - GENERATED) } else { (name, LENGTH) };
    if project_name.len() + text.len() > most {
        let (what, whose) =
            if is_generated { ("generateName", "shoot with generateName") } else { ("name", "shoot") };
        let detail = format!(
            "the length of the shoot {what} and the project name must not exceed {most} characters (project: \
             {project_name}; {whose}: {text})"
        );
        return Err(invalid(shoot, &[Error::invalid(&Path::new("name"), name, &detail)]));
    }
    if project.metadata.deletion_timestamp.is_some() {
        return Err(Rejection::forbidden(format!(
            "cannot create shoot '{name}' in project '{project_name}' that is already marked for deletion"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::shoot_testing::outcome;

    fn checked(project: &Value, metadata: &Value) -> (u16, String) {
        let project = serde_json::from_value(json!({"metadata": project})).unwrap();
        let shoot = serde_json::from_value(json!({"metadata": metadata})).unwrap();
        outcome(check(&project, &shoot))
    }

    #[rstest]
    #[case::name(json!({"name": "a".repeat(11)}), "")]
    #[case::long_name(
        json!({"name": "aaaaaaaaaaaa"}),
        "Shoot.core.gardener.cloud \"aaaaaaaaaaaa\" is invalid: name: Invalid value: \"aaaaaaaaaaaa\": the length of \
         the shoot name and the project name must not exceed 21 characters (project: my-project; shoot: aaaaaaaaaaaa)",
    )]
    #[case::generated(json!({"generateName": "aaaaaa"}), "")]
    #[case::long_generated(
        json!({"generateName": "aaaaaaa"}),
        "Shoot.core.gardener.cloud \"\" is invalid: name: Invalid value: \"\": the length of the shoot generateName \
         and the project name must not exceed 16 characters (project: my-project; shoot with generateName: aaaaaaa)",
    )]
    #[case::generated_already(json!({"generateName": "aaaaaaa", "name": "aaaaaaa1234"}), "")]
    fn names_fit_together(#[case] metadata: Value, #[case] want: &str) {
        let code = if want.is_empty() { 0 } else { 422 };
        assert_eq!(checked(&json!({"name": "my-project"}), &metadata), (code, want.to_owned()));
    }

    #[test]
    fn a_project_that_is_being_deleted_gets_no_shoot() {
        let project = json!({"name": "dev", "deletionTimestamp": "2024-01-01T00:00:00Z"});
        let want = "cannot create shoot 'app' in project 'dev' that is already marked for deletion";
        assert_eq!(checked(&project, &json!({"name": "app"})), (403, want.to_owned()));
    }
}
