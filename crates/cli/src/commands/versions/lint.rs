//! `versions lint`: finds problems in CloudProfiles before they affect a Shoot.

use api::garden::shoot::ShootSpec;
use serde_json::json;
use versions::profile::findings;

use super::read;
use crate::arguments::{Format, LintVersionsArguments};
use crate::terminal::{Failure, Terminal};

/// Prints the findings; returns 1 if there are any.
pub(super) fn lint(arguments: &LintVersionsArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let garden = read::read(&arguments.garden)?;
    let mut all = Vec::new();
    for (name, profile) in &garden.profiles {
        let shoots: Vec<&ShootSpec> = garden
            .shoots
            .iter()
            .map(|shoot| &shoot.spec)
            .filter(|spec| &spec.cloud_profile_name == name)
            .collect();
        all.extend(findings(profile, &shoots).into_iter().map(|finding| (name, finding)));
    }
    terminal.print(&match arguments.output {
        Format::Json => {
            let finding = |(profile, finding): &(&String, versions::profile::Finding)| {
                json!({"cloudProfile": profile, "subject": finding.subject, "message": finding.to_string()})
            };
            format!("{:#}", json!(all.iter().map(finding).collect::<Vec<_>>()))
        }
        Format::Text | Format::Markdown => {
            let line = |(profile, finding): &(&String, _)| format!("{profile}: {finding}\n");
            let lines: String = all.iter().map(line).collect();
            let profiles = garden.profiles.len();
            format!("{lines}{} in {profiles} {}", describe_count(all.len()), if profiles == 1 { "profile" } else { "profiles" })
        }
    });
    Ok(u8::from(!all.is_empty()))
}

fn describe_count(findings: usize) -> String {
    match findings {
        0 => "no findings".to_owned(),
        1 => "1 finding".to_owned(),
        many => format!("{many} findings"),
    }
}
