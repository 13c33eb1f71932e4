//! Whether a Shoot may sleep, and what it needs when it wakes up.

use api::garden::Shoot;
use webhook::rejection::Rejection;

use super::annotations::{DNS_RECORDS, INFRASTRUCTURE};
use crate::admission::shoot_support::add_tasks;

const POSSIBLE: &str = "HibernationPossible";

/// A Shoot that could not wake up does not fall asleep, and one that wakes up gets its infrastructure and DNS records
/// anew. A deletion is compared with an empty Shoot, so that it counts as falling asleep: GPL-SHVAL-040, GPL-SHVAL-041.
pub(super) fn check(shoot: &mut Shoot, old: &Shoot) -> Result<(), Rejection> {
    let sleeps = |shoot: &Shoot| {
        shoot.spec.hibernation.as_ref().and_then(|hibernation| hibernation.enabled).unwrap_or_default()
    };
    match (sleeps(old), sleeps(shoot)) {
        (false, true) => {
            let constraint = shoot.status.constraints.iter().find(|constraint| constraint.type_ == POSSIBLE);
            match constraint.filter(|constraint| constraint.status != "True") {
                None => Ok(()),
                Some(constraint) => Err(Rejection::forbidden(format!(
                    "'{POSSIBLE}' constraint is '{}': {}",
                    constraint.status, constraint.message
                ))),
            }
        }
        (true, false) => {
            add_tasks(shoot, &[INFRASTRUCTURE]);
            add_tasks(shoot, &DNS_RECORDS);
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::admission::shoot_testing::outcome;

    const ALL: &str =
        "deployInfrastructure,deployDNSRecordInternal,deployDNSRecordExternal,deployDNSRecordIngress";
    const IMPOSSIBLE: &str = "'HibernationPossible' constraint is 'False': bad webhooks";

    #[rstest]
    #[case::impossible(false, true, json!([{"type": "HibernationPossible", "status": "False",
        "message": "bad webhooks"}]), IMPOSSIBLE, "")]
    #[case::possible(false, true, json!([{"type": "HibernationPossible", "status": "True"}]), "", "")]
    #[case::unknown(false, true, json!([]), "", "")]
    #[case::asleep(true, true, json!([{"type": "HibernationPossible", "status": "False"}]), "", "")]
    #[case::wakes_up(true, false, json!([{"type": "HibernationPossible", "status": "False"}]), "", ALL)]
    fn a_shoot_sleeps_only_if_it_can_wake_up(
        #[case] before: bool,
        #[case] after: bool,
        #[case] constraints: Value,
        #[case] want: &str,
        #[case] tasks: &str,
    ) {
        let with = |sleeps: bool| -> Shoot {
            let spec = json!({"hibernation": {"enabled": sleeps}});
            serde_json::from_value(json!({"spec": spec, "status": {"constraints": constraints}})).unwrap()
        };
        let mut shoot = with(after);
        let code = if want.is_empty() { 0 } else { 403 };
        assert_eq!(outcome(check(&mut shoot, &with(before))), (code, want.to_owned()));
        let added = shoot.metadata.annotations.unwrap_or_default().remove("shoot.gardener.cloud/tasks");
        assert_eq!(added.unwrap_or_default(), tasks);
    }
}
